#!/usr/bin/env python3
"""Prints what results/reference/kernel/held.csv says: for each point what lies at either end, in MB and in windows of the
path (rate times round trip), least and most of its runs.

  validation/kernel/held_summary.py results/reference/kernel/held.csv
"""
import argparse
import csv

POINT = ["kernel", "path", "rate_bps", "rtt_s", "queue_products", "mtu", "connections", "pattern", "message_bytes"]


def span(values, digits):
    texts = sorted({f"{value:.{digits}f}" for value in (min(values), max(values))}, key=float)
    return "–".join(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("file")
    points = {}
    with open(parser.parse_args().file) as file:
        for row in csv.DictReader(file):
            points.setdefault(tuple(row[name] for name in POINT), []).append(row)
    print("| kernel, path | Mb/s | ms | window, MB | queue | MTU | connections | before | runs | sender, MB | receiver, MB | "
          "sender, windows | receiver, windows |")
    print("|---|---:|---:|---:|---|---:|---:|---|---:|---:|---:|---:|---:|")
    for key, rows in points.items():
        point = dict(zip(POINT, key))
        window = float(point["rate_bps"]) / 8 * float(point["rtt_s"])
        sender, receiver = ([float(row[name]) for row in rows] for name in ("sender_bytes", "receiver_bytes"))
        before = point["pattern"]
        if before == "bursts":
            before = f"12 messages of {float(point['message_bytes']) / 1e6:.3g} MB"
        print(f"| {point['kernel']}, {point['path']} | {float(point['rate_bps']) / 1e6:g} | {1000 * float(point['rtt_s']):g} | "
              f"{window / 1e6:.2f} | {'1 window' if point['queue_products'] == '1' else 'no limit'} | {point['mtu']} | "
              f"{point['connections']} | {before} | {len(rows)} | {span([one / 1e6 for one in sender], 1)} | "
              f"{span([one / 1e6 for one in receiver], 1)} | {span([one / window for one in sender], 1)} | "
              f"{span([one / window for one in receiver], 1)} |")


if __name__ == "__main__":
    main()
