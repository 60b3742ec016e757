#!/usr/bin/env python3
"""A researcher with a text of their own and machines in four cities: which method should I use?

    own_text.py LONGHAUL

From two files to a sentence with intervals and verdicts, the same in the terminal, in `compare` and in the report."""
import random
import re
import sys

from walk import Walk, bullets, expect

WORDS = 'the ship left harbour at dawn and nobody on the quay knew when it would return with news of northern ice'.split()


def own_text(sentences):
    draw = random.Random(1)
    return '\n'.join(' '.join(draw.choices(WORDS, k=12)).capitalize() + '.' for _ in range(sentences))


SCENARIO = {
    'name': 'cities', 'seeds': [1, 2, 3], 'replicas': 4,
    'methods': [{'name': 'ddp'}, {'name': 'diloco', 'inner_steps': 10}, {'name': 'noloco', 'inner_steps': 10}],
    'train': {'steps': 60, 'model': {'hidden': 32, 'layers': 1, 'heads': 2, 'ffn': 64, 'context': 32}, 'data': {'text': ['own.txt']}, 'batch': 4,
              'evaluate_every': 5, 'evaluate_sequences': 16, 'optimizer': {'lr': 3e-3}, 'target_loss': 3.2},
    'workload': {'step_time': {'constant': '200ms'}},
    'network': {'topology': {'regions': {'matrix': 'aws-2022', 'replicas': {'oregon': 1, 'virginia': 1, 'london': 1, 'tokyo': 1}}}},
}


def main():
    longhaul = Walk(sys.argv[1])
    longhaul.write('own.txt', own_text(4000))
    longhaul.write('cities.json', SCENARIO)
    expect('is a valid scenario' in longhaul('check', 'cities.json'), 'check takes the scenario')
    terminal = longhaul('run', 'cities.json', '--out', 'run', '--jobs', '2')
    sentences = bullets(terminal)
    tokens = next((one for one in sentences if one.startswith('At equal tokens')), '')
    expect(re.search(r'is ahead, |has the lowest loss, |no difference is shown between |none is shown to be ahead: ', tokens), f'the terminal has a verdict: {tokens}')
    expect(re.search(r'\d\.\d{4} \[-?\d+\.\d{4}, \d+\.\d{4}\]', tokens), 'with a 95 % interval')
    for opening in ('After the same simulated time (', 'After the same bytes (', 'To the target loss of 3.2', 'In the time of the whole run'):
        expect(any(one.startswith(opening) for one in sentences), f'and a sentence "{opening.rstrip(" (")}..."')
    expect(sentences[-1].startswith('In the time of a synchronization'), 'the time of a synchronization comes last')
    losses = {}
    for record in longhaul.summary('run')['cases']:
        losses.setdefault(record['label'], []).append(record['final_loss'])
    lowest = min(losses, key=lambda label: sum(losses[label]))
    expect(re.search(rf'(, | between |ahead: ){lowest}\b', tokens), f'the sentence begins with the lowest mean of summary.json, that of {lowest}')

    expect(bullets(longhaul('compare', 'run')) == sentences, 'compare says the same sentences')
    longhaul('report', 'run')
    data = longhaul.report_data('run')
    in_report = [one['sentence'] for one in data['runs'][0]['conclusions']['points'][0]['decisions']]
    expect(in_report == sentences, 'the report says the same sentences')
    tables = data['points'][0]['equal']
    expect([table['kind'] for table in tables] == ['time', 'bytes'] and all('±' in table['rows'][0]['cells'][2] for table in tables),
           'it has tables of losses after the same time and bytes, with intervals')
    rows = [line.split() for line in terminal.splitlines() if line.startswith(('ddp', 'diloco', 'noloco'))]
    expect([row[1] for row in rows] == ['3', '3', '3'] and all('±' in row for row in rows), 'the table has a row a method with means over three seeds')


main()
