"""The common start of a call and the end of each rank, in memory that all ranks and the driver share.

All hosts of an emulated world are namespaces of one machine, so that one clock (CLOCK_MONOTONIC, nanoseconds) is every rank's.
The driver sets the time at which a call begins on every rank; each rank sleeps to it, calls the library and notes its end.
A call takes from its start to the end of the last rank. worker_mpi.c has the same places.
"""
import ctypes
import mmap
import os
import time

RANKS, CALLS = 64, 8
QUIT, START, READY, END = 0, 1, 16, 80  # places, of eight bytes each
PLACES = END + CALLS * RANKS
POLL_S = 0.001


class CommonStart:
    def __init__(self, path, create=False):
        file = os.open(path, os.O_RDWR | (os.O_CREAT | os.O_TRUNC if create else 0), 0o600)
        if create:
            os.ftruncate(file, 8 * PLACES)
        self.places = (ctypes.c_int64 * PLACES).from_buffer(mmap.mmap(file, 8 * PLACES))
        os.close(file)

    def end(self, call, rank):
        return END + call * RANKS + rank

    # What the driver does.

    def wait_for(self, places, is_alive, deadline):
        while not all(self.places[place] for place in places):
            if time.monotonic() > deadline:
                raise TimeoutError("no end in time")
            if not is_alive():
                raise RuntimeError("a rank ended early")
            time.sleep(POLL_S)

    # What a rank does.

    def carry_out(self, rank, calls, operation, verify):
        """At most so many calls: the driver says when it has enough. `verify` runs after the first, outside of what is timed."""
        self.places[READY + rank] = 1
        for call in range(calls):
            while not self.places[START + call]:
                if self.places[QUIT]:
                    return
                time.sleep(POLL_S)
            time.sleep(max(0.0, (self.places[START + call] - time.monotonic_ns()) / 1e9))
            operation()
            self.places[self.end(call, rank)] = time.monotonic_ns()
            if call == 0:
                verify()
        while not self.places[QUIT]:
            time.sleep(POLL_S)


def enter_host(rank):
    """The network namespace of a host, which the world has made."""
    with open(f"/run/netns/lh{rank}") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0x40000000) != 0:
            raise OSError(ctypes.get_errno(), "setns")
