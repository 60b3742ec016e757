#!/usr/bin/env python3
"""Whether the unit tests notice small faults. Draws mutants of product lines, builds each in a copy of the tree, runs the
suites of its folder, and writes what became of it. The checkout itself is not touched.

  tests/mutation/mutate.py --room replay --since 2026-11-26 --draw 60 --seed 1 --build build-mutation --results FILE.jsonl
  tests/mutation/mutate.py --again --results FILE.jsonl --build build-mutation     the survivors of FILE once more
  tests/mutation/mutate.py --list FILE.jsonl                                       scores and survivors

Operators: operators.py. Outcomes and the file: results.py. A stopped run continues where it was: mutants that FILE has are
not run again. With the same seed the first N mutants of a larger draw are those of a smaller one.
"""
import argparse
import hashlib
import pathlib
import sys
import time

import changed_lines
import operators
import results
import source_tokens
import suites


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--room", action="append", default=[], metavar="FOLDER",
                        help="a folder of the product, as replay or net/linux; repeat for more")
    parser.add_argument("--since", metavar="DATE|COMMIT", help="lines changed since then; without it all")
    parser.add_argument("--draw", type=int, default=60, metavar="N", help="mutants of each room (60)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (1)")
    parser.add_argument("--operators", default="", metavar="NAME,...", help="draw these alone, as SDL,ROR")
    parser.add_argument("--headers", action="store_true", help="mutants of headers too, which compile many sources")
    parser.add_argument("--also", action="append", default=[], metavar="NAME",
                        help="run NAME_test besides, as integration (which needs LibTorch and ns-3), planner; repeat for more")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR", help="for the copy and its build (build-mutation)")
    parser.add_argument("--results", type=pathlib.Path, metavar="FILE", help="JSON lines; continued where it exists")
    parser.add_argument("--again", action="store_true", help="first the survivors of FILE again, wherever their lines stand now")
    parser.add_argument("--list", type=pathlib.Path, metavar="FILE", help="print scores and survivors, and run nothing")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2], metavar="DIR",
                        help="the checkout (the one of this file)")
    return parser


def described(room, file, source, mutant):
    """A result without its outcome."""
    text = source.text
    first, last = source.lines_around(mutant.start, mutant.end)
    before = text[first:last]
    after = text[first:mutant.start] + mutant.new + text[mutant.end:last]
    found = {"room": room, "file": file, "line": source.line_of(mutant.start), "column": source.column_of(mutant.start),
             "operator": mutant.operator, "before": " ".join(before.split()), "after": " ".join(after.split())}
    return {"id": results.identity(found), **found}


def all_mutants(root, room, since, headers, names):
    """[(result without its outcome, mutant)] of the room's changed lines."""
    found = []
    commits = changed_lines.commits_since(root, since) if since else None
    for file in changed_lines.product_files(root, room, headers):
        lines = changed_lines.lines_of(root, file, commits) if since else None
        if lines is not None and not lines:
            continue
        for result, mutant in all_of_file(root, room, file):
            if (lines is None or result["line"] in lines) and (not names or mutant.operator in names):
                found.append((result, mutant))
    return found


def all_of_file(root, room, file):
    source = source_tokens.Source((root / file).read_text(encoding="utf-8"))
    return [(described(room, file, source, mutant), mutant) for mutant in operators.mutants_of(source)]


def draw(mutants, count, seed):
    """By a hash of seed and mutant, so that a change of other lines leaves the order as it is."""
    return sorted(mutants, key=lambda one: hashlib.sha1(f"{seed} {one[0]['id']}".encode()).hexdigest())[:count]


def found_again(root, survivors):
    """[(result, mutant)]: a survivor's change where its lines stand now, in the file of that name in its top folder."""
    now = {}
    for survivor in survivors:
        top, name = survivor["file"].split("/")[0], survivor["file"].split("/")[-1]
        if (top, name) not in now:
            now[top, name] = [one for file in changed_lines.product_files(root, top, True) if file.split("/")[-1] == name
                              for one in all_of_file(root, survivor["room"], file)]
        alike = [(new, mutant) for new, mutant in now[top, name]
                 if all(new[key] == survivor[key] for key in ("operator", "before", "after"))]
        if not alike:
            print(f"gone: {survivor['file']}:{survivor['line']}: {survivor['operator']}: {survivor['before']}")
            continue
        new, mutant = min(alike, key=lambda one: (abs(one[0]["line"] - survivor["line"]), abs(one[0]["column"] - survivor["column"])))
        yield {**new, "id": survivor["id"]}, mutant


def commit_of(root):
    head = changed_lines.git(root, "rev-parse", "--short=10", "HEAD").strip()
    return head + ("+" if changed_lines.git(root, "status", "--porcelain").strip() else "")


def run_unmutated(workshop, rooms, programs):
    """[(program, tests of it as a filter, limit of processor time in seconds)], quick tests first. Failed: it does not build,
    or a test fails."""
    print(f"builds and runs {', '.join(programs)} without a mutant", flush=True)
    workshop.configure(rooms, programs)
    if said := workshop.make(programs):
        raise suites.Failed(f"the tree does not build without a mutant:\n{said[-4000:]}")
    workshop.remember_objects()
    quick, slow = [], []
    for program in programs:
        outcome = workshop.run(program)
        if outcome.failed or outcome.timed_out:
            raise suites.Failed(f"{program} fails without a mutant ({', '.join(outcome.failed)}): no mutant is run\n"
                                f"{outcome.output[-4000:]}")
        print(f"{program}: {outcome.wall_s:.1f} s, {outcome.cpu_s:.1f} s of processor time", flush=True)
        limit_s = suites.PATIENCE * outcome.cpu_s + 1
        names = ":".join(suites.quick_tests(outcome.output))
        quick.append((program, names, limit_s))
        slow.append((program, f"-{names}", limit_s))
    return quick + slow


def run_mutant(workshop, mutant, file, programs, suites_of_all):
    """(outcome, names of failed tests)."""
    copy = workshop.tree / file
    text = copy.read_text(encoding="utf-8")
    try:
        copy.write_text(text[:mutant.start] + mutant.new + text[mutant.end:], encoding="utf-8")
        if said := workshop.make(programs, keep=False):
            if ".o" in "".join(line for line in said.splitlines() if line.startswith("FAILED:")):
                return "does not compile", []
            return "noticed", ["a test program does not list its tests"]
        if workshop.is_same_code():
            return "same code", []
        for program, tests, limit_s in suites_of_all:
            if program not in programs:
                continue
            outcome = workshop.run(program, tests, limit_s)
            if outcome.timed_out:
                return "timeout", []
            if outcome.failed:
                return "noticed", outcome.failed
        return "survived", []
    finally:
        copy.write_text(text, encoding="utf-8")


def run(options):
    root = options.root.resolve()
    tree = (options.build or root / "build-mutation").resolve()
    known = results.read(options.results)
    survivors = [result for result in known.values() if result["outcome"] == "survived"]
    drawn = list(found_again(root, survivors)) if options.again else []
    names = set(filter(None, options.operators.split(",")))
    for room in options.room:
        mutants = all_mutants(root, room, options.since, options.headers, names)
        of_room = draw(mutants, options.draw, options.seed)
        left = [one for one in of_room if one[0]["id"] not in known]
        print(f"{room}: {len(mutants)} mutants, {len(of_room)} drawn, {len(of_room) - len(left)} of them done before")
        drawn += left
    if not drawn:
        print("no mutant is left to run")
        return []
    rooms = {result["room"] for result, _ in drawn}
    programs_of = {room: suites.programs_of(room, options.also) for room in rooms}
    programs = list(dict.fromkeys(program for room in sorted(rooms) for program in programs_of[room]))
    with suites.Workshop(root, tree) as workshop:
        workshop.copy_tree()
        suites_of_all = run_unmutated(workshop, rooms, programs)
        return run_drawn(workshop, drawn, programs_of, suites_of_all, options.results)


def run_drawn(workshop, drawn, programs_of, suites_of_all, file):
    """Results, each of which is in the file as soon as it is known."""
    commit = commit_of(workshop.root)
    done, began = [], time.monotonic()
    for result, mutant in drawn:
        started = time.monotonic()
        outcome, tests = run_mutant(workshop, mutant, result["file"], programs_of[result["room"]], suites_of_all)
        seconds = round(time.monotonic() - started, 1)
        done.append({**result, "outcome": outcome, "tests": tests, "seconds": seconds, "commit": commit})
        results.append(file, done[-1])
        left_s = (time.monotonic() - began) / len(done) * (len(drawn) - len(done))
        print(f"{len(done)}/{len(drawn)} {result['file']}:{result['line']} {result['operator']} {outcome}"
              f"{': ' + tests[0] if tests else ''} ({seconds} s; about {left_s / 60:.0f} min left)", flush=True)
    return done


def problem_of(options):
    if options.results is None:
        return "--results FILE is missing: where the outcomes go"
    if not options.again and not options.room:
        return f"--room is missing: a folder of the product below {', '.join(suites.PROGRAMS)}"
    for room in options.room:
        try:
            suites.programs_of(room, [])
        except KeyError:
            return f"--room {room}: no test program is known for it; allowed: {', '.join(suites.PROGRAMS)} and folders in them"
        if not (options.root / room).is_dir():
            return f"--room {room}: {options.root / room} is no folder"
    if wrong := set(filter(None, options.operators.split(","))) - set(operators.NAMES):
        return f"--operators: no {', '.join(sorted(wrong))}; allowed: {', '.join(operators.NAMES)}"
    return None


def main():
    options = arguments().parse_args()
    try:
        if options.list:
            if not options.list.exists():
                print(f"error: --list {options.list}: no such file", file=sys.stderr)
                return 2
            found = list(results.read(options.list).values())
            print("\n".join([*results.table(found), "", *results.survivors(found)]))
            return 0
        if problem := problem_of(options):
            print(f"error: {problem}", file=sys.stderr)
            return 2
        done = run(options)
        if done:
            print("\n".join([*results.table(done), "", *results.survivors(done)]))
        return 0
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except suites.Failed as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; the same command continues", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
