#!/usr/bin/env python3
"""Token shards from text, JSON lines and parquet, read back by longhaul and by a training. The packages tokenizers, pyarrow
and transformers are tried where this Python has them; else a stand-in for which a word is a token.

    shards_test.py LONGHAUL SOURCE_FOLDER
"""
import contextlib
import gzip
import io
import json
import pathlib
import struct
import subprocess
import sys
import types
import unittest
from unittest import mock

from in_a_folder import LONGHAUL, InAFolder, has  # before the package, which it finds

import longhaul
from longhaul import shards

TRAINER = pathlib.Path(LONGHAUL).parent / "longhaul-train"


class Words:
    """The words of a file, numbered; a number as the last one is the size of a vocabulary with a gap. <end> is a special token;
    "cut 3" on a line of its own is a stored truncation, "fill 9" a stored padding."""

    truncation = padding = None
    encode_special_tokens = False
    model = types.SimpleNamespace()

    @classmethod
    def from_file(cls, name):
        *stored, line = pathlib.Path(name).read_text().splitlines()
        words, found = line.split(), cls()
        for setting, length in map(str.split, stored):
            setattr(found, *{"cut": ("truncation", {"max_length": int(length)}), "fill": ("padding", {"length": int(length)})}[setting])
        found.vocabulary = {word: int(word) - 1 if word.isdigit() else number for number, word in enumerate(words)}
        found.get_vocab, found.token_to_id = lambda: found.vocabulary, found.vocabulary.get
        return found

    def no_truncation(self):
        self.truncation = None

    def no_padding(self):
        self.padding = None

    def get_added_tokens_decoder(self):
        return {number: types.SimpleNamespace(content=word, special=True) for word, number in self.vocabulary.items() if word == "<end>"}

    def encode_batch(self, texts, add_special_tokens):
        assert not add_special_tokens
        return [types.SimpleNamespace(ids=self.ids(text)) for text in texts]

    def ids(self, text):
        words = [word for word in text.split() if word != "<end>" or not self.encode_special_tokens]
        ids = [self.vocabulary[word] for word in words][:self.truncation["max_length"] if self.truncation else None]
        return ids + [0] * ((self.padding["length"] if self.padding else 0) - len(ids))


class OfShards(InAFolder):
    def main(self, *arguments):
        """(status, what it printed)"""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = shards.main([str(word) for word in arguments])
        return status, said.getvalue()

    def tokens(self, pattern):
        """By the format's definition, file after file."""
        found = []
        for file in sorted(self.folder.glob(pattern)):
            shard = file.read_bytes()
            magic, version, count = struct.unpack("<3i", shard[:12])
            self.assertEqual((magic, version, len(shard), shard[12:1024]), (20240520, 1, 1024 + 2 * count, bytes(1012)))
            found += struct.unpack(f"<{count}H", shard[1024:])
        return found

    def scenario(self, said):
        """One that trains on the shards, from the line that was printed."""
        train = json.loads("{" + said.splitlines()[-1] + "}")["train"]
        train["model"].update(hidden=8, layers=1, heads=2, ffn=8, context=16)
        return {"name": "shards", "replicas": 2, "methods": [{"name": "ddp"}],
                "train": {"steps": 2, "batch": 2, "evaluate_sequences": 2, "checkpoint_every": 2, **train},
                "workload": {"step_time": {"constant": "1s"}}, "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}}}


class WithWords(OfShards):
    def setUp(self):
        super().setUp()
        patch = mock.patch.dict(sys.modules, {"tokenizers": types.SimpleNamespace(Tokenizer=Words)})
        patch.start()
        self.addCleanup(patch.stop)
        self.tokenizer = self.write("tokenizer.json", "the cat sat on mat end")
        self.out = self.folder / "out"

    def test_documents_follow_each_other_with_an_end_token(self):
        a, b = self.write("a.txt", "the cat sat\n\non the mat"), self.write("b.txt", "mat mat")
        status, said = self.main(self.tokenizer, a, b, "-o", self.out, "--held-out", 0, "--end", "end", "--split", "paragraph",
                                 "--shard-tokens", 5)
        self.assertEqual((status, said.splitlines()[0]), (0, "train: 11 tokens of 3 documents in 3 files"))
        self.assertEqual(self.tokens("out/train-*.bin"), [0, 1, 2, 5, 3, 0, 4, 5, 4, 4, 5])
        self.assertEqual((self.out / "tokenizer.json").read_bytes(), self.tokenizer.read_bytes())

    def test_longhaul_reads_them(self):
        text = self.write("a.txt", "\n".join("the cat sat on mat " + "cat " * i for i in range(200)))
        status, said = self.main(self.tokenizer, text, "-o", self.out, "--split", "line", "--held-out", 0.25)
        self.assertEqual(status, 0, said)
        checked = longhaul.check(self.scenario(said), program=LONGHAUL)
        self.assertEqual(checked["warnings"], [])
        (self.out / "train-000.bin").write_bytes((self.out / "train-000.bin").read_bytes()[:-2])
        with self.assertRaisesRegex(longhaul.InputError, "train-000.bin ends after"):
            longhaul.check(self.scenario(said), program=LONGHAUL)

    def test_copies_of_a_document_lie_on_one_side_and_later_files_move_none(self):
        lines = [" ".join(["cat"] * i) for i in range(1, 1001)]
        self.assertEqual(self.main(self.tokenizer, self.write("a.txt", "\n".join(lines + lines)), "-o", self.out, "--split", "line",
                                   "--end", "end", "--held-out", 0.2)[0], 0)

        def lengths(name):
            found, length = [], 0
            for token in self.tokens(f"out/{name}-*.bin"):
                length = length + 1 if token == 1 else found.append(length) or 0
            return found
        train, validation = lengths("train"), lengths("validation")
        self.assertEqual(sorted(train + validation), sorted(2 * list(range(1, 1001))))
        self.assertFalse(set(train) & set(validation))
        self.assertTrue(130 <= len(set(validation)) <= 270, len(set(validation)))  # 200, 5.5 standard deviations of 12.6
        for length in (1, 500, 1000):
            self.assertEqual(length in validation, shards.is_held_out(lines[length - 1], 0.2))

    def test_truncation_and_padding_of_the_tokenizer_are_not_applied(self):
        text = self.write("a.txt", "the cat sat on mat\n\ncat")
        for name, stored, note in (("cut", "cut 2\n", "its truncation to 2 tokens is not applied"), ("fill", "fill 9\n", "its padding is not applied")):
            status, said = self.main(self.write("stored.json", stored + "the cat sat on mat end"), text, "-o", self.folder / name,
                                     "--held-out", 0, "--split", "paragraph")
            self.assertEqual(status, 0, said)
            self.assertIn(note, said)
            self.assertEqual(self.tokens(f"{name}/train-*.bin"), [0, 1, 2, 3, 4, 1])

    def test_special_tokens_inside_texts_are_counted(self):
        tokenizer, text = self.write("special.json", "the cat <end>"), self.write("a.txt", "the <end> cat <end>\n\ncat")
        status, said = self.main(tokenizer, text, "-o", self.out, "--held-out", 0, "--end", "<end>", "--split", "paragraph")
        self.assertEqual((status, self.tokens("out/*.bin")), (0, [0, 2, 1, 2, 2, 1, 2]))
        self.assertIn("special tokens inside texts: <end> 2 x", said)
        plain = [tokenizer, text, "-o", self.folder / "plain", "--held-out", 0, "--special-tokens", "text"]
        status, said = self.main(*plain)
        self.assertEqual((status, self.tokens("plain/*.bin")), (0, [0, 1, 1]))
        self.assertNotIn("special tokens", said)

    def test_rows_of_json_are_documents(self):
        rows = [{"text": "the cat", "url": "x"}, {"text": "mat", "url": "y"}]
        file = self.write("a.json.gz", "")
        file.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
        status, said = self.main(self.tokenizer, file, self.write("b.json", json.dumps(rows)), "-o", self.out, "--held-out", 0)
        self.assertEqual((status, said.splitlines()[0]), (0, "train: 6 tokens of 4 documents in 1 files"))
        self.assertEqual(self.tokens("out/*.bin"), [0, 1, 4, 0, 1, 4])
        text = self.write("c.txt", json.dumps(rows))
        self.assertIn("holds JSON", self.main(self.tokenizer, text, "-o", self.folder / "c")[1])
        self.assertEqual(self.main(self.tokenizer, text, "-o", self.folder / "c", "--held-out", 0, "--format", "json")[0], 0)
        self.assertEqual(self.tokens("c/*.bin"), [0, 1, 4])

    def test_wrong_input(self):
        text, fields = self.write("a.txt", "the cat"), self.write("a.jsonl", '{"body": "the"}\n{"text": "cat"}\n')
        for words, *arguments in (
                ("vocabulary of 65537; allowed: at most 65536", self.write("large.json", "the 65537"), text),
                ("a.jsonl: line 2: found no text in the field \"body\" (its fields: text)", self.tokenizer, fields, "--field", "body"),
                ("b.jsonl: line 1: is not JSON", self.tokenizer, self.write("b.jsonl", "{")),
                ("is a folder", self.tokenizer, self.folder),
                ("none of 1 documents is held out", self.tokenizer, text, "--held-out", 1e-9),
                ("--end: found \"dog\"", self.tokenizer, text, "--end", "dog"),
                ("b.txt: does not exist", self.tokenizer, text, self.folder / "b.txt"),
                ("--held-out: found 1.0", self.tokenizer, text, "--held-out", 1),
                *([] if has("pyarrow") else [("pip install pyarrow", self.tokenizer, self.write("a.parquet", ""))])):
            status, said = self.main(*arguments, "-o", self.out)
            self.assertEqual(status, 2, said)
            self.assertIn(words, said)
            self.assertEqual(list(self.folder.glob("out/*.bin")), [])
        all_words = [self.write("all.json", "the 65536"), self.write("c.txt", "65536")]
        self.assertEqual(self.main(*all_words, "-o", self.out, "--held-out", 0)[0], 0)
        self.assertEqual(self.tokens("out/*.bin"), [65535])
        self.assertIn("already holds .bin files", self.main(self.tokenizer, text, "-o", self.out)[1])


@unittest.skipUnless(has("tokenizers"), "the package tokenizers is not installed")
class WithHuggingFace(OfShards):
    LINES = [f"Zug {i} fährt um {i % 24}:05 nach Köln — naïve 東京 {'und weiter ' * (i % 7)}" for i in range(400)]

    def setUp(self):
        super().setUp()
        import tokenizers
        tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = tokenizers.decoders.ByteLevel()
        tokenizer.train_from_iterator(self.LINES, tokenizers.trainers.BpeTrainer(
            vocab_size=400, special_tokens=["<|end|>"], initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
        self.tokenizer = str(self.folder / "bpe.json")
        tokenizer.save(self.tokenizer)
        self.decode = tokenizer.decode

    def made(self, name, file, *options):
        status, said = self.main(self.tokenizer, file, "-o", self.folder / name, "--held-out", 0.1, "--end", "<|end|>", *options)
        self.assertEqual(status, 0, said)
        return said

    def test_text_json_lines_and_parquet_are_the_same_tokens(self):
        self.made("text", self.write("a.txt", "\n".join(self.LINES)), "--split", "line")
        rows = [{"id": i, "body": line} for i, line in enumerate(self.LINES)]
        with gzip.open(self.folder / "a.jsonl.gz", "wt", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)
        self.made("json", self.folder / "a.jsonl.gz", "--field", "body")
        names = ["json"] + ["parquet"] * has("pyarrow")
        if has("pyarrow"):
            import pyarrow.parquet
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), self.folder / "a.parquet")
            self.made("parquet", self.folder / "a.parquet", "--field", "body")
            self.assertIn("has no column \"text\"; allowed for --field: id, body",
                          self.main(self.tokenizer, self.folder / "a.parquet", "-o", self.folder / "none")[1])
        texts = {}
        for part in ("train", "validation"):
            tokens = self.tokens(f"text/{part}-*.bin")
            texts[part] = self.decode(tokens, skip_special_tokens=False).split("<|end|>")[:-1]
            for name in names:
                self.assertEqual(self.tokens(f"{name}/{part}-*.bin"), tokens)
        self.assertEqual(sorted(texts["train"] + texts["validation"]), sorted(self.LINES))
        self.assertEqual(texts["train"], [line for line in self.LINES if not shards.is_held_out(line, 0.1)])

    def test_what_the_file_stores_does_not_change_the_tokens(self):
        import tokenizers
        text = self.write("a.txt", "\n".join(self.LINES))
        self.made("plain", text, "--split", "line")
        stored = tokenizers.Tokenizer.from_file(self.tokenizer)
        stored.enable_truncation(5)
        stored.enable_padding(length=64)
        stored.model.dropout = 0.5
        stored.save(self.tokenizer)
        said = self.made("stored", text, "--split", "line")
        for words in ("truncation to 5 tokens", "padding", "dropout of 0.5"):
            self.assertIn(f"its {words} is not applied", said)
        for part in ("train", "validation"):
            self.assertEqual(self.tokens(f"stored/{part}-*.bin"), self.tokens(f"plain/{part}-*.bin"))

    def test_special_tokens_inside_texts(self):
        text = self.write("a.txt", "Zug<|end|>Köln")
        for name, options, count in (("token", [], 1), ("text", ["--special-tokens", "text"], 0)):
            status, said = self.main(self.tokenizer, text, "-o", self.folder / name, "--held-out", 0, *options)
            self.assertEqual((status, "<|end|> 1 x" in said), (0, count == 1), said)
            tokens = self.tokens(f"{name}/train-*.bin")
            self.assertEqual(tokens.count(0), count)  # <|end|> is the first of the vocabulary
            self.assertEqual(self.decode(tokens, skip_special_tokens=False), "Zug<|end|>Köln")

    @unittest.skipUnless(TRAINER.exists(), "longhaul-train was not built")
    def test_a_training_reads_them_and_its_export_carries_the_tokenizer(self):
        said = self.made("own", self.write("a.txt", "\n".join(self.LINES)), "--split", "line")
        run = longhaul.run(self.scenario(said), self.folder / "run", program=LONGHAUL)
        self.assertLess(abs(run.cases()[0]["final_loss"] - 5.99), 0.5)  # ln 400: two steps have learned little
        self.assertEqual(self.exported().get_vocab(), self.loaded("own").get_vocab())

    def exported(self):
        subprocess.run([TRAINER, "export", "--run", self.folder / "run", "--mean", "--out", self.folder / "model"], check=True,
                       stdout=subprocess.DEVNULL)
        return self.loaded("model")

    def loaded(self, name):
        import tokenizers
        return tokenizers.Tokenizer.from_file(str(self.folder / name / "tokenizer.json"))

    @unittest.skipUnless(TRAINER.exists(), "longhaul-train was not built")
    def test_the_export_of_a_model_of_bytes_has_a_tokenizer_of_bytes(self):
        train = {"model": {"vocabulary": 256}, "data": {"text": [str(self.write("a.txt", "\n".join(self.LINES)))]}}
        longhaul.run(self.scenario('"train": ' + json.dumps(train)), self.folder / "run", program=LONGHAUL)
        tokenizer = self.exported()
        encoders = [(lambda text: tokenizer.encode(text).ids, tokenizer.decode)]
        if has("transformers"):
            from transformers import AutoTokenizer
            theirs = AutoTokenizer.from_pretrained(self.folder / "model")
            encoders.append((theirs.encode, theirs.decode))
        for text in ["a b\n\n\tc  ", "Köln — 東京", "".join(map(chr, range(1, 256)))]:
            for encode, decode in encoders:
                self.assertEqual(encode(text), list(text.encode()))
                self.assertEqual(decode(list(text.encode())), text)


if __name__ == "__main__":
    unittest.main()
