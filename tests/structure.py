#!/usr/bin/env python3
"""Whether the house stands as CONTRIBUTING.md says: between folders no circle, between the top folders only the arrows
listed here, LibTorch's headers only in trainer/ and ns-3's only in sim/, no file above 500 lines, each source with a header of
its name. And whether the pages of docs/ that programs name (--help, --options, messages, schemas, comments), and the files of
ours that comments name, are there.

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
    "planner": "core methods net replay analysis", "checks": "core methods net replay analysis",
    "fitting": "core methods net replay analysis checks",
    "browser": "core methods net replay analysis checks planner",
    "cli": "core methods net replay analysis checks planner fitting emulation",
}.items()}
# Sources without a header of their name, and where they are declared.
WITHOUT_HEADER = {
    r"\w+/main\.cc": "programs",
    r"browser/no_gunzip\.cc": "planner/gunzip.h, where the page unpacks",
    r"browser/no_python_child\.cc": "methods/common/python_child.h, where there are no processes",
    r"cli/\w+_commands?\.cc": "commands.h",
    r"trainer/\w+_command\.cc": "commands.h",
    r"methods/\w+\.cc": "common/registry.h: one method each",
    r"core/scenario/faults/\w+\.cc": "fault.h: one kind each",
    r"core/parallelism/(experts|tensor|sharding|kinds)\.cc": "layer_operations.h: one kind each",
    r"net/collectives/\w+\.cc": "collective.h: one collective each",
    r"net/distributions/\w+\.cc": "distribution.h: one distribution of weights each",
    r"net/libraries/\w+\.cc": "library.h: one library each",
    r"net/topologies/\w+\.cc": "registry.h: one kind each",
    r"trainer/updates/\w+\.cc": "operations/update.h: one method each",
    r"core/scenario/(tcp|variation)\.cc": "network_spec.h: a section of it each",
    r"net/linux/engine_setup\.cc": "engine.h: how an Engine is made; too long for one file",
    r"net/linux/sender_recovery\.cc": "sender.h: what a Sender does about losses; too long for one file",
    r"replay/replay_program\.cc": "replay.h: what its programs share",
    r"planner/measured/(iperf2|iperf3|iperf3_text|irtt|mtr|nccl_tests|pings|tables)\.cc": "readers.h: one format each",
    r"sim/network/next_segment\.cc": "ns-3: a function of its library, in its place",
    r"trainer/model/load_libtorch\.cc": "libtorch.h: the side of the program, beside the module's",
    r"trainer/operations/python_update\.cc": "update.h: the update of a method in Python",
    r"trainer/ranks/no_mpi\.cc": "mpi_ranks.h, in a build without MPI",
    r"trainer/cuda/no_device\.cc": "what trainer/cuda/ has, in a build without CUDA",
    r"trainer/cuda/(device|device_products|layer_operators)\.(cu|cc)": "trainer/device/ and trainer/model/: their side on the GPU",
    r"trainer/cuda/outer_steps\.cu": "row_kernels.h: its kernels of outer steps",
    r"trainer/cuda/nccl_transfers\.cc": "device_transfers.h: one way of them",
}
# Whose comments name sources of others (of libraries, with their version).
NAME_OTHERS = ("net/libraries/", "tests/unit/replay/library_test.cc")


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


def without_header(files):
    for file in files:
        if file.suffix in (".cc", ".cu") and not {file.with_suffix(".h"), file.with_suffix(".cuh")} & files.keys():
            if not any(re.fullmatch(kind, file.as_posix()) for kind in WITHOUT_HEADER):
                yield f"{file} has no header of its name: what it defines is declared in {file.with_suffix('.h').name}"
    for kind in WITHOUT_HEADER:
        if not any(re.fullmatch(kind, file.as_posix()) for file in files):
            yield f"tests/structure.py has a kind of source without header that no file is of: {kind}"


def dead_names(root, files):
    """Of sources in comments of sources: a name stands for every file whose path ends with it. NAME stands for any."""
    tests = {file.relative_to(root): file.read_text() for file in sorted((root / "tests").rglob("*")) if file.suffix in (".h", ".cc")}
    known = {"/" + file.as_posix() for folder in (*ARROWS, "tests", "bench", "cmake", "validation")
             for file in (path.relative_to(root) for path in (root / folder).rglob("*"))}
    for file, text in {**files, **tests}.items():
        if file.as_posix().startswith(NAME_OTHERS):
            continue
        for comment in re.findall(r"//(.*)", text):
            for name in re.findall(r"(?<![\w/.*-])(?:[\w-]+/)*[\w-]+\.(?:h|cc|cuh?)\b", comment):
                if pathlib.PurePosixPath(name).stem != "NAME" and not any(path.endswith("/" + name) for path in known):
                    yield f"{file} names {name}, which is not there"


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


def once_in_precompiled(root, files):
    """Headers of ours that are precompiled: json_library.h says why they have an include guard and include nothing of ours."""
    lists = re.findall(r"target_precompile_headers\(\w\S* PRIVATE ([^)]*)\)", (root / "tests/CMakeLists.txt").read_text())
    ours = [pathlib.Path(name) for text in lists for name in re.findall(r"\$\{CMAKE_SOURCE_DIR\}/(\S+)", text)]
    if not ours:
        yield "tests/CMakeLists.txt precompiles no header of ours: tests/structure.py reads its list no more"
    for file in ours:
        if re.search(r"^#pragma once", files[file], re.M):
            yield f"{file} is precompiled: it needs an include guard in place of #pragma once"
        for other in includes(files[file]):
            if (root / other).exists():
                yield f"{file} is precompiled and includes {other}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    files = sources(root)
    found, count = [*faults(files), *without_header(files), *dead_names(root, files), *dead_pages(root), *once_in_precompiled(root, files)], sum(len(includes(text)) for text in files.values())
    print("\n".join(found) if found else f"{count} includes, no arrow up, no circle between folders")
    return 1 if found or count == 0 else 0


sys.exit(main())
