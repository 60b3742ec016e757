#!/usr/bin/env python3
"""Checks the documents of the tree: links and anchors, files and scenarios that they name, commands, lengths; and that
a page quotes each scenario, method and all-reduce.

    tests/docs/check_docs.py --longhaul build/bin/longhaul [--root .] [--run]

Without --longhaul no command of longhaul is looked at. --run also runs the blocks that say so: a comment before a block
of code says what is done with it:

    <!-- file: NAME -->     the block is written as NAME into an empty folder, one for each page
    <!-- scenario: NAME --> the same, and longhaul check NAME has to find it valid
    <!-- run -->            the block is run there by sh -e; it has to end with status 0
    <!-- run: 2 -->         the same; it has to end with that status
    <!-- output: WORDS -->  the last run printed WORDS

Everything that is wrong is printed as page:line, and the status is then 1.
"""
import argparse
import functools
import itertools
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import commands as cmd
import markdown as md
import quotations
import verdicts

# Most words of a page, everything counted, also tables and code.
LIMITS = {"README.md": 900, "docs/model.md": 3000, "docs/README.md": 900}
LONGEST_PAGE = 4000      # of docs/
MEDIAN_SENTENCE = 20     # words, of every page of docs/ and of README.md and CONTRIBUTING.md
# `longhaul check` walks plans or searches placements of these for up to half a minute on a busy machine: only that they
# exist is looked at. (tests/unit/cli/scenarios_test.cc reads those of scenarios/paper.)
LONG_CHECKS = ("scenarios/placement/", "scenarios/paper/claim-internet", "scenarios/paper/claim-regions",
               "scenarios/paper/rank-order", "scenarios/methods/")
# History: what it names may be gone.
HISTORY = ("CHANGELOG.md",)
# Where files of the tree are named by their path from the root.
ROOTS = ("scenarios", "docs", "tests", "scripts", "results/reference", "core", "methods", "net", "replay",
         "sim", "trainer", "analysis", "cli", "cmake", "python")
PATH = re.compile(rf"(?:{'|'.join(ROOTS)})/[\w./+-]+")
PLAIN_PATH = re.compile(r"(?<![\w/.])((?:docs|scenarios)/[\w/.-]*\w\.(?:md|json|csv|py|svg))")
# Whole keys of a scenario's options, as network.tcp.connections.
KEY = re.compile(r"(train|workload|network|pipeline|recovery)(\.[a-z_0-9]+)+")
FILE = re.compile(r"\.(csv|json|jsonl|md|h|cc|py)$")
ORDER = re.compile(r"<!--\s*(file|scenario|run|output)(?::\s*(.*?))?\s*-->", re.S)


class Checker:
    def __init__(self, root, longhaul=None, run=False):
        self.root = pathlib.Path(root).resolve()
        self.programs = cmd.Programs(longhaul) if longhaul else None
        self.run = run
        self.ran = []
        self.pages = {page: self.text(page) for page in self.found_pages()}
        self.verdicts = verdicts.Verdicts(self.root)
        self.targets = cmd.make_targets(self.text("Makefile"))
        self.presets = cmd.cmake_presets(self.text("CMakePresets.json"))

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def found_pages(self):
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(name for name in folders if name != "third_party" and
                                not name.startswith((".", "build", "torch-cuda", "shared")))
            if os.path.relpath(folder, self.root) == "results":
                folders[:] = ["reference"]
            yield from (os.path.relpath(os.path.join(folder, name), self.root)
                        for name in sorted(files) if name.endswith(".md"))

    # --- links and names: each check of a page gives (line, what is wrong) ---

    def target(self, page, path):
        """What a path on the page leads to, from the root."""
        return os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page

    def of_links(self, page):
        for line, target in md.links(self.pages[page]):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            path, _, anchor = target.partition("#")
            other = self.target(page, path)
            if not (self.root / other).exists():
                yield line, f"dead link {target}"
            elif anchor and other.endswith(".md") and anchor not in md.anchors(self.text(other)):
                yield line, f"no heading #{anchor} in {other}"

    def exists(self, name):
        return any((self.root / (name + end)).exists() for end in ("", ".h", ".cc", ".cu", ".py", ".json"))

    def of_names(self, page):
        source = self.pages[page]
        names = [(line, word) for line, text in md.inline_code(source) for word in text.split()]
        names += [(line, word.strip("'\",")) for block in md.blocks(source) if block.kind == "code"
                  for line, text in enumerate(block.lines, block.line) for word in text.split()]
        names += md.found_in(source, PLAIN_PATH, md.LINK, md.COMMENT, md.INLINE)
        for line, word in names:
            word = word.strip("(),;:").rstrip(".")
            if PATH.fullmatch(word) and not cmd.is_placeholder(word) and \
                    not self.exists(word.rstrip("/")) and not self.exists(self.target(page, word)):
                yield line, f"no file {word} in the tree"

    def of_keys(self, page):
        for line, text in md.inline_code(self.pages[page]) if self.programs else ():
            key = re.split("[:=]", text)[0].strip()
            if KEY.fullmatch(key) and not FILE.search(key) and key not in self.programs.option_keys():
                yield line, f"a scenario has no option {key}"

    def of_verdicts(self, page):
        return verdicts.problems_of(self.pages[page], self.verdicts, page)

    def of_quotations(self, page):
        return quotations.problems_of(page, self.pages[page], self.root)

    # --- commands ---

    def command_lines(self, page):
        """(line, command) of code blocks; lines that end with a backslash are joined to the next."""
        for block in md.blocks(self.pages[page]):
            if block.kind == "code":
                for found in re.finditer(r"(?:.*\\\n)*.+", block.text()):
                    line = block.line + block.text().count("\n", 0, found.start())
                    joined = re.sub(r"\s*\\\n\s*", " ", found[0])
                    yield from ((line, part) for part in cmd.commands_of(joined))

    def of_commands(self, page):
        inline = [(line, text) for line, text in md.inline_code(self.pages[page]) if " " in text]
        for line, text in [*self.command_lines(page), *inline]:
            words = list(itertools.dropwhile(re.compile("[A-Z_]+=").match, cmd.shell_words(text)))
            yield from ((line, what) for what in (self.of_command(words) if words else ()))

    def of_command(self, words):
        program = os.path.basename(words[0])
        if program == "make" and re.fullmatch(r"make( [a-z][\w-]*| [A-Z_]+=\S+| -\S+)+", " ".join(words)):
            for word in words[1:]:
                if re.fullmatch(r"[a-z][\w-]*", word) and word not in self.targets:
                    yield f"the Makefile has no target {word}"
        elif program in ("cmake", "ctest"):
            for before, word in itertools.pairwise(words):
                if before == "--preset" and word not in self.presets:
                    yield f"CMakePresets.json has no preset {word}"
        elif program in cmd.PROGRAMS and self.programs and words[0] in (program, "build/bin/" + program):
            yield from cmd.problems_of_program(words, self.programs)
            if program == "longhaul" and words[1:2] in (["run"], ["check"]):
                yield from self.of_scenario(words[2:])

    def of_scenario(self, words):
        """`longhaul check` of a scenario of the tree with the --set of the command."""
        files = [word for word in words if word.startswith("scenarios/") and word.endswith(".json")]
        sets = [arg for before, arg in itertools.pairwise(words) if before == "--set"]
        if len(files) == 1 and not cmd.is_placeholder(files[0]) and self.exists(files[0]) and \
                not files[0].startswith(LONG_CHECKS) and \
                not any(cmd.is_placeholder(re.sub(r"[{}\[\]]", "", text)) for text in sets):
            run = self.checked(files[0], *(word for text in sets for word in ("--set", text)))
            if run.returncode:
                yield "longhaul check fails: " + run.stderr.strip()

    @functools.cache
    def checked(self, *words):
        return subprocess.run([self.programs.folder / "longhaul", "check", "--anywhere", *words],
                              cwd=self.root, capture_output=True, timeout=300, text=True)

    def run_blocks(self, page):
        blocks, self.printed = md.blocks(self.pages[page]), ""
        with tempfile.TemporaryDirectory(prefix="longhaul-docs-") as folder:
            for block, following in itertools.zip_longest(blocks, blocks[1:]):
                match = ORDER.fullmatch(block.text().strip()) if block.kind == "comment" else None
                what, argument = match.groups() if match else (None, None)
                if what == "output":
                    if argument not in self.printed:
                        yield block.line, f"the run did not print: {argument}"
                elif what and (following is None or following.kind != "code"):
                    yield block.line, f"no block of code follows <!-- {what} -->"
                elif what == "run":
                    yield from self.run_block(page, following.line, following.text(), folder, int(argument or 0))
                elif what:
                    path = pathlib.Path(folder, argument)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(following.text() + "\n", encoding="utf-8")
                    if what == "scenario":
                        yield from self.run_block(page, following.line, f"longhaul check '{argument}'", folder)

    def run_block(self, page, line, text, folder, status=0):
        self.ran.append(f"{page}:{line}")
        path = f"{self.programs.folder}{os.pathsep}{os.environ['PATH']}"
        environment = dict(os.environ, PATH=path, LONGHAUL_ROOT=self.root)
        run = subprocess.run(["sh", "-e"], input=text, cwd=folder, env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=600, text=True)
        self.printed = run.stdout
        if run.returncode != status:
            yield line, f"ended with status {run.returncode} instead of {status}:\n{run.stdout[-2000:]}"

    # --- words, and the way to a page ---

    def of_words(self, page):
        """Prints the page's line of the table."""
        source = self.pages[page]
        lengths = md.sentences(source)
        total, median = len(source.split()), statistics.median(lengths or [0])
        print(f"{total:7} {len(lengths):6} {median:8.1f} {sum(length > 40 for length in lengths):6}  {page}")
        if page in HISTORY or not page.startswith(("README.md", "CONTRIBUTING.md", "docs/")):
            return
        generated = "<!-- generated" in source or "<!-- Tables: " in source
        limit = LIMITS.get(page, LONGEST_PAGE if page.startswith("docs/") else total)
        if total > limit and not generated:
            yield 1, f"{total} words; at most {limit} are allowed"
        if median > MEDIAN_SENTENCE:
            yield 1, f"the median sentence has {median:.1f} words; at most {MEDIAN_SENTENCE} are allowed"

    # --- what is wrong with the tree: (page, line, what) ---

    def unreachable(self):
        """Every page of docs/ and every notebook of results/reference/ is linked from docs/README.md, directly or over
        other such pages. (claims/ are matrices, which pages name by their folder.)"""
        pages = {page for page in self.pages if page.startswith(("docs/", "results/reference/"))}
        reached, to_do = set(), {"docs/README.md"}
        while to_do:
            page = to_do.pop()
            reached.add(page)
            links = {self.target(page, target.partition("#")[0]) for _, target in md.links(self.pages[page])}
            to_do |= (links & pages) - reached
        for page in sorted(pages - reached):
            if not page.startswith("results/reference/claims/"):
                yield page, 1, "no way leads here from docs/README.md"

    def unquoted(self):
        """What stays in the tree because a page quotes it: each scenario is named by a page, each method and
        all-reduce by such a scenario and by a page of results."""
        texts = {page: text for page, text in self.pages.items() if page not in HISTORY}
        everything, quoted = "\n".join(texts.values()), ""
        for file in sorted((self.root / "scenarios").rglob("*.json")):
            path = file.relative_to(self.root)
            if "networks" in path.parts or file.name.endswith(".schema.json"):
                continue  # matrices and schemas are none
            named = re.search(rf"(?<![\w-]){re.escape(file.name)}\b", everything)
            if "validation" in path.parts:  # longhaul validate NAME
                named = named or f"`{file.stem}`" in everything
            if named:
                quoted += self.text(path)
            else:
                yield path, 1, "no page quotes this scenario"
        of_results = ("docs/results/", "docs/claims.md", "results/reference/")
        results = "\n".join(text for page, text in texts.items() if page.startswith(of_results))
        for topic, name in self.programs.mechanisms() if self.programs else ():
            if f'"{name}"' not in quoted:
                yield "scenarios", 1, f"no quoted scenario has the {topic} {name}"
            elif f"`{name}`" not in results:
                yield "docs/results", 1, f"no page of results quotes the {topic} {name}"

    def of_real_runs(self):
        """The short table of published and predicted figures has those of the tables that `make validation` wrote."""
        page = "docs/validation/real-runs.md"
        tables = self.pages.get("results/reference/validation/tables.md", "")
        sections = dict(re.findall(r"^### ([\w-]+): (.*?)(?=^###? |\Z)", tables, re.S | re.M))
        rows = [(line, [cell.strip() for cell in row.strip("|").split("|")])
                for block in md.blocks(self.pages.get(page, "")) if block.kind == "table"
                for line, row in enumerate(block.lines, block.line)]
        for line, cells in rows:
            section = sections.get(cells[0].strip("`"))
            for figure in re.findall(r"[\d.]+(?: s\b)?", ", ".join(cells[2:4])) if section else ():
                if not re.search(rf"\| \**{re.escape(figure)}[ *|]", section):
                    yield page, line, f"{figure} is no figure of {cells[0]}"

    def check(self):
        print("  words  sent.   median  > 40  page")
        of_today = [self.of_names, self.of_commands, self.of_keys, self.of_verdicts, self.of_quotations]
        runs = [self.run_blocks] if self.run and self.programs else []
        found = [(page, line, what) for page in self.pages
                 for of in [self.of_links, *(of_today if page not in HISTORY else []), self.of_words, *runs]
                 for line, what in of(page)]
        found += [*self.unreachable(), *self.unquoted(), *self.of_real_runs()]
        return [f"{page}:{line}: {what}" for page, line, what in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--longhaul", help="the built program; its options are read from --help")
    parser.add_argument("--run", action="store_true", help="also run the blocks that say <!-- run -->")
    arguments = parser.parse_args()
    checker = Checker(arguments.root, arguments.longhaul, arguments.run)
    problems = checker.check()
    print(*problems, f"{len(problems)} problems, {len(checker.ran)} blocks run", sep="\n")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
