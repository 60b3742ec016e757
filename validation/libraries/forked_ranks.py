"""What workers in Python have in common: a job a line (JSON) from standard input, a process forked for each rank, an answer a line.

The library is imported once, before ranks are forked, but each job makes connections of its own.
"""
import json
import os
import signal
import sys
import time
import traceback

from common_start import enter_host


def run(job, rank_of):
    children = []
    for rank in range(job["ranks"]):
        child = os.fork()
        if child == 0:
            try:
                os.setpgid(0, 0)
                enter_host(rank)
                rank_of(job, rank)
                os._exit(0)
            except BaseException:
                traceback.print_exc(limit=-3)
                sys.stderr.flush()
                os._exit(1)
        children.append(child)
    all_children, failed, deadline = list(children), False, time.monotonic() + job["limit_s"]
    while children and not failed and time.monotonic() < deadline:
        for child in list(children):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                children.remove(child)
                failed |= status != 0
        time.sleep(0.01)
    for child in all_children:  # with what they started
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            pass
    for child in children:
        os.waitpid(child, 0)
    return not failed and not children


def serve(version, rank_of):
    print(json.dumps({"version": version}), flush=True)
    for line in sys.stdin:
        print(json.dumps({"ok": run(json.loads(line), rank_of)}), flush=True)
