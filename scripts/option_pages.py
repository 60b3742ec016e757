#!/usr/bin/env python3
"""Pages of the options of a scenario, made from `longhaul list options`: one a section.

    scripts/option_pages.py build/bin/longhaul build/docs/options     # writes them (make docs)

Status 1 where a section of the options has no page, or a page no options: PAGES below is then out of date.
"""
import os
import re
import subprocess
import sys

# page: title, what to do with it, and the first words of the keys that it has.
PAGES = [
    ("train", "Options: `train`", "What is really trained. Without this section only the network is simulated.", ("train",)),
    ("workload", "Options: `workload`", "What the network carries, and how long a step takes.", ("workload",)),
    ("network", "Options: `network`", "The wide-area network. What each part means: docs/model.md.", ("network",)),
    ("methods", "Options: `methods`", "What is compared. Equations: docs/methods.md.", ("methods",)),
    ("pipeline", "Options: `pipeline`", "A model in stages. What each part means: docs/reference/pipelines.md.", ("pipeline",)),
    ("parallelism", "Options: `parallelism`", "What is said inside a step. What each part means: docs/reference/parallelism.md.", ("parallelism",)),
    ("rollouts", "Options: `rollouts` and `plan`", "Post-training: who generates samples, with which weights. How to: docs/howto/rollouts.md.",
     ("rollouts", "plan")),
    ("faults", "Options: `faults` and `recovery`", "What fails, and what the others do. How to: docs/howto/faults.md.",
     ("faults", "recovery")),
    ("claims", "Options: `claims` and `sweep`", "Statements that a run judges, and what it varies.", ("claims", "sweep")),
    ("validation", "Options: `validation`", "Figures that others measured. How to: docs/validation/README.md.",
     ("validation",)),
    ("fit", "Options: `fit`", "What is not known, and what was found of it. How to: docs/howto/fit.md.", ("fit",)),
]
# Parts of methods that many share, said once: the first two on pages of their own.
SHARED = ("pipeline", "parallelism", "codec", "grace")
RANGE = re.compile(r"^(an? |one of |true or false|default |a list|an object|\"|[0-9])")


def read_options(longhaul):
    """[(key, meaning, allowed values and default)] in the order of the declarations."""
    text = subprocess.run([longhaul, "list", "options"], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    found = []
    for line in text.split("\n"):
        if line and not line.startswith(" "):
            found.append([line, []])
        elif line.strip():
            found[-1][1].append(line.strip())
    options = []
    for key, lines in found:
        if len(lines) >= 2:
            options.append((key, " ".join(lines[:-1]), lines[-1]))
        elif lines and RANGE.match(lines[0]):
            options.append((key, "", lines[0]))
        else:
            options.append((key, lines[0] if lines else "", ""))
    return options


def shown(key):
    """A key as a reader writes it: of "x." the part behind it is any name or element."""
    return key + "*" if key.endswith(".") else key


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def table(options):
    lines = ["| key | meaning | allowed |", "|---|---|---|"]
    lines += ["| `%s` | %s | %s |" % (shown(key), cell(meaning), cell(allowed)) for key, meaning, allowed in options]
    return "\n".join(lines)


def methods_of(options):
    """{method: [(key behind the method's, meaning, allowed)]} and what each method is."""
    methods, words = {}, {}
    for key, meaning, allowed in options:
        match = re.match(r"^methods\[\]\.<([^>]+)>\.?(.*)$", key)
        if not match:
            continue
        name, rest = match.groups()
        methods.setdefault(name, [])
        if rest:
            methods[name].append((rest, meaning, allowed))
        else:
            words[name] = meaning
    return methods, words


def methods_page(options):
    methods, words = methods_of(options)
    common = [option for option in next(iter(methods.values())) if all(option in of for of in methods.values())]
    common = [option for option in common if not option[0].startswith(("pipeline.", "parallelism."))]
    parts = ["## Every method", table(common), "`pipeline` has the keys of [`pipeline`](pipeline.md), `parallelism` those of [`parallelism`](parallelism.md)."]
    for name, of in methods.items():
        own = [option for option in of if option not in common and not any(option[0].startswith(part + ".") for part in SHARED)]
        parts += ["## " + name, cell(words[name]) + ".", table(own) if own else "It has no options of its own."]
    for part in SHARED[2:]:
        seen = []
        for of in methods.values():
            seen += [option for option in of if option[0].startswith(part + ".") and option[0] not in [s[0] for s in seen]]
        if seen:
            parts += ["## Keys of " + part, "Where `%s` of a method is an object; defaults may differ from method to method." % part, table(seen)]
    return parts


def pages(options):
    """{file name: text}"""
    made = {}
    known = {word for _, _, _, words in PAGES for word in words}
    first = lambda key: re.split(r"[.\[]", key)[0]
    top = [option for option in options if first(option[0]) not in known]
    for key, _, _ in top:
        if "." in key:
            sys.exit("%s: no page has the section %s" % (key, first(key)))
    for name, title, action, words in PAGES:
        of = [option for option in options if first(option[0]) in words]
        if not of:
            sys.exit("%s: no option of a scenario begins with %s" % (name + ".md", " or ".join(words)))
        parts = methods_page(of) if name == "methods" else [table(of)]
        made[name + ".md"] = "\n\n".join(["# " + title, action] + parts) + "\n"
    links = "\n".join("| [`%s`](%s.md) | %s |" % ("`, `".join(words), name, re.split(r" (?:What each|Equations|How to)", action)[0])
                      for name, _, action, words in PAGES)
    made["README.md"] = "\n\n".join([
        "# Options of a scenario",
        "Find the section of your scenario below. `longhaul list options` prints the same, `longhaul list schema` completes them in an editor.",
        "| section | what it is |\n|---|---|\n" + links, "## Keys at the top", table(top)]) + "\n"
    return made


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    made, folder = pages(read_options(sys.argv[1])), sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    for name, text in made.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
