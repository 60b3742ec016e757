#!/usr/bin/env python3
"""Whether the house stands as CONTRIBUTING.md says: between folders no circle, between the top folders only the arrows
listed here, LibTorch's headers only in trainer/ and ns-3's only in sim/, no file above 500 lines.

  tests/structure.py [ROOT]      exit status 1 and a line for each fault
"""
import graphlib
import pathlib
import re
import sys

MOST_LINES = 500
ARROWS = {
    "core": set(),
    "methods": {"core"},
    "net": {"core"},
    "replay": {"core", "net"},
    "sim": {"core", "net", "replay"},
    "emulation": {"core", "net", "replay"},
    "trainer": {"core", "methods"},
    "analysis": {"core", "methods", "net"},
    "planner": {"core", "methods", "net", "replay", "analysis"},
    "cli": {"core", "methods", "net", "replay", "analysis", "planner", "emulation"},
}


def sources(root):
    """(file, text) of the product's sources, paths from the root."""
    for folder in ARROWS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".h", ".cc", ".cu", ".cuh"):
                yield file.relative_to(root), file.read_text()


def includes(root):
    """(file, included) of the product's sources; <...> keeps its brackets."""
    for file, text in sources(root):
        for name in re.findall(r'^#include ([<"][^>"]+[>"])', text, re.MULTILINE):
            yield file, name.strip('"')


def faults(root):
    for file, text in sources(root):
        if text.count("\n") > MOST_LINES:
            yield f"{file} has {text.count(chr(10))} lines, at most {MOST_LINES}: one concept a file"
    edges = {}
    for file, included in includes(root):
        top = file.parts[0]
        if re.match(r"<(torch|ATen|c10)/", included) and top != "trainer":
            yield f"{file} includes LibTorch's {included}"
        if included.startswith("<ns3/") and top != "sim":
            yield f"{file} includes ns-3's {included}"
        other = pathlib.PurePosixPath(included)
        if included.startswith("<") or other.parts[0] not in ARROWS:
            continue
        if other.parts[0] != top and other.parts[0] not in ARROWS[top]:
            yield f"{file} includes {included}: {top}/ does not use {other.parts[0]}/"
        if other.parent != file.parent:
            edges.setdefault(str(file.parent), set()).add(str(other.parent))
    try:
        graphlib.TopologicalSorter(edges).prepare()
    except graphlib.CycleError as error:
        yield "folders in a circle: " + ", ".join(error.args[1])


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    count = sum(1 for _ in includes(root))
    found = list(faults(root))
    print("\n".join(found) if found else f"{count} includes, no arrow up, no circle between folders")
    return 1 if found or count == 0 else 0


sys.exit(main())
