#!/usr/bin/env python3
"""Reduces Debian packages to their English prose, a text file for each package.

    prose_of_packages.py OUT PACKAGE_VERSION_ARCH.deb...      writes OUT/PACKAGE.txt

Read are HTML and Mallard pages in UTF-8; of a package without any, its plain text. Kept are paragraphs of whole English
sentences: no menus, headings, code, tables or other languages. No paragraph stands twice in the corpus, because manuals
come in several editions and share their notices. Of a large package its first million characters are taken, so that no
manual is most of what is held out.
"""
import gzip
import multiprocessing
import pathlib
import re
import subprocess
import sys
import tarfile

from lxml import etree

MOST = 1_000_000  # characters of a package

# Elements within a paragraph. Every other element begins one and ends one.
INLINE = frozenset(
    "a abbr acronym app b bdi big cite cmd code del dfn em file font gui guiseq i img input ins kbd key keyseq label link"
    " mark nobr output q s samp small span strike strong sub sup sys tt u var wbr".split())
SKIPPED = frozenset("button form head math nav noscript option pre screen script select style svg textarea".split())

# About half of the words of English prose, and few of those of other languages.
COMMON = frozenset(
    "a all an and any are as at be been but by can could do each for from had has have he her his how i if in into is it"
    " its may more most must no not of on one only or other our out s so some such than that the their them then there"
    " these they this to up use used was we were what when which who will with would you your".split())

# Folders of translations, and such parts of file names.
TRANSLATION = re.compile(
    r"[._/](?:ar|bg|bn|ca|cs|da|de|el|eo|es|et|eu|fa|fi|fr|gl|gu|he|hi|hr|hu|id|it|ja|ka|kn|ko|lt|lv|ml|mr|nb|nl|nn|pa|pl"
    r"|pt|ro|ru|sk|sl|sr|sv|ta|te|th|tr|ug|uk|vi|zh)(?:[-_@][A-Za-z]+)*[./]")
LEFT_OUT = re.compile(r"/_sources/|/(?:changelog|copyright|news|readme\.debian)[^/]*$", re.IGNORECASE)


class Blocks:
    """The texts between the borders of block elements: a target for lxml's parsers."""

    def __init__(self):
        self.texts, self.parts, self.skipping = [], [], 0

    def start(self, tag, _attributes):
        self.border(tag, 1)

    def end(self, tag):
        self.border(tag, -1)

    def data(self, text):
        if not self.skipping:
            self.parts.append(text)

    def close(self):
        self.border("", 0)
        return self.texts

    def border(self, tag, deeper):
        name = tag.rpartition("}")[2]  # {namespace}name
        if name in INLINE:
            return
        self.skipping += deeper * (name in SKIPPED)
        self.texts.append("".join(self.parts))
        self.parts = []


def blocks_of_markup(text, parser):
    if not text.strip():
        return []
    try:
        return etree.fromstring(text.encode(), parser(target=Blocks(), encoding="utf-8", recover=True, huge_tree=True))
    except etree.LxmlError:
        return []


READERS = {
    "html": lambda text: blocks_of_markup(text, etree.HTMLParser),
    "page": lambda text: blocks_of_markup(text, etree.XMLParser),
    "text": lambda text: re.split(r"\n\s*\n|\n%\n", text),  # "%" stands between fortunes
}


def is_prose(paragraph):
    """At least 80 characters, from a capital to the end of a sentence, nearly all letters and spaces, and English."""
    if len(paragraph) < 80 or not re.match(r"[\"'(“‘]?[A-Z]", paragraph) or not re.search(r"[.?!][\"')”’]*$", paragraph):
        return False
    letters = sum(map(str.isalpha, paragraph)) + paragraph.count(" ")
    beyond_ascii = sum(letter > "\x7f" for letter in paragraph)
    words = re.findall(r"[a-z]+", paragraph.lower())
    return (letters >= 0.9 * len(paragraph) and beyond_ascii <= 0.02 * len(paragraph)
            and sum(word in COMMON for word in words) >= 0.3 * len(words))


def paragraphs_of(text, kind):
    return [paragraph for paragraph in (" ".join(block.split()) for block in READERS[kind](text)) if is_prose(paragraph)]


def kind_of(name):
    """Of a file in a package; None for what is not read."""
    if TRANSLATION.search(name) or LEFT_OUT.search(name):
        return None
    suffix = pathlib.PurePosixPath(name.removesuffix(".gz")).suffix.lower()
    if suffix in (".htm", ".html", ".xhtml"):
        return "html"
    if suffix == ".page":
        return "page"
    return "text" if suffix in ("", ".txt", ".text") or re.match(r"\.info|\.\d", suffix) else None


def text_of(data, name):
    """Nothing of a file in another encoding, or that is no text."""
    try:
        text = (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8")
    except (UnicodeDecodeError, OSError, EOFError):
        return ""
    return "" if "\0" in text else text


def files_of(package):
    """(name, data) of the files below usr/share that are read, in the order of their names."""
    files = []
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as archive:
        with tarfile.open(fileobj=archive.stdout, mode="r|") as members:
            for member in members:
                if member.isfile() and member.name.startswith("./usr/share/") and kind_of(member.name):
                    files.append((member.name, members.extractfile(member).read()))
        archive.stdout.read()
    if archive.returncode != 0:
        sys.exit(f"{package}: dpkg-deb cannot read it")
    return sorted(files)


def prose_of(package):
    files = files_of(package)
    kinds = {kind_of(name) for name, _ in files} - {"text"} or {"text"}
    return [paragraph for name, data in files if kind_of(name) in kinds
            for paragraph in paragraphs_of(text_of(data, name), kind_of(name))]


def beginning(paragraphs, most):
    """The paragraphs that begin within the first `most` characters."""
    length = 0
    for paragraph in paragraphs:
        if length >= most:
            return
        length += len(paragraph)
        yield paragraph


def main(out, packages):
    packages = sorted(packages, key=lambda package: pathlib.Path(package).name)
    seen = set()
    with multiprocessing.Pool() as pool:
        for package, paragraphs in zip(packages, pool.imap(prose_of, packages)):
            new = list(beginning((each for each in dict.fromkeys(paragraphs) if each not in seen), MOST))
            seen.update(new)
            name = pathlib.Path(package).name.partition("_")[0]
            (out / f"{name}.txt").write_text("".join(paragraph + "\n\n" for paragraph in new), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
