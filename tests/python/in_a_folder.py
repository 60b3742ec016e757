"""What tests of the Python package share: the package, their command line (LONGHAUL SOURCE_FOLDER), a folder for each test."""
import importlib.util
import pathlib
import sys
import tempfile
import unittest

LONGHAUL, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "python"))
sys.argv = sys.argv[:1]


def has(package):
    return importlib.util.find_spec(package) is not None


class InAFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file
