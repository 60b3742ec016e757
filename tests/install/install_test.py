#!/usr/bin/env python3
"""Installs the build into a folder of its own and uses it from there: programs find each other and the scenarios, the man
page is one, and the shells that are here complete.

    install_test.py CMAKE BUILD_FOLDER
"""
import os
import pathlib
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
        output(self.longhaul, "new", "-o", "mine.jsonc", "--network-only", cwd=self.work)
        text = (self.work / "mine.jsonc").read_text()
        self.assertIn(f'"$schema": "file://{self.scenarios}/scenario.schema.json"', text)
        self.assertIn("is a valid scenario", output(self.longhaul, "check", "mine.jsonc", cwd=self.work))

    @unittest.skipIf(shutil.which("man") is None, "man is not installed")
    def test_the_man_page_is_formatted_without_a_warning(self):
        page = self.prefix / "share/man/man1/longhaul.1"
        done = subprocess.run(["man", "--warnings=w", "-l", page], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, MANWIDTH="100", LC_ALL="C.UTF-8"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for words in ("LONGHAUL(1)", "longhaul run SCENARIO", "--overwrite", "network.tcp.connections", "EXIT STATUS"):
            self.assertIn(words, done.stdout)

    def completed_by_bash(self, *words):
        script = self.prefix / "share/bash-completion/completions/longhaul"
        line = " ".join(f"'{word}'" for word in words)
        return output("bash", "-c", f"source '{script}'; complete -p longhaul >/dev/null || exit 1; COMP_WORDS=(longhaul {line}); "
                      f"COMP_CWORD={len(words)}; _longhaul; printf '%s\\n' \"${{COMPREPLY[@]}}\"", cwd=self.scenarios).split()

    @unittest.skipIf(shutil.which("bash") is None, "bash is not installed")
    def test_bash_completes(self):
        self.assertEqual(self.completed_by_bash("comp"), ["compare", "completion"])
        self.assertEqual(self.completed_by_bash("run", "--over"), ["--overwrite"])
        self.assertEqual(self.completed_by_bash("run", "x", "--device", "c"), ["cpu", "cuda"])
        self.assertEqual(self.completed_by_bash("list", "sc"), ["scenarios", "schema"])
        self.assertEqual(self.completed_by_bash("check", "quick"), ["quickstart.json"])
        self.assertEqual(self.completed_by_bash("check", "x", "--set", "train.optimizer.w"),
                         ["train.optimizer.warmup=", "train.optimizer.weight_decay="])

    @unittest.skipIf(shutil.which("zsh") is None, "zsh is not installed")
    def test_zsh_reads_its_functions(self):
        script = self.prefix / "share/zsh/site-functions/_longhaul"
        self.assertEqual(output("zsh", "-f", "-c", f"autoload -Uz compinit; compinit -D -u; source {script}; print $_comps[longhaul]",
                                env=dict(os.environ, HOME=str(self.work))), "_longhaul\n")

    @unittest.skipIf(shutil.which("fish") is None, "fish is not installed")
    def test_fish_completes(self):
        script = self.prefix / "share/fish/vendor_completions.d/longhaul.fish"

        def completed(line):
            said = output("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'",
                          env=dict(os.environ, HOME=str(self.work)))
            return [one.split("\t")[0] for one in said.splitlines()]

        self.assertEqual(completed("longhaul comp"), ["compare", "completion"])
        self.assertEqual(completed("longhaul run --over"), ["--overwrite"])
        self.assertEqual(completed("longhaul run x --device c"), ["cpu", "cuda"])
        self.assertEqual(completed("longhaul list sc"), ["scenarios", "schema"])


if __name__ == "__main__":
    unittest.main()
