#!/usr/bin/env python3
"""Builds the trainer against a PyTorch's LibTorch, runs the tests of the GPU, trains and exports a small model and evaluates
it with other readers, runs the benchmark, the other tests and compute-sanitizer, and writes all of it as one JSON.

For a machine with CMake (3.25 or newer), ninja, a C++ compiler, nvcc and a Python with PyTorch. It needs no network:
`make gpu-bundle` elsewhere packs the rest.

The steps share one budget of seconds. What a card alone can show comes first, and the JSON is written after every step,
so that a check that is cut off leaves what it had found. Exit status 0 where everything passed, 1 where something did not
(the JSON names it), 2 where nothing was tried.
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

TREE = pathlib.Path(__file__).resolve().parents[2]
# Tests that need a GPU; without one they skip themselves.
GPU_SUITES = ["Machines/*/Device", "DeviceCodec.*", "Gpu.*", "Methods/GpuRanks.*", "WithoutMomentum/GpuRanks.*",
              "RanksTest.OnACard*"]
TARGETS = ["longhaul-train", "trainer_test", "validation_tokens", "exported_loss"]


def read_json(file):
    try:
        return json.loads(pathlib.Path(file).read_text())
    except (OSError, ValueError):
        return None


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return []


def first_line(*command):
    return next(iter(output_of(*command)), None)


def card_of():
    fields = ["name", "driver_version", "memory.total"]
    line = first_line("nvidia-smi", "--query-gpu=" + ",".join(fields), "--format=csv,noheader")
    found = line.split(", ") if line else [None] * len(fields)
    return dict(zip(["card", "driver", "card_memory"], found))


class Cut(Exception):
    """A command was ended because its time was over."""


class Failed(Exception):
    pass


class Check:
    def __init__(self, options):
        self.options = options
        self.began = time.monotonic()
        self.logs = options.build / "gpu_check"
        self.steps, self.found, self.log = {}, {}, None
        self.environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        # CMake and ninja may have come with the Python environment alone.
        self.environment["PATH"] = os.pathsep.join(
            [os.path.dirname(sys.executable), sysconfig.get_path("scripts"), self.environment["PATH"]])
        self.torch = self.ask_python("torch.__path__[0]")
        self.torch_version = self.ask_python("torch.__version__")

    def ask_python(self, expression):
        return first_line(sys.executable, "-c", "import torch; print(" + expression + ")")

    def left(self):
        return self.options.budget - (time.monotonic() - self.began)

    def call(self, *command, limit=None, out=None, environment=None, check=True):
        """Runs a command within what is left, its output in the step's log (or standard output in the file `out`)."""
        seconds = max(1., min(limit or self.left(), self.left()))
        self.log.write("$ " + " ".join(map(str, command)) + "\n")
        self.log.flush()
        output = open(out, "w") if out else self.log
        process = subprocess.Popen([str(part) for part in command], stdout=output, stderr=self.log,
                                   env={**self.environment, **(environment or {})}, start_new_session=True)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise Cut(f"{command[0]} was ended after {seconds:.0f} s") from None
        finally:
            if out:
                output.close()
        if check and status != 0:
            raise Failed(f"{command[0]} ended with status {status}")
        return status

    def step(self, name, work, needs=10):
        """Returns whether it passed."""
        if self.left() < needs:
            self.steps[name] = {"status": "not begun", "why": f"{max(0., self.left()):.0f} s were left"}
            self.write()
            return False
        print("gpu_check:", name, flush=True)
        begin, file = time.monotonic(), self.logs / (name + ".log")
        step = {"status": "passed"}
        with open(file, "w") as self.log:
            try:
                work()
            except Cut as cut:
                step = {"status": "cut", "why": str(cut)}
            except Exception as error:  # pylint: disable=broad-except  # the next step is tried all the same
                step = {"status": "failed", "why": f"{type(error).__name__}: {error}"}
        step["seconds"] = round(time.monotonic() - begin, 1)
        if step["status"] != "passed":
            step["end_of_log"] = file.read_text(errors="replace").splitlines()[-20:]
            print("gpu_check:", name, step["status"] + ":", step["why"], *step["end_of_log"], sep="\n  ", file=sys.stderr)
        self.steps[name] = step
        self.write()
        return step["status"] == "passed"

    # The steps.

    def configure(self):
        o, bundle = self.options, self.options.bundle
        options = ["-S", TREE, "-B", o.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DLONGHAUL_SIM=OFF",
                   "-DLONGHAUL_COMMAND=OFF", "-DLONGHAUL_TRAINER=ON", f"-DLONGHAUL_GOOGLETEST_SOURCE={bundle}/googletest",
                   f"-Dnlohmann_json_DIR={bundle}/share/cmake/nlohmann_json", f"-DCLI11_DIR={bundle}/share/cmake/CLI11",
                   f"-Dfmt_DIR={bundle}/share/cmake/fmt", f"-DXXHASH_HEADERS={bundle}/include",
                   f"-DLONGHAUL_CUDA={'ON' if self.with_cuda() else 'OFF'}"]
        if self.torch:
            options.append(f"-DLONGHAUL_TORCH={self.torch}")
        if self.with_cuda():
            capability = self.ask_python("'%d.%d' % torch.cuda.get_device_capability()") or "9.0"
            options += [f"-DTORCH_CUDA_ARCH_LIST={capability}", f"-DCMAKE_CUDA_ARCHITECTURES={capability.replace('.', '')}"]
        self.call("cmake", *options)

    def with_cuda(self):
        """A dry run links with CUDA too, where there are nvcc and a PyTorch that has it."""
        has = bool(self.torch and shutil.which("nvcc", path=self.environment["PATH"])
                   and self.ask_python("torch.version.cuda") != "None")
        return has or not self.options.cpu

    def build(self):
        targets = TARGETS + (["gpu_benchmark"] if self.with_cuda() else [])
        self.call("cmake", "--build", self.options.build, "--target", *targets)

    def gpu_tests(self):
        """Each suite in a process of its own; if one dies, each of its tests."""
        self.found["gpu_tests"] = found = {"passed": 0, "failed": [], "skipped": [], "no_result": []}
        for suite in GPU_SUITES:
            names = self.tests(suite)
            reports = [self.gpu_test(suite, len(found["no_result"]))]
            if not reports[0]:
                reports = [self.gpu_test(name, name) for name in names]
            seen = [count_tests(report, found) for report in reports if report]
            found["no_result"] += sorted(set(names) - set().union(*seen))
            self.write()
        if found["failed"] or found["no_result"] or not found["passed"]:
            raise Failed(f"{len(found['failed'])} tests failed, {len(found['no_result'])} have no result")
        if found["skipped"]:
            raise Failed(f"{len(found['skipped'])} tests that need the GPU were skipped")

    def gpu_test(self, pattern, number):
        report = self.logs / ("gpu_test_" + re.sub(r"\W", "_", f"{pattern}_{number}") + ".json")
        try:
            self.call(self.program("trainer_test"), f"--gtest_filter={pattern}", f"--gtest_output=json:{report}",
                      limit=180, check=False)
        except Cut as cut:
            if self.left() < 5:
                raise
            self.log.write(f"{cut}\n")
        return read_json(report)

    def tests(self, pattern):
        names, suite = [], ""
        for line in output_of(self.program("trainer_test"), "--gtest_list_tests", f"--gtest_filter={pattern}"):
            word = line.split("#")[0].strip()
            if line.startswith(" "):
                names.append(suite + word)
            elif word.endswith("."):
                suite = word
        return names

    def export(self):
        """The same case on the GPU and on the CPU; the exported model of the former by other readers."""
        o, run = self.options, self.logs / "run"
        case, tokens = o.bundle / "case.json", self.logs / "validation_tokens.json"
        device = "cpu" if o.cpu else "cuda"
        train = [self.program("longhaul-train"), "--case", case, "--quiet"]
        self.call(*train, "--out", run, "--device", device, limit=120)
        if not o.cpu:
            self.call(*train, "--out", self.logs / "run_cpu", "--device", "cpu", limit=120)
            self.found["curve"] = {device: losses_of(run), "cpu": losses_of(self.logs / "run_cpu")}
        self.call(train[0], "export", "--run", run, "--replica", "1", "--out", self.logs / "exported")
        self.call(self.program("validation_tokens"), case, out=tokens)
        self.call(self.program("exported_loss"), self.logs / "exported", tokens, out=self.logs / "exported_loss.json")
        status = self.call(sys.executable, TREE / "tests/gpu/compare_export.py", self.logs / "exported", tokens,
                           self.logs / "exported_loss.json", run / "metrics.csv", "1", out=self.logs / "export.json",
                           check=False)
        self.found["export"] = {**(read_json(self.logs / "export.json") or {}),
                                "trained_on": (read_json(run / "training.json") or {}).get("device")}
        if status != 0:
            raise Failed("a reader of the exported model disagrees")

    def benchmark(self):
        """It writes its JSON after every part."""
        out = self.logs / "benchmark.json"
        try:
            self.call(self.program("gpu_benchmark"), *(["--quick"] if self.options.quick else []), "--out", out)
        finally:
            self.found["benchmark"] = read_json(out)

    def cpu_tests(self):
        """In as many shards as there are cores, without the card. MKL's bits would depend on how memory happens to lie."""
        shards = os.cpu_count() or 1
        rest = "-" + ":".join(GPU_SUITES)
        processes = []
        for shard in range(shards):
            environment = {**self.environment, "GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(shard),
                           "MKL_CBWR": "AVX2,STRICT", "CUDA_VISIBLE_DEVICES": ""}
            processes.append(subprocess.Popen(
                [self.program("trainer_test"), f"--gtest_filter={rest}", f"--gtest_output=json:{self.logs}/cpu_tests_{shard}.json"],
                stdout=self.log, stderr=self.log, env=environment, start_new_session=True))
        ended = []
        try:
            ended = [process.wait(max(1., self.left())) for process in processes]
        except subprocess.TimeoutExpired:
            raise Cut("the tests took too long") from None
        finally:
            for process in processes:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
            self.found["cpu_tests"] = found = {"passed": 0, "failed": [], "skipped": []}
            for shard in range(shards):
                report = read_json(self.logs / f"cpu_tests_{shard}.json")
                if report:
                    count_tests(report, found)
        if any(ended):
            raise Failed(f"{len(found['failed'])} tests failed, {sum(status < 0 for status in ended)} shards died")

    def sanitizer(self):
        program = shutil.which("compute-sanitizer", path=self.environment["PATH"])
        if not program:
            nvcc = shutil.which("nvcc", path=self.environment["PATH"]) or ""
            program = str(pathlib.Path(nvcc).resolve().parent / "compute-sanitizer")
        if not os.path.exists(program):
            self.found["sanitizer"] = "not installed here"
            return
        self.found["sanitizer"] = {}
        for tool in ("memcheck", "initcheck"):
            status = self.call(program, "--tool", tool, "--error-exitcode", "9", self.program("trainer_test"),
                               "--gtest_filter=Machines/*/Device:DeviceCodec.*:Gpu.SameBitsAgain:Gpu.Gradients*", check=False)
            self.found["sanitizer"][tool] = "clean" if status == 0 else f"status {status}"
            self.write()
        if any(found != "clean" for found in self.found["sanitizer"].values()):
            raise Failed("the sanitizer found something")

    def program(self, name):
        return str(self.options.build / "bin" / name)

    # What is written.

    def problems(self, done):
        problems = [f"step {name}: {step['status']}" for name, step in self.steps.items() if step["status"] != "passed"]
        if not done:
            problems.append("the check has not ended")
        return problems

    def write(self, done=False):
        training = read_json(self.logs / "run" / "training.json") or {}
        nvcc = [line for line in output_of("nvcc", "--version") if "release" in line]
        commit = os.environ.get("LONGHAUL_COMMIT") or first_line(
            "git", "-C", str(TREE), "describe", "--always", "--dirty", "--abbrev=40")
        problems = self.problems(done)
        result = {"passed": not problems, "problems": problems, "is_dry_run_without_gpu": self.options.cpu,
                  **({} if self.options.cpu else card_of()), "commit": commit,
                  "libtorch": training.get("libtorch") or self.torch_version, "blas": training.get("blas"),
                  "nvcc": nvcc[0] if nvcc else None, "with_cuda": self.with_cuda(),
                  "date": datetime.date.today().isoformat(), "machine": platform.machine(), "cores": os.cpu_count(),
                  "budget_s": self.options.budget, "seconds": round(time.monotonic() - self.began, 1),
                  "steps": self.steps, **self.found}
        part = self.options.out.with_suffix(".part")
        part.write_text(json.dumps(result, indent=2) + "\n")
        part.replace(self.options.out)
        with tarfile.open(self.options.out.with_suffix(".logs.tar.gz"), "w:gz") as packed:
            for log in sorted(self.logs.glob("*.log")):
                packed.add(log, arcname=log.name)
        return not problems


def count_tests(report, found):
    """Adds GoogleTest's JSON to counts, and the names of tests that failed or were skipped. Returns all names."""
    names = set()
    for suite in report["testsuites"]:
        for test in suite["testsuite"]:
            name = suite["name"] + "." + test["name"]
            names.add(name)
            if test.get("failures"):
                found["failed"].append(name)
            elif test.get("result") == "SKIPPED":
                found["skipped"].append(name)
            else:
                found["passed"] += 1
    return names


def losses_of(run):
    lines = (run / "metrics.csv").read_text().splitlines()
    columns = lines[0].split(",")
    rows = [dict(zip(columns, line.split(","))) for line in lines[1:]]
    return [{"step": int(row["step"]), "replica": row["replica"], "loss": float(row["loss"])} for row in rows]


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="scripts/gpu_check.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    absolute = lambda text: pathlib.Path(text).resolve()
    parser.add_argument("--bundle", type=absolute, metavar="FILE.tar.gz|DIR",
                        help="of make gpu-bundle (default: gpu-bundle.tar.gz in this tree or its build folder)")
    parser.add_argument("--build", type=absolute, default=TREE / "build-gpu", help="default build-gpu")
    parser.add_argument("--out", type=absolute, default=TREE / "gpu_check.json",
                        help="default gpu_check.json; the logs lie beside it in one file")
    parser.add_argument("--python", help="the Python that has PyTorch (default python3)")
    parser.add_argument("--budget", type=float, default=3600, metavar="SECONDS", help="for all steps together, default 3600")
    parser.add_argument("--cpu", action="store_true",
                        help="a dry run without a GPU: with the LibTorch of that Python, or what CMake finds, and without what needs a card")
    parser.add_argument("--quick", action="store_true", help="a smaller benchmark")
    options = parser.parse_args(arguments)
    candidates = [options.bundle] if options.bundle else [TREE / "gpu-bundle.tar.gz", TREE / "build" / "gpu-bundle.tar.gz"]
    options.bundle = next((file for file in candidates if file.exists()), None)
    if not options.bundle:
        refuse("no bundle: run 'make gpu-bundle' where Debian's packages are and give the file with --bundle")
    return options


def refuse(why):
    print("gpu_check:", why, file=sys.stderr)
    sys.exit(2)


def main():
    options = options_of(sys.argv[1:])
    check = Check(options)
    for tool in ["cmake", "ninja"] + ([] if options.cpu else ["nvcc"]):
        if not shutil.which(tool, path=check.environment["PATH"]):
            refuse(f"{tool} is not on the PATH")
    if not options.cpu and not check.torch:
        refuse(f"{sys.executable} has no PyTorch: name one that has with --python")
    options.out.unlink(missing_ok=True)  # what an earlier check found is not what this one finds
    shutil.rmtree(check.logs, ignore_errors=True)
    check.logs.mkdir(parents=True)
    if options.bundle.is_file():
        shutil.rmtree(options.build / "gpu-bundle", ignore_errors=True)
        with tarfile.open(options.bundle) as packed:
            packed.extractall(options.build)
        options.bundle = options.build / "gpu-bundle"
    if check.step("configure", check.configure) and check.step("build", check.build):
        if not options.cpu:
            check.step("gpu_tests", check.gpu_tests)
        check.step("export", check.export)
        if not options.cpu:
            check.step("benchmark", check.benchmark)
        check.step("cpu_tests", check.cpu_tests)
        if not options.cpu:
            check.step("sanitizer", check.sanitizer)
    passed = check.write(done=True)
    print("gpu_check:", options.out)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
