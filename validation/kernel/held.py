#!/usr/bin/env python3
"""Measures how many bytes the kernel holds at either end of a path when the receiver stops reading, for
results/reference/kernel/held.md.

Two network namespaces and CUBIC. The path between them has a rate, a delay and a queue with room for everything:
  relay  wan_relay.cc in real time; packets of the MTU
  netem  netem on both ends of a veth pair, as in DT-FM's scripts; segmentation offload as it is by default

First the receiver reads at once what comes:
  cold    nothing is sent
  bursts  the sender writes twelve messages, each some time after the one before it was read
  steady  the sender writes without a pause for some seconds
Then it reads nothing, and the sender writes until no connection takes a byte for a second and ten round trips. Columns of
bytes are sums over the connections:

  sender_bytes, receiver_bytes    what lies at either end then: SIOCOUTQ (written and not acknowledged), SIOCINQ (not read)
  sender_buffer, receiver_buffer  the kernel's limits of memory for it (SO_MEMINFO)
  windows_bytes, trip_s           congestion windows and mean round trip when the receiver stopped (TCP_INFO)
  most_windows_bytes              the largest windows that were seen: every 50 ms, or when a message has been read

As root, on Linux; never part of the tests. Rows that the file already holds are skipped.
"""
import argparse
import csv
import ctypes
import fcntl
import os
import select
import selectors
import signal
import socket
import struct
import subprocess
import sys
import termios
import time

POINT = ["path", "pattern", "rate_bps", "rtt_s", "queue_products", "mtu", "connections", "message_bytes", "pause_s", "seconds"]
COLUMNS = POINT + ["run", "sender_bytes", "receiver_bytes", "windows_bytes", "most_windows_bytes", "trip_s", "sender_buffer",
                   "receiver_buffer", "segment_bytes", "kernel"]
PIECE = 1 << 16
SIOCOUTQ, SO_MEMINFO, CLONE_NEWNET = 0x5411, 55, 0x40000000
# What the kernel chooses where it has 2 GB of memory and more.
SETTINGS = ("net.ipv4.tcp_rmem=4096 131072 6291456", "net.ipv4.tcp_wmem=4096 16384 4194304", "net.ipv4.tcp_no_metrics_save=1",
            "net.ipv4.tcp_slow_start_after_idle=1")


def point(path, pattern, rate, rtt, mtu, connections, message=0, pause=0, seconds=0, queue=0):
    return {"path": path, "pattern": pattern, "rate_bps": int(rate), "rtt_s": rtt, "queue_products": queue, "mtu": mtu,
            "connections": connections, "message_bytes": int(message), "pause_s": pause, "seconds": seconds}


def grid(path):
    """Products of 0.5, 2.5 and 10 MB, over one and sixteen connections."""
    for rtt in (0.02, 0.1, 0.4):
        for mtu in (1500, 9001):
            for connections in (1, 16):
                at = (path, "steady", 200e6, rtt, mtu, connections)
                yield point(*at, seconds=20)
                if path == "relay":
                    yield point(*at, seconds=20, queue=1)
                for products in (0.5, 4):
                    message = int(products * 200e6 / 8 * rtt) // connections * connections
                    yield point(path, "bursts", 200e6, rtt, mtu, connections, message, 1)


def dt_fm(path):
    """Paths of DT-FM's cases 3 and 4 and its messages of 8 MiB, over NCCL's 16 connections."""
    for rate, rtt in [(5e9, 0.002), (1.12e9, 0.022), (2e9, 0.02), (1.25e9, 0.024), (1.1e9, 0.098), (1.15e9, 0.134)]:
        for mtu in (1500, 9001):
            if path == "netem" or rate / mtu < 250e3:  # the relay passes on some 30,000 packets a second
                yield point(path, "cold", rate, rtt, mtu, 16)
                yield point(path, "bursts", rate, rtt, mtu, 16, 8 << 20, 0.05)


GRIDS = {"grid": grid, "dt-fm": dt_fm}


def messages(at):
    return 12 if at["pattern"] == "bursts" else 0


def ip(*arguments, check=True):
    subprocess.run(["ip", *arguments], check=check, capture_output=not check)


NAMES = []  # of the two namespaces


def enter(namespace):
    with open(f"/run/netns/{namespace}") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")


class Relay:
    """wan_relay between two TAP devices `wan`."""

    def __init__(self, at, program):
        self.process = subprocess.Popen(
            ["chrt", "-f", "20", program, "namespaces=" + ",".join(NAMES), f"rate={at['rate_bps']}",
             f"limit={at['queue_products'] * at['rate_bps'] / 8 * at['rtt_s'] or 2e9}", f"rtt={at['rtt_s']}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("wan_relay did not start: is this root, and may TAP devices be made?")
        for side, name in enumerate(NAMES):
            device = ("netns", "exec", name, "ip", "link", "set", "wan")
            ip(*device, "mtu", str(at["mtu"]), "arp", "off", "gso_max_segs", "1", "txqueuelen", "100000", "up")
            ip("-n", name, "address", "add", f"10.77.0.{side + 1}/24", "dev", "wan")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Netem:
    """A veth pair with netem at each end's way out."""

    def __init__(self, at):
        ip("link", "add", "wan", "netns", NAMES[0], "type", "veth", "peer", "name", "wan", "netns", NAMES[1])
        for side, name in enumerate(NAMES):
            ip("-n", name, "link", "set", "wan", "mtu", str(at["mtu"]), "up")
            ip("-n", name, "address", "add", f"10.77.0.{side + 1}/24", "dev", "wan")
            ip("netns", "exec", name, "tc", "qdisc", "add", "dev", "wan", "root", "netem", "delay",
               f"{at['rtt_s'] / 2 * 1e6:.0f}us", "rate", f"{at['rate_bps']}bit", "limit", "1000000")

    def close(self):
        pass


def own_socket():
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    return one


def accepted(stream, count):
    listener = own_socket()
    listener.bind(("10.77.0.2", 5000))
    listener.listen(count)
    tell(stream, "listens")
    return [listener.accept()[0] for _ in range(count)]


def connected(count):
    ends = [own_socket() for _ in range(count)]
    for one in ends:
        one.connect(("10.77.0.2", 5000))
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        one.setblocking(False)
    return ends


def waiting(ends, request):
    return sum(struct.unpack("i", fcntl.ioctl(one, request, b"    "))[0] for one in ends)


def buffers(ends, index):
    """SO_MEMINFO: 1 is the limit of received data, 3 of data to send; memory, not payload."""
    return sum(struct.unpack("9I", one.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))[index] for one in ends)


def receive(stream, at):
    ends = accepted(stream, at["connections"])
    buffer = bytearray(1 << 20)

    def read(enough):
        """What comes, until enough(bytes read)."""
        total = 0
        with selectors.DefaultSelector() as selector:
            for one in ends:
                selector.register(one, selectors.EVENT_READ)
            while not enough(total):
                for key, _ in selector.select(0.5):
                    total += key.fileobj.recv_into(buffer)

    if at["pattern"] == "steady":
        end = time.monotonic() + at["seconds"]
        read(lambda _: time.monotonic() >= end)
        tell(stream, "stopped")
    else:
        for _ in range(messages(at)):
            read(lambda total: total >= at["message_bytes"])
            tell(stream, "read")
    stream.readline()
    tell(stream, f"{waiting(ends, termios.FIONREAD)} {buffers(ends, 1)}")
    stream.readline()


class Sender:
    def __init__(self, at):
        self.ends = connected(at["connections"])
        self.zeros = bytes(PIECE)
        self.windows, self.most_windows, self.trip_s, self.segment = 0, 0, 0, 0

    def look(self):
        """Congestion windows in bytes and the mean round trip as the sender smooths it (struct tcp_info)."""
        windows, trips = 0, 0
        for one in self.ends:
            words = struct.unpack("24I", one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[8:])
            self.segment = words[2]
            windows += words[18] * words[2]
            trips += words[15]
        self.windows, self.trip_s = windows, trips / len(self.ends) / 1e6
        self.most_windows = max(self.most_windows, windows)

    def write(self, share, quiet_s=None, watch=None):
        """So many bytes to each connection, as NCCL does: whatever it takes, and again a millisecond later. With quiet_s at
        most until none has taken any for so long, which counts from when `watch` has something to read."""
        left = {one: share for one in self.ends}
        last = looked = time.monotonic()
        while left:
            for one in list(left):
                if self.push(one, left):
                    last = time.monotonic()
            now = time.monotonic()
            if now > looked + 0.05 or watch is None:
                looked = now
                is_over = watch is not None and select.select([watch], [], [], 0)[0]
                if watch is not None:
                    self.look()
                if is_over:
                    watch = None
            if quiet_s is not None and watch is None and now > last + quiet_s:
                return
            time.sleep(0.001)

    def push(self, one, left):
        """What the connection takes now; whether it took any."""
        before = left[one]
        try:
            while left[one] > 0:
                left[one] -= one.send(self.zeros[:min(left[one], PIECE)])
        except BlockingIOError:
            return left[one] < before
        del left[one]
        return True


def send(stream, control, at):
    sender = Sender(at)
    sender.look()
    quiet_s = 1 + 10 * at["rtt_s"]
    if at["pattern"] == "steady":
        sender.write(1 << 40, quiet_s, control)
    else:
        for _ in range(messages(at)):
            sender.write(at["message_bytes"] // at["connections"])
            stream.readline()
            sender.look()
            time.sleep(at["pause_s"])
        sender.write(1 << 40, quiet_s)
    tell(stream, f"{waiting(sender.ends, SIOCOUTQ)} {buffers(sender.ends, 3)} {sender.windows} {sender.most_windows} "
                 f"{sender.trip_s:.6f} {sender.segment}")
    stream.readline()


def tell(stream, text):
    stream.write(text + "\n")
    stream.flush()


def child(side, work):
    """A process in one namespace, and the stream to it."""
    ours, theirs = socket.socketpair()
    process = os.fork()
    if process == 0:
        ours.close()
        try:
            enter(NAMES[side])
            work(theirs.makefile("rw"), theirs)
        except BaseException as error:  # pylint: disable=broad-except
            print(f"held.py: {error!r}", file=sys.stderr, flush=True)
        finally:
            os._exit(0)
    theirs.close()
    return process, ours.makefile("rw")


def measure(at, relay_program):
    for name in NAMES:
        ip("netns", "delete", name, check=False)
        ip("netns", "add", name)
        ip("-n", name, "link", "set", "lo", "up")
        for setting in SETTINGS:
            ip("netns", "exec", name, "sysctl", "-qw", setting)
    path = Relay(at, relay_program) if at["path"] == "relay" else Netem(at)
    children = []
    try:
        children.append(child(1, lambda stream, _: receive(stream, at)))
        receiver = children[0][1]
        receiver.readline()
        children.append(child(0, lambda stream, control: send(stream, control, at)))
        sender = children[1][1]
        for _ in range(1 if at["pattern"] == "steady" else messages(at)):
            if not receiver.readline():
                raise RuntimeError("the receiver ended early")
            tell(sender, "has read")
        words = sender.readline().split()
        if not words:
            raise RuntimeError("the sender ended early")
        tell(receiver, "how much")
        held, buffer = receiver.readline().split()
    finally:
        for process, _ in children:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        path.close()
        for name in NAMES:
            ip("netns", "delete", name, check=False)
    found = dict(zip(["sender_bytes", "sender_buffer", "windows_bytes", "most_windows_bytes", "trip_s", "segment_bytes"], words))
    return {**found, "receiver_bytes": held, "receiver_buffer": buffer}


def key(row):
    return tuple(str(row[name]) for name in POINT + ["run", "kernel"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--relay", default="build/bin/wan_relay", help="the program wan_relay")
    parser.add_argument("--path", choices=["relay", "netem"], default="relay")
    parser.add_argument("--grids", default="grid", help="of " + ", ".join(GRIDS) + "; separated by commas")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--out", required=True, help="CSV file to append to")
    parser.add_argument("--slot", type=int, default=0, help="a number of its own for each that runs at the same time")
    parser.add_argument("--only", default=[], nargs="*", metavar="COLUMN=VALUE", help="only points with these values")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("held.py: network namespaces need root")
    NAMES[:] = [f"lhheld{arguments.slot}-{side}" for side in range(2)]
    kernel = os.uname().release.split("-")[0]
    only = dict(one.split("=", 1) for one in arguments.only)
    points = [at for name in arguments.grids.split(",") for at in GRIDS[name](arguments.path)
              if all(str(at[column]) == value for column, value in only.items())]
    is_new, known = not os.path.exists(arguments.out), set()
    if not is_new:
        with open(arguments.out) as file:
            known = {key(row) for row in csv.DictReader(file)}
    with open(arguments.out, "a", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            rows.writeheader()
        for run in range(1, arguments.runs + 1):
            for at in points:
                name = {**at, "run": run, "kernel": kernel}
                if key(name) in known:
                    continue
                row = {**name, **measure(at, arguments.relay)}
                rows.writerow(row)
                file.flush()
                print(*(row[column] for column in COLUMNS), flush=True)


if __name__ == "__main__":
    main()
