"""Commands in the documents: what they name has to exist, in the programs and in the tree."""
import json
import os
import re
import shlex
import subprocess

PROGRAMS = ("longhaul", "longhaul-train", "longhaul-sim")


class Programs:
    """The built programs beside `longhaul`. Their options are read from --help, once for each subcommand."""

    def __init__(self, longhaul):
        self.folder = os.path.dirname(os.path.abspath(longhaul))
        self.known, self.main_help = {}, {}
        self.keys = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def exists(self, name):
        return os.path.exists(self.path(name))

    def option_keys(self):
        if self.keys is None:
            run = subprocess.run([self.path("longhaul"), "list", "options"], stdout=subprocess.PIPE, timeout=60,
                                 universal_newlines=True)
            self.keys = option_keys(run.stdout)
        return self.keys

    def mechanisms(self):
        """("method" or "all-reduce", name) of all that a scenario can name as one."""
        for topic, kind in (("methods", "method"), ("collectives", "all-reduce")):
            run = subprocess.run([self.path("longhaul"), "list", topic], stdout=subprocess.PIPE, timeout=60,
                                 universal_newlines=True)
            for name, words in re.findall(r"^([a-z][\w-]*):?\s+(.*)$", run.stdout, re.M):
                if kind == "method" or words.startswith("all-reduce "):
                    yield kind, name

    def help(self, name, subcommand=None):
        """(options, subcommands) of a program or subcommand; None where there is no such subcommand."""
        key = (name, subcommand)
        if key not in self.known:
            command = [self.path(name)] + ([subcommand] if subcommand else []) + ["--help"]
            run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                                 universal_newlines=True)
            if subcommand is None:
                self.main_help[name] = run.stdout
            if run.returncode != 0 or (subcommand and run.stdout == self.main_help.get(name)):
                self.known[key] = None  # an unknown subcommand with --help prints the program's own help
            else:
                options = set(re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)", run.stdout))
                listed = run.stdout.split("Subcommands:")[1] if "Subcommands:" in run.stdout else ""
                self.known[key] = (options, set(re.findall(r"^  ([a-z][\w-]*) ", listed, re.M)))
        return self.known[key]


def shell_words(line):
    """The words of a command line up to its comment, a pipe, an && or a redirection. [] where it cannot be read."""
    line = re.sub(r"\s#\s.*$", "", line.strip())
    line = re.sub(r"^\$ ", "", line)
    try:
        words = shlex.split(line, comments=False)
    except ValueError:
        return []
    for end, word in enumerate(words):
        if word in ("|", "&&", ";", ">", "2>", "<", "||", "&", "…") or word.startswith((">", "2>", "|")):
            return words[:end]
        if word.endswith(";"):
            return words[:end] + [word[:-1]]
    return words


def commands_of(line):
    """The commands of a line that are joined by && or ;."""
    return [part for part in re.split(r"\s(?:&&|;)\s|;\s|\s\|\s", re.sub(r"\s#\s.*$", "", line)) if part.strip()]


def is_placeholder(word):
    """Names that stand for something of the reader's: RUN, KEY, NAME.json, …, and globs."""
    return re.search(r"[*?<>{}…|$\[\]]|\.\.\.", word) is not None or re.search(r"(^|[/.=])[A-Z]{2,}[A-Z_]*(?=$|[/.])",
                                                                             word) is not None


def problems_of_program(words, programs):
    """What is wrong with a call of one of the three programs: subcommand and options."""
    name = os.path.basename(words[0])
    if not programs.exists(name):
        return []  # built without LibTorch or ns-3
    options, subcommands = programs.help(name)
    subcommand, problems = None, []
    for position, word in enumerate(words[1:]):
        if subcommand is None and subcommands and not word.startswith("-") and \
                (position == 0 or word in subcommands):
            if is_placeholder(word):
                return problems
            found = programs.help(name, word)  # one that is not listed may be there for other programs
            if found is None:
                return ["%s has no subcommand %s; it has %s" % (name, word, ", ".join(sorted(subcommands)))]
            subcommand, options = word, found[0]
        elif re.match(r"^--?[A-Za-z]", word) and word.split("=")[0] not in options:
            problems.append("%s has no option %s" % (name + (" " + subcommand if subcommand else ""), word.split("=")[0]))
    return problems


def make_targets(makefile):
    targets = set()
    for line in makefile.split("\n"):
        match = re.match(r"^([A-Za-z][\w -]*):(?!=)", line)
        if match:
            targets.update(match.group(1).split())
    return targets


def option_keys(listing):
    """The dotted keys of `longhaul list options`; those of one method, topology or fault also without its name."""
    keys = set()
    for line in listing.split("\n"):
        if line and not line.startswith(" "):
            key = re.sub(r"\[\]|\.$", "", line)
            keys.add(key)
            keys.add(re.sub(r"\.<[^>]*>", "", key))
    return keys


def cmake_presets(text):
    presets = json.loads(text)
    return {preset["name"] for kind in ("configurePresets", "buildPresets", "testPresets")
            for preset in presets.get(kind, [])}
