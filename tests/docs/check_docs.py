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
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import commands as cmd
import markdown as md
import verdicts

# Most words of a page, everything counted, also tables and code.
LIMITS = {"README.md": 900, "docs/model.md": 3000, "docs/README.md": 900}
LONGEST_PAGE = 4000      # of docs/
MEDIAN_SENTENCE = 20     # words, of every page of docs/ and of README.md and CONTRIBUTING.md
# `longhaul check` walks plans or searches placements of these for up to half a minute on a busy machine: only that they
# exist is looked at. (tests/unit/cli/scenarios_test.cc reads those of scenarios/paper.)
LONG_CHECKS = ("scenarios/placement/", "scenarios/paper/claim-internet", "scenarios/paper/claim-regions", "scenarios/paper/rank-order",
               "scenarios/methods/")
# History: what it names may be gone.
HISTORY = ("CHANGELOG.md",)
# Where files of the tree are named by their path from the root.
ROOTS = ("scenarios", "docs", "tests", "scripts", "results/reference", "core", "methods", "net", "replay", "sim", "trainer",
         "analysis", "cli", "cmake", "python")
PATH = re.compile(r"^(?:%s)/[\w./+-]+$" % "|".join(ROOTS))


class Checker:
    def __init__(self, root, longhaul=None, run=False):
        self.root = os.path.abspath(root)
        self.programs = cmd.Programs(longhaul) if longhaul else None
        self.run = run
        self.problems, self.ran = [], []
        self.sources, self.anchors, self.checked = {}, {}, {}
        self.verdicts = verdicts.Verdicts(self.root)
        makefile = self.read_if("Makefile")
        self.targets = cmd.make_targets(makefile) if makefile is not None else None
        presets = self.read_if("CMakePresets.json")
        self.presets = cmd.cmake_presets(presets) if presets is not None else None

    def read_if(self, path):
        full = os.path.join(self.root, path)
        if not os.path.exists(full):
            return None
        with open(full, encoding="utf-8") as file:
            return file.read()

    def say(self, page, line, what):
        self.problems.append("%s:%d: %s" % (page, line, what))

    def pages(self):
        found = []
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(name for name in folders
                                if not name.startswith((".", "build", "torch-cuda", "shared")) and name != "third_party")
            if os.path.relpath(folder, self.root) == "results":
                folders[:] = [name for name in folders if name == "reference"]
            found += [os.path.relpath(os.path.join(folder, name), self.root) for name in sorted(files)
                      if name.endswith(".md")]
        return found

    def source(self, page):
        if page not in self.sources:
            self.sources[page] = self.read_if(page)
        return self.sources[page]

    def anchors_of(self, page):
        if page not in self.anchors:
            self.anchors[page] = md.anchors(self.source(page))
        return self.anchors[page]

    # --- links and names ---

    def check_links(self, page):
        for line, target in md.links(self.source(page)):
            if re.match(r"^[a-z][a-z0-9+.-]*:", target):
                continue
            path, _, anchor = target.partition("#")
            other = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(os.path.join(self.root, other)):
                self.say(page, line, "dead link %s" % target)
            elif anchor and other.endswith(".md") and anchor not in self.anchors_of(other):
                self.say(page, line, "no heading #%s in %s" % (anchor, other))

    def exists(self, name):
        full = os.path.join(self.root, name)
        return any(os.path.exists(full + end) for end in ("", ".h", ".cc", ".cu", ".py", ".json"))

    def check_names(self, page):
        if page in HISTORY:
            return
        names = [(line, word) for line, text in md.inline_code(self.source(page)) for word in text.split()]
        for block in md.blocks(self.source(page)):
            if block.kind == "code":
                for number, line in enumerate(block.lines):
                    names += [(block.line + number, word.strip("'\",")) for word in line.split()]
            elif block.kind in ("text", "table"):
                text = md.without_code(md.LINK.sub(lambda m: " " * len(m.group(0)), block.text()))
                for match in re.finditer(r"(?<![\w/.])(?:docs|scenarios)/[\w/.-]*\w\.(?:md|json|csv|py|svg)", text):
                    names.append((block.line + text.count("\n", 0, match.start()), match.group(0)))
        for line, word in names:
            word = word.strip("(),;:").rstrip(".")
            if PATH.match(word) and not cmd.is_placeholder(word) and not self.exists(word.rstrip("/")) and \
                    not self.exists(os.path.join(os.path.dirname(page), word)):
                self.say(page, line, "no file %s in the tree" % word)

    def check_keys(self, page):
        """Options of a scenario that are named by their whole key, as `network.tcp.connections`."""
        if page in HISTORY or self.programs is None:
            return
        sections = ("train", "workload", "network", "pipeline", "recovery")
        for line, text in md.inline_code(self.source(page)):
            key = text.split(":")[0].split("=")[0].strip()
            if re.match(r"^(%s)(\.[a-z_0-9]+)+$" % "|".join(sections), key) and key not in self.programs.option_keys() and \
                    not re.search(r"\.(csv|json|jsonl|md|h|cc|py)$", key):
                self.say(page, line, "a scenario has no option %s" % key)

    def check_verdicts(self, page):
        if page not in HISTORY:
            for line, what in verdicts.problems_of(self.source(page), self.verdicts):
                self.say(page, line, what)

    # --- commands ---

    def command_lines(self, page):
        """(line, command) of code blocks; lines that end with a backslash are joined to the next."""
        for block in md.blocks(self.source(page)):
            if block.kind != "code":
                continue
            text, start = "", None
            for number, line in enumerate(block.lines):
                start = block.line + number if start is None else start
                text += line.strip()
                if text.endswith("\\"):
                    text = text[:-1] + " "
                    continue
                for part in cmd.commands_of(text):
                    yield start, part.strip()
                text, start = "", None

    def check_commands(self, page):
        if page in HISTORY:
            return
        lines = list(self.command_lines(page))
        inline = [(line, text) for line, text in md.inline_code(self.source(page)) if " " in text]
        for line, text in lines + inline:
            words = cmd.shell_words(text)
            while words and re.match(r"^[A-Z_]+=", words[0]):
                words = words[1:]
            if not words:
                continue
            program = os.path.basename(words[0])
            if program == "make" and self.targets is not None and re.match(r"^make( [a-z][\w-]*| [A-Z_]+=\S+| -\S+)+$",
                                                                          " ".join(words)):
                for word in words[1:]:
                    if re.match(r"^[a-z][\w-]*$", word) and word not in self.targets:
                        self.say(page, line, "the Makefile has no target %s" % word)
            elif program in ("cmake", "ctest") and self.presets is not None:
                for before, word in zip(words, words[1:]):
                    if before == "--preset" and word not in self.presets:
                        self.say(page, line, "CMakePresets.json has no preset %s" % word)
            elif program in cmd.PROGRAMS and self.programs is not None and words[0] in (program, "build/bin/" + program):
                for problem in cmd.problems_of_program(words, self.programs):
                    self.say(page, line, problem)
                if program == "longhaul" and len(words) > 2 and words[1] in ("run", "check", "plan"):
                    self.check_scenario(page, line, words)

    def check_scenario(self, page, line, words):
        """`longhaul check` of a scenario of the tree with the --set of the command, once for each such pair."""
        files = [word for word in words[2:] if word.startswith("scenarios/") and word.endswith(".json")]
        if len(files) != 1 or words[1] == "plan" or cmd.is_placeholder(files[0]) or not self.exists(files[0]) or \
                files[0].startswith(LONG_CHECKS):
            return
        sets = [arg for before, arg in zip(words, words[1:]) if before == "--set"]
        if any(cmd.is_placeholder(re.sub(r"[{}\[\]]", "", text)) for text in sets):
            return
        key = (files[0], tuple(sets))
        if key not in self.checked:
            command = [self.programs.path("longhaul"), "check", "--anywhere", files[0]] + [x for s in sets for x in ("--set", s)]
            run = subprocess.run(command, cwd=self.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300,
                                 universal_newlines=True)
            self.checked[key] = run.stderr.strip() if run.returncode else None
        if self.checked[key] is not None:
            self.say(page, line, "longhaul check fails: " + self.checked[key])

    def run_blocks(self, page):
        blocks = md.blocks(self.source(page))
        orders = [(block, following, re.match(r"^<!--\s*(file|scenario|run|output)(?::\s*(.*?))?\s*-->$", block.text().strip(), re.S))
                  for block, following in zip(blocks, blocks[1:] + [None]) if block.kind == "comment"]
        with tempfile.TemporaryDirectory(prefix="longhaul-docs-") as folder:
            printed = None
            for block, following, match in orders:
                if not match:
                    continue
                what, argument = match.groups()
                if what == "output":
                    if printed is None or argument not in printed:
                        self.say(page, block.line, "the run did not print: " + str(argument))
                    continue
                if following is None or following.kind != "code":
                    self.say(page, block.line, "no block of code follows <!-- %s -->" % what)
                elif what in ("file", "scenario"):
                    path = os.path.join(folder, argument)
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(following.text() + "\n")
                    if what == "scenario":
                        self.run_block(page, md.Block("code", following.line, ["longhaul check '%s'" % argument]), folder, 0)
                else:
                    printed = self.run_block(page, following, folder, int(argument or 0))

    def run_block(self, page, block, folder, status):
        environment = dict(os.environ, PATH=self.programs.folder + os.pathsep + os.environ["PATH"], LONGHAUL_ROOT=self.root)
        run = subprocess.run(["sh", "-e"], input=block.text(), cwd=folder, env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=600, universal_newlines=True)
        self.ran.append("%s:%d" % (page, block.line))
        if run.returncode != status:
            self.say(page, block.line, "ended with status %d instead of %d:\n%s" % (run.returncode, status, run.stdout[-2000:]))
        return run.stdout

    # --- words, and the way to a page ---

    def check_words(self, page):
        """Prints the page's line of the table."""
        source = self.source(page)
        lengths = md.sentences(source)
        total = len(source.split())
        median = statistics.median(lengths) if lengths else 0
        long_ones = sum(1 for length in lengths if length > 40)
        print("%7d %6d %8.1f %6d  %s" % (total, len(lengths), median, long_ones, page))
        if page in HISTORY or not (page in ("README.md", "CONTRIBUTING.md") or page.startswith("docs/")):
            return
        generated = "<!-- generated" in source or "<!-- Tables: " in source
        limit = LIMITS.get(page, LONGEST_PAGE if page.startswith("docs/") else None)
        if limit is not None and total > limit and not generated:
            self.say(page, 1, "%d words; at most %d are allowed" % (total, limit))
        if median > MEDIAN_SENTENCE:
            self.say(page, 1, "the median sentence has %.1f words; at most %d are allowed" % (median, MEDIAN_SENTENCE))

    def check_reachable(self, pages):
        """Every page of docs/ and every notebook of results/reference/ is linked from docs/README.md, directly or over
        other such pages. (claims/ are matrices, which pages name by their folder.)"""
        folders = ("docs/", "results/reference/")
        if "docs/README.md" not in pages:
            return
        reached, to_do = {"docs/README.md"}, ["docs/README.md"]
        while to_do:
            page = to_do.pop()
            for _, target in md.links(self.source(page)):
                path = target.partition("#")[0]
                if not path or re.match(r"^[a-z][a-z0-9+.-]*:", target):
                    continue
                other = os.path.normpath(os.path.join(os.path.dirname(page), path))
                if other.startswith(folders) and other in pages and other not in reached:
                    reached.add(other)
                    to_do.append(other)
        for page in pages:
            if page.startswith(folders) and page not in reached and not page.startswith("results/reference/claims/"):
                self.say(page, 1, "no way leads here from docs/README.md")

    # --- what stays in the tree because a page quotes it ---

    def scenario_files(self):
        """The scenarios and plans of the tree, by their paths; matrices and schemas are none."""
        found = []
        for folder, folders, files in os.walk(os.path.join(self.root, "scenarios")):
            folders[:] = sorted(name for name in folders if name != "networks")
            found += [os.path.relpath(os.path.join(folder, name), self.root) for name in sorted(files)
                      if name.endswith(".json") and not name.endswith(".schema.json")]
        return found

    def check_quoted(self, pages):
        """Each scenario is named by a page, each method and all-reduce by such a scenario and by a page of results."""
        texts = {page: self.source(page) for page in pages if page not in HISTORY}
        everything, quoted = "\n".join(texts.values()), ""
        for path in self.scenario_files():
            stem = os.path.basename(path)[:-len(".json")]
            named = re.search(r"(?<![\w-])%s\.json\b" % re.escape(stem), everything)
            if path.startswith("scenarios/validation/"):  # longhaul validate NAME
                named = named or "`%s`" % stem in everything
            if named:
                quoted += self.read_if(path)
            else:
                self.say(path, 1, "no page quotes this scenario")
        of_results = ("docs/results/", "docs/claims.md", "results/reference/")
        results = "\n".join(text for page, text in texts.items() if page.startswith(of_results))
        for topic, name in self.programs.mechanisms() if self.programs else ():
            if not re.search(r"\"%s\"" % re.escape(name), quoted):
                self.say("scenarios", 1, "no quoted scenario has the %s %s" % (topic, name))
            elif "`%s`" % name not in results:
                self.say("docs/results", 1, "no page of results quotes the %s %s" % (topic, name))

    def check_real_runs(self):
        """The short table of published and predicted figures has those of the tables that `make validation` wrote."""
        page, tables = "docs/validation/real-runs.md", self.read_if("results/reference/validation/tables.md")
        if tables is None or self.source(page) is None:
            return
        sections = dict(re.findall(r"^### ([\w-]+): (.*?)(?=^###? |\Z)", tables, re.S | re.M))
        for block in md.blocks(self.source(page)):
            rows = block.lines if block.kind == "table" else []
            for number, row in enumerate(rows):
                cells = [cell.strip() for cell in row.strip("|").split("|")]
                section = sections.get(cells[0].strip("`"))
                if section is None:
                    continue
                for figure in re.findall(r"[\d.]+(?: s\b)?", cells[2] + ", " + cells[3]):
                    if not re.search(r"\| \**%s[ *|]" % re.escape(figure), section):
                        self.say(page, block.line + number, "%s is no figure of %s" % (figure, cells[0]))

    def check(self):
        pages = self.pages()
        print("  words  sent.   median  > 40  page")
        for page in pages:
            self.check_links(page)
            self.check_names(page)
            self.check_commands(page)
            self.check_keys(page)
            self.check_verdicts(page)
            self.check_words(page)
            if self.run and self.programs is not None:
                self.run_blocks(page)
        self.check_reachable(pages)
        self.check_quoted(pages)
        self.check_real_runs()
        return self.problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    parser.add_argument("--longhaul", help="the built program; its options are read from --help")
    parser.add_argument("--run", action="store_true", help="also run the blocks that say <!-- run -->")
    arguments = parser.parse_args()
    checker = Checker(arguments.root, arguments.longhaul, arguments.run)
    problems = checker.check()
    for problem in problems:
        print(problem)
    print("%d problems, %d blocks run" % (len(problems), len(checker.ran)))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
