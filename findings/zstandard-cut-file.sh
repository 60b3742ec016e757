#!/usr/bin/env bash
# The readers of the Python package zstandard take the end of a cut file for the end of the data.
#
# A .zst file whose download broke off reads without an error: stream_reader() and zstandard.open() return the bytes that they could decode. gzip,
# bz2 and lzma of Python raise EOFError, and the program zstd ends with 1 ("premature end"). decompressobj() says it by its
# attribute eof, which is false.
#
# Seen with zstandard 0.25.0: 888,645 bytes hold 2,000,000. Without the last 5,000, 1,966,080 come back and no error. Needs Python 3 with venv
# and the package index; leaves nothing behind.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet zstandard==0.25.0
cd "$folder"
venv/bin/python - <<'PYTHON'
import gzip
import random
import zstandard

random.seed(1)
text = "".join(random.choices("abcdefgh", k=2_000_000)).encode()
packed = zstandard.ZstdCompressor().compress(text)
open("cut.zst", "wb").write(packed[:-5000])
open("cut.gz", "wb").write(gzip.compress(text)[:-5000])
with zstandard.open("cut.zst", "rb") as stream:
    of_open = len(stream.read())
of_reader = len(zstandard.ZstdDecompressor().stream_reader(open("cut.zst", "rb"), read_across_frames=True).read())
print(f"{len(packed)} bytes hold {len(text)}; without the last 5000: open() {of_open}, stream_reader() {of_reader}, no error")
assert 0 < of_open < len(text) and 0 < of_reader < len(text), "the behaviour has changed"
frame = zstandard.ZstdDecompressor().decompressobj()
frame.decompress(packed[:-5000])
assert frame.eof is False, "the behaviour has changed"
try:
    gzip.open("cut.gz").read()
    raise SystemExit("the behaviour of gzip has changed")
except EOFError as error:
    print("gzip:", error)
PYTHON
