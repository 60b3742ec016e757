"""The documents of a file, for longhaul.shards: rows of parquet, JSON or CSV, or text; plain or compressed.

What a file is follows from its first bytes, and only then from its name. A wrong guess would train on the syntax of a format,
or on compressed bytes, without an error: whatever is not surely text is read as what it is, or refused.
"""
from __future__ import annotations

import codecs
import csv
import importlib
import io
import itertools
import json
import pathlib
import re
from typing import Any, Iterator, List, NamedTuple, TextIO

from .compressed import NAMES, decompressed
from .errors import InputError

FORMS = ("auto", "text", "json", "csv", "parquet")
ALLOWED = "parquet, JSON lines, a JSON array, CSV, or text in UTF-8; plain, or compressed with gzip, bzip2, xz or zstd"
ROWS = 1000                    # of parquet that are in memory at once
LINES = 100                    # of a text, which say whether it is JSON
FORM_OF = {**dict.fromkeys((".json", ".jsonl", ".ndjson", ".jsonlines", ".ldjson", ".jl"), "json"), ".csv": "csv", ".tsv": "csv",
           ".parquet": "parquet"}
MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
         (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
JSON_NAMES = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number",
              float: "a number", type(None): "null"}


class Row(NamedTuple):
    where: str
    value: Any


def module(name: str, why: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"{why}: needs the package {name.split('.')[0]}, which this Python cannot import ({error}); "
                         f"pip install {name.split('.')[0]}") from error


def documents(file: pathlib.Path, field: str = "text", split: str = "file", form: str = "auto") -> Iterator[str]:
    """InputError names the file and the row or line that has no text in `field`, and what the file is if it cannot be read."""
    with decompressed(file) as (stream, compression):
        head = stream.peek(4096)  # type: ignore[attr-defined]
        if form == "auto":
            form = "parquet" if head.startswith(b"PAR1") else FORM_OF.get(suffix_inside(file), "auto")
        if form == "parquet":
            if compression:
                raise InputError(f"{file}: is parquet inside of {compression}; decompress it first")
            yield from (text_of(file, row, field) for row in parquet_rows(file, field))
            return
        if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
            raise InputError(f"{file}: is an Arrow file; allowed: {ALLOWED}; datasets writes parquet with to_parquet()")
        encoding = next((name for mark, name in MARKS if head.startswith(mark)), "utf-8")
        text = io.TextIOWrapper(stream, encoding=encoding, newline="" if form == "csv" else None)
        try:
            if form == "json":
                yield from (text_of(file, row, field) for row in json_rows(file, text))
            elif form == "csv":
                yield from (text_of(file, row, field) for row in csv_rows(file, text))
            else:
                yield from pieces(file, text.read(), split, form)
        except UnicodeDecodeError as error:
            if file.suffix.lower() in NAMES:
                raise InputError(f"{file}: is compressed with {NAMES[file.suffix.lower()]}, by its name; decompress it first") from error
            raise InputError(f"{file}: is not text in UTF-8 (byte {error.object[error.start]:#04x}: {error.reason}); "
                             f"allowed: {ALLOWED}; iconv converts other texts") from error


def suffix_inside(file: pathlib.Path) -> str:
    """.jsonl of a.jsonl, A.JSONL and a.jsonl.gz."""
    return pathlib.Path(re.sub(r"\.(gz|bz2|xz|zst|zstd)$", "", file.name.lower())).suffix


def pieces(file: pathlib.Path, text: str, split: str, form: str) -> Iterator[str]:
    if "\0" in text:
        raise InputError(f"{file}: holds a byte 0, so it is no text in UTF-8; allowed: {ALLOWED}")
    if form == "auto" and is_json(text):
        raise InputError(f"{file}: holds JSON, by its content; --format json reads its documents, --format text takes the JSON itself")
    found = {"file": lambda: [text], "paragraph": lambda: re.split(r"\n\s*\n", text), "line": lambda: text.split("\n")}[split]()
    yield from (piece for piece in found if piece.strip())


def is_json(text: str) -> bool:
    """Objects on most of the first lines, or one value of several: what would be syntax to a model."""
    if not text.lstrip()[:1] in ("{", "["):
        return False
    lines = list(itertools.islice((line for line in io.StringIO(text) if line.strip()), LINES))
    if 2 * sum(isinstance(parsed(line), dict) for line in lines) > len(lines):
        return True
    whole = parsed(text)
    return isinstance(whole, dict) or isinstance(whole, list) and isinstance((whole or [0])[0], (dict, str))


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def text_of(file: pathlib.Path, row: Row, field: str) -> str:
    found = row.value.get(field) if isinstance(row.value, dict) else None
    if not isinstance(found, str):
        if not isinstance(row.value, dict):
            what = f"it is {JSON_NAMES.get(type(row.value), type(row.value).__name__)}, where an object is needed"
        elif field in row.value:
            what = f"it holds {JSON_NAMES.get(type(found), type(found).__name__)}"
        else:
            what = f"its fields: {', '.join(map(str, list(row.value)[:12])) or 'none'}"
        raise InputError(f"{file}: {row.where}: found no text in the field \"{field}\" ({what}); allowed: a text in each; "
                         "--field names another, --format text takes the file itself as text")
    if not found.isascii() and any("\ud800" <= letter <= "\udfff" for letter in found):
        raise InputError(f"{file}: {row.where}: found half of a surrogate pair in the field \"{field}\", which is no character; "
                         "allowed: Unicode text")
    return found


def parquet_rows(file: pathlib.Path, field: str) -> Iterator[Row]:
    parquet = module("pyarrow.parquet", str(file)).ParquetFile(file)
    if field not in parquet.schema_arrow.names:
        raise InputError(f"{file}: has no column \"{field}\"; allowed for --field: {', '.join(parquet.schema_arrow.names)}")
    number = itertools.count(1)
    for batch in parquet.iter_batches(batch_size=ROWS, columns=[field]):
        yield from (Row(f"row {next(number)}", row) for row in batch.to_pylist())


def csv_rows(file: pathlib.Path, lines: TextIO) -> Iterator[Row]:
    csv.field_size_limit(2 ** 31 - 1)  # 131,072 letters otherwise
    table = csv.DictReader(lines, delimiter="\t" if suffix_inside(file) == ".tsv" else ",", strict=True)
    yield from (Row(f"line {table.line_num}", row) for row in table)


def json_rows(file: pathlib.Path, lines: TextIO) -> Iterator[Row]:
    """Of JSON lines, one at a time; of a file that is none, of the whole: an array's elements, or values one after another."""
    def value_of(text: str, line: int) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"{file}: line {line}: is not JSON ({error.msg}); allowed: JSON lines, or an array of objects; "
                             "--format text takes the file itself as text") from error

    begin: List[str] = []
    for line in lines:
        begin.append(line)
        if line.strip():
            break
    if not "".join(begin).strip():
        return
    rest = ((number, line) for number, line in enumerate(lines, len(begin) + 1) if line.strip())
    try:
        first = json.loads(begin[-1])
    except json.JSONDecodeError:
        yield from whole_rows("".join(begin) + lines.read(), value_of)
        return
    second = next(rest, None)
    if second is None:
        yield from elements(Row(f"line {len(begin)}", first))
        return
    yield Row(f"line {len(begin)}", first)
    for number, line in itertools.chain([second], rest):
        yield Row(f"line {number}", value_of(line, number))


def whole_rows(text: str, value_of: Any) -> Iterator[Row]:
    decoder, blank, values, at = json.JSONDecoder(), re.compile(r"\s*"), [], 0  # type: Any, Any, List[Any], int
    while True:
        at = blank.match(text, at).end()
        if at == len(text):
            break
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            value_of("", error.lineno)
        values.append(value)
    rows = [Row(f"value {number}", value) for number, value in enumerate(values, 1)]
    yield from elements(rows[0]) if len(rows) == 1 else rows


def elements(row: Row) -> Iterator[Row]:
    if isinstance(row.value, list):
        yield from (Row(f"element {number}", element) for number, element in enumerate(row.value, 1))
    else:
        yield row
