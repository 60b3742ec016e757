#!/usr/bin/env python3
"""A reviewer with an hour: are the verdicts that the tree's pages print those that the commands give here?

    reviewer.py LONGHAUL SOURCE [MINUTES]

The commands are those of docs/howto/reviewers.md; rows of its table that take longer than MINUTES are left out."""
import pathlib
import re
import subprocess
import sys

from walk import Walk, expect


def rows(page):
    """(scenario or command, page that its row names, minutes) of the table."""
    for cells in re.findall(r'^\| (`.*`) \| (.*) \| ([\d., ]+) \|$', page, re.MULTILINE):
        link = re.search(r'\]\((.*)\)', cells[1])
        yield from ((what, link and link.group(1), float(minutes))
                    for what, minutes in zip(re.findall('`(.*?)`', cells[0]), cells[2].split(', ')))


def main():
    longhaul, source = Walk(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    most = float(sys.argv[3]) if len(sys.argv) > 3 else 60
    howto = source / 'docs/howto/reviewers.md'
    page = howto.read_text()
    commands = [line.split('#')[0].split() for line in re.findall(r'^    longhaul (.*)$', page, re.MULTILINE)]
    (longhaul.folder / 'scenarios').symlink_to(source / 'scenarios')
    done = 0
    for what, link, minutes in rows(page):
        if minutes > most:
            continue
        done += 1
        if what.startswith('make '):
            named = (howto.parent / link).resolve()
            before = named.read_text()
            said = subprocess.run(['make', '-C', source, f'BUILD={longhaul.longhaul.parents[1]}', *what.split()[1:]],
                                  capture_output=True, text=True, timeout=7200, check=True).stdout
            after = named.read_text()
            named.write_text(before)  # where the command made it, but for its minutes
            verdicts = re.findall(r'^claim .*?:', before, re.MULTILINE)
            expect(all(one in said for one in verdicts) and re.sub(r'[^|]*\|$', '', after, flags=re.MULTILINE) ==
                   re.sub(r'[^|]*\|$', '', before, flags=re.MULTILINE), f'{what}: what {named.name} says')
        elif what.startswith('longhaul validate'):
            counts = re.findall(r'(\d+) figures, (\d+) predicted within 15 %', longhaul(*what.split()[1:], timeout=7200))
            total, near = (sum(map(int, of)) for of in zip(*counts))
            said = f'{near} of {total} figures are within 15 %'
            expect(said in (howto.parent / link).read_text(), f'{what}: {said}, as {link} says')
        else:
            for command in commands:
                said = longhaul(*(word.replace('fig5a', what) for word in command), timeout=7200)
            verdicts = said[said.index('\n### '):].strip()
            name = what.replace('claim-', '')
            expect(verdicts in (source / f'results/reference/claims/{name}.md').read_text(), f'{what}: its claims are those of the page {name}.md')
    expect(done > 0, f'{done} rows were run')


main()
