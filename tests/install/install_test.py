#!/usr/bin/env python3
"""Installs the build into a folder of its own and uses it from there: programs find each other and the scenarios, and bash
completes.

    install_test.py CMAKE BUILD_FOLDER
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD = sys.argv[1], sys.argv[2]
sys.argv = sys.argv[:1]


def output(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.temporary.name) / "prefix"
        output(CMAKE, "--install", BUILD, "--prefix", cls.prefix)
        cls.longhaul = cls.prefix / "bin/longhaul"
        cls.scenarios = cls.prefix / "share/longhaul/scenarios"
        cls.work = pathlib.Path(cls.temporary.name) / "work"
        cls.work.mkdir()

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_it_checks_lists_and_runs_what_it_brought(self):
        self.assertIn("is a valid scenario", output(self.longhaul, "check", self.scenarios / "small.json", cwd=self.work))
        self.assertIn(f"{self.scenarios}/small.json", output(self.longhaul, "list", "scenarios", cwd=self.work))
        self.assertTrue((self.scenarios / "scenario.schema.json").exists())
        self.assertTrue((self.scenarios / "networks/aws-2022.json").exists())
        if (self.prefix / "bin/longhaul-sim").exists():
            output(self.longhaul, "run", self.scenarios / "paper/fig5a-star.json", "--out", "run", "--quiet", "--set",
                   "replicas=4", "--set", "workload.steps=20", "--set", "sweep={}", "--set", "claims=[]", cwd=self.work)
            self.assertTrue((self.work / "run/report.html").exists())

    def test_a_new_scenario_names_the_installed_schema(self):
        output(self.longhaul, "new", "-o", "mine.jsonc", cwd=self.work)
        text = (self.work / "mine.jsonc").read_text()
        self.assertIn(f'"$schema": "file://{self.scenarios}/scenario.schema.json"', text)
        self.assertIn("is a valid scenario", output(self.longhaul, "check", "mine.jsonc", cwd=self.work))

    def completed_by_bash(self, *words):
        script = self.prefix / "share/bash-completion/completions/longhaul"
        line = " ".join(f"'{word}'" for word in words)
        return output("bash", "-c", f"PATH='{self.prefix}/bin':$PATH; source '{script}'; complete -p longhaul >/dev/null || exit 1; "
                      f"COMP_WORDS=(longhaul {line}); COMP_CWORD={len(words)}; _longhaul; printf '%s\\n' \"${{COMPREPLY[@]}}\"", cwd=self.scenarios).split()

    @unittest.skipIf(shutil.which("bash") is None, "bash is not installed")
    def test_bash_completes(self):
        self.assertEqual(self.completed_by_bash("comp"), ["compare"])
        self.assertEqual(self.completed_by_bash("run", "--over"), ["--overwrite"])
        self.assertEqual(self.completed_by_bash("list", "sc"), ["scenarios", "schema"])
        commands = re.findall(r"^  ([a-z][a-z-]*) +[A-Z]", output(self.longhaul, "--help"), re.MULTILINE)
        self.assertEqual(set(self.completed_by_bash("")) - {"--help", "--version"}, set(commands))


if __name__ == "__main__":
    unittest.main()
