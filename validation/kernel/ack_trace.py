#!/usr/bin/env python3
"""When the Linux kernel's receiver acknowledges: a transfer between two network namespaces, packet by packet.

Each namespace has a TUN device with a token bucket of the link's rate; this program delays what passes and prints it.
A message is sent when the one before has arrived; its time is measured from the first write to the last byte read.

As root, on Linux, where TUN devices may be made; never part of the tests.
"""
import argparse
import ctypes
import fcntl
import heapq
import os
import select
import socket
import struct
import subprocess
import sys
import time

SEGMENT = 1448
CLONE_NEWNET, TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x40000000, 0x400454CA, 0x0001, 0x1000
SYN, PSH = 0x02, 0x08
SETTINGS = {"tcp_no_metrics_save": "1", "tcp_rmem": "4096 131072 67108864", "tcp_wmem": "4096 65536 67108864"}


def be_first(priority):
    """So that a busy machine adds little waiting of its own; allowed to fail."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(priority))
    except OSError:
        pass


def open_host(side, rate):
    """A namespace of this process with the TUN device `wan`."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"wan", IFF_TUN | IFF_NO_PI))
    for command in (f"ip address add 10.9.0.{side + 1}/24 dev wan", "ip link set wan up",
                    f"tc qdisc add dev wan root tbf rate {rate} burst 3100 limit 100000000 overhead 38"):
        subprocess.run(command.split(), check=True)
    for name, value in SETTINGS.items():
        with open(f"/proc/sys/net/ipv4/{name}", "w") as file:
            file.write(value)
    return tun


def receive(options, other):
    listener = socket.socket()
    if options.receive_buffer:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, options.receive_buffer)
    listener.bind(("10.9.0.2", 5000))
    listener.listen()
    other.send(b"L")
    connection = listener.accept()[0]
    for segments in options.segments:
        left = round(segments * SEGMENT)
        while left > 0:
            left -= len(connection.recv(min(1 << 16, left)))
        other.send(b"R")
    time.sleep(0.5)  # for the last acknowledgements


def send(options, other):
    other.recv(1)
    connection = socket.socket()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    connection.connect(("10.9.0.2", 5000))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for segments in options.segments:
        time.sleep(options.gap)
        begin = time.monotonic()
        connection.sendall(bytes(round(segments * SEGMENT)))
        other.recv(1)
        print(f"message of {segments:g} segments: {time.monotonic() - begin:.4f} s", flush=True)


def start_host(side, options, other):
    ours, theirs = socket.socketpair()
    process = os.fork()
    if process == 0:
        try:
            socket.send_fds(theirs, [b"t"], [open_host(side, options.rate)])
            be_first(10)
            (send, receive)[side](options, other)
        finally:
            os._exit(0)
    theirs.close()
    descriptors = socket.recv_fds(ours, 1, 1)[1]
    if not descriptors:
        sys.exit("ack_trace.py: a host could not be set up; network namespaces and TUN devices need root")
    return process, descriptors[0]


def tcp_fields(packet):
    """(sequence number, acknowledged, payload, flags) of a TCP packet over IPv4, else None."""
    if packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
        return None
    header = (packet[0] & 15) * 4
    sequence, acknowledged, offset, flags = struct.unpack(">IIBB", packet[header + 4:header + 14])
    return sequence, acknowledged, len(packet) - header - (offset >> 4) * 4, flags


def relay(tuns, receiver, delay):
    """Delays every packet until the receiver ends; returns (seconds, side, packet) of all."""
    waiting, seen, begin = [], [], time.monotonic()
    while os.waitpid(receiver, os.WNOHANG)[0] == 0:
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, target, packet = heapq.heappop(waiting)
            os.write(target, packet)
        wait = min(0.05, max(0, waiting[0][0] - time.monotonic())) if waiting else 0.05
        for tun in select.select(tuns, [], [], wait)[0]:
            try:
                while True:
                    packet = os.read(tun, 65536)
                    side, now = tuns.index(tun), time.monotonic()
                    seen.append((now - begin, side, packet))
                    heapq.heappush(waiting, (now + delay, len(seen), tuns[1 - side], packet))
            except BlockingIOError:
                pass
    return seen


def print_trace(seen):
    first = {}
    for seconds, side, packet in seen:
        fields = tcp_fields(packet)
        if fields is None:
            continue
        sequence, acknowledged, payload, flags = fields
        if flags & SYN:
            first[side] = sequence + 1
        elif side == 0 and payload > 0:
            begin = (sequence - first[0]) / SEGMENT
            print(f"{seconds:.4f} data {begin:.3f} to {begin + payload / SEGMENT:.3f}{' PSH' if flags & PSH else ''}")
        elif side == 1:
            print(f"{seconds:.4f} {'':40}acknowledged {(acknowledged - first[0]) / SEGMENT:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rate", default="50mbit", help="of each sender, on the wire, as tc writes it")
    parser.add_argument("--rtt", type=float, default=0.1, help="seconds")
    parser.add_argument("--receive-buffer", type=int, default=0, help="SO_RCVBUF, bytes; 0: the kernel's own")
    parser.add_argument("--segments", type=float, nargs="+", default=[80], help="messages, in segments of 1448 bytes")
    parser.add_argument("--gap", type=float, default=0, help="seconds of silence before each message")
    parser.add_argument("--trace", action="store_true", help="print every packet, in segments")
    options = parser.parse_args()
    ends = socket.socketpair()
    hosts = [start_host(side, options, ends[side]) for side in range(2)]
    be_first(20)
    seen = relay([tun for _, tun in hosts], hosts[1][0], options.rtt / 2)
    os.waitpid(hosts[0][0], 0)
    if options.trace:
        print_trace(seen)


main()
