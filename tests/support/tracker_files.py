"""Files of trackers for tests, written by the forms that docs/reference/formats/observed.md and the readers' sources describe."""
import json
import struct
import zlib


def masked(data):
    """TensorFlow's checksum of a record: CRC-32C, turned and with a constant added."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(event):
    length = struct.pack("<Q", len(event))
    return length + masked(length) + event + masked(event)


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def scalars_file(points):
    """An event for each (seconds since 1970, step, tag, value)."""
    out = b""
    for moment, step, tag, number in points:
        value = b"\x0a" + varint(len(tag)) + tag.encode() + b"\x15" + struct.pack("<f", number)
        summary = b"\x0a" + varint(len(value)) + value
        out += record(b"\x09" + struct.pack("<d", moment) + b"\x10" + varint(step) + b"\x2a" + varint(len(summary)) + summary)
    return out


def event_file(values, wall_time=1700000000.0):
    """An event of step 5 for each (tag, tensor message), by the forms of TensorFlow's records and events."""
    out = b""
    for tag, tensor in values:
        value = b"\x0a" + bytes([len(tag)]) + tag.encode() + b"\x42" + bytes([len(tensor)]) + tensor
        event = b"\x09" + struct.pack("<d", wall_time) + b"\x10\x05" + b"\x2a" + bytes([len(value) + 2]) + b"\x0a" + bytes([len(value)]) + value
        out += record(event)
    return out


def wandb_file(histories):
    """The form that the page of formats describes: a record for each, cut into parts at blocks of 32 KiB."""
    def field(number, data):
        length = len(data)
        size = bytes([length & 127 | 128, length >> 7 & 127 | 128, length >> 14]) if length >= 128 else bytes([length])
        key = number << 3 | 2
        return (bytes([key]) if key < 128 else bytes([key & 127 | 128, key >> 7])) + size + data
    out = bytearray(b":W&B" + bytes(3))
    for row in histories:
        items = b"".join(field(1, field(1, key.encode()) + field(16, json.dumps(value).encode())) for key, value in row.items())
        data, kind = field(2, items), "first"
        while True:
            room = 32768 - len(out) % 32768
            if room < 7:
                out += bytes(room)
                continue
            part, data = data[:room - 7], data[room - 7:]
            number = {("first", False): 1, ("first", True): 2, ("later", True): 3, ("later", False): 4}[kind, bool(data)]
            out += struct.pack("<IHB", zlib.crc32(bytes([number]) + part), len(part), number) + part
            kind = "later"
            if not data:
                break
    return bytes(out)
