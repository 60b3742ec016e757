"""The text of a file in any of the encodings that shells write, and the JSON documents in it."""
from __future__ import annotations

import codecs
import gzip
import json
import pathlib
import re
from typing import Any, Dict, List, Tuple

from ..errors import InputError

MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF16_LE, "utf-16-le"),
         (codecs.BOM_UTF16_BE, "utf-16-be"))
SECOND = "_bidir_reverse"  # what iperf3 3.12 and later add to the keys of the second direction


def decoded(raw: bytes) -> str:
    """PowerShell's `>` writes UTF-16 with a mark, Excel UTF-8 with one; terminals may add colour codes."""
    for mark, encoding in MARKS:
        if raw.startswith(mark):
            return raw[len(mark):].decode(encoding, "replace")
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = raw[first:200:2]
        if len(zeros) > 1 and zeros.count(0) > 0.8 * len(zeros):
            return raw.decode(encoding, "replace")
    return re.sub("\x1b\\[[0-9;]*[A-Za-z]", "", raw.decode("utf-8", "replace"))


def text_of(file: str) -> str:
    path = pathlib.Path(file)
    try:
        raw = path.read_bytes()
        if raw.startswith(b"\x1f\x8b"):  # irtt -d compresses
            raw = gzip.decompress(raw)
    except FileNotFoundError:
        raise InputError(f"{file}: does not exist; allowed: a file that a measurement wrote, or a folder of them") from None
    except (OSError, EOFError) as error:
        raise InputError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    text = decoded(raw).replace("\r\n", "\n")
    if not text.strip("\0 \t\r\n") and not file.lower().endswith((".csv", ".tsv")):
        raise InputError(f"{file}: is empty: the test wrote nothing; measure again, or leave the file out")
    return text


def object_with_repeats(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    """iperf3 before 3.12 writes sum_sent and its like twice under one key with --bidir: the second gets the later name."""
    result: Dict[str, Any] = {}
    for key, value in pairs:
        if key in result and key.startswith("sum"):
            key += SECOND
        result.setdefault(key, value)
    return result


def json_documents(file: str, text: str) -> List[Any]:
    """All objects of `text`, one after the other, as --json-stream and appended runs have them, or in an array, as jq -s
    has them. Other lines before the first and between them, as warnings on the same stream, are passed over."""
    decoder = json.JSONDecoder(object_pairs_hook=object_with_repeats)
    documents: List[Any] = []
    at = 0
    while True:
        start = re.compile(r"\s*[\[,]?\s*\{").match(text, at) or re.compile(r"^[ \t]*\{", re.MULTILINE).search(text, at)
        if not start:
            if re.match(r"\s*\[\s*\{", text) and "]" not in text[at:]:
                raise InputError(f"{file}: ends before its array does: the file was cut off; measure again, or leave the file out")
            return documents
        try:
            value, at = decoder.raw_decode(text, start.end() - 1)
        except RecursionError:
            raise InputError(f"{file}: is nested too deeply to be a measurement") from None
        except json.JSONDecodeError as error:
            line = text.count("\n", 0, error.pos) + 1
            if not text[error.pos:].strip() or error.msg.startswith("Unterminated"):
                raise InputError(f"{file}: ends in the middle of its JSON (line {line}): the test was cut off; measure again, or "
                                 "leave the file out") from None
            raise InputError(f"{file}: line {line} is no JSON ({error.msg}); allowed: the file as the tool wrote it") from None
        documents.append(value)


def is_json(text: str) -> bool:
    return re.search(r"^\s*(\[\s*)?\{\s*(\"|\}|$)", text[:4000], re.MULTILINE) is not None
