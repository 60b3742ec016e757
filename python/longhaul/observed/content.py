"""The content of a file, whatever it is packed in: bytes, text, JSON. Each fault is one message that says what to give."""

from __future__ import annotations

import gzip
import io
import json
import os
from typing import Any, Optional
import zlib

from longhaul.directory import Path
from longhaul.errors import InputError

MOST_BYTES = 2**30
ALLOWED = "a file that docs/reference/formats/observed.md lists, as it was written"


def wrong(file: str, found: str, allowed: str) -> InputError:
    return InputError(f"{file}: {found}; allowed: {allowed}")


def bytes_of_file(path: Path) -> bytes:
    """At most 1 GiB, unpacked where gzip packed it. InputError."""
    file = os.fspath(path)
    try:
        if os.path.isdir(file):
            raise wrong(file, "is a folder", "files; name those in it, as with FOLDER/*.json")
        with open(file, "rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise wrong(file, f"cannot be read: {reason}", "a file that exists and may be read") from error
    except ValueError as error:  # a name with a NUL
        raise wrong(repr(file), f"is no name of a file: {error}", "a file that exists and may be read") from error
    if data[:2] == b"\x1f\x8b":
        data = _unpacked(file, data)
    if len(data) > MOST_BYTES:
        raise wrong(file, "is larger than 1 GiB", "a smaller one: record fewer steps, or cut the log")
    if not data.strip():
        raise wrong(file, "is empty", ALLOWED)
    return data


def _unpacked(file: str, data: bytes) -> bytes:
    try:
        with gzip.open(io.BytesIO(data)) as packed:
            return packed.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise wrong(file, f"is packed with gzip and cut off or damaged ({error})", "the whole file; copy it again") from error


def text_of(data: bytes) -> Optional[str]:
    """UTF-8 or UTF-16, with or without a mark; None for what is no text."""
    for mark, code in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            break
    else:
        code = "utf-16-le" if data[1:2] == b"\0" else "utf-16-be" if data[:1] == b"\0" else "utf-8"
    try:
        text = data.decode(code)
    except UnicodeDecodeError as error:
        if code != "utf-8" or error.start < len(data) - 4:
            return None
        text = data[: error.start].decode("utf-8")  # cut inside of its last letter
    return None if "\0" in text else text


def json_of(text: str) -> Any:
    """The document, with NaN and Infinity as numbers. ValueError where it is none, RecursionError where it is too deep."""
    return json.loads(text)
