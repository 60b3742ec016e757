#!/usr/bin/env python3
"""Builds the trainer against a PyTorch's LibTorch and tries it on a GPU: a small model trained on card and processor, kernels, tests
of trainings, the benchmark, the exported model by other readers, compute-sanitizer, and several processes on the card.

For a machine with CMake (3.25 or newer), ninja, a C++ compiler, nvcc and a Python with PyTorch. It needs no network:
`make gpu-bundle` elsewhere packs the rest.

The steps share one budget of seconds, the most wanted first. What a step found is printed, and written into one JSON, when it ends,
so that a call that is cut off at any moment leaves what it had found. Exit status 0 where everything passed, 1 where something
did not (the JSON names it), 2 where nothing was tried.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import time

TREE = pathlib.Path(__file__).resolve().parents[1]
TARGETS = ["longhaul-train", "gpu_benchmark", "gpu_test", "validation_tokens", "exported_loss"]
# Tests by step, and the seconds that a step may take at most.
KERNELS, TRAININGS = (["Columns/*"], 60), (["Gpu.*"], 130)
RANKS = (["Methods/GpuRanks.*", "WithoutMomentum/GpuRanks.*", "RanksTest.OnACard*"], 300)
# Without graphs, which the sanitizer does not look into.
SANITIZED = ["Columns/*", "Gpu.Gradients*", "Gpu.ManyClasses*", "Gpu.TheLoop*"]
BENCHMARK_S = 170

ABOUT_TORCH = """
import json, torch
has = torch.cuda.is_available()
print(json.dumps({"path": torch.__path__[0], "version": torch.__version__, "cuda": torch.version.cuda,
                  "capability": "%d.%d" % torch.cuda.get_device_capability() if has else None}))
"""


def read_json(file):
    try:
        return json.loads(pathlib.Path(file).read_text())
    except (OSError, ValueError):
        return None


class Cut(Exception):
    """A command was ended because its time was over."""


class Failed(Exception):
    pass


class Check:
    def __init__(self, options):
        self.options = options
        self.began = time.monotonic()
        self.logs = options.build / "first_card"
        self.steps, self.found, self.log = {}, {}, None
        self.environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        # CMake and ninja may have come with the Python environment alone, and nvcc is often on no PATH.
        path = self.environment["PATH"].split(os.pathsep)
        of_python = [folder for folder in (os.path.dirname(sys.executable), sysconfig.get_path("scripts")) if folder not in path]
        self.environment["PATH"] = os.pathsep.join(of_python + path + ["/usr/local/cuda/bin"])
        # Asked once: the first import of PyTorch on a fresh machine takes half a minute.
        self.torch = json.loads(self.first_line(sys.executable, "-c", ABOUT_TORCH) or "{}")
        self.has_cuda = bool(self.torch.get("cuda") and self.which("nvcc"))
        if self.torch:
            # CUDA's libraries that this PyTorch was built with, and not those of a toolkit beside it.
            libraries = sorted(map(str, pathlib.Path(self.torch["path"]).parent.glob("nvidia/*/lib")))
            self.environment["LD_LIBRARY_PATH"] = os.pathsep.join(libraries + [os.environ.get("LD_LIBRARY_PATH", "")])
        self.facts = {**self.card(), "libtorch": self.torch.get("version"), "with_cuda": self.has_cuda,
                      "nvcc": next((line for line in self.lines("nvcc", "--version") if "release" in line), None),
                      "compiler": self.first_line("c++", "--version"), "cmake": self.first_line("cmake", "--version"),
                      "commit": os.environ.get("LONGHAUL_COMMIT") or self.first_line(
                          "git", "-C", str(TREE), "describe", "--always", "--dirty", "--abbrev=40"),
                      "date": datetime.date.today().isoformat(), "machine": platform.machine(), "cores": os.cpu_count()}

    def which(self, program):
        return shutil.which(program, path=self.environment["PATH"])

    def lines(self, *command):
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True, timeout=180,
                                  env=self.environment).stdout.splitlines()
        except (OSError, subprocess.SubprocessError):
            return []

    def first_line(self, *command):
        return next(iter(self.lines(*command)), None)

    def card(self):
        fields = ["name", "driver_version", "memory.total"]
        line = self.first_line("nvidia-smi", "--query-gpu=" + ",".join(fields), "--format=csv,noheader")
        return dict(zip(["card", "driver", "card_memory"], line.split(", "))) if line else {}

    def left(self):
        return self.options.budget - (time.monotonic() - self.began)

    def call(self, *command, limit=None, out=None, environment=None, check=True, until=lambda: False):
        """Runs a command within what is left and until `until()`, its output in the step's log (or standard output in the file `out`)."""
        seconds = max(1., min(limit or self.left(), self.left()))
        self.log.write("$ " + " ".join(map(str, command)) + "\n")
        self.log.flush()
        output = open(out, "w") if out else self.log
        process = subprocess.Popen([str(part) for part in command], stdout=output, stderr=self.log,
                                   env={**self.environment, **(environment or {})}, start_new_session=True)
        begin, status = time.monotonic(), None
        try:
            while status is None:
                try:
                    status = process.wait(0.1)
                except subprocess.TimeoutExpired:
                    if until() or time.monotonic() - begin > seconds:
                        os.killpg(process.pid, signal.SIGKILL)
                        process.wait()
                        raise Cut(f"{command[0]} was ended after {time.monotonic() - begin:.0f} s") from None
        finally:
            if out:
                output.close()
        if check and status != 0:
            raise Failed(f"{command[0]} ended with status {status}")
        return status

    def step(self, name, work, needs=10):
        """Returns whether it passed. `work` may return what to print of it."""
        if self.left() < needs:
            self.steps[name] = {"status": "not begun", "why": f"{max(0., self.left()):.0f} s were left"}
            self.write()
            return False
        begin, file = time.monotonic(), self.logs / (name + ".log")
        step, said = {"status": "passed"}, None
        with open(file, "w") as self.log:
            try:
                said = work()
            except Cut as cut:
                step = {"status": "cut", "why": str(cut)}
            except Exception as error:  # pylint: disable=broad-except  # the next step is tried all the same
                step = {"status": "failed", "why": f"{type(error).__name__}: {error}"}
        step["seconds"] = round(time.monotonic() - begin, 1)
        if step["status"] != "passed":
            step["end_of_log"] = file.read_text(errors="replace").splitlines()[-20:]
        self.steps[name] = step
        self.write()
        at = time.monotonic() - self.began
        print(f"first_card: {at:.0f} s: {name}: {step['status']} after {step['seconds']} s", said or "", flush=True)
        if step["status"] != "passed":
            print(step["why"], *step["end_of_log"], sep="\n  ", flush=True)
        return step["status"] == "passed"

    # The steps.

    def configure(self):
        o, bundle = self.options, self.options.bundle
        options = ["-S", TREE, "-B", o.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DLONGHAUL_SIM=OFF",
                   "-DLONGHAUL_COMMAND=OFF", "-DLONGHAUL_TRAINER=ON", f"-DLONGHAUL_GOOGLETEST_SOURCE={bundle}/googletest",
                   f"-Dnlohmann_json_DIR={bundle}/share/cmake/nlohmann_json", f"-DCLI11_DIR={bundle}/share/cmake/CLI11",
                   f"-Dfmt_DIR={bundle}/share/cmake/fmt", f"-DXXHASH_HEADERS={bundle}/include",
                   f"-DLONGHAUL_CUDA={'ON' if self.has_cuda or not o.cpu else 'OFF'}"]
        if self.torch:
            options.append(f"-DLONGHAUL_TORCH={self.torch['path']}")
        if self.has_cuda:
            capability = self.torch["capability"] or "9.0"
            options += [f"-DTORCH_CUDA_ARCH_LIST={capability}", f"-DCMAKE_CUDA_ARCHITECTURES={capability.replace('.', '')}"]
        self.call("cmake", *options)

    def build(self):
        """As much as compiles: a test that does not costs no figure."""
        without_card = [target for target in TARGETS if not target.startswith("gpu_")]
        self.call("cmake", "--build", self.options.build, "--target", *(TARGETS if self.has_cuda else without_card), "--", "-k", "0")

    def training(self):
        """The same case on the card and on the processor."""
        losses, failed = {}, []
        self.found["losses"] = losses
        for device in ["cpu"] if self.options.cpu else ["cuda", "cpu"]:
            run = self.logs / ("run_" + device)
            try:
                self.call(self.program("longhaul-train"), "--case", self.options.bundle / "case.json", "--quiet", "--out", run,
                          "--device", device, limit=60)
                losses[device] = losses_of(run)
            except (Cut, Failed) as error:
                failed.append(f"{device}: {error}")
            self.write()
        self.found["training"] = read_json(self.logs / "run_cuda" / "training.json")
        if failed:
            raise Failed("; ".join(failed))
        return {device: [round(row["loss"], 4) for row in rows if row["replica"] == "mean"] for device, rows in losses.items()}

    def large(self):
        """8 replicas of 110 M parameters with NoLoCo: killed behind a checkpoint or after half of the time, and continued."""
        run = self.logs / "large"
        train = [self.program("longhaul-train"), "--case", self.options.bundle / "large.json", "--quiet", "--out", run]
        try:
            self.call(*train, limit=self.options.large / 2, until=lambda: list(run.glob("checkpoints/step-[1-9]*.json")))
        except Cut as cut:
            self.log.write(f"{cut}\n")
        try:
            self.call(*train, "--resume", limit=self.options.large / 2)
        finally:
            self.found["large"] = {"losses": losses_of(run), **{name: read_json(run / (name + ".json"))
                                                                for name in ("speed", "training")}}
        return json.dumps(self.found["large"]["speed"])

    def tests(self, name, patterns, limit):
        """Where a test ends the program, or stands still, the others go on without it."""
        end = time.monotonic() + min(limit, self.left())
        names = self.names_of(patterns)
        found = self.found[name] = {"passed": 0, "failed": [], "skipped": [], "no_result": []}
        while names and time.monotonic() < end:
            output = self.logs / "tests.txt"
            try:
                self.call(self.program("gpu_test"), "--gtest_filter=" + ":".join(names), limit=end - time.monotonic(), out=output,
                          check=False)
            except Cut as cut:
                self.log.write(f"{cut}\n")
            text = output.read_text(errors="replace")
            self.log.write(text)
            ended = {test: result for result, test in re.findall(r"^\[ +(OK|FAILED|SKIPPED) +\] ([\w./]+)", text, re.M)}
            begun = re.findall(r"^\[ RUN +\] ([\w./]+)", text, re.M)
            found["passed"] += sum(result == "OK" for result in ended.values())
            found["failed"] += [test for test, result in ended.items() if result == "FAILED"]
            found["skipped"] += [test for test, result in ended.items() if result == "SKIPPED"]
            stuck = [test for test in begun if test not in ended] or ([] if ended else names[:1])
            found["no_result"] += stuck
            names = [test for test in names if test not in ended and test not in stuck]
            self.write()
        found["no_result"] += names
        if found["failed"] or found["no_result"] or found["skipped"] or not found["passed"]:
            raise Failed(f"{found['passed']} tests passed, {len(found['failed'])} failed, {len(found['no_result'])} have no result, "
                         f"{len(found['skipped'])} were skipped")
        return f"{found['passed']} tests"

    def names_of(self, patterns):
        names, suite = [], ""
        for line in self.lines(self.program("gpu_test"), "--gtest_list_tests", "--gtest_filter=" + ":".join(patterns)):
            word = line.split("#")[0].strip()
            if line.startswith(" "):
                names.append(suite + word)
            elif word.endswith("."):
                suite = word
        return names

    def benchmark(self):
        """It writes its JSON, beside ours, after every part."""
        out = self.options.out.with_suffix(".benchmark.json")
        try:
            self.call(self.program("gpu_benchmark"), *(["--quick"] if self.options.quick else []), "--out", out, limit=BENCHMARK_S)
        finally:
            self.found["benchmark"] = read_json(out)
        return json.dumps(self.found["benchmark"])

    def export(self):
        """The exported model of the card by other readers."""
        run, tokens, exported = self.logs / ("run_cpu" if self.options.cpu else "run_cuda"), self.logs / "tokens.json", self.logs / "exported"
        self.call(self.program("longhaul-train"), "export", "--run", run, "--replica", "1", "--out", exported)
        self.call(self.program("validation_tokens"), self.options.bundle / "case.json", out=tokens)
        self.call(self.program("exported_loss"), exported, tokens, out=self.logs / "exported_loss.json")
        status = self.call(sys.executable, TREE / "tests/gpu/compare_export.py", exported, tokens, self.logs / "exported_loss.json",
                           run / "metrics.csv", "1", out=self.logs / "export.json", check=False)
        self.found["export"] = read_json(self.logs / "export.json")
        if status != 0:
            raise Failed("a reader of the exported model disagrees")

    def sanitizer(self):
        program = self.which("compute-sanitizer")
        if not program:
            program = str(pathlib.Path(self.which("nvcc") or "").resolve().parent / "compute-sanitizer")
        if not os.path.exists(program):
            self.found["sanitizer"] = "not installed here"
            return
        self.found["sanitizer"] = {}
        for tool in ("memcheck", "racecheck"):
            # Each tensor is an allocation of its own then, behind which an access is found; and our kernels alone.
            status = self.call(program, "--tool", tool, "--kernel-name", "kns=each_", "--error-exitcode", "9", self.program("gpu_test"),
                               "--gtest_filter=" + ":".join(SANITIZED), environment={"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
                               check=False)
            self.found["sanitizer"][tool] = "clean" if status == 0 else f"status {status}"
            self.write()
        if any(found != "clean" for found in self.found["sanitizer"].values()):
            raise Failed("the sanitizer found something")

    def program(self, name):
        return str(self.options.build / "bin" / name)

    def write(self, done=False):
        problems = [f"step {name}: {step['status']}" for name, step in self.steps.items() if step["status"] != "passed"]
        if not done:
            problems.append("the check has not ended")
        result = {"passed": not problems, "problems": problems, "is_dry_run_without_gpu": self.options.cpu, **self.facts,
                  "budget_s": self.options.budget, "seconds": round(time.monotonic() - self.began, 1),
                  "steps": self.steps, **self.found}
        part = self.options.out.with_suffix(".part")
        part.write_text(json.dumps(result, indent=2) + "\n")
        part.replace(self.options.out)
        with tarfile.open(self.options.out.with_suffix(".logs.tar.gz"), "w:gz") as packed:
            for log in sorted(self.logs.glob("*.log")):
                packed.add(log, arcname=log.name)
        return not problems


def losses_of(run):
    lines = (run / "metrics.csv").read_text().splitlines()
    columns = lines[0].split(",")
    rows = [dict(zip(columns, line.split(","))) for line in lines[1:]]
    return [{"step": int(row["step"]), "replica": row["replica"], "loss": float(row["loss"])} for row in rows]


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="scripts/first_card.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    absolute = lambda text: pathlib.Path(text).resolve()
    parser.add_argument("--bundle", type=absolute, metavar="FILE.tar.gz|DIR",
                        help="of make gpu-bundle (default: gpu-bundle.tar.gz in this tree or its build folder)")
    parser.add_argument("--build", type=absolute, default=TREE / "build-gpu", help="default build-gpu")
    parser.add_argument("--out", type=absolute, default=pathlib.Path(os.environ.get("OUT", TREE)).resolve() / "first_card.json",
                        help="default first_card.json in $OUT or this tree; logs and benchmark lie beside it")
    parser.add_argument("--python", help="the Python that has PyTorch (default python3)")
    parser.add_argument("--budget", type=float, default=590, metavar="SECONDS", help="for all steps together, default 590")
    parser.add_argument("--cpu", action="store_true",
                        help="a dry run without a GPU: with the LibTorch of that Python, or what CMake finds, and without what needs a card")
    parser.add_argument("--large", type=float, default=0, metavar="SECONDS",
                        help="instead of the tests and the benchmark: 8 replicas of 110 M parameters, killed once and continued")
    parser.add_argument("--quick", action="store_true", help="a smaller benchmark")
    options = parser.parse_args(arguments)
    candidates = [options.bundle] if options.bundle else [TREE / "gpu-bundle.tar.gz", TREE / "build" / "gpu-bundle.tar.gz"]
    options.bundle = next((file for file in candidates if file.exists()), None)
    if not options.bundle:
        refuse("no bundle: run 'make gpu-bundle' where Debian's packages are and give the file with --bundle")
    return options


def refuse(why):
    print("first_card:", why, file=sys.stderr)
    sys.exit(2)


def main():
    options = options_of(sys.argv[1:])
    check = Check(options)
    for tool in ["cmake", "ninja"] + ([] if options.cpu else ["nvcc"]):
        if not check.which(tool):
            refuse(f"{tool} is not on the PATH")
    if not options.cpu and not check.torch:
        refuse(f"{sys.executable} has no PyTorch: name one that has with --python")
    print("first_card:", json.dumps(check.facts), flush=True)
    options.out.unlink(missing_ok=True)  # what an earlier check found is not what this one finds
    shutil.rmtree(check.logs, ignore_errors=True)
    check.logs.mkdir(parents=True)
    if options.bundle.is_file():
        shutil.rmtree(options.build / "gpu-bundle", ignore_errors=True)
        with tarfile.open(options.bundle) as packed:
            packed.extractall(options.build)
        options.bundle = options.build / "gpu-bundle"
    if check.step("configure", check.configure):
        check.step("build", check.build)
        check.step("training", check.training)
        if options.large > 0:
            check.step("large", check.large)
        elif not options.cpu:
            check.step("kernels", lambda: check.tests("kernels", *KERNELS))
            check.step("trainings", lambda: check.tests("trainings", *TRAININGS))
            check.step("benchmark", check.benchmark)
        check.step("export", check.export)
        if not options.cpu and options.large == 0:
            check.step("sanitizer", check.sanitizer)
            check.step("ranks", lambda: check.tests("ranks", *RANKS))
    passed = check.write(done=True)
    print("first_card:", options.out)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
