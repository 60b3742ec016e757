"""A command that is disturbed: a signal to one of its processes or to all of them, at one moment.

Processes are told by a word in their environment, which children have from their parents: also those that outlive them."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

WORD = "LONGHAUL_SOAK"


def marked(word):
    """Ids of the living processes that have `word`."""
    needle, found = f"{WORD}={word}\0".encode(), []
    for place in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if needle in (place / "environ").read_bytes():
                found.append(int(place.name))
    return sorted(found)


def peak_kb(pid):
    """The most memory that a process has had; None once it has ended."""
    with contextlib.suppress(OSError):
        found = re.search(r"^VmHWM:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)
        return int(found[1]) if found else None


class Command:
    """Runs `arguments` in a group of its own; keeps exit status, words, wall time and the peak of its memory."""

    def __init__(self, arguments, word, folder=None):
        self.word, self.peak_kb, self.sent = word, 0, None
        self.start = time.monotonic()
        self.said = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(
            arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.said,
            start_new_session=True, env={**os.environ, WORD: word})

    def wait(self, timeout_s, moment_s=None, disturb=None):
        """Calls `disturb` at the moment, if it lives so long; None if it has not ended in time."""
        while self.process.poll() is None:
            passed = time.monotonic() - self.start
            self.peak_kb = max(self.peak_kb, peak_kb(self.process.pid) or 0)
            if disturb and passed >= moment_s:
                self.sent, disturb = disturb(self), None
            if passed > timeout_s:
                return None
            time.sleep(0.005)
        self.seconds = time.monotonic() - self.start
        return self.process.returncode

    def finish(self):
        """After its end: what it said."""
        with self.said:
            self.said.seek(0)
            self.words = self.said.read()
        return self.words


def send(pids, which):
    reached = 0
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, which)
            reached += 1
    return reached


def disturbance(random):
    """A random signal to a random target; tells what it sent, or None where there was no such process."""
    which = random.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
    target = random.choice(["all", "parent", "child", "child"])

    def disturb(command):
        parent = command.process.pid
        children = [pid for pid in marked(command.word) if pid != parent]
        pids = {"all": [parent] + children, "parent": [parent], "child": random.sample(children, min(1, len(children)))}[target]
        return (which.name, target) if send(pids, which) else None

    return disturb


def gone(word, timeout_s):
    """Waits until no process has `word`; those left over are killed and returned."""
    end = time.monotonic() + timeout_s
    while (left := marked(word)) and time.monotonic() < end:
        time.sleep(0.02)
    send(left, signal.SIGKILL)
    return left
