#!/usr/bin/env python3
"""What gpu_check.py makes of programs that crash, hang, skip and take too long. Its programs here are shell scripts, since the
real ones need a card to do any of it."""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import gpu_check  # noqa: E402

# Stands in for trainer_test: suites Gpu (fine), DeviceCodec (its second test dies) and Machines/Outer (one is skipped).
TRAINER_TEST = r"""#!/bin/bash
for argument in "$@"; do
  case $argument in
    --gtest_filter=*) filter=${argument#*=} ;;
    --gtest_output=json:*) out=${argument#*:} ;;
    --gtest_list_tests) list=1 ;;
  esac
done
report() { printf '{"testsuites": [{"name": "%s", "testsuite": [%s]}]}' "$1" "$2" >"$out"; }
case $filter in
  'Gpu.*') [ "$list" ] && printf 'Gpu.\n  First\n  Second  # GetParam() = 3\n' && exit
    report Gpu '{"name": "First", "result": "COMPLETED"}, {"name": "Second", "result": "COMPLETED"}' ;;
  'DeviceCodec.*') [ "$list" ] && printf 'DeviceCodec.\n  Good\n  Bad\n' && exit
    kill -SEGV $$ ;;
  DeviceCodec.Good) report DeviceCodec '{"name": "Good", "result": "COMPLETED"}' ;;
  DeviceCodec.Bad) kill -SEGV $$ ;;
  'Machines/*/Device') [ "$list" ] && printf 'Machines/Outer.\n  Step/Device\n' && exit
    report Machines/Outer '{"name": "Step/Device", "result": "SKIPPED"}' ;;
  *) [ "$list" ] && exit
    report None '' ;;
esac
"""


class GpuCheck(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        work = pathlib.Path(self.folder.name)
        self.options = types.SimpleNamespace(build=work, out=work / "found.json", budget=60., cpu=False, quick=True, bundle=work)
        (work / "gpu_check").mkdir()
        (work / "bin").mkdir()
        program = work / "bin" / "trainer_test"
        program.write_text(TRAINER_TEST)
        program.chmod(0o755)
        self.check = gpu_check.Check(self.options)

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

    def test_a_suite_that_dies_costs_one_test(self):
        self.assertFalse(self.quiet_step("gpu_tests", self.check.gpu_tests))
        tests = self.found()["gpu_tests"]
        self.assertEqual(tests["passed"], 3)
        self.assertEqual(tests["no_result"], ["DeviceCodec.Bad"])
        self.assertEqual(tests["skipped"], ["Machines/Outer.Step/Device"])

    def test_a_test_that_needs_the_gpu_and_is_skipped_is_no_pass(self):
        gpu_check.GPU_SUITES, all_suites = ["Gpu.*", "Machines/*/Device"], gpu_check.GPU_SUITES
        try:
            self.assertFalse(self.quiet_step("gpu_tests", self.check.gpu_tests))
            self.assertIn("skipped", self.found()["steps"]["gpu_tests"]["why"])
            gpu_check.GPU_SUITES = ["Gpu.*"]
            self.assertTrue(self.quiet_step("gpu_tests", self.check.gpu_tests))
        finally:
            gpu_check.GPU_SUITES = all_suites

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
        script = ("import sys; sys.path.insert(0, %r); import gpu_check, types, pathlib\n"
                  "work = pathlib.Path(%r)\n"
                  "check = gpu_check.Check(types.SimpleNamespace(build=work, out=work / 'found.json', budget=60., cpu=False))\n"
                  "check.step('first', lambda: None)\n"
                  "check.step('second', lambda: check.call('sleep', '5'))\n"
                  % (str(pathlib.Path(__file__).parent), str(self.options.build)))
        with open(self.options.build / "said", "w") as said:
            process = subprocess.Popen([sys.executable, "-c", script], stdout=said, stderr=said)
        for _ in range(300):
            if (self.options.build / "gpu_check" / "second.log").exists():
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


if __name__ == "__main__":
    unittest.main()
