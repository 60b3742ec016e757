#!/usr/bin/env python3
"""Which documents longhaul.documents finds in a file, by its content and name. Expected are the texts that were written, or a
refusal: never the syntax of a format, never compressed bytes. pyarrow and zstandard are tried where this Python has them.

    documents_test.py LONGHAUL SOURCE_FOLDER
"""
import bz2
import csv
import gzip
import io
import json
import lzma
import subprocess
import unittest
from unittest import mock

from in_a_folder import InAFolder, has  # before the package, which it finds

from longhaul import compressed
from longhaul.documents import documents
from longhaul.errors import InputError

TEXTS = ["one network", "of many \u2028 sites", "[1] \"slow\" links\nand Köln", "{so} it waits"]
ROWS = [{"url": "https://example.org/", "text": text} for text in TEXTS]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
# zstd 1.5.4: printf 'one network\\n' | zstd
FRAME = bytes.fromhex("28b52ffd04586100006f6e65206e6574776f726b0a46696706")


def table(delimiter):
    out = io.StringIO()
    rows = csv.writer(out, delimiter=delimiter)
    rows.writerows([["id", "text"], *enumerate(TEXTS)])
    return out.getvalue()


class Documents(InAFolder):
    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self, name, content, **options):
        return list(documents(self.file(name, content), **options))

    def refused(self, words, name, content, **options):
        with self.assertRaises(InputError) as caught:
            self.read(name, content, **options)
        self.assertIn(words, caught.exception.message)
        self.assertIn(name, caught.exception.message)

    def test_json_by_each_of_its_names(self):
        for name in ("a.jsonl", "a.ndjson", "a.json", "a.jl", "A.JSONL"):
            for content in (LINES, "\n\n" + LINES.replace("\n", "\r\n\r\n"), json.dumps(ROWS), json.dumps(ROWS, indent=2), "\ufeff" + LINES,
                            "[\n" + ",\n".join(map(json.dumps, ROWS)) + "\n]\n", "\n".join(json.dumps(row, indent=1) for row in ROWS),
                            LINES.encode("utf-16"), LINES.rstrip("\n")):
                self.assertEqual(self.read(name, content), TEXTS, (name, content[:20]))
        self.assertEqual(self.read("one.json", json.dumps(ROWS[0])), TEXTS[:1])
        self.assertEqual(self.read("one.json", json.dumps(ROWS[0], indent=2)), TEXTS[:1])
        self.assertEqual(self.read("none.json", " \n"), [])
        self.assertEqual(self.read("none.json", "[]"), [])

    def test_compressed_by_any_name(self):
        for compress, suffix in ((gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz")):
            for name in ("a.jsonl" + suffix, "a.json" + suffix, "a.ndjson", "a.json.bin"):
                form = "json" if name.endswith(".bin") else "auto"
                self.assertEqual(self.read(name, compress(LINES.encode()), form=form), TEXTS, name)
            for name in ("a", "a.txt", "a.txt" + suffix):
                self.assertEqual(self.read(name, compress(b"one\ntwo")), ["one\ntwo"])
            parts = compress(LINES.encode()[:40]) + compress(LINES.encode()[40:])
            self.assertEqual(self.read("parts.jsonl", parts), TEXTS)
            self.refused("is damaged or cut", "cut.txt", compress(LINES.encode() * 9)[:-9])
            self.refused("holds JSON", "a.txt" + suffix, compress(LINES.encode()))
            self.refused("inside of", "twice.txt", compress(gzip.compress(b"one two")))
        self.assertEqual(self.read("a.txt.lzma", lzma.compress(b"one", lzma.FORMAT_ALONE)), ["one"])
        self.assertEqual(self.read("a.txt.gz", "not compressed: the browser did it"), ["not compressed: the browser did it"])
        for name, content in (("a.txt.lz4", b"\x04\x22\x4d\x18abc"), ("a.zip", b"PK\x03\x04abc"), ("a.7z", b"7z\xbc\xaf\x27\x1cab")):
            self.refused("decompress it first", name, content)
        self.refused("is compressed with brotli, by its name; decompress it first", "a.txt.br", b"\x0f\x02\x80one two\x03")

    def test_zstd(self):
        with mock.patch.object(compressed, "PACKAGES", ()):
            self.refused("is compressed with zstd; decompress it first", "a.jsonl.zst", FRAME)
            self.refused("is compressed with zstd; decompress it first", "a.txt", FRAME)
        if not any(has(name.split(".")[0]) and has(name) for name in compressed.PACKAGES):
            return
        skipped = b"\x52\x2a\x4d\x18\x03\0\0\0abc"
        for name in ("a", "a.txt.zst", "a.txt"):
            self.assertEqual(self.read(name, FRAME + skipped + FRAME), ["one network\none network\n"])
        for length in (10, len(FRAME) - 1, len(FRAME) + 9):
            self.refused("is damaged or cut", "cut.zst", (FRAME + FRAME)[:length])

    def test_zstd_of_the_program(self):
        try:
            packed = subprocess.run(["zstd", "-c"], input=LINES.encode(), capture_output=True, check=True).stdout
        except FileNotFoundError:
            self.skipTest("zstd is not installed")
        if has("zstandard"):
            self.assertEqual(self.read("a.jsonl.zst", packed), TEXTS)
            self.assertEqual(self.read("a.ndjson", packed + packed), 2 * TEXTS)
        else:
            self.refused("decompress it first", "a.jsonl.zst", packed)

    def test_tables(self):
        self.assertEqual(self.read("a.csv", table(",")), TEXTS)
        self.assertEqual(self.read("a.tsv.gz", gzip.compress(table("\t").encode())), TEXTS)
        self.assertEqual(self.read("a.csv", "text\n" + 200000 * "a"), [200000 * "a"])
        self.refused("found no text in the field \"text\" (its fields: id, body)", "a.csv", "id,body\n1,a\n")
        self.refused("line 3", "a.csv", "id,text\n1,a\n2\n")

    @unittest.skipUnless(has("pyarrow"), "pyarrow is not installed")
    def test_parquet_by_any_name(self):
        import pyarrow.parquet
        for name in ("a.parquet", "b.txt", "c"):
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), self.folder / name)
            self.assertEqual(list(documents(self.folder / name)), TEXTS)
        self.refused("decompress it first", "d.parquet.gz", gzip.compress((self.folder / "a.parquet").read_bytes()))

    def test_json_by_its_content(self):
        for content in (LINES, json.dumps(ROWS), json.dumps(ROWS, indent=1), json.dumps(ROWS[0]), LINES + '{"text": "cut',
                        json.dumps(TEXTS), "\ufeff" + LINES):
            for split in ("file", "paragraph", "line"):
                self.refused("holds JSON, by its content; --format json", "a.txt", content, split=split)
            self.assertEqual(self.read("a.txt", content, form="text"), [content.lstrip("\ufeff")])
        self.assertEqual(self.read("a.txt", LINES, form="json"), TEXTS)
        for text in ("[1] a reference", "{so}", "{\n not JSON", "", "a\n" + LINES[:30], "[1]\n[2]\n", "3"):
            self.assertEqual(self.read("a.txt", text), [text] if text else [])

    def test_pieces_of_text(self):
        text = "a\r\nb\x0cc\u2028d\r\n\r\n \ne"
        self.assertEqual(self.read("a.txt", text, split="line"), ["a", "b\x0cc\u2028d", "e"])
        self.assertEqual(self.read("a.txt", text, split="paragraph"), ["a\nb\x0cc\u2028d", "e"])
        self.assertEqual(self.read("a.txt", "Köln".encode("utf-16")), ["Köln"])

    def test_what_is_no_text(self):
        self.refused("is not text in UTF-8 (byte 0xf6", "a.txt", "Köln".encode("latin-1"))
        self.refused("holds a byte 0", "a.txt", "Koln".encode("utf-16-le"))
        self.refused("is an Arrow file", "a.arrow", b"\xff\xff\xff\xff\x10\0\0\0")
        self.refused("is not text in UTF-8", "a.bin", bytes(range(256)))

    def test_rows_without_a_text(self):
        for words, content in (("(its fields: body, url)", '{"body": "a", "url": "b"}'), ("(it holds null)", '{"text": null}'),
                               ("(it holds a list)", '{"text": ["a"]}'), ("(its fields: none)", "{}"),
                               ("(it is a text, where an object is needed)", '"a"'), ("(it is a list, where", "[]\n[]"),
                               ("half of a surrogate pair", '{"text": "\\ud800"}')):
            self.refused("line 1: found", "a.jsonl", content)
            self.refused(words, "a.jsonl", content)
        self.refused("element 2: found no text", "a.json", '[{"text": "a"}, 5]')
        self.refused("line 2: is not JSON", "a.jsonl", '{"text": "a"}\n{"text": "b"\n')
        self.refused("is not JSON", "a.json", "plain text")
        self.assertEqual(self.read("a.jsonl", '{"text": "\\ud83d\\ude00"}'), ["\U0001f600"])


if __name__ == "__main__":
    unittest.main()
