"""Commands in the documents: what they name has to exist, in the programs and in the tree."""
import functools
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess

PROGRAMS = ("longhaul", "longhaul-train", "longhaul-sim")


class Programs:
    """The built programs beside `longhaul`. Their options are read from --help, once for each subcommand."""

    def __init__(self, longhaul):
        self.folder = pathlib.Path(longhaul).resolve().parent

    @functools.cache
    def said(self, name, *arguments):
        return subprocess.run([self.folder / name, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, text=True)

    @functools.cache
    def option_keys(self):
        """The dotted keys of `longhaul list options`; those of one method, topology or fault also without it."""
        keys = {re.sub(r"\[\]|\.$", "", line)
                for line in re.findall(r"^\S.*$", self.said("longhaul", "list", "options").stdout, re.M)}
        return keys | {re.sub(r"\.<[^>]*>", "", key) for key in keys}

    def mechanisms(self):
        """("method" or "all-reduce", name) of all that a scenario can name as one."""
        for topic, kind in (("methods", "method"), ("collectives", "all-reduce")):
            listed = self.said("longhaul", "list", topic).stdout
            for name, words in re.findall(r"^([a-z][\w-]*):?\s+(.*)$", listed, re.M):
                if kind == "method" or words.startswith("all-reduce "):
                    yield kind, name

    def help(self, name, *subcommand):
        """(options, subcommands) of a program or subcommand; None where there is no such subcommand."""
        run = self.said(name, *subcommand, "--help")
        if run.returncode != 0 or (subcommand and run.stdout == self.said(name, "--help").stdout):
            return None  # an unknown subcommand with --help prints the program's own help
        _, _, listed = run.stdout.partition("Subcommands:")
        return (set(re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)", run.stdout)),
                set(re.findall(r"^  ([a-z][\w-]*) ", listed, re.M)))


def shell_words(line):
    """The words of a command line up to its comment, a pipe, an && or a redirection. [] where it cannot be read."""
    try:
        words = shlex.split(next(iter(commands_of(line)), "").rstrip(";"))
    except ValueError:
        return []
    return list(itertools.takewhile(lambda word: not re.match(r"2?>|\||[<&…]+$", word), words))


def commands_of(line):
    """The commands of a line that are joined by && or ;."""
    return [part for part in re.split(r"\s(?:&&|;)\s|;\s|\s\|\s", re.sub(r"^\s*\$ |\s#\s.*$", "", line)) if part.strip()]


def is_placeholder(word):
    """Names that stand for something of the reader's: RUN, KEY, NAME.json, …, and globs."""
    return re.search(r"[*?<>{}…|$\[\]]|\.\.\.|(^|[/.=])[A-Z]{2,}[A-Z_]*(?=$|[/.])", word) is not None


def problems_of_program(words, programs):
    """What is wrong with a call of one of the three programs: subcommand and options."""
    name = os.path.basename(words[0])
    if not (programs.folder / name).exists():
        return  # built without LibTorch or ns-3
    options, subcommands = programs.help(name)
    command = name
    for position, word in enumerate(words[1:]):
        if word == "--":
            return  # a command of the user's
        if command == name and subcommands and not word.startswith("-") and (position == 0 or word in subcommands):
            if is_placeholder(word):
                return
            found = programs.help(name, word)  # one that is not listed may be there for other programs
            if found is None:
                yield f"{name} has no subcommand {word}; it has {', '.join(sorted(subcommands))}"
                return
            command, options = f"{name} {word}", found[0]
        elif re.match(r"^--?[A-Za-z]", word) and word.split("=")[0] not in options:
            yield f"{command} has no option {word.split('=')[0]}"


def make_targets(makefile):
    return set(" ".join(re.findall(r"^([A-Za-z][\w -]*):(?!=)", makefile, re.M)).split())


def cmake_presets(text):
    presets = json.loads(text)
    return {preset["name"] for kind in ("configurePresets", "buildPresets", "testPresets")
            for preset in presets.get(kind, [])}
