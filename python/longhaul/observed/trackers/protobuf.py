"""The wire form of protocol buffers: the fields of one message, in the order in which they stand.

Event files of TensorBoard and offline runs of W&B are such messages. Their definitions are not needed: the readers know the
few numbers of fields that they read, and this module knows none. So no package besides the standard library is.
Source: the public encoding guide of Protocol Buffers (wire types 0, 1, 2 and 5).
"""

from __future__ import annotations

import struct
from typing import Iterator, List, Tuple, Union

Value = Union[int, bytes]


class Damaged(ValueError):
    """The bytes are no message."""


def fields(message: bytes) -> Iterator[Tuple[int, Value]]:
    """(number, value): an int of a varint, 4 or 8 bytes of a fixed number, or the bytes of a text or message."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if kind == 2:
            length, at = _varint(message, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise Damaged(f"wire type {kind}")
        if at + length > len(message):
            raise Damaged("a field is longer than its message")
        yield key >> 3, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> Tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7
    raise Damaged("a number is cut off")


def signed(value: Value) -> int:
    """An int64 of a varint."""
    if not isinstance(value, int):
        raise Damaged("a number was expected")
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


def packed_bytes(value: Value, length: int = -1) -> bytes:
    """A text, a message or a fixed number of `length` bytes."""
    if not isinstance(value, bytes) or length not in (-1, len(value)):
        raise Damaged("bytes were expected")
    return value


def text(value: Value) -> str:
    return packed_bytes(value).decode("utf-8", "replace")


def double(value: Value) -> float:
    return float(struct.unpack("<d", packed_bytes(value, 8))[0])


def floats(value: Value) -> List[float]:
    """Packed 32-bit numbers, or one."""
    data = packed_bytes(value)
    if len(data) % 4:
        raise Damaged("a list of numbers is cut off")
    return [one for one, in struct.iter_unpack("<f", data)]
