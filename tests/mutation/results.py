"""The file of results: a JSON object a line, one for each run of a mutant, the last of an `id` counts.

  id, room, file, line, column, operator, before, after (the lines that differ, without the white space around), outcome,
  tests (names of those that failed), seconds, commit (of the checkout; "+" where it had changes)

Outcomes: noticed (a test failed), timeout (noticed too: a suite took PATIENCE times what it takes), survived, same code (the
compiler makes the same object of it: no test can tell) and does not compile.
"""
import hashlib
import json

OUTCOMES = ["noticed", "timeout", "survived", "same code", "does not compile"]


def identity(mutant):
    parts = [str(mutant[key]) for key in ("file", "line", "column", "operator", "before", "after")]
    return hashlib.sha1("\0".join(parts).encode()).hexdigest()[:10]


def read(file):
    """{id: result}. A last line that was cut is not counted, and taken off. ValueError: another line is no result."""
    if not file.exists():
        return {}
    content = file.read_bytes()
    whole = content[:content.rfind(b"\n") + 1]
    if whole != content:
        file.write_bytes(whole)
    found = {}
    for number, line in enumerate(whole.decode().splitlines(), 1):
        try:
            result = json.loads(line)
            found[result["id"]] = result
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{file}:{number}: not a line of mutate.py: {line[:60]}") from None
    return found


def append(file, result):
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "a", encoding="utf-8") as out:
        out.write(json.dumps(result) + "\n")


def score(results):
    """Share of the mutants that some test can tell which one noticed; None: there are none."""
    noticed = sum(result["outcome"] in ("noticed", "timeout") for result in results)
    told = noticed + sum(result["outcome"] == "survived" for result in results)
    return noticed / told if told else None


def percent(share):
    return "–" if share is None else f"{100 * share:.0f} %"


def table(results):
    """Markdown: a row for each room, and one for all."""
    rooms = sorted({result["room"] for result in results})
    rows = [(room, [result for result in results if result["room"] == room]) for room in rooms]
    if len(rooms) > 1:
        rows.append(("all", list(results)))
    yield f"| room | mutants | {' | '.join(OUTCOMES)} | score |"
    yield "|---" * (len(OUTCOMES) + 3) + "|"
    for room, of_room in rows:
        counts = [sum(result["outcome"] == outcome for result in of_room) for outcome in OUTCOMES]
        yield f"| {room} | {len(of_room)} | {' | '.join(map(str, counts))} | {percent(score(of_room))} |"


def survivors(results):
    for result in sorted(results, key=lambda result: (result["file"], result["line"], result["column"])):
        if result["outcome"] == "survived":
            yield f"{result['file']}:{result['line']}: {result['operator']}: {result['before']} → {result['after'] or '(nothing)'}"
