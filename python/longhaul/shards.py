"""Token shards (llm.c's) from text, JSON lines or parquet, with any tokenizer.json of Hugging Face.

    python -m longhaul.shards tokenizer.json -o my-data FILE...

A document is a row of parquet, JSON lines, a JSON array or CSV, or a whole file of text; --split cuts text at empty lines or at
each line. documents.py says what is read. Documents are held out by a hash of their text, so copies of one lie on one side and
a file that is added later moves none. FOLDER gets train-*.bin, validation-*.bin and the tokenizer, which
`longhaul-train export` finds there. Needs `pip install tokenizers`, for parquet `pyarrow`, for zstd `zstandard` too.

Every document is encoded whole and always in the same way: truncation, padding and random merges (BPE dropout), which a
tokenizer.json can hold, are switched off, and said. Special tokens that stand inside a text become those
tokens, as in transformers, and are counted; --special-tokens text takes them as ordinary text.
"""
from __future__ import annotations

import argparse
import array
import hashlib
import json
import pathlib
import shutil
import struct
import sys
from typing import Any, BinaryIO, Dict, Iterable, List, NamedTuple, Optional

from .documents import ALLOWED, FORMS, documents, module
from .errors import InputError, exit_status, reading

MAGIC, VERSION, HEADER = 20240520, 1, 256  # core/scenario/training_text.h
MOST_TOKENS_OF_A_VOCABULARY = 65536        # a token has 16 bits
BATCH = 1000                               # documents that are encoded at once, on all cores


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


def loaded(file: str, special_tokens: str) -> Any:
    try:
        tokenizer = module("tokenizers", file).Tokenizer.from_file(file)
    except InputError:
        raise
    except Exception as error:  # the package raises no narrower one
        raise InputError(f"{file}: is no tokenizer ({error}); allowed: a tokenizer.json of Hugging Face") from error
    if special_tokens == "text":
        tokenizer.encode_special_tokens = True
    return tokenizer


def encode_whole(tokenizer: Any) -> List[str]:
    """Switches off what is stored in a tokenizer.json and would cut, fill or vary a document; returns the words for it."""
    notes = []
    if tokenizer.truncation is not None:
        notes.append(f"its truncation to {tokenizer.truncation['max_length']} tokens is not applied")
        tokenizer.no_truncation()
    if tokenizer.padding is not None:
        notes.append("its padding is not applied")
        tokenizer.no_padding()
    if getattr(tokenizer.model, "dropout", None):  # of BPE
        notes.append(f"its dropout of {tokenizer.model.dropout:g} is not applied")
        tokenizer.model.dropout = None
    return notes


def make(tokenizer_file: str, files: Iterable[str], folder: str, *, field: str = "text", split: str = "file",
         held_out: float = 0.02, end: Optional[str] = None, most: int = 100_000_000, form: str = "auto",
         special_tokens: str = "token") -> dict:
    """Writes the shards and returns {"vocabulary", "train", "validation", "special", "notes"}: what a scenario needs, two
    `Written`, how often each special token stood inside a text, and what of the tokenizer was not applied."""
    tokenizer = loaded(tokenizer_file, special_tokens)
    notes = encode_whole(tokenizer)
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
    specials = {number: token.content for number, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    found: Dict[str, int] = {}

    def encode(batch: List[str]) -> None:
        for text, encoded in zip(batch, tokenizer.encode_batch(batch, add_special_tokens=False)):
            for number in specials.keys() & set(encoded.ids):
                found[specials[number]] = found.get(specials[number], 0) + encoded.ids.count(number)
            (validation if is_held_out(text, held_out) else train).add(list(encoded.ids) + end_ids)

    try:
        batch: List[str] = []
        for file in map(pathlib.Path, files):
            if not file.is_file():
                raise InputError(f"{file}: {'is a folder' if file.is_dir() else 'does not exist'}; allowed: {ALLOWED}")
            with reading(file):
                for text in documents(file, field, split, form):
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
    return {"vocabulary": vocabulary, "special": found, "notes": notes,
            **{part.name: Written(len(part.files), part.documents, part.tokens) for part in (train, validation)}}


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m longhaul.shards", description=__doc__.split("\n")[0])
    parser.add_argument("tokenizer", metavar="tokenizer.json", help=f"of at most {MOST_TOKENS_OF_A_VOCABULARY} tokens")
    parser.add_argument("files", nargs="+", metavar="FILE", help=ALLOWED)
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER")
    parser.add_argument("--field", default="text", help="of a row or line; default text")
    parser.add_argument("--format", default="auto", choices=FORMS, help="of all files; default auto: each by its first bytes and name")
    parser.add_argument("--split", default="file", choices=("file", "paragraph", "line"), help="what a document of a text is; default file")
    parser.add_argument("--held-out", type=float, default=0.02, metavar="SHARE", help="of the documents, for validation; default 0.02")
    parser.add_argument("--end", metavar="TOKEN", help="put after each document, as \"<|endoftext|>\"; default nothing")
    parser.add_argument("--special-tokens", default="token", choices=("token", "text"),
                        help="what \"<|endoftext|>\" inside of a text becomes: that token, or ordinary text; default token")
    parser.add_argument("--shard-tokens", type=int, default=100_000_000, help="most tokens of a file; default 100000000")
    options = parser.parse_args(arguments)

    def write() -> None:
        if not 0 <= options.held_out < 1:
            raise InputError(f"--held-out: found {options.held_out}; allowed: at least 0, below 1")
        if not 1 <= options.shard_tokens < 2 ** 31:
            raise InputError(f"--shard-tokens: found {options.shard_tokens}; allowed: 1 to 2147483647")
        made = make(options.tokenizer, options.files, options.output, field=options.field, split=options.split,
                    held_out=options.held_out, end=options.end, most=options.shard_tokens, form=options.format,
                    special_tokens=options.special_tokens)
        for note in made["notes"]:
            print(f"{options.tokenizer}: {note}: each document is encoded whole, and always in the same way")
        if made["special"]:
            counts = ", ".join(f"{token} {count} x" for token, count in made["special"].items())
            print(f"special tokens inside texts: {counts}; each became that token, as in transformers "
                  "(--special-tokens text: ordinary text)")
        data = {}
        for name, key in (("train", "shards"), ("validation", "validation")):
            if made[name].files:
                print(f"{name}: {made[name].tokens} tokens of {made[name].documents} documents in {made[name].files} files")
                data[key] = [f"{options.output}/{name}-*.bin"]
        print('"train":', json.dumps({"model": {"vocabulary": made["vocabulary"]}, "data": data}))
    return exit_status(write)


if __name__ == "__main__":
    sys.exit(main())
