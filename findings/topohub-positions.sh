#!/usr/bin/env bash
# topohub's maps: eleven of SNDlib have lengths without a meaning, and pos is not always longitude and latitude.
#
# topohub's module says that positions are (longitude, latitude) unless noted. In the group gabriel they are kilometres on a plane,
# up to 2236, and `dist` is on that plane. Eleven maps of sndlib (atlanta, di-yuan, france, giul39, newyork, norway, pioro40, sun,
# ta1, ta2, zib54) have pixels there, and `dist` is the great circle between the pixels as degrees: up to 17,793 km in France.
# Elsewhere it is in km. 537 of 6885 edges of the Topology Zoo have the length 0: their ends have
# one place. Ids of the Zoo's nodes are texts, of all other groups integers. Nodes of backbone have no names.
#
# Seen with topohub 1.5.1 (707 maps). Needs Python 3 with venv and the package index; leaves nothing behind.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet topohub==1.5.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import collections
import json
import math
import pathlib

import topohub.data

counts = collections.Counter()


def great_circle(one, other):
    (x, y), (u, v) = (map(math.radians, node["pos"]) for node in (one, other))
    part = math.sin((v - y) / 2) ** 2 + math.cos(y) * math.cos(v) * math.sin((u - x) / 2) ** 2
    return 2 * 6371 * math.asin(math.sqrt(min(1, max(0, part))))


for file in pathlib.Path(list(topohub.data.__path__)[0]).rglob("*.json"):
    group, graph = file.relative_to(list(topohub.data.__path__)[0]).parts[0], json.loads(file.read_text())
    counts[group, "maps"] += 1
    inside = [abs(node["pos"][0]) <= 180 and abs(node["pos"][1]) <= 90 for node in graph["nodes"]]
    counts[group, "maps with a pos that is no place"] += not all(inside)
    counts[group, "nodes of these that look like a place"] += sum(inside) if not all(inside) else 0
    counts[group, "nodes without a name"] += sum("name" not in node for node in graph["nodes"])
    counts[group, f"ids: {type(graph['nodes'][0]['id']).__name__}"] += 1
    counts[group, "edges of length 0"] += sum(edge["dist"] == 0 for edge in graph["edges"])
    counts[group, "edges"] += len(graph["edges"])
    nodes = {node["id"]: node for node in graph["nodes"]}
    for edge in graph["edges"]:
        circle = great_circle(nodes[edge["source"]], nodes[edge["target"]])
        if not all(inside):
            counts[group, "edges of these whose dist is a great circle"] += abs(edge["dist"] - circle) < 0.01 * circle
        assert not {"capacity", "bandwidth", "rate", "delay"} & set(edge), "the maps have rates now"
for (group, what), count in sorted(counts.items()):
    if count:
        print(f"{group}: {what}: {count}")
changed = "the behaviour has changed"
assert counts["gabriel", "maps with a pos that is no place"] > 300, changed
assert counts["gabriel", "nodes of these that look like a place"] > 100, changed
assert counts["sndlib", "maps with a pos that is no place"] == 11, changed
assert counts["sndlib", "edges of these whose dist is a great circle"] > 500, changed
assert counts["gabriel", "edges of these whose dist is a great circle"] < 0.01 * counts["gabriel", "edges"], changed
assert (counts["topozoo", "edges of length 0"], counts["topozoo", "edges"]) == (537, 6885), changed
assert counts["topozoo", "ids: str"] == 203 and counts["sndlib", "ids: int"] == 26, changed
PYTHON
