#!/usr/bin/env python3
"""Times transfers of the Linux kernel's own TCP over ns-3 links in real time (wan_link.cc), for results/reference/kernel/README.md.

Two network namespaces stand for two hosts. A point of the grid is a link and a set of connections that are opened
before the clock starts; then one exchange from cold windows, one right after it and one after a second of silence.
An exchange ends when both sides (or the one that receives) have every byte. Rows are appended to a CSV file, and
points that it already holds are skipped, so that an interrupted run goes on.

As root, on Linux, where TAP devices may be made; never part of the tests.
"""
import argparse
import csv
import ctypes
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time

PAYLOAD, FRAME = 1448, 1538
IP_FRAME = 1514  # what the kernel's queues count of a full segment
COLUMNS = ["queue", "congestion_control", "rate_bps", "rtt_s", "connections", "directions", "products", "bytes",
           "cold_s", "warm_s", "after_idle_s", "kernel"]
NAMES = ("lhwan0", "lhwan1")


def grid():
    for queue, control, rate, rtt, connections, directions, products in itertools.product(
            ["host", "fifo", "fq_codel-ecn"], ["cubic", "bbr"], [10e6, 50e6], [0.02, 0.05, 0.2], [1, 4], [1, 2],
            [1, 5, 20]):
        if queue != "host" and (control == "bbr" or rtt == 0.02):
            continue
        yield {"queue": queue, "congestion_control": control, "rate_bps": rate, "rtt_s": rtt,
               "connections": connections, "directions": directions, "products": products}


def ip(*arguments, check=True):
    subprocess.run(["ip", *arguments], check=check, capture_output=not check)


def enter(namespace):
    with open(f"/run/netns/{namespace}") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0x40000000) != 0:
            raise OSError(ctypes.get_errno(), "setns")


def in_namespace(namespace, *command):
    ip("netns", "exec", namespace, *command)


def set_up_host(side, point):
    name = NAMES[side]
    for setting in ("net.ipv4.tcp_no_metrics_save=1", "net.ipv4.tcp_rmem=4096 131072 67108864", "net.ipv4.tcp_wmem=4096 65536 67108864",
                    f"net.ipv4.tcp_ecn={1 if 'ecn' in point['queue'] else 0}"):
        in_namespace(name, "sysctl", "-qw", setting)
    in_namespace(name, "ip", "link", "set", "lo", "up")
    in_namespace(name, "ip", "address", "add", f"10.{side}.0.2/24", "dev", "wan")
    in_namespace(name, "ip", "link", "set", "wan", "up")
    in_namespace(name, "ip", "route", "add", "default", "via", f"10.{side}.0.1")
    # Queues count a frame's overhead once, so each frame has to be one segment.
    in_namespace(name, "ip", "link", "set", "wan", "gso_max_segs", "1")
    if point["queue"] == "host":  # the sender's own queue is the bottleneck: TCP small queues keep it short
        in_namespace(name, "tc", "qdisc", "add", "dev", "wan", "root", "tbf", "rate", f"{int(point['rate_bps'])}bit",
                     "burst", "3100", "limit", "100000000", "overhead", str(FRAME - IP_FRAME))


def payload_bytes(point):
    whole = point["products"] * point["rate_bps"] / 8 * point["rtt_s"]
    return int(whole / point["connections"]) * point["connections"]


def receive(connection, count):
    buffer = bytearray(1 << 18)
    while count > 0:
        got = connection.recv_into(buffer, min(len(buffer), count))
        if got == 0:
            raise ConnectionError("closed early")
        count -= got


class Host:
    """A child process in one namespace; told over a pipe when to exchange, it answers with the time it was done."""

    def __init__(self, side, point):
        self.commands, child_commands = socket.socketpair()
        self.process = os.fork()
        if self.process == 0:
            try:
                enter(NAMES[side])
                serve(side, point, child_commands)
            finally:
                os._exit(0)
        child_commands.close()

    def tell(self, text):
        self.commands.sendall(text.encode() + b"\n")

    def answer(self):
        text = b""
        while not text.endswith(b"\n"):
            piece = self.commands.recv(100)
            if not piece:
                raise RuntimeError("an end of the connection died")
            text += piece
        return text.decode().strip()

    def close(self):
        self.commands.close()
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


def connect_one(target, point):
    for _ in range(100):
        one = socket.socket()
        # A setting of the socket: that of the namespace may be locked.
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, point["congestion_control"].encode())
        one.settimeout(60)
        try:
            one.connect((f"10.{target}.0.2", 5000))
            return one
        except ConnectionRefusedError:
            one.close()
            time.sleep(0.05)
    raise ConnectionRefusedError("the other side does not listen")


def connect(side, point):
    """Connections by which this side sends, and by which it receives."""
    sends = side == 0 or point["directions"] == 2
    receives = side == 1 or point["directions"] == 2
    listener = socket.create_server((f"10.{side}.0.2", 5000), backlog=64)
    outgoing = [connect_one(1 - side, point) for _ in range(point["connections"] if sends else 0)]
    incoming = [listener.accept()[0] for _ in range(point["connections"] if receives else 0)]
    for one in outgoing + incoming:
        one.settimeout(120)
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return outgoing, incoming


def serve(side, point, commands):
    outgoing, incoming = connect(side, point)
    share = payload_bytes(point) // point["connections"]
    message = bytes(share)
    stream = commands.makefile("rw")
    print("connected", file=stream, flush=True)
    for line in stream:
        begin = float(line)
        threads = [threading.Thread(target=receive, args=(one, share)) for one in incoming]
        for thread in threads:
            thread.start()
        time.sleep(max(0, begin - time.monotonic()))
        senders = [threading.Thread(target=one.sendall, args=(message,)) for one in outgoing]
        for thread in senders:
            thread.start()
        for thread in threads:
            thread.join()
        done = time.monotonic() if incoming else begin
        print(done - begin, file=stream, flush=True)
        for thread in senders:
            thread.join()


def exchange(hosts, wait):
    begin = time.monotonic() + wait
    for host in hosts:
        host.tell(repr(begin))
    return max(float(host.answer()) for host in hosts)


def measure(point, link_program):
    for name in NAMES:
        ip("netns", "delete", name, check=False)
        ip("netns", "add", name)
    queue_bytes = max(20 * FRAME, int(point["rate_bps"] / 8 * point["rtt_s"]))
    link = subprocess.Popen(["chrt", "-f", "20", link_program, f"{int(point['rate_bps'])}bps",
                             f"{point['rtt_s'] / 2 * 1e6:.0f}us", point["queue"], str(queue_bytes), *NAMES],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    hosts = []
    try:
        if link.stdout.readline() != b"ready\n":
            raise RuntimeError("wan_link did not start: is this root, and may TAP devices be made?")
        for side in range(2):
            set_up_host(side, point)
        hosts = [Host(side, point) for side in range(2)]
        for host in hosts:
            host.answer()
        times = [exchange(hosts, 0.5), exchange(hosts, 0.01), exchange(hosts, 1)]
    finally:
        for host in hosts:
            host.close()
        link.stdin.close()
        link.wait()
        for name in NAMES:
            ip("netns", "delete", name, check=False)
    return times


def key(row):
    return tuple(str(float(row[c])) if c not in ("queue", "congestion_control") else row[c] for c in COLUMNS[:7])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--link", default="build/bin/wan_link", help="the program wan_link")
    parser.add_argument("--out", required=True, help="CSV file to append to")
    parser.add_argument("--only", default="", help="a queue setting")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("measure.py: network namespaces and TAP devices need root")
    known = set()
    if os.path.exists(arguments.out):
        with open(arguments.out) as file:
            known = {key(row) for row in csv.DictReader(line for line in file if not line.startswith("#"))}
    points = [p for p in grid() if key(p) not in known and arguments.only in ("", p["queue"])]
    is_new = not os.path.exists(arguments.out)
    with open(arguments.out, "a", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS)
        if is_new:
            rows.writeheader()
        for number, point in enumerate(points):
            cold, warm, idle = measure(point, arguments.link)
            rows.writerow({**point, "bytes": payload_bytes(point), "cold_s": f"{cold:.6f}", "warm_s": f"{warm:.6f}",
                           "after_idle_s": f"{idle:.6f}", "kernel": os.uname().release.split("-")[0]})
            file.flush()
            print(f"{number + 1}/{len(points)} {point}: cold {cold:.4f} s, warm {warm:.4f} s, after 1 s idle {idle:.4f} s",
                  flush=True)


main()
