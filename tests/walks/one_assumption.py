#!/usr/bin/env python3
"""A reviewer's walk: every row of results/reference/assumptions.md, run as the page says, gives the page's ratio and verdict.

    tests/walks/one_assumption.py LONGHAUL SOURCE"""
import pathlib
import re
import shlex
import sys

import walk

ROW = re.compile(r'^\| ([^|]+) \| (?:`(.*?)`)? *\| ([\d.]+) \| (\w+) \|$', re.MULTILINE)


def main():
    run, source = walk.Walk(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    rows = ROW.findall((source / 'results/reference/assumptions.md').read_text())
    walk.expect(len(rows) > 25, f'the page has {len(rows)} rows')
    for changed, command, ratio, verdict in rows:
        run('run', str(source / 'scenarios/paper/assumptions.json'), '--overwrite', '--out', 'run', '--quiet',
            *shlex.split(command))
        claim = run.summary('run')['claims'][0]
        walk.expect(f'{claim["measured"]:.2f}' == ratio and claim['verdict'] == verdict,
                    f'{changed}: {claim["measured"]:.2f} {claim["verdict"]}, the page says {ratio} {verdict}')


if __name__ == '__main__':
    main()
