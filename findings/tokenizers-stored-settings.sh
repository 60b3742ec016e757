#!/usr/bin/env bash
# tokenizers applies what a tokenizer.json stores; transformers does not.
#
# A tokenizer.json can hold truncation, padding and, for BPE, dropout. Tokenizer.from_file() of the package tokenizers applies all
# three at each encode(), without a word. AutoTokenizer of transformers reads the same file and encodes whole texts, but keeps the
# dropout: two encodings of one text differ. Both turn a special token's text inside a document into that token.
#
# Seen with tokenizers 0.23.2 and transformers 5.23.0: 60 texts of 40 words are 960 tokens (truncation to 16), 3840 (padding to 64)
# or 2400 (transformers, with either). Needs Python 3 with venv and the package index; leaves nothing behind.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tokenizers==0.23.2 transformers==5.23.0
cd "$folder"
venv/bin/python - <<'PYTHON'
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

texts = ["one two " * 20] * 60


def words(name, **stored):
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0, "one": 1, "two": 2}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if "truncation" in stored:
        tokenizer.enable_truncation(stored["truncation"])
    if "padding" in stored:
        tokenizer.enable_padding(length=stored["padding"])
    tokenizer.save(name)
    plain = sum(len(found.ids) for found in Tokenizer.from_file(name).encode_batch(texts))
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_file=name)
    return plain, sum(map(len, theirs(texts)["input_ids"]))


found = {"truncation": words("cut.json", truncation=16), "padding": words("filled.json", padding=64)}
print("tokens by tokenizers, by transformers:", found)
assert found == {"truncation": (960, 2400), "padding": (3840, 2400)}, "the behaviour has changed"

merges = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2, "<end>": 3}, [("a", "b")], dropout=0.5))
merges.add_special_tokens(["<end>"])
merges.save("bpe.json")
again = Tokenizer.from_file("bpe.json")
ways = {tuple(again.encode("ab" * 20).ids) for _ in range(20)}
theirs = transformers.PreTrainedTokenizerFast(tokenizer_file="bpe.json")
ways_of_theirs = {tuple(theirs("ab" * 20)["input_ids"]) for _ in range(20)}
print("encodings of one text, of 20 tries, with dropout stored:", len(ways), len(ways_of_theirs))
assert len(ways) > 1 and len(ways_of_theirs) > 1, "the behaviour has changed"

again.model.dropout = None
inside = again.encode("ab<end>ab", add_special_tokens=False).ids
print("a special token inside a text, add_special_tokens=False:", inside, theirs("ab<end>ab", add_special_tokens=False)["input_ids"][-2:])
assert inside == [2, 3, 2], "the behaviour has changed"
PYTHON
