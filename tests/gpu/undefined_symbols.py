#!/usr/bin/env python3
"""Finds what objects use of namespace longhaul and none of them defines, or two of them do.

usage: undefined_symbols.py NM --absent MEMBER FILE...

FILEs are objects and archives. MEMBER, an object in one of the archives, counts as not there.
"""
import collections
import re
import subprocess
import sys

STRONG = "TDBR"  # nm's letters for functions and data that only one object may define
LINE = re.compile(r"(?P<object>.*): (?P<name>\S+) (?P<kind>\S)(?: .*)?")


def symbols(nm, files):
    text = subprocess.run([nm, "-P", "-A", "--extern-only", *files], capture_output=True, text=True, check=True).stdout
    return [match.group("object", "name", "kind") for match in map(LINE.fullmatch, text.splitlines())
            if match and "8longhaul" in match["name"]]


def main():
    nm, option, absent, *files = sys.argv[1:]
    assert option == "--absent" and files
    found = symbols(nm, files)
    if not any(absent in place for place, _, _ in found):
        return [f"no symbol in {absent}"]
    found = [symbol for symbol in found if absent not in symbol[0]]
    defined = {name for _, name, kind in found if kind != "U"}
    strong = collections.Counter(name for _, name, kind in found if kind in STRONG)
    print(f"{len(defined)} symbols of {len(files)} files")
    return ([f"undefined: {name} in {place}" for place, name, kind in found if kind == "U" and name not in defined] +
            [f"defined {count} times: {name}" for name, count in strong.items() if count > 1])


if __name__ == "__main__":
    problems = main()
    print("\n".join(problems))
    sys.exit(bool(problems))
