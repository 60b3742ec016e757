#!/usr/bin/env python3
"""What first_card.py makes of programs that crash, hang, skip and take too long. Its programs here are shell scripts, since the
real ones need a card to do any of it."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time
import types
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path[:0] = [str(SCRIPTS), str(SCRIPTS.parent / "tests/support")]
import first_card  # noqa: E402
from folder import InAFolder  # noqa: E402

# Stands in for gpu_test: of suite Gpu the second test ends the program, of Columns/Outer one is skipped.
GPU_TEST = r"""#!/bin/bash
for argument in "$@"; do
  case $argument in
    --gtest_filter=*) filter=:${argument#*=}: ;;
    --gtest_list_tests) list=1 ;;
  esac
done
if [ "$list" ]; then
  case $filter in
    *:Gpu.*) printf 'Gpu.\n  First\n  Second  # GetParam() = 3\n  Third\n' ;;
    *:Columns/*) printf 'Columns/Outer.\n  Step/0\n' ;;
  esac
  exit
fi
run() { case $filter in *:$1:*) echo "[ RUN      ] $1" ;; *) return 1 ;; esac; }
run Gpu.First && echo '[       OK ] Gpu.First (1 ms)'
run Gpu.Second && kill -SEGV $$
run Gpu.Third && echo '[       OK ] Gpu.Third (1 ms)'
run Columns/Outer.Step/0 && echo '[  SKIPPED ] Columns/Outer.Step/0 (0 ms)'
exit 0
"""


class FirstCard(InAFolder):
    def setUp(self):
        super().setUp()
        work = self.folder
        self.options = types.SimpleNamespace(build=work, out=work / "found.json", budget=60., cpu=False, quick=True, bundle=work)
        (work / "first_card").mkdir()
        self.write("bin/gpu_test", GPU_TEST).chmod(0o755)
        self.check = first_card.Check(self.options)

    def found(self):
        return json.loads(self.options.out.read_text())

    def quiet_step(self, *arguments, **more):
        with open(self.options.build / "said", "w") as said, contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return self.check.step(*arguments, **more)

    def test_a_test_that_ends_the_program_costs_one_test(self):
        self.assertFalse(self.quiet_step("trainings", lambda: self.check.tests("trainings", ["Gpu.*"], 60)))
        tests = self.found()["trainings"]
        self.assertEqual((tests["passed"], tests["no_result"]), (2, ["Gpu.Second"]))

    def test_a_test_that_needs_the_gpu_and_is_skipped_is_no_pass(self):
        self.assertFalse(self.quiet_step("kernels", lambda: self.check.tests("kernels", ["Columns/*"], 60)))
        self.assertEqual(self.found()["kernels"]["skipped"], ["Columns/Outer.Step/0"])

    def test_a_step_that_hangs_is_cut_and_the_next_is_begun(self):
        begin = time.monotonic()
        self.assertFalse(self.quiet_step("hangs", lambda: self.check.call("sleep", "50", limit=1)))
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(self.found()["steps"]["hangs"]["status"], "cut")
        self.assertTrue(self.quiet_step("next", lambda: self.check.call("true")))
        self.assertFalse(self.found()["passed"])

    def test_a_step_without_time_is_not_begun(self):
        self.options.budget = 0.
        self.assertFalse(self.quiet_step("late", lambda: self.fail("it was begun")))
        self.assertEqual(self.found()["steps"]["late"]["status"], "not begun")

    def test_a_failed_command_ends_with_its_log(self):
        self.assertFalse(self.quiet_step("fails", lambda: self.check.call("sh", "-c", "echo the reason; exit 3")))
        step = self.found()["steps"]["fails"]
        self.assertIn("status 3", step["why"])
        self.assertIn("the reason", step["end_of_log"])

    def test_it_passes_only_when_it_has_ended(self):
        self.quiet_step("one", lambda: None)
        self.assertFalse(self.found()["passed"])
        self.assertTrue(self.check.write(done=True))
        self.assertTrue(self.found()["passed"])

    def test_what_is_known_when_it_is_cut(self):
        """All steps, with stand-ins that turn a clock on by the planned seconds, and end everything where it passes the cut."""
        known = ["configure", "build", "training"]
        for cut, more in ((120, []), (240, ["kernels", "trainings"]), (360, ["benchmark"]), (480, ["export", "sanitizer"])):
            known += more
            found = run_planned(self.folder / str(cut), cut)
            self.assertEqual(list(found["steps"]), known, f"cut at {cut} s")
            self.assertEqual(list(found["losses"]), ["cuda", "cpu"])
            self.assertEqual("benchmark" in found, cut >= 360)
            self.assertFalse(found["passed"])


def run_planned(work, cut):
    """The JSON that scripts/first_card.sh leaves when it is killed at the planned second `cut`."""
    tools, build, torch = work / "tools", work / "build", work / "python" / "torch"
    torch.mkdir(parents=True)
    (work / "bundle").mkdir()
    (work / "clock").write_text("0")
    (torch / "__init__.py").write_text("import types\n__version__ = '2.11'\nversion = types.SimpleNamespace(cuda='13.0')\n"
                                       "cuda = types.SimpleNamespace(is_available=lambda: True, get_device_capability=lambda: (9, 0))\n")
    takes = f"""#!/bin/bash
takes() {{
  now=$(($(cat {work}/clock) + $1)); echo $now >{work}/clock
  if [ $now -gt {cut} ]; then kill -KILL $PPID; exit 1; fi
}}
out() {{ while [ $# -gt 0 ]; do if [ "$1" = --out ]; then echo "$2"; fi; shift; done; }}
"""
    stand_ins = {
        tools / "ninja": "", tools / "nvcc": "", tools / "compute-sanitizer": "takes 30",
        tools / "cmake": "case $1 in -S) takes 20 ;; --build) takes 60 ;; esac",
        build / "bin" / "longhaul-train": """if [ "$1" = export ]; then exit; fi
takes 15; mkdir -p "$(out "$@")"; printf 'step,replica,loss\\n45,mean,2.5\\n' >"$(out "$@")/metrics.csv"
""",
        build / "bin" / "gpu_benchmark": """takes 110; echo '{"card": "stand-in"}' >"$(out "$@")"
""",
        build / "bin" / "validation_tokens": "takes 10; echo '[]'", build / "bin" / "exported_loss": "takes 10; echo '{}'",
        build / "bin" / "gpu_test": """case "$*" in
  *Columns*) s=40 suite=Columns/Outer. test=Step/0 ;; *GpuRanks*) s=200 suite=Methods/GpuRanks. test=One/2 ;; *) s=90 suite=Gpu. test=First ;;
esac
case "$*" in *list_tests*) printf '%s\\n  %s\\n' $suite $test; exit ;; esac
takes $s; echo "[ RUN      ] $suite$test"; echo "[       OK ] $suite$test (1 ms)"
""",
    }
    for file, does in stand_ins.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(takes + does + "\n")
        file.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(work / "python"), "OUT": str(work)}
    subprocess.run([str(SCRIPTS / "first_card.sh"), "--python", sys.executable, "--build", str(build), "--bundle", str(work / "bundle")],
                   env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return json.loads((work / "first_card.json").read_text())


if __name__ == "__main__":
    unittest.main()
