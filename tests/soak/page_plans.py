#!/usr/bin/env python3
"""Whether the planner of the page answers as `longhaul plan` does, byte by byte, on drawn plan files.

    tests/soak/page_plans.py BUILD/bin/longhaul build-browser/planner.js FOLDER [--plans 200] [--seed 1] [--anew]

Each plan file has two to four sites with coordinates or round trips, prices, a deadline or a budget, faults or FIFOs now and
then, and one to some dozen candidates; some are wrong. Both programs make it: all files of the answer, or the words of the
refusal, must be the same. FOLDER gets a line a plan in `plans.jsonl`, with both times; a call that is cut off continues there.
Exit status 1 where one differs, whose files stay in FOLDER.
"""
import filecmp
import json
import pathlib
import resource
import subprocess
import sys

from drawn_plans import Drawing

SOURCE = pathlib.Path(__file__).resolve().parents[2]
def timed(command):
    """The ended process, and the processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def difference(native, page, done, page_done, folder):
    """In words; "" where both say the same."""
    if done.returncode != page_done.returncode:
        return f"exit status {done.returncode}, in the page {page_done.returncode}: {done.stderr} / {page_done.stderr}"
    if done.returncode != 0:
        # Lines of progress stand before the error; the page's files lie in /plan.
        said, in_page = done.stderr[done.stderr.find("error:"):].replace(f"{folder}/", ""), page_done.stderr.replace("/plan/", "")
        return "" if said == in_page else f"{said} / {in_page}"
    names, in_page = ({file.name for file in answer.iterdir()} for answer in (native, page))
    if names != in_page:
        return f"files {sorted(names ^ in_page)}"
    return ", ".join(sorted(name for name in names if not filecmp.cmp(native / name, page / name, shallow=False)))


def main():
    drawing = Drawing(__doc__, ("longhaul", "planner"), 200)
    for number, folder, drawn in drawing.plans():
        plan, native, page = folder / "drawn.json", folder / "answer", folder / "page"
        plan.write_text(json.dumps(drawn, indent=1))
        done, native_s = timed([drawing.given.longhaul, "plan", plan, "-o", native, "--quiet", "--jobs", 1])
        page_done, page_s = timed(["node", SOURCE / "browser/in_node.js", drawing.given.planner, plan, page])
        line = {"number": number, "status": done.returncode, "native_s": round(native_s, 2), "page_s": round(page_s, 2),
                "difference": difference(native, page, done, page_done, folder)}
        drawing.add(line, line["difference"])
    lines = drawing.lines
    made = [line for line in lines if line["status"] == 0]
    ratios = sorted(line["page_s"] / line["native_s"] for line in made if line["native_s"] > 0.5)
    different = [line for line in lines if line["difference"]]
    print(f"{len(lines)} plans, {len(made)} made, {len(different)} differ" +
          (f"; the page takes {ratios[len(ratios) // 2]:.1f} times the processor time (median of {len(ratios)} above half a second)" if ratios else ""))
    return 1 if different else 0


sys.exit(main())
