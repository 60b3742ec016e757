"""Longhaul's words for exchanges, from the names that libraries and people have for them; and the bytes of tensors."""

from __future__ import annotations

import re
from typing import Optional, Sequence

from longhaul.observed.trace import Shapes

MOST_BYTES = 2**63  # what is more is no size of a tensor

WORDS = (
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "broadcast",
    "reduce",
    "gather",
    "scatter",
    "all-to-all",
    "barrier",
    "send",
)

# By a name without signs: all_reduce, allreduce_coalesced, _allgather_base, all_to_allv, ...
_NAMES = {
    "allreduce": "all-reduce",
    "allreducecoalesced": "all-reduce",
    "allgather": "all-gather",
    "allgatherbase": "all-gather",
    "allgathercoalesced": "all-gather",
    "allgatherintotensor": "all-gather",
    "allgatherintotensorcoalesced": "all-gather",
    "reducescatter": "reduce-scatter",
    "reducescatterbase": "reduce-scatter",
    "reducescattertensor": "reduce-scatter",
    "reducescattertensorcoalesced": "reduce-scatter",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "alltoall": "all-to-all",
    "alltoallv": "all-to-all",
    "alltoallbase": "all-to-all",
    "alltoallsingle": "all-to-all",
    "barrier": "barrier",
    "send": "send",
    "sendrecv": "send",
}

# Of torch's names in Kineto's JSON ("Input type"), then of NCCL's "dtype", which are torch's scalar types.
_SIZES = {
    "float": 4,
    "double": 8,
    "int": 4,
    "long int": 8,
    "short int": 2,
    "short": 2,
    "long": 8,
    "unsigned char": 1,
    "signed char": 1,
    "char": 1,
    "byte": 1,
    "bool": 1,
    "half": 2,
    "c10::half": 2,
    "bfloat16": 2,
    "c10::bfloat16": 2,
    "c10::complex<float>": 8,
    "complexfloat": 8,
    "c10::complex<double>": 16,
    "complexdouble": 16,
    "unsigned short": 2,
    "unsigned int": 4,
    "unsigned long": 8,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "c10::float8_e4m3fn": 1,
    "float8_e4m3fn": 1,
    "c10::float8_e5m2": 1,
    "float8_e5m2": 1,
    "c10::float8_e4m3fnuz": 1,
    "float8_e4m3fnuz": 1,
    "c10::float8_e5m2fnuz": 1,
    "float8_e5m2fnuz": 1,
}


def word(name: str) -> Optional[str]:
    """Longhaul's word, or None for a name that is not known."""
    return _NAMES.get(re.sub(r"[^a-z]", "", re.sub(r"_perf$", "", name.lower())))


def size_of(type_name: str) -> Optional[int]:
    """Bytes of an element, or None for a type that is not known."""
    return _SIZES.get(type_name.strip().lower())


def bytes_of(shapes: Optional[Shapes], types: Sequence[str]) -> Optional[int]:
    """Bytes of all tensors together; None where a shape or a type is missing or not known."""
    if not shapes or len(types) < len(shapes):
        return None
    total = 0
    for dimensions, type_name in zip(shapes, types):
        size = size_of(type_name)
        if size is None:
            return None
        for dimension in dimensions:
            size *= dimension
        total += size
    return total if total < MOST_BYTES else None
