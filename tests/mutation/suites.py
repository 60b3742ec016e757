"""The tool's own copy of the tree, its build, and the test programs that are run on it."""
import fcntl
import hashlib
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import changed_lines

# The test programs of a room: those of its folder (tests/unit/FOLDER). The longest name that a room begins with counts.
PROGRAMS = {
    "core": ["core_test"],
    "methods": ["methods_test"],
    "net": ["net_test"],
    "net/linux": ["net_test", "replay_test"],  # tests/unit/replay has the exchanges over it
    "replay": ["replay_test"],
    "analysis": ["analysis_test"],
    "planner": ["planner_test"],
    "emulation": ["emulation_test"],
    "checks": ["checks_test", "cli_test"],
    "fitting": ["fitting_test"],
    "cli": ["cli_test"],
    "sim": ["sim_test"],
    "trainer": ["trainer_test"],
}
# The library of a top folder, where it is not longhaul_FOLDER.
LIBRARIES = {"emulation": "longhaul_worlds", "sim": "longhaul_simulation", "trainer": "longhaul_training;longhaul_torch"}
# Those that need LibTorch or ns-3; a build for others goes without, which is minutes less.
NEEDS = {"sim_test": "SIM", "network_run_test": "SIM", "trainer_test": "TRAINER", "integration_test": "TRAINER"}
CMAKE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PROJECT_INCLUDE={pathlib.Path(__file__).with_name('apart.cmake')}"]
PATIENCE = 5  # times what the unmutated suites took
STALLED_S = 60  # without any processor time: it waits for what does not come
MOST_BYTES = 6 << 30  # of memory of a test program: a mutant may ask for all of it


def programs_of(room, also):
    """KeyError: no such room."""
    prefixes = [name for name in PROGRAMS if room == name or room.startswith(f"{name}/")]
    if not prefixes:
        raise KeyError(room)
    return list(dict.fromkeys(PROGRAMS[max(prefixes, key=len)] + [f"{name}_test" for name in also]))


class Failed(Exception):
    """What keeps the tool from going on, in words."""


class Workshop:
    """`tree` is a copy of the checkout's files as they stand (what git ignores is left out), tree/build its build, where a
    checkout has it too, so that ccache knows its objects. One tool at a time works there."""

    def __init__(self, root, tree):
        self.root, self.tree, self.build = root, tree, tree / "build"
        if tree.exists() and any(tree.iterdir()) and not (self.build / "mutate.lock").exists():
            raise Failed(f"--build {tree}: has other files, which the copy would replace; name a new folder")
        self.build.mkdir(parents=True, exist_ok=True)
        self._lock = open(self.build / "mutate.lock", "w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise Failed(f"{tree}: another mutate.py works there; wait for it, or take another --build") from None
        self._objects = {}  # file: (when it was written, digest)
        self._unmutated = {}  # file: digest

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._lock.close()

    def copy_tree(self):
        """Files that are the same are not written, so that they are not built again."""
        names = changed_lines.git(self.root, "ls-files", "-co", "--exclude-standard", "--deduplicate", "-z").split("\0")
        wanted = {name for name in names if name and (self.root / name).is_file()
                  and not (self.root / name).resolve().is_relative_to(self.tree)}
        for file in [file for file in self.tree.rglob("*") if not file.is_dir()]:
            name = str(file.relative_to(self.tree))
            if name not in wanted and not name.startswith("build/"):
                file.unlink()
        for name in wanted:
            source, copy = self.root / name, self.tree / name
            content = source.read_bytes()
            if not copy.exists() or copy.read_bytes() != content:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)
            shutil.copymode(source, copy)

    def configure(self, rooms, programs):
        """The libraries of the rooms are compiled for mutants."""
        tops = sorted({room.split("/")[0] for room in rooms})
        mutated = ";".join(LIBRARIES.get(top, f"longhaul_{top}") for top in tops)
        needed = {NEEDS[program] for program in programs if program in NEEDS}
        parts = [f"-DLONGHAUL_{part}={'AUTO' if part in needed else 'OFF'}" for part in ("SIM", "TRAINER")]
        if "integration_test" in programs:
            parts[0] = "-DLONGHAUL_SIM=AUTO"
        command = ["cmake", "-S", str(self.tree), "-B", str(self.build), *CMAKE, f"-DLONGHAUL_MUTATED={mutated}", *parts]
        note = self.build / "mutate.configured"
        if note.exists() and note.read_text() == " ".join(command):
            return  # ninja looks for new files itself
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"cmake fails:\n{done.stderr[-4000:]}")
        note.write_text(" ".join(command))

    def make(self, programs, keep=True):
        """What ninja says where it fails; None: built. `keep`: ccache, where there is one, keeps the objects."""
        environment = os.environ if keep else {**os.environ, "CCACHE_READONLY": "1"}
        done = subprocess.run(["ninja", "-C", self.build, *programs], env=environment, capture_output=True, text=True)
        return done.stdout + done.stderr if done.returncode else None

    def remember_objects(self):
        """Of the build as it is: without a mutant."""
        self._unmutated = self._digests()

    def is_same_code(self):
        """Whether all objects are those without a mutant, byte by byte: then no test can tell."""
        return self._digests() == self._unmutated

    def _digests(self):
        for file in self.build.rglob("*.o"):
            written = file.stat().st_mtime_ns
            if self._objects.get(file, (0,))[0] != written:
                self._objects[file] = written, hashlib.sha1(file.read_bytes()).hexdigest()
        return {file: digest for file, (_, digest) in self._objects.items()}

    def run(self, program, tests="*", limit_s=None):
        return run_suite(self.build / "bin" / program, tests, limit_s)


class Outcome:
    """Of a test program. failed: names of tests; timed_out; seconds of wall clock and of processor."""

    def __init__(self, failed, timed_out, wall_s, cpu_s, output):
        self.failed, self.timed_out, self.wall_s, self.cpu_s, self.output = failed, timed_out, wall_s, cpu_s, output


def processor_time_of(group):
    """Of the processes of a group as they stand, in ticks."""
    ticks = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()  # behind the name: state, parent, group, ...
        except OSError:
            continue  # it has ended
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks


def waits_forever(process):
    """Until it ends: False; or until it has taken no processor time for STALLED_S: True."""
    ticks, moved = -1, time.monotonic()
    while True:
        try:
            process.wait(timeout=1)
            return False
        except subprocess.TimeoutExpired:
            now = processor_time_of(process.pid)
            if now != ticks:
                ticks, moved = now, time.monotonic()
            elif time.monotonic() - moved > STALLED_S:
                return True


def run_suite(program, tests="*", limit_s=None):
    """It ends at the first failure. `tests`: GoogleTest's filter. `limit_s`: of processor time, as other work makes any wall clock too short."""
    def limits():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if limit_s:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit_s) + 1, int(limit_s) + 2))

    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory(prefix="mutation-") as scratch, tempfile.TemporaryFile() as output:
        environment = {**os.environ, "GTEST_FAIL_FAST": "1", "GTEST_COLOR": "no", "GTEST_FILTER": tests, "TMPDIR": scratch}
        process = subprocess.Popen([program], cwd=scratch, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, preexec_fn=limits)
        try:
            timed_out = waits_forever(process)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # with what it started
            except ProcessLookupError:
                pass
            status = process.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # RLIMIT_CPU ends it with SIGXCPU, then with SIGKILL.
    timed_out = timed_out or status in (-signal.SIGXCPU, -signal.SIGKILL)
    return Outcome([] if timed_out else failed_tests(text, status), timed_out, time.monotonic() - began, cpu_s, text)


def quick_tests(text):
    """Names of the quickest tests that together took a tenth of the time, and one more: run first, they notice most mutants."""
    took = sorted((int(ms), name) for name, ms in re.findall(r"^\[       OK \] (\S+) \((\d+) ms\)", text, re.MULTILINE))
    most, names = sum(ms for ms, _ in took) / 10, []
    for ms, name in took:
        names.append(name)
        most -= ms
        if most < 0:
            break
    return names


def failed_tests(text, status):
    """Names, each once. A program that ends early has failed the test that it was at."""
    if status == 0:
        return []
    failed = dict.fromkeys(re.findall(r"^\[  FAILED  \] ([^\s,]+\.[^\s,]+)", text, re.MULTILINE))
    if not failed:
        at = re.findall(r"^\[ RUN      \] (\S+)", text, re.MULTILINE)
        how = signal.Signals(-status).name if status < 0 else f"exit {status}"
        failed = {f"{at[-1]} ({how})" if at else how: None}
    return list(failed)
