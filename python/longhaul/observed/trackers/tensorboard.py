"""TensorBoard's event files: scalars, and tensors of one number (new_style, TensorFlow 2), with wall times.

Source: the record format of TensorFlow's event files and the fields of its Event, as TensorBoard 2.21.0 writes them. A record is its
length (8 bytes), a checksum of that, the message, a checksum of that; checksums are masked CRC-32C. All points are read: it is
the viewer that keeps 10,000 of each tag.
"""

from __future__ import annotations

import struct
from typing import Dict, Iterator, List, Optional, Tuple

from longhaul.observed.content import wrong
from longhaul.observed.taken import NothingTaken, Point, Series, Taken, counted, finite, listed
from longhaul.observed.trackers import intervals, protobuf

# Fields: Event has wall_time 1, step 2, summary 5; Summary has value 1; its Value tag 1, simple_value 2, tensor 8;
# TensorProto dtype 1, tensor_content 4, float_val 5, double_val 6.
FLOAT, DOUBLE = 1, 2
MOST_CHECKED = 65536  # bytes of a record: larger ones are pictures and graphs, whose sums would take most of the time


def _table() -> List[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def checksum(data: bytes) -> int:
    """Masked CRC-32C (Castagnoli)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def is_one(data: bytes) -> bool:
    return len(data) >= 12 and struct.unpack_from("<I", data, 8)[0] == checksum(data[:8])


def records(data: bytes) -> Iterator[Tuple[bytes, bool]]:
    """(message, True), up to the first that is cut off or damaged, for which (b"", False) stands."""
    at = 0
    while at < len(data):
        if at + 12 > len(data) or not is_one(data[at : at + 12]):
            yield b"", False
            return
        (length,) = struct.unpack_from("<Q", data, at)
        end = at + 12 + length
        is_checked = length <= MOST_CHECKED
        if end + 4 > len(data) or is_checked and struct.unpack_from("<I", data, end)[0] != checksum(data[at + 12 : end]):
            yield b"", False
            return
        yield data[at + 12 : end], True
        at = end + 4


def read(data: bytes, file: str) -> Taken:
    """Series of all tags, steps from the wall times of one. InputError where the first record is damaged already."""
    taken = Taken(file, "tensorboard")
    tags: Dict[str, Series] = {}
    others: Dict[str, int] = {}
    read_any = False
    for message, is_whole in records(data):
        if not is_whole:
            if not read_any:
                raise wrong(
                    file, "is an event file of TensorBoard whose first record is cut off or damaged", "a whole event file"
                )
            taken.left.append("the rest, from the first record that is cut off or damaged")
            break
        read_any = True
        try:
            _add_event(message, tags, others)
        except (protobuf.Damaged, struct.error) as error:
            taken.left.append(f"a record that is no Event ({error})")
    taken.series = list(tags.values())
    if others:
        taken.left.append(f"{counted(sum(others.values()), 'value')} without a single number: {listed(sorted(others))}")
    if not taken.series:
        raise NothingTaken(
            file, "tensorboard", "is an event file of TensorBoard without a scalar; allowed: one to which add_scalar wrote"
        )
    taken.took.append(
        f"{sum(len(one.points) for one in taken.series)} values of {len(tags)} tags ({listed(tags)}): wall_time, s since 1970; "
        "values are float32"
    )
    intervals.add_steps(taken, taken.series, "wall_time, s")
    return taken


def _add_event(message: bytes, tags: Dict[str, Series], others: Dict[str, int]) -> None:
    wall_time, step, summaries = None, 0, []
    for number, value in protobuf.fields(message):
        if number == 1:
            wall_time = finite(protobuf.double(value))
        elif number == 2:
            step = protobuf.signed(value)
        elif number == 5:
            summaries.append(protobuf.packed_bytes(value))
    for summary in summaries:
        for number, value in protobuf.fields(summary):
            if number == 1:
                tag, scalar = _value(protobuf.packed_bytes(value))
                if scalar is None:
                    others[tag] = others.get(tag, 0) + 1
                else:
                    tags.setdefault(tag, Series(tag, [])).points.append(Point(scalar, step, wall_time))


def _value(message: bytes) -> Tuple[str, Optional[float]]:
    tag, scalar = "", None
    for number, value in protobuf.fields(message):
        if number == 1:
            tag = protobuf.text(value)
        elif number == 2:
            scalar = protobuf.floats(value)[0]
        elif number == 8:
            scalar = _scalar_tensor(protobuf.packed_bytes(value))
    return tag, scalar


def _scalar_tensor(message: bytes) -> Optional[float]:
    """None for a tensor that is no single number of 32 or 64 bits."""
    kind, content, numbers = 0, b"", []
    for number, value in protobuf.fields(message):
        if number == 1:
            kind = protobuf.signed(value)
        elif number == 4:
            content = protobuf.packed_bytes(value)
        elif number == 5:
            numbers += protobuf.floats(value)
        elif number == 6:
            numbers += [one for one, in struct.iter_unpack("<d", protobuf.packed_bytes(value))]
    if content and kind in (FLOAT, DOUBLE):
        size, code = (4, "<f") if kind == FLOAT else (8, "<d")
        if len(content) != size:
            return None
        numbers = list(struct.unpack(code, content))
    return float(numbers[0]) if len(numbers) == 1 else None
