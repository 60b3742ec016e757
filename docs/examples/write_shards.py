#!/usr/bin/env python3
"""write_shards.py TOKENIZER.json OUT.bin TEXT...: texts through a Hugging Face tokenizer into one token shard of llm.c.

It needs the package `tokenizers`. A test runs this file with a tokenizer of its own.
"""
import array
import struct
import sys

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
size = tokenizer.get_vocab_size()
if size > 65536:
    sys.exit(f"{sys.argv[1]}: a vocabulary of {size}; at most 65536 fit into the 16 bits of a token")
tokens = array.array("H")
for name in sys.argv[3:]:
    with open(name, encoding="utf-8") as text:
        tokens.extend(tokenizer.encode(text.read()).ids)
if sys.byteorder == "big":
    tokens.byteswap()
with open(sys.argv[2], "wb") as out:
    out.write(struct.pack("<256i", 20240520, 1, len(tokens), *[0] * 253))
    out.write(tokens.tobytes())
print(f"{sys.argv[2]}: {len(tokens)} tokens; train.model.vocabulary: {size}")
