#!/usr/bin/env python3
"""Installs the build into a folder of its own and uses it from there: programs find each other and the scenarios, and bash
completes. Packs it for Debian and for pip too, where their tools are installed; versions are one.

    install_test.py CMAKE BUILD_FOLDER
"""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD = sys.argv[1], os.path.abspath(sys.argv[2])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.argv = sys.argv[:1]


def output(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.prefix, cls.work = (pathlib.Path(temporary.name) / name for name in ("prefix", "work"))
        cls.work.mkdir()
        output(CMAKE, "--install", BUILD, "--prefix", cls.prefix)
        cls.longhaul = cls.prefix / "bin/longhaul"
        cls.scenarios = cls.prefix / "share/longhaul/scenarios"
        # What longhaul-train opens when a training needs LibTorch; with CUDA it links LibTorch itself.
        cls.module = cls.prefix / "lib/longhaul/liblonghaul_torch.so"
        cls.has_module = (cls.prefix / "bin/longhaul-train").exists() and "libtorch" not in output("ldd", cls.prefix / "bin/longhaul-train")

    def test_it_checks_lists_and_runs_what_it_brought(self):
        self.assertIn("is a valid scenario", output(self.longhaul, "check", self.scenarios / "small.json", cwd=self.work))
        self.assertIn(f"{self.scenarios}/small.json", output(self.longhaul, "list", "scenarios", cwd=self.work))
        self.assertTrue((self.scenarios / "scenario.schema.json").exists())
        self.assertTrue((self.scenarios / "networks/aws-2022.json").exists())
        if (self.prefix / "bin/longhaul-sim").exists():
            output(self.longhaul, "run", self.scenarios / "paper/fig5a-star.json", "--out", "run", "--quiet", "--set",
                   "replicas=4", "--set", "workload.steps=20", "--set", "sweep={}", "--set", "claims=[]", cwd=self.work)
            self.assertTrue((self.work / "run/report.html").exists())

    def test_a_training_in_bf16_opens_the_module_that_was_installed(self):
        if not self.has_module or not (self.prefix / "bin/longhaul-sim").exists():
            self.skipTest("no longhaul-sim, no longhaul-train, or one that links LibTorch")
        run = [self.longhaul, "run", self.scenarios / "small.json", "--quiet", "--overwrite", "--out", "bf16", "--set", "train.precision=bf16",
               "--set", "train.steps=2", "--set", 'methods=[{"name": "independent"}]']
        hidden = self.module.with_suffix(".hidden")
        self.module.rename(hidden)
        without = subprocess.run(run, capture_output=True, text=True, timeout=120, cwd=self.work)
        hidden.rename(self.module)
        self.assertEqual(without.returncode, 1, without.stderr)
        self.assertIn("LibTorch could not be loaded: liblonghaul_torch.so", without.stdout + without.stderr)
        output(*run, cwd=self.work)
        self.assertEqual(json.loads(next(self.work.glob("bf16/train/*/training.json")).read_text())["precision"], "bf16")

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

    def test_it_brings_the_python_package(self):
        environment = dict(os.environ, PYTHONPATH=str(self.prefix / "lib/python3/dist-packages"), LONGHAUL=str(self.longhaul))
        said = output(sys.executable, "-c", f"import longhaul; print(longhaul.check('{self.scenarios}/small.json')['scenario']['name'])",
                      env=environment, cwd=self.work)
        self.assertEqual(said.strip(), "small")

    @unittest.skipIf(shutil.which("dpkg-shlibdeps") is None, "dpkg-dev is not installed")
    def test_a_debian_package_depends_on_what_the_programs_link(self):
        output("cpack", "--config", pathlib.Path(BUILD) / "CPackConfig.cmake", "-B", self.work / "deb", cwd=self.work)
        package = next((self.work / "deb").glob("longhaul_*.deb"))
        files = output("dpkg-deb", "--contents", package)
        for file in ("bin/longhaul", "lib/python3/dist-packages/longhaul/command.py", "share/longhaul/scenarios/quickstart.json",
                     "share/bash-completion/completions/longhaul", "share/doc/longhaul/LICENSE"):
            self.assertIn(f" ./usr/{file}\n", files)
        programs = [*(self.prefix / "bin").iterdir()]
        if self.has_module:
            programs.append(self.module)
            self.assertIn(" ./usr/lib/longhaul/liblonghaul_torch.so\n", files)
        linked = output("objdump", "-p", *programs)  # dpkg-shlibdeps has it; ldd names what libraries link too
        depends = output("dpkg-deb", "--field", package, "Depends")
        for library, of in (("libfmt.so.9", "libfmt9"), ("libns3-core.so.37", "libns3.37"), ("libtorch.so.1.13", "libtorch1.13")):
            if re.search(rf"^ +NEEDED +{re.escape(library)}$", linked, re.MULTILINE):
                self.assertRegex(depends, rf"\b{re.escape(of)}\b")

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("pip", "setuptools", "wheel", "venv"))), "pip, setuptools, wheel or venv is not installed")
    def test_a_wheel_brings_the_program_and_the_scenarios(self):
        output(SOURCE / "scripts/wheel.sh", BUILD, self.work / "dist", env=dict(os.environ, PYTHON=sys.executable))
        wheel = next((self.work / "dist").glob("longhaul-*.whl"))
        environment = self.work / "environment"
        output(sys.executable, "-m", "venv", "--without-pip", environment)
        output(sys.executable, "-m", "pip", "--python", environment / "bin/python", "install", "--no-index", wheel)
        said = output(environment / "bin/python", "-c", "import json, longhaul; print(json.dumps([longhaul.find_program(), "
                      f"longhaul.check('{environment}/share/longhaul/scenarios/small.json')['scenario']['name']]))",
                      env={"PATH": "/usr/bin:/bin"}, cwd=self.work)
        self.assertEqual(json.loads(said), [str(environment / "bin/longhaul"), "small"])
        self.assertIn(f"{environment}/share/longhaul/scenarios/small.json", output(environment / "bin/longhaul", "list", "scenarios", cwd=self.work))

    def test_the_version_is_one(self):
        version = output(self.longhaul, "--version").split()[1]
        self.assertEqual(json.loads((SOURCE / "codemeta.json").read_text())["version"], version)
        for file, line in (("CITATION.cff", f"version: {version}"), ("python/pyproject.toml", f'version = "{version}"')):
            self.assertIn(line, (SOURCE / file).read_text().splitlines(), file)
        self.assertIn(f"\n## {version}", (SOURCE / "CHANGELOG.md").read_text())


if __name__ == "__main__":
    unittest.main()
