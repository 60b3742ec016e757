"""Token shards (llm.c's) from text, JSON lines or parquet, with any tokenizer.json of Hugging Face.

    python -m longhaul.shards tokenizer.json -o my-data FILE...

A document is a row of a .parquet file, a line of a .jsonl (or .jsonl.gz) file, or a whole file of any other name; --split cuts
such files at empty lines or at each line. Documents are held out by a hash of their text, so copies of one lie on one side and
a file that is added later moves none. FOLDER gets train-*.bin, validation-*.bin and the tokenizer, which
`longhaul-train export` finds there. Needs `pip install tokenizers`, for parquet `pyarrow` too.
"""
from __future__ import annotations

import argparse
import array
import gzip
import hashlib
import importlib
import json
import pathlib
import re
import shutil
import struct
import sys
from typing import Any, BinaryIO, Iterable, Iterator, List, NamedTuple, Optional

from .errors import InputError, exit_status, reading

MAGIC, VERSION, HEADER = 20240520, 1, 256  # core/scenario/training_text.h
MOST_TOKENS_OF_A_VOCABULARY = 65536        # a token has 16 bits
BATCH = 1000                               # documents that are encoded at once, on all cores


def module(name: str, why: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"{why}: needs the package {name.split('.')[0]}, which this Python cannot import ({error}); "
                         f"pip install {name.split('.')[0]}") from error


def documents(file: pathlib.Path, field: str, split: str) -> Iterator[str]:
    """InputError names the file and the row or line that has no text in `field`."""
    def text_of(row: Any, where: str) -> str:
        found = row.get(field) if isinstance(row, dict) else None
        if not isinstance(found, str):
            raise InputError(f"{file}: {where}: found no text in the field \"{field}\"; allowed: a text in each; --field names another")
        return found

    if file.suffix == ".parquet":
        parquet = module("pyarrow.parquet", str(file)).ParquetFile(file)
        if field not in parquet.schema_arrow.names:
            raise InputError(f"{file}: has no column \"{field}\"; allowed for --field: {', '.join(parquet.schema_arrow.names)}")
        number = 0
        for batch in parquet.iter_batches(batch_size=BATCH, columns=[field]):
            for row in batch.to_pylist():
                number += 1
                yield text_of(row, f"row {number}")
    elif file.suffixes[-1:] == [".jsonl"] or file.suffixes[-2:] == [".jsonl", ".gz"]:
        with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield text_of(json.loads(line), f"line {number}")
    else:
        text = file.read_text(encoding="utf-8")
        pieces = {"file": lambda: [text], "paragraph": lambda: re.split(r"\n\s*\n", text), "line": text.splitlines}[split]()
        yield from (piece for piece in pieces if piece.strip())


def is_held_out(text: str, share: float) -> bool:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") < share * 2 ** 64


class Written(NamedTuple):
    files: int
    documents: int
    tokens: int


class Shards:
    """FOLDER/NAME-000.bin, NAME-001.bin, … of at most `most` tokens each. The header is written last: a cut file is none."""

    def __init__(self, folder: pathlib.Path, name: str, most: int) -> None:
        self.folder, self.name, self.most = folder, name, most
        self.files: List[pathlib.Path] = []
        self.out: Optional[BinaryIO] = None
        self.here = self.tokens = self.documents = 0

    def add(self, ids: List[int]) -> None:
        self.documents += 1
        for start in range(0, len(ids), self.most):  # a document longer than a shard
            piece = array.array("H", ids[start:start + self.most])
            if self.out is None or self.here + len(piece) > self.most:
                self.end_file()
                self.files.append(self.folder / f"{self.name}-{len(self.files):03}.bin")
                self.out = open(self.files[-1], "wb")
                self.out.write(bytes(4 * HEADER))
            if sys.byteorder == "big":
                piece.byteswap()
            self.out.write(piece.tobytes())
            self.here += len(piece)
            self.tokens += len(piece)

    def end_file(self) -> None:
        if self.out is not None:
            self.out.seek(0)
            self.out.write(struct.pack("<3i", MAGIC, VERSION, self.here))
            self.out.close()
        self.out, self.here = None, 0

    def remove(self) -> None:
        if self.out is not None:
            self.out.close()
        for file in self.files:
            file.unlink()


def make(tokenizer_file: str, files: Iterable[str], folder: str, *, field: str = "text", split: str = "file",
         held_out: float = 0.02, end: Optional[str] = None, most: int = 100_000_000) -> dict:
    """Writes the shards and returns {"vocabulary", "train", "validation"}: what a scenario needs, and two `Written`."""
    tokenizers = module("tokenizers", tokenizer_file)
    try:
        tokenizer = tokenizers.Tokenizer.from_file(tokenizer_file)
    except Exception as error:  # the package raises no narrower one
        raise InputError(f"{tokenizer_file}: is no tokenizer ({error}); allowed: a tokenizer.json of Hugging Face") from error
    vocabulary = max(tokenizer.get_vocab().values()) + 1
    if vocabulary > MOST_TOKENS_OF_A_VOCABULARY:
        raise InputError(f"{tokenizer_file}: has a vocabulary of {vocabulary}; allowed: at most {MOST_TOKENS_OF_A_VOCABULARY}, as a token "
                         "of a shard has 16 bits: take a smaller tokenizer, as GPT-2's (50257)")
    end_ids = [] if end is None else [tokenizer.token_to_id(end)]
    if None in end_ids:
        raise InputError(f"--end: found \"{end}\", which is no token of {tokenizer_file}; allowed: one of its vocabulary")
    out = pathlib.Path(folder)
    if any(out.glob("*.bin")):
        raise InputError(f"-o: {folder} already holds .bin files; allowed: a folder without")
    out.mkdir(parents=True, exist_ok=True)
    train, validation = (Shards(out, name, most) for name in ("train", "validation"))

    def encode(batch: List[str]) -> None:
        for text, encoded in zip(batch, tokenizer.encode_batch(batch, add_special_tokens=False)):
            (validation if is_held_out(text, held_out) else train).add(list(encoded.ids) + end_ids)

    try:
        batch: List[str] = []
        for file in map(pathlib.Path, files):
            if not file.is_file():
                raise InputError(f"{file}: does not exist; allowed: .parquet, .jsonl, .jsonl.gz or text in UTF-8")
            with reading(file):
                for text in documents(file, field, split):
                    batch.append(text)
                    if len(batch) == BATCH:
                        encode(batch)
                        batch = []
        encode(batch)
        for part, name in ((train, "is left to train on"), (validation, "is held out")):
            if part.tokens == 0 and (part is train or held_out > 0):
                raise InputError(f"--held-out: found {held_out}, and none of {train.documents + validation.documents} documents {name}; "
                                 "allowed: a share that leaves some on both sides, 0 to hold out none, or --split paragraph or line")
    except BaseException:
        train.remove()
        validation.remove()
        raise
    for part in (train, validation):
        part.end_file()
    shutil.copyfile(tokenizer_file, out / "tokenizer.json")
    return {"vocabulary": vocabulary,
            **{part.name: Written(len(part.files), part.documents, part.tokens) for part in (train, validation)}}


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m longhaul.shards", description=__doc__.split("\n")[0])
    parser.add_argument("tokenizer", metavar="tokenizer.json", help=f"of at most {MOST_TOKENS_OF_A_VOCABULARY} tokens")
    parser.add_argument("files", nargs="+", metavar="FILE", help="*.parquet, *.jsonl, *.jsonl.gz, or text in UTF-8")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER")
    parser.add_argument("--field", default="text", help="of a row or line; default text")
    parser.add_argument("--split", default="file", choices=("file", "paragraph", "line"), help="what a document of a text is; default file")
    parser.add_argument("--held-out", type=float, default=0.02, metavar="SHARE", help="of the documents, for validation; default 0.02")
    parser.add_argument("--end", metavar="TOKEN", help="put after each document, as \"<|endoftext|>\"; default nothing")
    parser.add_argument("--shard-tokens", type=int, default=100_000_000, help="most tokens of a file; default 100000000")
    options = parser.parse_args(arguments)

    def write() -> None:
        if not 0 <= options.held_out < 1:
            raise InputError(f"--held-out: found {options.held_out}; allowed: at least 0, below 1")
        if not 1 <= options.shard_tokens < 2 ** 31:
            raise InputError(f"--shard-tokens: found {options.shard_tokens}; allowed: 1 to 2147483647")
        made = make(options.tokenizer, options.files, options.output, field=options.field, split=options.split,
                    held_out=options.held_out, end=options.end, most=options.shard_tokens)
        data = {}
        for name, key in (("train", "shards"), ("validation", "validation")):
            if made[name].files:
                print(f"{name}: {made[name].tokens} tokens of {made[name].documents} documents in {made[name].files} files")
                data[key] = [f"{options.output}/{name}-*.bin"]
        print('"train":', json.dumps({"model": {"vocabulary": made["vocabulary"]}, "data": data}))
    return exit_status(write)


if __name__ == "__main__":
    sys.exit(main())
