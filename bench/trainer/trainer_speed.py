#!/usr/bin/env python3
"""The trainer's speed at a pinned point, beside the same model in plain LibTorch in the same run; by hand.

1.1 M parameters (hidden 128, 4 layers, ffn 512, byte vocabulary), context 128, batch 4 a replica, 16 replicas, float32.
Useful arithmetic is 6 · parameters · tokens / s, without attention's, which is given beside it. Every measurement is
taken several times, in turns, and the median is printed with the smallest and the largest.

    apt-get install python3-torch    # for the usual Python process per replica; without it that line is left out
    cmake --build build --target longhaul longhaul-train trainer_baseline
    bench/trainer/trainer_speed.py [--build build] [--rounds 3] [--json FILE]

On a machine that others use, run it as root with --realtime: nothing else gets the processor meanwhile. It also gives
the processes of the baselines longer turns on a core than they get otherwise. OpenBLAS chooses its kernels by the
processor, or by OPENBLAS_CORETYPE, which the first line shows.
"""
import argparse
import contextlib
import glob
import json
import os
import statistics
import subprocess
import tempfile
import time

REPLICAS, STEPS, CORES = 16, 40, 2
TOKENS = REPLICAS * 4 * 128  # a step
# 12 · layers · hidden · context: two products of the scores and two of the mixing, forward and twice backward, of which
# the causal half is useful.
ATTENTION_FLOPS = 12 * 4 * 128 * 128 / 2  # a token

SCENARIO = {
    "name": "pinned", "replicas": REPLICAS, "methods": [{"name": "noloco", "inner_steps": 10}],
    "train": {"steps": 10, "model": {"hidden": 128, "layers": 4, "heads": 4, "ffn": 512, "context": 128}, "batch": 4,
              "data": {"synthetic": {"branching": 4, "tokens": 1000000}}, "evaluate_sequences": 1},
    "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}},
}


class Bench:
    def __init__(self, build, prefix):
        self.bin = os.path.join(build, "bin")
        self.prefix = prefix
        self.environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self.folder = tempfile.TemporaryDirectory()
        self.case = self.make_case()
        self.port = 29600

    def make_case(self):
        scenario = os.path.join(self.folder.name, "scenario.json")
        with open(scenario, "w") as file:
            json.dump(SCENARIO, file)
        out = os.path.join(self.folder.name, "run")
        subprocess.run([*self.prefix, os.path.join(self.bin, "longhaul"), "run", scenario, "--out", out, "--only", "train", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
        found = glob.glob(os.path.join(out, "train", "*", "case.json"))
        with open(found[0]) as file:
            return json.load(file)

    def start(self, program, *arguments, **options):
        return subprocess.Popen([*self.prefix, os.path.join(self.bin, program), *map(str, arguments)],
                                env=self.environment, **options)

    def read(self, program, *arguments):
        process = self.start(program, *arguments, stdout=subprocess.PIPE, text=True)
        text = process.communicate()[0]
        if process.returncode != 0:
            raise RuntimeError(f"{program} failed")
        return json.loads(text.splitlines()[-1])

    def blas(self):
        with tempfile.TemporaryDirectory() as folder:
            if self.start_training(CORES, 10, folder).wait() != 0:
                raise RuntimeError("longhaul-train failed")
            with open(os.path.join(folder, "training.json")) as file:
                return json.load(file)["blas"]

    def gemm(self, threads, library="gemm"):
        return self.read("trainer_baseline", library, threads, 2)["gflops"]

    def start_training(self, threads, steps, folder, **options):
        """A longhaul-train that evaluates and writes a checkpoint after the last of its steps alone."""
        case = json.loads(json.dumps(self.case))
        case["train"].update(steps=steps, evaluate_every=steps, checkpoint_every=steps)
        case["workload"]["steps"] = steps
        file = os.path.join(self.folder.name, f"case{steps}.json")
        with open(file, "w") as out:
            json.dump(case, out)
        descriptors = [text for fd in options.get("pass_fds", []) for text in ("--progress-fd", fd)]
        return self.start("longhaul-train", "--case", file, "--out", folder, "--quiet", "--device", "cpu",
                          "--threads", threads, *descriptors, stdout=subprocess.DEVNULL, **options)

    @contextlib.contextmanager
    def training(self, threads, steps):
        """(process, events) of a training, events as (seconds since its start, steps done); killed at the end."""
        with tempfile.TemporaryDirectory() as folder:
            read_end, write_end = os.pipe()
            begin = time.monotonic()
            process = self.start_training(threads, steps, folder, pass_fds=[write_end])
            os.close(write_end)
            with os.fdopen(read_end) as lines:
                done = ((time.monotonic() - begin, json.loads(line).get("done", 0)) for line in lines)
                try:
                    yield process, done
                finally:
                    process.kill()
                    process.wait()

    def longhaul(self, threads):
        """Steps alone, exchanges among them: without the start, the evaluation and the checkpoint at the end."""
        first = None
        with self.training(threads, 20 + STEPS) as (_, events):
            for at, done in events:
                if first is None and done >= 10:
                    first = at, done
                if done >= 10 + STEPS:
                    return TOKENS * (done - first[1]) / (at - first[0])
        raise RuntimeError("longhaul-train ended too early")

    def loops(self):
        """As many processes as cores, each looping over its share of the replicas."""
        processes = [self.start("trainer_baseline", "loop", REPLICAS // CORES, 20, stdout=subprocess.PIPE, text=True)
                     for _ in range(CORES)]
        results = [json.loads(process.communicate()[0].splitlines()[-1]) for process in processes]
        return sum(r["tokens"] for r in results) / max(r["seconds"] for r in results)

    def gloo(self, command):
        """A process per replica: tokens / s, seconds to everybody's first step, memory (proportional set size)."""
        self.port += 1
        begin = time.monotonic()
        processes = [subprocess.Popen([*self.prefix, *command, str(rank), str(REPLICAS), "20", str(self.port)],
                                      env=self.environment, stdout=subprocess.PIPE, text=True)
                     for rank in range(REPLICAS)]
        for process in processes:
            process.stdout.readline()
        start_up = time.monotonic() - begin
        memory = sum(pss_bytes(process.pid) for process in processes)
        results = [json.loads(process.communicate()[0].splitlines()[-1]) for process in processes]
        return sum(r["tokens"] for r in results) / max(r["seconds"] for r in results), start_up, memory

    def start_up(self):
        """Seconds to the end of the first step of all replicas, and memory while it trains."""
        with self.training(CORES, 40) as (process, events):
            for at, done in events:
                if done >= 1:
                    return at, pss_bytes(process.pid)
        raise RuntimeError("longhaul-train ended too early")


def processes_per_replica(binaries):
    """{name: command}: the usual one in Python where PyTorch is there, and the same in C++."""
    gyms = {"gloo": [os.path.join(binaries, "trainer_baseline"), "gloo"]}
    python = "/usr/bin/python3"  # the one that has Debian's python3-torch
    if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
        gyms["python_gym"] = [python, os.path.join(os.path.dirname(os.path.abspath(__file__)), "gym.py")]
    else:
        print("python3-torch is not installed: the process per replica is measured in C++ alone")
    return gyms


def pss_bytes(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--realtime", action="store_true", help="SCHED_RR, as root")
    parser.add_argument("--without-gloo", action="store_true")
    parser.add_argument("--json", help="file for the medians")
    arguments = parser.parse_args()
    bench = Bench(arguments.build, ["chrt", "-r", "30"] if arguments.realtime else [])
    measured = {}
    print(f"{bench.blas()}; OPENBLAS_CORETYPE {os.environ.get('OPENBLAS_CORETYPE') or 'not set'}")
    gyms = {} if arguments.without_gloo else processes_per_replica(bench.bin)

    def add(**values):
        for name, value in values.items():
            measured.setdefault(name, []).append(value)

    for _ in range(arguments.rounds):
        add(gemm_1=bench.gemm(1), gemm_2=bench.gemm(CORES), onednn_1=bench.gemm(1, "onednn"),
            onednn_2=bench.gemm(CORES, "onednn"))
        for _ in range(2):
            add(longhaul_1=bench.longhaul(1), longhaul_2=bench.longhaul(CORES))
        add(loops=bench.loops())
        for name, command in gyms.items():
            tokens, start_up, memory = bench.gloo(command)
            add(**{name: tokens, f"{name}_start_up": start_up, f"{name}_memory": memory})
        start_up, memory = bench.start_up()
        add(longhaul_start_up=start_up, longhaul_memory=memory)
    medians = {name: statistics.median(values) for name, values in measured.items()}
    medians["parameters"] = parameters = 1115264
    for name, values in measured.items():
        print(f"{name:18s} {statistics.median(values):14.4g}   ({min(values):.4g} … {max(values):.4g})")
    useful = 6 * parameters * medians["longhaul_2"] / 1e9
    attention = ATTENTION_FLOPS * medians["longhaul_2"] / 1e9
    lines = [("useful arithmetic, GFLOP/s", useful, ""), ("attention's beside it, GFLOP/s", attention, ""),
             ("useful / two single-threaded products of 512", useful / medians["gemm_2"], "at least 0.72"),
             ("useful / the same products by oneDNN", useful / medians["onednn_2"], ""),
             ("two threads / one", medians["longhaul_2"] / medians["longhaul_1"], "at least 1.85"),
             ("  the same of oneDNN's products, which share nothing", medians["onednn_2"] / medians["onednn_1"], ""),
             ("tokens/s / processes that loop", medians["longhaul_2"] / medians["loops"], "at least 1.2")]
    for name in gyms:
        lines += [(f"tokens/s / {name}", medians["longhaul_2"] / medians[name], "at least 2"),
                  (f"start-up / {name}", medians["longhaul_start_up"] / medians[f"{name}_start_up"], "at most 0.2"),
                  (f"memory / {name}", medians["longhaul_memory"] / medians[f"{name}_memory"], "at most 0.5")]
    print()
    for name, value, target in lines:
        print(f"{name:52s} {value:9.3f}   {target}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({**medians, **{name: value for name, value, _ in lines}}, file, indent=2)


if __name__ == "__main__":
    main()
