"""Commands in the documents: what they name has to exist, in the programs and in the tree."""
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

    def path(self, name):
        return os.path.join(self.folder, name)

    def exists(self, name):
        return os.path.exists(self.path(name))

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
    subcommand = None
    rest = words[1:]
    if subcommands:
        if not rest or is_placeholder(rest[0]):
            return []
        if rest[0].startswith("-"):
            return ["%s has no option %s" % (name, rest[0])] if rest[0] not in options else []
        subcommand = rest[0]
        found = programs.help(name, subcommand)  # one that is not listed may be there for other programs
        if found is None:
            return ["%s has no subcommand %s; it has %s" % (name, subcommand, ", ".join(sorted(subcommands)))]
        options = found[0]
        rest = rest[1:]
    problems = []
    for word in rest:
        if not re.match(r"^--?[A-Za-z]", word):
            continue
        option = word.split("=")[0]
        if option not in options:
            where = name + (" " + subcommand if subcommand else "")
            problems.append("%s has no option %s" % (where, option))
    return problems


def make_targets(makefile):
    targets = set()
    for line in makefile.split("\n"):
        match = re.match(r"^([A-Za-z][\w -]*):(?!=)", line)
        if match:
            targets.update(match.group(1).split())
    return targets


def cmake_presets(text):
    import json
    presets = json.loads(text)
    return {preset["name"] for kind in ("configurePresets", "buildPresets", "testPresets")
            for preset in presets.get(kind, [])}
