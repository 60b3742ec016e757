#!/usr/bin/env bash
# SimGrid's default network model takes 13.01 times the latency of a route for each message, also for one byte.
#
# LV08 was calibrated on single transfers over TCP, whose slow start the factor stands for. Nothing is remembered of a pair of hosts,
# so the next message pays it again, where Linux has an open window: a byte over links of 100 ms takes 1.301 s, 125 kB over 50 Mb/s
# and a round trip of 20 ms take 0.151 s the first time and each time after it (Linux 6.18: 0.076 s and then 0.031 s). The model CM02
# takes the latency once. Both let messages in opposite directions over links of their own slow each other by 5 %
# (network/crosstraffic, on by default), which stands for acknowledgements.
#
# Debian's python3-simgrid 3.32 (bookworm), with Python 3.11. Seen on 29 November 2026.
set -euo pipefail
source "$(dirname "$0")/support/debian_packages.sh"

packages bookworm python3-simgrid=3.32-2+b2 libsimgrid3.32=3.32-2+b2 libns3.37=3.37-2 libboost-context1.74.0 libboost-stacktrace1.74.0 \
  libgfortran5 libquadmath0 libgsl27 libgslcblas0 libsqlite3-0

cat > "$folder/messages.py" <<'PYTHON'
import sys

from simgrid import Actor, Engine, LinkInRoute, Mailbox, NetZone, this_actor

rate, latency_s, size, both = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
engine = Engine([sys.argv[0], "--log=root.thres:error", *sys.argv[5:]])
zone = NetZone.create_full_zone("net")
hosts = [zone.create_host(name, 1e9) for name in "ab"]
for i in range(2):
    link = zone.create_link(f"from {i}", rate / 8).set_latency(latency_s)
    zone.add_route(hosts[i].netpoint, hosts[1 - i].netpoint, None, None, [LinkInRoute(link)], False)
zone.seal()


def send(box):
    for _ in range(2):
        Mailbox.by_name(box).put("message", size)


def receive(box):
    for _ in range(2):
        begun = Engine.clock
        Mailbox.by_name(box).get()
        if box == "0":
            print(f"{Engine.clock - begun:.3f}")


for i in range(1 + both):
    Actor.create("sender", hosts[i], send, str(i))
    Actor.create("receiver", hosts[1 - i], receive, str(i))
engine.run()
PYTHON

# RATE LATENCY BYTES BOTH OPTION...: seconds of two messages, one after the other.
messages() {
  local root=$folder/bookworm
  PYTHONPATH=$root/usr/lib/python3/dist-packages LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu \
    python3.11 "$folder/messages.py" "$@" 2> /dev/null | xargs
}

byte=$(messages 50e6 0.1 1 0)
small=$(messages 50e6 0.01 125000 0)
small_cm02=$(messages 50e6 0.01 125000 0 --cfg=network/model:CM02)
alone=$(messages 50e6 0.01 62500000 0 --cfg=network/model:CM02)
both=$(messages 50e6 0.01 62500000 1 --cfg=network/model:CM02)
echo "a byte, 100 ms, LV08: $byte s"
echo "125 kB, 50 Mb/s, 10 ms: LV08 $small s, CM02 $small_cm02 s"
echo "62.5 MB, CM02: $alone s alone, $both s both ways at the same time"
[ "$byte" = "1.301 1.301" ] && [ "$small" = "0.151 0.151" ] && [ "$small_cm02" = "0.030 0.030" ] && [ "$alone" = "10.010 10.010" ] &&
  [ "$both" = "10.510 10.510" ] || { echo "no longer so"; exit 1; }
