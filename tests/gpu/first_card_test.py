#!/usr/bin/env python3
"""What first_card.py makes of programs that crash, hang, skip and take too long. Its programs here are shell scripts, since the
real ones need a card to do any of it."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
import first_card  # noqa: E402

# Stands in for gpu_test: of suite Gpu the second test ends the program, of Machines/Outer one is skipped.
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
    *:Machines/*) printf 'Machines/Outer.\n  Step/Device\n' ;;
  esac
  exit
fi
run() { case $filter in *:$1:*) echo "[ RUN      ] $1" ;; *) return 1 ;; esac; }
run Gpu.First && echo '[       OK ] Gpu.First (1 ms)'
run Gpu.Second && kill -SEGV $$
run Gpu.Third && echo '[       OK ] Gpu.Third (1 ms)'
run Machines/Outer.Step/Device && echo '[  SKIPPED ] Machines/Outer.Step/Device (0 ms)'
exit 0
"""


class FirstCard(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        work = pathlib.Path(self.folder.name)
        self.options = types.SimpleNamespace(build=work, out=work / "found.json", budget=60., cpu=False, quick=True, bundle=work)
        (work / "first_card").mkdir()
        (work / "bin").mkdir()
        program = work / "bin" / "gpu_test"
        program.write_text(GPU_TEST)
        program.chmod(0o755)
        self.check = first_card.Check(self.options)

    def tearDown(self):
        self.folder.cleanup()

    def found(self):
        return json.loads(self.options.out.read_text())

    def quiet_step(self, *arguments, **more):
        with open(self.options.build / "said", "w") as said:
            stderr, sys.stderr = sys.stderr, said
            stdout, sys.stdout = sys.stdout, said
            try:
                return self.check.step(*arguments, **more)
            finally:
                sys.stderr, sys.stdout = stderr, stdout

    def test_a_test_that_ends_the_program_costs_one_test(self):
        self.assertFalse(self.quiet_step("trainings", lambda: self.check.tests("trainings", ["Gpu.*"], 60)))
        tests = self.found()["trainings"]
        self.assertEqual(tests["passed"], 2)
        self.assertEqual(tests["no_result"], ["Gpu.Second"])

    def test_a_test_that_needs_the_gpu_and_is_skipped_is_no_pass(self):
        self.assertFalse(self.quiet_step("kernels", lambda: self.check.tests("kernels", ["Machines/*"], 60)))
        self.assertEqual(self.found()["kernels"]["skipped"], ["Machines/Outer.Step/Device"])

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

    def test_what_was_found_is_there_after_a_kill(self):
        script = ("import sys; sys.path.insert(0, %r); import first_card, types, pathlib\n"
                  "work = pathlib.Path(%r)\n"
                  "check = first_card.Check(types.SimpleNamespace(build=work, out=work / 'found.json', budget=60., cpu=False))\n"
                  "check.step('first', lambda: None)\n"
                  "check.step('second', lambda: check.call('sleep', '5'))\n"
                  % (str(SCRIPTS), str(self.options.build)))
        with open(self.options.build / "said", "w") as said:
            process = subprocess.Popen([sys.executable, "-c", script], stdout=said, stderr=said)
        for _ in range(300):
            if (self.options.build / "first_card" / "second.log").exists():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertEqual(self.found()["steps"]["first"]["status"], "passed")
        self.assertFalse(self.found()["passed"])

    def test_it_passes_only_when_it_has_ended(self):
        self.quiet_step("one", lambda: None)
        self.assertFalse(self.found()["passed"])
        self.assertTrue(self.check.write(done=True))
        self.assertTrue(self.found()["passed"])

    def test_what_is_known_when_it_is_cut(self):
        """All steps with stand-ins that take the planned seconds, many times faster; a step is known well behind its end."""
        planned = {"training": 110, "kernels": 150, "trainings": 240, "benchmark": 350, "export": 380, "sanitizer": 440}
        for cut in (120, 240, 360, 480):
            found = run_planned(pathlib.Path(self.folder.name) / str(cut), cut / FASTER)
            known = set(found["steps"])
            for name, end in planned.items():
                if end <= cut - 60:
                    self.assertIn(name, known, f"cut at {cut} s")
                elif end >= cut + 20:
                    self.assertNotIn(name, known, f"cut at {cut} s")
            self.assertTrue("losses" in found or "training" not in known)
            self.assertFalse(found["passed"])


FASTER = 40.


def stand_in(file, seconds, rest=""):
    """A program that takes the planned seconds."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/bash\n{rest}\nsleep {seconds / FASTER}\n")
    file.chmod(0o755)


def run_planned(work, seconds):
    """The JSON that scripts/first_card.sh leaves when it is killed after so long."""
    tools, build, torch = work / "tools", work / "build", work / "python" / "torch"
    torch.mkdir(parents=True)
    (torch / "__init__.py").write_text("import types\n__version__ = '2.11'\nversion = types.SimpleNamespace(cuda='13.0')\n"
                                       "cuda = types.SimpleNamespace(is_available=lambda: True, get_device_capability=lambda: (9, 0))\n")
    for name in ("ninja", "nvcc"):
        stand_in(tools / name, 0)
    stand_in(tools / "cmake", 0, f'case $1 in --version) exit ;; -S) exec sleep {20 / FASTER} ;; *) exec sleep {60 / FASTER} ;; esac')
    stand_in(tools / "compute-sanitizer", 30)
    metrics = "step,replica,loss\\n45,mean,2.5\\n"
    stand_in(build / "bin" / "longhaul-train", 15, f"""if [ "$1" = export ]; then exit; fi
while [ $# -gt 0 ]; do if [ "$1" = --out ]; then mkdir -p "$2"; printf '{metrics}' >"$2/metrics.csv"; fi; shift; done""")
    stand_in(build / "bin" / "gpu_benchmark", 110, """while [ $# -gt 0 ]; do if [ "$1" = --out ]; then echo '{"card": "stand-in"}' >"$2"; fi; shift; done""")
    stand_in(build / "bin" / "validation_tokens", 10, "echo '[]'")
    stand_in(build / "bin" / "exported_loss", 10, "echo '{}'")
    stand_in(build / "bin" / "gpu_test", 0, f"""case "$*" in *list_tests*) case "$*" in
  *Machines*) printf 'Machines/Outer.\n  Step/Device\n' ;; *GpuRanks*) printf 'Methods/GpuRanks.\n  One/2\n' ;; *) printf 'Gpu.\n  First\n' ;;
esac; exit ;; esac
case "$*" in *Machines*) n=Machines/Outer.Step/Device s={40 / FASTER} ;; *GpuRanks*) n=Methods/GpuRanks.One/2 s={200 / FASTER} ;; *) n=Gpu.First s={90 / FASTER} ;; esac
echo "[ RUN      ] $n"; sleep $s; echo "[       OK ] $n (1 ms)"; exit""")
    (work / "bundle").mkdir()
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(work / "python"), "OUT": str(work)}
    subprocess.run(["timeout", "-s", "KILL", str(seconds), str(SCRIPTS / "first_card.sh"), "--python", sys.executable, "--build",
                    str(build), "--bundle", str(work / "bundle")], env=environment, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    return json.loads((work / "first_card.json").read_text())


if __name__ == "__main__":
    unittest.main()
