"""What two run directories must share: all bytes, less wall times, what follows from them, and what a child said
(docs/reference/formats/run.md)."""
import json
import pathlib
import re
import sys

LEFT_OUT = {"log.txt", ".lock", "speed.json"}
OF_THE_COMMAND = ("command", "started", "finished", "wall_s", "wall_times_s", "options")


def without_wall_times(manifest):
    return {key: value for key, value in manifest.items() if key not in OF_THE_COMMAND}


def content(path):
    raw = path.read_bytes()
    if path.name == "manifest.json":
        return without_wall_times(json.loads(raw))
    if path.name == "step_times.csv":
        return [row.split(b",")[:2] for row in raw.splitlines()]
    if path.name != "report.html":
        return raw
    # Without the folder and the manifest's wall times.
    before, data, after = re.split(rb'(?<=<script id="data" type="application/json">)(.*?)(?=</script>)', raw, maxsplit=1, flags=re.S)
    data = json.loads(data)
    for run in data["runs"]:
        del run["folder"]
        run["manifest"] = without_wall_times(run["manifest"])
    return before, data, after


def contents(run):
    """By path."""
    return {str(path.relative_to(run)): content(path) for path in sorted(run.rglob("*"))
            if path.is_file() and path.name not in LEFT_OUT}


def differences(run, other):
    ours, theirs = contents(run), contents(other)
    return [name if name in ours and name in theirs else f"{name}: only in {(run if name in ours else other).name}"
            for name in sorted(ours.keys() | theirs.keys()) if ours.get(name) != theirs.get(name)]


if __name__ == "__main__":
    sys.exit("\n".join(differences(*map(pathlib.Path, sys.argv[1:]))) or 0)
