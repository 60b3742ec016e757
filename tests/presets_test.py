#!/usr/bin/env python3
"""Whether the presets that compile each source by itself make a build: Ninja takes no two rules for one object file, and in
a unity build nobody sees them. Nothing is compiled.

  tests/presets_test.py SOURCE FOLDER     exit status 1 and a line for each preset that fails
"""
import pathlib
import shutil
import subprocess
import sys

PRESETS = ["debug", "sanitize"]


def fault(source, folder, preset):
    """Why the preset makes no build, or nothing."""
    for command in (["cmake", "-S", source, "--preset", preset, "-B", folder], ["ninja", "-C", folder, "-t", "targets", "depth", "1"]):
        done = subprocess.run(command, cwd=source, capture_output=True, text=True)
        if done.returncode:
            return f"{preset}: {' '.join(map(str, command))}: {(done.stderr + done.stdout).strip()[-600:]}"


def main():
    source, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    faults = []
    for preset in PRESETS:
        shutil.rmtree(folder, ignore_errors=True)
        faults += filter(None, [fault(source, folder, preset)])
    shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(faults) if faults else f"{len(PRESETS)} presets make a build")
    return 1 if faults else 0


sys.exit(main())
