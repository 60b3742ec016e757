#!/usr/bin/env python3
"""Times rings, pairs, all-to-alls and halving-doubling of the Linux kernel's own TCP (wan_member.cc) over a relay in real
time (wan_relay.cc), for results/reference/kernel/README.md.

Each host is a network namespace. A row of the CSV file is a run of one world: an exchange from cold windows, then eleven
more, 0.7 s after the one before (three more, every 4 s, where the network changes). An exchange ends when the last member has all that is sent to it. Runs that the file
already holds are skipped. A run is repeated, at most twice, if more than 0.5 % of its packets were late by 2 ms.

As root, on Linux, where TAP devices may be made; never part of the tests.
"""
import argparse
import csv
import os
import select
import subprocess
import sys
import time

FRAMING = 24  # on the wire beside what the kernel's queues count: check sequence, preamble, gap
PAUSE_S, EXCHANGES, MOST_LATE, TRIES = 0.7, 12, 0.005, 3
WORLD = ["class", "pattern", "members", "bytes", "connections", "rate_bps", "rtt_s", "fifo_products", "trunk", "loss",
         "congestion_control", "background", "background_control", "outage_s", "change"]
COLUMNS = WORLD + ["run", "cold_s", "later_s", "times_s", "late_share", "very_late_share", "dropped", "lost",
                   "background_bps", "kernel"]
ANSWER_S = 300  # a run with a longer exchange is given up


def world(kind, pattern, members, size, connections, rate, rtt_s, products, **more):
    return {"class": kind, "pattern": pattern, "members": members, "bytes": int(size), "connections": connections,
            "rate_bps": int(rate * 1e6), "rtt_s": rtt_s, "fifo_products": products, "trunk": 0, "loss": 0,
            "congestion_control": "cubic", "background": "none", "background_control": "none", "outage_s": 0,
            "change": "none", **more}


def fifos():
    for members, size, connections, rate, rtt_s, products in [
            (4, 250e3, 4, 50, 0.04, 0.25), (4, 500e3, 8, 50, 0.04, 1), (8, 200e3, 4, 25, 0.04, 0.25),
            (4, 2e6, 2, 50, 0.04, 0.5), (4, 1e6, 4, 50, 0.1, 1), (2, 1.5e6, 4, 50, 0.1, 0.25), (2, 300e3, 8, 25, 0.02, 0.5),
            (2, 750e3, 1, 50, 0.04, 0.25), (4, 250e3, 1, 25, 0.1, 0.25), (4, 500e3, 1, 50, 0.1, 0.25),
            (4, 60e3, 1, 50, 0.04, 0.25), (4, 500e3, 1, 50, 0.04, 1), (2, 750e3, 1, 50, 0.04, 1), (8, 100e3, 1, 25, 0.04, 1)]:
        yield world("ring", "ring", members, size, connections, rate, rtt_s, products)
    for members, size, connections, rate, rtt_s, products in [
            (4, 2e6, 4, 50, 0.04, 1), (2, 2e6, 1, 50, 0.04, 0.25), (2, 3e6, 4, 50, 0.1, 0.25), (4, 1e6, 1, 25, 0.1, 0.5)]:
        yield world("pairs", "pairs", members, size, connections, rate, rtt_s, products)


def halving():
    for members, rate in [(4, 50), (8, 25)]:
        for products in [0.25, 1]:
            for connections in [1, 4]:
                yield world("halving", "halving-doubling", members, 1.6e6, connections, rate, 0.04, products)


def losses():
    for pattern, members, size in [("pairs", 2, 2e6), ("ring", 4, 500e3)]:
        for loss in [1e-4, 1e-3, 1e-2, 5e-2]:
            if loss == 5e-2:  # at full size an exchange takes half a minute
                size /= 4
            for connections in [1, 4]:
                for control in ["cubic", "bbr"]:
                    yield world("loss", pattern, members, size, connections, 50, 0.04, 5, loss=loss,
                                congestion_control=control)


def trunks():
    """One pair across the trunk, and between the two other hosts one flow each way."""
    for control, other in [("cubic", "none"), ("cubic", "cubic"), ("cubic", "bbr"), ("bbr", "cubic"), ("bbr", "bbr")]:
        yield world("trunk", "pairs", 4, 3e6, 1, 50, 0.04, 1, trunk=1, congestion_control=control,
                    background="none" if other == "none" else "always", background_control=other)
    for share in [10, 50]:
        for control, other in [("cubic", "cubic"), ("cubic", "bbr"), ("bbr", "cubic")]:
            yield world("trunk", "pairs", 4, 3e6, 1, 50, 0.04, 1, trunk=1, congestion_control=control,
                        background=f"{share}%", background_control=other)


def shared():
    for members, size, connections, rate, rtt_s, products in [
            (4, 1e6, 1, 50, 0.04, 1), (8, 500e3, 1, 50, 0.04, 1), (8, 1e6, 4, 50, 0.04, 0.5), (4, 1.5e6, 4, 50, 0.1, 0.5),
            (6, 600e3, 2, 50, 0.04, 0.25)]:
        yield world("shared", "pairs", members, size, connections, rate, rtt_s, products, trunk=1)


def all_to_alls():
    for members, size, connections, rate, rtt_s, products in [
            (4, 500e3, 1, 50, 0.04, 1), (4, 500e3, 4, 50, 0.04, 0.25), (8, 200e3, 1, 50, 0.04, 1), (8, 200e3, 2, 25, 0.04, 0.5),
            (3, 2e6, 1, 50, 0.1, 0.25)]:
        yield world("all-to-all", "all-to-all", members, size, connections, rate, rtt_s, products)


def mixed():
    """Even hosts send with CUBIC, odd ones with BBR, through the same FIFOs."""
    for pattern, members, size, connections, rtt_s, products, trunk in [
            ("pairs", 4, 1e6, 1, 0.04, 1, 1), ("pairs", 4, 3e6, 1, 0.04, 0.25, 1), ("pairs", 8, 500e3, 1, 0.1, 1, 1),
            ("pairs", 4, 2e6, 4, 0.04, 0.5, 1), ("halving-doubling", 4, 1.6e6, 1, 0.04, 1, 1),
            ("all-to-all", 4, 500e3, 1, 0.04, 1, 0)]:
        yield world("mixed", pattern, members, size, connections, 50, rtt_s, products, trunk=trunk,
                    congestion_control="cubic+bbr")


def outages():
    """Nothing leaves a FIFO for some time, from 0.2 s after the begin of each exchange on."""
    for seconds in [1, 5]:
        for connections in [1, 4]:
            yield world("outage", "pairs", 2, 3e6, connections, 50, 0.04, 1, outage_s=seconds)


def changes():
    """Rates of all FIFOs, or delays of all ways, that change while an exchange is under way: see CHANGES."""
    for change in CHANGES:
        for products in [1, 20] if change.startswith("rate") else [20]:
            for connections in [1, 4]:
                yield world("change", "pairs", 2, 3e6, connections, 50, 0.04, products, change=change)


# Seconds since the begin of an exchange, and the factor from then on; CHANGES_LAST_S after it it is one again.
# These exchanges begin every CHANGES_EVERY_S.
EXCHANGES_WITH_CHANGES, CHANGES_LAST_S, CHANGES_EVERY_S = 4, 3.5, 4.0
CHANGES = {
    "rate falls": [(0.2, 0.25)],
    "rate rises": [(-0.05, 0.25), (0.4, 1)],
    "rate alternates": [(0.1 + 0.2 * turn, 1 if turn % 2 else 0.3) for turn in range(8)],
    "delay rises a little": [(0.12, 1.3)],
    "delay rises": [(0.12, 3)],
    "delay falls": [(-0.05, 3), (0.5, 1)],
}

CLASSES = {"fifos": fifos, "halving": halving, "losses": losses, "trunks": trunks, "shared": shared,
           "all-to-alls": all_to_alls, "mixed": mixed, "outages": outages, "changes": changes}


def ip(*arguments, check=True):
    subprocess.run(["ip", *arguments], check=check, capture_output=not check)


class Program:
    """A child that answers each command with a line."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def tell(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def answer(self):
        if not select.select([self.process.stdout], [], [], ANSWER_S)[0]:
            raise TimeoutError(f"no answer within {ANSWER_S} s")
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args} ended")
        return line.strip()

    def ask(self, text):
        self.tell(text)
        return self.answer()

    def kill(self):
        self.process.kill()
        self.process.wait()


def set_up_host(name, host, point):
    inside = ["netns", "exec", name]
    for setting in ("net.ipv4.tcp_no_metrics_save=1", "net.ipv4.tcp_rmem=4096 131072 67108864",
                    "net.ipv4.tcp_wmem=4096 65536 67108864", "net.ipv4.tcp_ecn=0", "net.ipv6.conf.wan.disable_ipv6=1"):
        ip(*inside, "sysctl", "-qw", setting, check=False)
    ip(*inside, "ip", "address", "add", f"10.77.0.{host + 1}/24", "dev", "wan")
    # The relay knows hosts by their addresses. Queues count a frame's overhead once, so each frame has to be one segment.
    ip(*inside, "ip", "link", "set", "wan", "arp", "off", "gso_max_segs", "1", "txqueuelen", "10000", "up")
    ip(*inside, "tc", "qdisc", "add", "dev", "wan", "root", "tbf", "rate", f"{3 * point['rate_bps']}bit", "burst", "3100",
       "limit", "100000000", "overhead", str(FRAMING))


def begin_of_exchange(wait):
    """In seconds of CLOCK_MONOTONIC, in a time at which all members can be told."""
    return time.monotonic() + wait


class World:
    """The namespaces, the relay and the programs on the hosts; a context manager."""

    def __init__(self, point, run, slot, programs):
        self.point, self.run, self.programs = point, run, programs
        self.names = [f"lhring{slot}-{host}" for host in range(point["members"])]
        self.members, self.flows, self.relay = [], [], None

    def __enter__(self):
        for name in self.names:
            ip("netns", "delete", name, check=False)
            ip("netns", "add", name)
        point = self.point
        limit = int(point["fifo_products"] * point["rate_bps"] / 8 * point["rtt_s"])
        try:
            self.relay = Program("chrt", "-f", "20", f"{self.programs}/wan_relay", "namespaces=" + ",".join(self.names),
                                 f"rate={point['rate_bps']}", f"limit={limit}", f"rtt={point['rtt_s']}",
                                 f"trunk={point['trunk']}", f"loss={point['loss']}", f"seed={self.run}")
            if self.relay.answer() != "ready":
                raise RuntimeError("wan_relay did not start: is this root, and may TAP devices be made?")
            for host, name in enumerate(self.names):
                set_up_host(name, host, point)
            for host, name in enumerate(self.names):
                self.start_host(host, name)
            for program in self.members + self.flows:
                program.answer()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_host(self, host, name):
        point = self.point
        common = ("ip", "netns", "exec", name, "chrt", "-f", "10", f"{self.programs}/wan_member", f"host={host}",
                  f"members={point['members']}")
        if point["class"] != "trunk" or host % 2 == 0:
            controls = point["congestion_control"].split("+")
            self.members.append(Program(*common, f"pattern={point['pattern']}", f"bytes={point['bytes']}",
                                        f"connections={point['connections']}", f"control={controls[host % len(controls)]}"))
        elif point["background"] != "none":
            times = ()
            if point["background"] != "always":
                share = float(point["background"].rstrip("%")) / 100
                times = (f"on={2 * share}", f"off={2 * (1 - share)}", f"seed={100 * self.run + host}")
            half = point["members"] // 2
            self.flows.append(Program(*common, "pattern=flow", f"peer={(host + half) % (2 * half)}", "connections=1",
                                      f"control={point['background_control']}", *times))

    def __exit__(self, *_):
        for program in self.members + self.flows + ([self.relay] if self.relay else []):
            program.kill()
        for name in self.names:
            ip("netns", "delete", name, check=False)

    def exchange(self, wait):
        begin = begin_of_exchange(wait)
        if self.point["outage_s"]:
            self.relay.tell(f"outage {begin + 0.2:.6f} {self.point['outage_s']}")
        for after_s, factor in CHANGES.get(self.point["change"], []):
            self.relay.tell(f"{self.point['change'].split()[0]} {begin + after_s:.6f} {factor}")
        for member in self.members:
            member.tell(f"exchange {begin:.6f}")
        if self.point["change"] != "none":
            self.relay.tell(f"{self.point['change'].split()[0]} {begin + CHANGES_LAST_S:.6f} 1")
        return max(float(member.answer()) for member in self.members)

    def exchanges(self):
        """Times of the first, and of those that follow."""
        if self.point["change"] == "none":
            return [self.exchange(0.5 if number == 0 else PAUSE_S) for number in range(EXCHANGES)]
        times, first = [], begin_of_exchange(0.5)
        for number in range(EXCHANGES_WITH_CHANGES):
            times.append(self.exchange(first + number * CHANGES_EVERY_S - time.monotonic()))
            if times[-1] > CHANGES_LAST_S:
                raise TimeoutError("an exchange is not done before its changes are over")
        return times

    def background_bytes(self):
        return sum(int(flow.ask("received")) for flow in self.flows)

    def measure(self):
        for flow in self.flows:
            flow.ask("start")
        if self.flows:
            time.sleep(3)
        before, begin = self.background_bytes(), time.monotonic()
        times = self.exchanges()
        background = 8 * (self.background_bytes() - before) / (time.monotonic() - begin)
        self.relay.process.stdin.close()
        words = self.relay.answer().split()
        counts = {name: float(value) for name, value in zip(words[::2], words[1::2])}
        shares = {"late_share": counts["late"], "very_late_share": counts["very_late"]}
        return {"cold_s": f"{times[0]:.6f}", "later_s": f"{sum(times[1:]) / (len(times) - 1):.6f}",
                "times_s": " ".join(f"{one:.6f}" for one in times),
                **{name: f"{count / max(1, counts['delivered']):.6f}" for name, count in shares.items()},
                "dropped": int(counts["dropped"]), "lost": int(counts["lost"]), "background_bps": f"{background:.0f}"}


def key(row):
    return tuple(str(row[name]) for name in WORLD + ["run"])


def known_rows(path):
    if not os.path.exists(path):
        return set()
    with open(path) as file:
        return {key(row) for row in csv.DictReader(file)}


def measure_quietly(point, run, arguments):
    for _ in range(TRIES):
        try:
            with World(point, run, arguments.slot, arguments.programs) as one:
                found = one.measure()
        except TimeoutError as error:
            print(f"given up: {error}", flush=True)
            return None
        if float(found["very_late_share"]) <= MOST_LATE:
            return found
        print(f"not used: {found['very_late_share']} of the packets late by 2 ms", flush=True)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--programs", default="build/bin", help="folder of wan_relay and wan_member")
    parser.add_argument("--out", required=True, help="CSV file to append to")
    parser.add_argument("--classes", default="fifos", help="of " + ", ".join(CLASSES) + "; separated by commas")
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--slot", type=int, default=0, help="a number of its own for each that runs at the same time")
    parser.add_argument("--only", default=[], nargs="*", metavar="COLUMN=VALUE", help="only worlds with these values")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("rings.py: network namespaces and TAP devices need root")
    only = dict(one.split("=", 1) for one in arguments.only)
    points = [point for name in arguments.classes.split(",") for point in CLASSES[name]()
              if all(str(point[column]) == value for column, value in only.items())]
    known, is_new = known_rows(arguments.out), not os.path.exists(arguments.out)
    with open(arguments.out, "a", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            rows.writeheader()
        for run in range(1, arguments.runs + 1):
            for point in points:
                if key({**point, "run": run}) in known:
                    continue
                found = measure_quietly(point, run, arguments)
                if found is None:
                    continue
                rows.writerow({**point, "run": run, **found, "kernel": os.uname().release.split("-")[0]})
                file.flush()
                print(*point.values(), f"run {run}: cold {found['cold_s']}, later {found['later_s']}, late {found['late_share']},"
                      f" {found['very_late_share']}, dropped {found['dropped']}", flush=True)


if __name__ == "__main__":
    main()
