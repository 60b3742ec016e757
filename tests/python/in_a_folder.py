"""What tests of the Python package share: the package, their command line (LONGHAUL SOURCE_FOLDER), a folder for each test."""
import importlib.util
import pathlib
import sys

LONGHAUL, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path[:0] = [str(SOURCE / "python"), str(SOURCE / "tests/support")]
sys.argv = sys.argv[:1]

from folder import InAFolder  # noqa: E402, F401


def has(package):
    return importlib.util.find_spec(package) is not None
