"""`longhaul check` and scenario.schema.json agree: what one lets through, so does the other.

Mutates each scenario key by key (dropped, wrong type, out of range, misspelt) and compares verdicts. Contradictions between
keys are beyond a schema: BEYOND_A_SCHEMA lists the words of those refusals.
usage: schema_agreement.py LONGHAUL SCENARIO_FOLDER
"""
import copy
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import jsonschema

WRONG_VALUES = [None, True, -1, 0, 1.5, "nonsense", [], {}]
# Refusals that no schema can know: relations between keys, and names of data.
BEYOND_A_SCHEMA = ("without train", "but there are only", "the scenario has", "neither built in nor a file", "is used twice",
                   "exactly one of mean", "exactly one of link and replica", "at least one of rate", "a replica, 0", "is no file",
                   "either rate, or up and down",
                   "exactly one of them", "either link, or from and to", "exactly one of flows, rate and share",
                   "on and off together", "only with link", "names no link", "cannot be read", "does not exist", "ratio without of and to", "].of: found", "].to: found")


def places(value, path=()):
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], path + (key,))


def with_place(scenario, path, values):
    """A copy that has these values, by key, instead of the one at `path`."""
    parent = changed = copy.deepcopy(scenario)
    for key in path[:-1]:
        parent = parent[key]
    if path[-1] not in values:
        del parent[path[-1]]
    for key, value in values.items():
        parent[key] = value
    return changed


def mutations(scenario):
    for path in places(scenario):
        if not path or path[0] in ("$schema", "sweep", "name", "description"):
            continue
        for wrong in WRONG_VALUES:
            yield path, f"= {json.dumps(wrong)}", with_place(scenario, path, {path[-1]: wrong})
        if isinstance(path[-1], str):
            yield path, "dropped", with_place(scenario, path, {})
            yield path, "misspelt", with_place(scenario, path, {path[-1] + "x": 1})


def main():
    longhaul, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    validator = jsonschema.Draft202012Validator(json.loads((folder / "scenario.schema.json").read_text()))
    compared = disagreements = 0
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "scenario.json"
        shutil.copytree(folder / "networks", pathlib.Path(scratch) / "networks")  # what scenarios name
        for source in sorted(folder.glob("*.json")):
            if source.name.endswith(".schema.json"):
                continue
            scenario = json.loads(source.read_text())
            for path, what, changed in [((), "as it is", scenario), *mutations(scenario)]:
                file.write_text(json.dumps(changed))
                by_schema = validator.is_valid(changed)
                checked = subprocess.run([longhaul, "check", "--anywhere", file], capture_output=True, text=True)
                by_check = checked.returncode == 0
                compared += 1
                excused = by_schema and any(words in checked.stderr for words in BEYOND_A_SCHEMA)
                if by_schema != by_check and not excused:
                    disagreements += 1
                    print(f"{source.name}: {path} {what}: schema {by_schema}, check {by_check}: {checked.stderr.strip()}")
    print(f"{compared} scenarios compared, {disagreements} disagreements")
    return disagreements > 0 or compared < 100


sys.exit(main())
