"""A file's bytes without their compression, which is known by the first bytes and not by the name.

gzip, bzip2 and xz are Python's own; zstd is of Python 3.14 or of the package zstandard. Others are refused by their names. A cut
or damaged file is an error: text that silently ends early would be trained on.
"""
from __future__ import annotations

import bz2
import contextlib
import gzip
import importlib
import io
import lzma
import pathlib
import re
import zlib
from typing import Any, BinaryIO, Dict, Iterator, Optional, Tuple

from .errors import InputError

# RFC 1952; bzip2's block or end; the .xz format 1.2; RFC 8878: a frame, or one to skip, with which pzstd begins;
# xz's older form (the usual 2^16 n bytes of dictionary, a size or none).
READ = {"gzip": rb"\x1f\x8b", "bzip2": rb"BZh[1-9](1AY&SY|\x17rE8P\x90)", "xz": rb"\xfd7zXZ\x00",
        "zstd": rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", "lzma": rb"\x5d\x00\x00.{2}(\xff{8}|.{5}\x00{3})"}
REFUSED = {"lz4": rb"[\x02\x04]\x22\x4d\x18|\x02\x21\x4c\x18", "compress": rb"\x1f\x9d", "lzip": rb"LZIP\x01", "lzop": rb"\x89LZO\x00",
           "snappy": rb"\xff\x06\x00\x00sNaPpY", "zip": rb"PK(\x03\x04|\x05\x06)", "7-Zip": rb"7z\xbc\xaf\x27\x1c",
           "RAR": rb"Rar!\x1a\x07"}
NAMES = {".br": "brotli", ".sz": "snappy", ".zz": "zlib"}  # of those without first bytes of their own
CHUNK = 2 ** 20
PACKAGES = ("compression.zstd", "zstandard")  # of Python 3.14; of PyPI


def kind_in(kinds: Dict[str, bytes], head: bytes) -> Optional[str]:
    return next((kind for kind, first in kinds.items() if re.match(first, head, re.DOTALL)), None)


class Frames(io.RawIOBase):
    """What the frames of a zstd file hold. The reader of zstandard takes the end of a cut file for the end of the data."""

    def __init__(self, stream: BinaryIO, package: Any) -> None:
        self.stream, self.package = stream, package
        self.frame: Any = None
        self.ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.ready:
            data = self.frame.unused_data if self.frame is not None and self.frame.eof else b""
            data = data or self.stream.read(CHUNK)
            if not data:
                if self.frame is not None and not self.frame.eof:
                    raise EOFError("it ends inside of a frame")
                return 0
            if self.frame is None or self.frame.eof:
                decompressor = self.package.ZstdDecompressor()
                self.frame = decompressor.decompressobj() if hasattr(decompressor, "decompressobj") else decompressor
            self.ready = self.frame.decompress(data)
        count = min(len(buffer), len(self.ready))
        buffer[:count], self.ready = self.ready[:count], self.ready[count:]
        return count

    def close(self) -> None:
        self.stream.close()
        super().close()


def open_zstd(file: pathlib.Path) -> BinaryIO:
    for name in PACKAGES:
        with contextlib.suppress(ImportError):
            package = importlib.import_module(name)
            return io.BufferedReader(Frames(open(file, "rb"), package))
    raise InputError(f"{file}: is compressed with zstd; decompress it first (zstd -d), or pip install zstandard")


OPEN: Dict[Optional[str], Any] = {None: lambda file: open(file, "rb"), "gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open,
                                  "lzma": lzma.open, "zstd": open_zstd}


@contextlib.contextmanager
def decompressed(file: pathlib.Path) -> Iterator[Tuple[BinaryIO, Optional[str]]]:
    """A stream with peek(), and what compressed it. What is damaged or cut is an InputError, where it is noticed."""
    with open(file, "rb") as raw:
        head = raw.read(16)
    kind = kind_in(READ, head)
    with OPEN[kind](file) as stream:
        try:
            if kind:
                head = stream.peek(16)
            again = kind_in(REFUSED, head) or (kind and kind_in(READ, head))
            if again:
                raise InputError(f"{file}: is compressed with {again}{' inside of ' + kind if kind else ''}; decompress it first")
            yield stream, kind
        except InputError:
            raise
        except Exception as error:  # each package has its own, and OSError without a strerror
            of_package = isinstance(error, (EOFError, zlib.error, lzma.LZMAError)) or type(error).__name__ == "ZstdError"
            if kind and (of_package or isinstance(error, OSError) and error.strerror is None):
                raise InputError(f"{file}: is damaged or cut, as {kind} finds: {error}") from error
            raise
