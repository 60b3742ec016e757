"""Runs jobs in the world around this process (sh world.sh --once ...) and appends a row for each call; measure.py starts it.

Reads a JSON object from standard input: jobs, worker commands, files. A job is one operation of one library at one size: new processes, new
connections, a first call with cold windows (call 0) and three more.
"""
import csv
import json
import mmap
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

from common_start import END, QUIT, READY, START, CommonStart

COLUMNS = ["library", "version", "operation", "ranks", "rate_mbps", "rtt_ms", "bytes", "variant", "call", "pause_s", "seconds",
           "bytes_sent_total", "packets", "late_packets"]
PAIR_COLUMNS = ["library", "version", "operation", "ranks", "rate_mbps", "rtt_ms", "bytes", "variant", "from", "to", "bytes_sent",
                "connections"]
WARM_CALLS, MOST_CALLS = 3, 8  # calls that the relay had late are made again
TRIES = 3
MOST_LATE = 0.005  # of a call's packets, as `longhaul emulate` has it; one packet is always allowed
CHEAP_S = 12


def append(path, columns, rows):
    is_new = not os.path.exists(path)
    with open(path, "a", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(rows)


class Relay:
    """Packets that the relay of this world took and had late (emulation/lateness.cc)."""

    def __init__(self):
        with open("/run/longhaul-relay", "rb") as file:
            self.memory = mmap.mmap(file.fileno(), 16, access=mmap.ACCESS_READ)

    def counts(self):
        return struct.unpack("qq", self.memory[:16])


def sockets(ranks):
    """{(from, to): {socket: bytes acknowledged}} by the kernel's counters, and what the devices dropped."""
    pairs, dropped = {}, 0
    processes = [subprocess.Popen(["ip", "netns", "exec", f"lh{rank}", "sh", "-c", "ss -tinHO state established; cat /proc/net/dev"],
                                  stdout=subprocess.PIPE, text=True) for rank in range(ranks)]
    addresses = {}
    for rank, process in enumerate(processes):
        for line in process.communicate()[0].splitlines():
            if line.strip().startswith("wan:"):
                dropped += int(line.split(":")[1].split()[11])
                continue
            ends = re.findall(r"(\d+\.\d+\.\d+\.\d+)\]?:(\d+)", line)
            if len(ends) < 2 or ends[0][0].startswith("127."):
                continue
            (here, here_port), (there, there_port) = ends[:2]
            addresses[here] = rank
            found = re.search(r"bytes_acked:(\d+)", line)
            pairs.setdefault((rank, there), {})[here_port, there_port] = int(found.group(1)) if found else 0
    named = {}
    for (rank, there), counted in pairs.items():
        if there in addresses:
            named[rank, addresses[there]] = counted
    return named, dropped


def sent_between(before, after, calls):
    """Rows (from, to, bytes a call, connections that carried data)."""
    rows = []
    for pair, counted in sorted(after.items()):
        sent = {key: value - before.get(pair, {}).get(key, 0) for key, value in counted.items()}
        total = sum(sent.values())
        if total > 8:
            rows.append((*pair, round(total / calls), sum(1 for value in sent.values() if value > 100)))
    return rows


class Zygote:
    """A worker that reads jobs and forks their ranks (worker_torch.py)."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.version = json.loads(self.process.stdout.readline())["version"]

    def launch(self, job):
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        self.answer = None
        os.set_blocking(self.process.stdout.fileno(), False)

    def is_alive(self):
        if self.answer is None:
            self.answer = self.process.stdout.readline() or None
        return self.answer is None and self.process.poll() is None

    def finish(self):
        while self.is_alive():
            time.sleep(0.02)
        return json.loads(self.answer)["ok"] if self.answer else False

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Launched:
    """A worker that a launcher starts anew for each job, with the job's words as its arguments."""

    def __init__(self, command, environment, version):
        self.command, self.environment, self.version, self.process = command, environment, version, None

    def launch(self, job):
        words = [word.format(**job) for word in self.command]
        self.deadline = time.monotonic() + job["limit_s"]
        self.process = subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL)

    def is_alive(self):
        return self.process.poll() is None

    def finish(self):
        while self.is_alive() and time.monotonic() < self.deadline:
            time.sleep(0.02)
        if self.is_alive():
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait() == 0

    def close(self):
        pass


def is_in_time(call):
    _, packets, late = call
    return late <= max(1, MOST_LATE * packets)


def measure(job, worker, relay, pause_s, rtt_s, folder):
    """[(seconds, packets, late)] of each call, rows of pairs, dropped packets."""
    job["shared"] = os.path.join(folder, f"start-{job['port']}")
    shared = CommonStart(job["shared"], create=True)
    ranks, deadline = range(job["ranks"]), time.monotonic() + job["limit_s"]
    calls = []
    worker.launch(job)
    try:
        shared.wait_for([READY + rank for rank in ranks], worker.is_alive, deadline)
        time.sleep(0.3 + 2 * rtt_s)
        before, dropped_before = sockets(job["ranks"])
        last_end = time.monotonic_ns()
        for call in range(MOST_CALLS):
            counts = relay.counts()
            start = last_end + int(pause_s * 1e9)
            shared.places[START + call] = start
            ends = [shared.end(call, rank) for rank in ranks]
            shared.wait_for(ends, worker.is_alive, deadline)
            last_end = max(shared.places[end] for end in ends)
            later = relay.counts()
            calls.append(((last_end - start) / 1e9, later[0] - counts[0], later[1] - counts[1]))
            if sum(map(is_in_time, calls[1:])) == WARM_CALLS:
                break
        time.sleep(0.1 + 1.5 * rtt_s)
        after, dropped = sockets(job["ranks"])
    finally:
        shared.places[QUIT] = 1
        ok = worker.finish()
        os.unlink(job["shared"])
    if not ok:
        raise RuntimeError("the worker failed")
    return calls, sent_between(before, after, len(calls)), dropped - dropped_before


def main():
    order = json.load(sys.stdin)
    routes = subprocess.run(["ip", "netns", "exec", "lh0", "ip", "route", "show", "dev", "wan"], capture_output=True,
                            text=True).stdout
    if "congctl cubic" not in routes:
        sys.exit("this world's hosts do not use cubic: modprobe tcp_cubic")
    relay, world, port = Relay(), order["world"], 20000
    environment = dict(os.environ, **order["environment"])
    worker = (Launched(order["command"], environment, order["version"]) if order["version"]
              else Zygote(order["command"], environment))
    failures = 0
    with tempfile.TemporaryDirectory(dir="/run") as folder:
        for at, job in enumerate(order["jobs"]):
            job.update(calls=MOST_CALLS, master=order["master"], limit_s=order["limit_s"])
            name = f"{order['library']} {job['operation']} {job['variant']} {job['ranks']} ranks {world['rate_mbps']} Mb/s {world['rtt_ms']} ms {job['bytes']} B"
            for attempt in range(TRIES):
                port += 1
                job["port"] = port
                try:
                    calls, pairs, dropped = measure(job, worker, relay, order["pause_s"], world["rtt_ms"] / 1000, folder)
                except (RuntimeError, TimeoutError) as error:
                    print(f"{name}: {error}", flush=True)
                    failures += 1
                    continue
                in_time = [(number, call) for number, call in enumerate(calls) if is_in_time(call)]
                is_cheap = sum(call[0] for call in calls) < CHEAP_S  # so that a late first call is worth another try
                if dropped == 0 and len(in_time) > WARM_CALLS - (not is_cheap or attempt == TRIES - 1):
                    break
                print(f"{name}: late {[call[1:] for call in calls]}, {dropped} dropped; again", flush=True)
            else:
                if failures >= 4:
                    sys.exit(f"{name}: too many failures")
                continue
            common = dict(library=order["library"], version=worker.version, operation=job["operation"], ranks=job["ranks"],
                          bytes=job["bytes"], variant=job["variant"], **world)
            total = sum(row[2] for row in pairs)
            append(order["pairs"], PAIR_COLUMNS, [dict(common, **{"from": a, "to": b, "bytes_sent": sent, "connections": connections})
                                                  for a, b, sent, connections in pairs])
            append(order["rows"], COLUMNS, [dict(common, call=call, pause_s=order["pause_s"], seconds=f"{seconds:.4f}", bytes_sent_total=total,
                                                 packets=packets, late_packets=late) for call, (seconds, packets, late) in in_time])
            print(f"{at + 1}/{len(order['jobs'])} {name}: {' '.join(f'{call[0]:.3f}' for _, call in in_time)} s, {total} B sent", flush=True)
    worker.close()


if __name__ == "__main__":
    main()
