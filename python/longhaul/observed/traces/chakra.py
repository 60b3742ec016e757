"""Chakra execution traces (ExecutionTraceObserver, schema 1.1.1-chakra.0.0.4): sizes and no durations.

Alone such a file is refused. With the Kineto file of the same window it gives the sizes that this file lacks: attribute rf_id is
the "Record function id" there.
"""

from __future__ import annotations

import re
from typing import Any, Dict, List

from longhaul.observed.operations import bytes_of
from longhaul.observed.taken import Sizes, Taken, whole
from longhaul.observed.trace import RankTrace
from longhaul.observed.traces.events import shapes_of

REASON = (
    "is a Chakra execution trace, which has sizes and no durations; give the profiler's trace (export_chrome_trace) of the "
    "same window with it"
)


def is_one(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("nodes"), list) and "schema" in document


def read(document: Dict[str, Any], file: str) -> Taken:
    sizes = Sizes(whole(document.get("pid")), {}, {}, {})
    for node in document["nodes"]:
        if not isinstance(node, dict) or not str(node.get("name", "")).startswith("gloo:"):
            continue
        attributes = {
            one.get("name"): one.get("value")
            for one in _list(node.get("attrs"))
            if isinstance(one, dict) and isinstance(one.get("name"), str)
        }
        inputs = node.get("inputs")
        function_id = whole(attributes.get("rf_id"))
        if function_id and isinstance(inputs, dict):
            sizes.names[function_id] = str(node["name"])
            sizes.shapes[function_id] = shapes_of(inputs.get("shapes"))
            sizes.types[function_id] = [_element(str(one)) for one in _list(inputs.get("types"))]
    return Taken(file, "chakra", sizes=sizes)


def add_sizes(taken: Taken, traces: List[RankTrace]) -> List[str]:
    """The files whose works got shapes of this one: of the same process, with the name of each work that both have."""
    sizes, filled = taken.sizes, []
    assert sizes is not None
    for trace in traces:
        works = [span for span in trace.spans + trace.sends if span.name.startswith("gloo:")]
        known = [span for span in works if span.function_id in sizes.names]
        if not known or sizes.process != trace.process or any(sizes.names[span.function_id] != span.name for span in known):
            continue
        lacking = [span for span in known if span.shapes is None and span.operation != "barrier"]
        for span in lacking:
            span.shapes, span.types = sizes.shapes[span.function_id], tuple(sizes.types[span.function_id])
            span.bytes = bytes_of(span.shapes, span.types)
        if lacking:
            filled.append(trace.file)
            taken.took.append(
                f'sizes of {len(lacking)} works of {trace.file}: inputs.shapes, where rf_id is its "Record function id"'
            )
    if not filled:
        taken.left.append(f"all of it, since no trace was given that lacks sizes of this process: it {REASON}")
    return filled


def _list(value: Any) -> List[Any]:
    return value if isinstance(value, list) else []


def _element(type_name: str) -> str:
    """ "Tensor(float)" is of float."""
    match = re.fullmatch(r"Tensor\((.*)\)", type_name)
    return match[1] if match else type_name
