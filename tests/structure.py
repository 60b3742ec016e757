#!/usr/bin/env python3
"""Whether the house stands as CONTRIBUTING.md says: between folders no circle, between the top folders only the arrows
listed here, LibTorch's headers only in trainer/ and ns-3's only in sim/, no file above 500 lines. And whether the pages of
docs/ that programs name (--help, --options, messages, schemas, comments) are there.

  tests/structure.py [ROOT]      exit status 1 and a line for each fault
"""
import graphlib
import pathlib
import re
import sys

MOST_LINES = 500
ARROWS = {top: set(below.split()) for top, below in {
    "core": "", "methods": "core", "net": "core", "replay": "core net", "sim": "core net replay",
    "emulation": "core net replay", "trainer": "core methods", "analysis": "core methods net",
    "planner": "core methods net replay analysis", "cli": "core methods net replay analysis planner emulation",
}.items()}


def sources(root):
    """{file: text} of the product's sources, paths from the root."""
    return {file.relative_to(root): file.read_text() for folder in ARROWS
            for file in sorted((root / folder).rglob("*")) if file.suffix in (".h", ".cc", ".cu", ".cuh")}


def includes(text):
    """<...> keeps its brackets."""
    return [name.strip('"') for name in re.findall(r'^#include ([<"][^>"]+[>"])', text, re.MULTILINE)]


def faults(files):
    edges = {}
    for file, text in files.items():
        if (lines := text.count("\n")) > MOST_LINES:
            yield f"{file} has {lines} lines, at most {MOST_LINES}: one concept a file"
        top = file.parts[0]
        for included in includes(text):
            if re.match(r"<(torch|ATen|c10)/", included) and top != "trainer":
                yield f"{file} includes LibTorch's {included}"
            if included.startswith("<ns3/") and top != "sim":
                yield f"{file} includes ns-3's {included}"
            other = pathlib.PurePosixPath(included)
            if other.parts[0] not in ARROWS:
                continue
            if other.parts[0] not in {top} | ARROWS[top]:
                yield f"{file} includes {included}: {top}/ does not use {other.parts[0]}/"
            if other.parent != file.parent:
                edges.setdefault(str(file.parent), set()).add(str(other.parent))
    try:
        graphlib.TopologicalSorter(edges).prepare()
    except graphlib.CycleError as error:
        yield "folders in a circle: " + ", ".join(error.args[1])


def dead_pages(root):
    """Of all that has words for users; words that C++ and Python write in several pieces are put together."""
    for top in (*ARROWS, "python", "scripts", "scenarios"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in (".h", ".cc", ".cu", ".py", ".sh", ".js") and not file.name.endswith(".schema.json"):
                continue
            text = re.sub(r'"\s*\n\s*f?"', "", file.read_text())
            for page in re.findall(r"(?<![\w/.-])docs/[\w./-]+\.md", text):
                if not (root / page).exists():
                    yield f"{file.relative_to(root)} names {page}, which is not there"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    files = sources(root)
    found, count = [*faults(files), *dead_pages(root)], sum(len(includes(text)) for text in files.values())
    print("\n".join(found) if found else f"{count} includes, no arrow up, no circle between folders")
    return 1 if found or count == 0 else 0


sys.exit(main())
