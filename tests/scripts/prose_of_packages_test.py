#!/usr/bin/env python3
"""What scripts/prose_of_packages.py keeps of packages built here: by hand, sentence by sentence.

    prose_of_packages_test.py SOURCE_FOLDER
"""
import gzip
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
SCRIPTS = SOURCE / "scripts"
sys.path[:0] = [str(SCRIPTS), str(SOURCE / "tests/support")]

from folder import InAFolder  # noqa: E402
from prose_of_packages import beginning, is_prose, paragraphs_of  # noqa: E402

LONG = "This sentence is here to be kept, because it is long enough and because it has the words that English has."
OTHER = "That is another of these sentences, and it is as long as the first one, so that it is to be kept as well."


class Prose(unittest.TestCase):
    def test_whole_english_sentences(self):
        self.assertTrue(is_prose(LONG))
        self.assertTrue(is_prose(f"“{LONG}”"))

    def test_no_fragments_code_or_other_languages(self):
        self.assertFalse(is_prose("This one is too short to be of use."))
        self.assertFalse(is_prose(LONG[:-1] + ":"), "introduces what was left out")
        self.assertFalse(is_prose(LONG[0].lower() + LONG[1:]), "the rest of a sentence")
        self.assertFalse(is_prose("X = [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]; the result is in the array Y[0..11], to be read."))
        self.assertFalse(is_prose("Dieser Satz steht hier, damit er nicht behalten wird, weil er in einer anderen Sprache geschrieben ist."))
        self.assertFalse(is_prose("Aluminium Barium Calcium Dysprosium Europium Francium Gallium Hafnium Indium Krypton Lithium."))


class Markup(unittest.TestCase):
    def test_a_paragraph_ends_with_its_block_and_not_with_a_link(self):
        first, rest = LONG.split(", ")
        page = f"<ul><li>Home<li>Index</ul><p>{first}, <a href='x'>{rest[:9]}</a>{rest[9:]}<p>{OTHER}<pre>int main;</pre>"
        self.assertEqual(paragraphs_of(page, "html"), [LONG, OTHER])

    def test_scripts_code_and_menus_are_skipped_with_what_they_hold(self):
        for element in ("script", "style", "pre", "nav", "select"):
            self.assertEqual(paragraphs_of(f"<p>{LONG}</p><{element}>{OTHER}</{element}>", "html"), [LONG], element)

    def test_of_mallard(self):
        page = f"<page xmlns='http://projectmallard.org/1.0/'><title>Files</title><p>{LONG.replace('here', '<em>here</em>')}</p></page>"
        self.assertEqual(paragraphs_of(page, "page"), [LONG])

    def test_lines_of_plain_text_are_joined(self):
        self.assertEqual(paragraphs_of(f"TITLE\n=====\n\n{LONG.replace('because', chr(10) + '  because')}\n%\n{OTHER}\n", "text"),
                         [LONG, OTHER])


class Packages(InAFolder):
    def package(self, name, files):
        root = self.folder / name
        for path, data in {"DEBIAN/control": f"Package: {name}\nVersion: 1\nArchitecture: all\n"
                                             "Maintainer: A <a@example.org>\nDescription: d\n".encode(), **files}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        deb = self.folder / f"{name}_1_all.deb"
        subprocess.run(["dpkg-deb", "--build", root, deb], check=True, stdout=subprocess.DEVNULL)
        return str(deb)

    def prose(self, *packages):
        out = self.folder / "out"
        out.mkdir()
        subprocess.run([sys.executable, SCRIPTS / "prose_of_packages.py", out, *packages], check=True)
        return {file.name: file.read_text() for file in out.iterdir()}

    def test_a_text_for_each_package_and_no_paragraph_twice(self):
        page = f"<p>{LONG}</p>".encode()
        only_here = "This paragraph is in one package only, and so it is the one that is left of the text of it."
        later = self.package("later", {"usr/share/doc/later/a.txt": f"{LONG}\n\n{only_here}\n".encode()})
        early = self.package("early", {"usr/share/doc/early/1.html": page, "usr/share/doc/early/2.html.gz": gzip.compress(page)})
        self.assertEqual(self.prose(later, early), {"early.txt": LONG + "\n\n", "later.txt": only_here + "\n\n"})

    def test_of_a_large_package_the_beginning(self):
        self.assertEqual(list(beginning(["abc", "de", "f", "g"], 5)), ["abc", "de"])
        self.assertEqual(list(beginning(["abc", "de", "f", "g"], 4)), ["abc", "de"])

    def test_translations_sources_of_pages_other_encodings_and_texts_beside_pages_are_left_out(self):
        folder = "usr/share/doc/many/"
        files = {folder + name: f"<p>{OTHER}</p>".encode()
                 for name in ("de/x.html", "pt_BR/x.html", "x.fr.html", "_sources/x.html", "changelog.html", "notes.txt")}
        files[folder + "latin.html"] = f"<p>Caf\xe9 {OTHER}</p>".encode("latin-1")
        files["usr/lib/many/x.html"] = files[folder + "de/x.html"]
        files[folder + "en/x.html"] = f"<p>{LONG}</p>".encode()
        self.assertEqual(self.prose(self.package("many", files)), {"many.txt": LONG + "\n\n"})


if __name__ == "__main__":
    unittest.main()
