"""The page of `longhaul plan` in Debian's chromium: what it says, draws and asks for; pictures in light, dark, print and narrow.

usage: plan_test.py LONGHAUL CHROMIUM CHROMEDRIVER PICTURES   (status 77: something is missing here)
"""
import json
import pathlib
import subprocess
import sys
import unittest

from page import PageTest

SCENARIOS = pathlib.Path(__file__).resolve().parents[2] / 'scenarios' / 'plans'


class PlanPage(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.out = pathlib.Path(cls.folder.name) / 'sites'
        subprocess.run([sys.argv[1], 'plan', SCENARIOS / 'sites.json', '-o', cls.out], check=True, capture_output=True, timeout=300)
        cls.data = json.loads((cls.out / 'plan.json').read_text())

    def setUp(self):
        super().setUp()
        self.open(self.out / 'plan.html')
        self.addCleanup(self.expect_quiet)

    def test_says_what_the_terminal_says(self):
        self.assertEqual(self.page.text('#decision'), self.data['decision'])
        for table, names in (('plans', [one['words'] for one in self.data['plans']]), ('sites', ['Oslo', 'Paris', 'Montreal'])):
            rows = f"[...document.querySelectorAll('#{table}-table tbody tr')].map(row => row.cells[0].innerText)"
            self.assertEqual(self.page.value(rows), names)
        self.assertEqual(self.page.count('#caveats li'), len(self.data['caveats']))

    def test_draws_every_plan_that_is_not_far_off(self):
        points = self.page.value('chart.data.datasets.flatMap(set => set.data.map(point => [point.x, point.y]))')
        longest = 3 * self.data['plans'][0]['time_s']
        expected = sorted([one['time_s'], one['cost']] for one in self.data['plans'] if one['time_s'] <= longest)
        self.assertGreater(len(expected), 5)
        self.assertEqual(sorted(points), expected)

    def test_light_dark_print_and_narrow(self):
        self.expect_every_look(self.out / 'plan.html', 'plan')


class BatchesPlanPage(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = pathlib.Path(cls.folder.name)
        plan = {'parameters': 10000000, 'tokens': 100000000, 'tokens_per_step': 1000, 'step_time': '1s', 'accelerator': {'memory': '80GB'},
                'sites': [{'name': 'fast', 'nodes': 2, 'rate': '1Gbps'}, {'name': 'slow', 'nodes': 2, 'rate': '1Gbps', 'step_time': '4s'}],
                'paths': [{'between': ['fast', 'slow'], 'rtt': '20ms'}],
                'candidates': {'methods': ['diloco'], 'inner_steps': [50], 'all_reduce': ['ring'], 'connections': [1], 'rank_orders': ['blocks'],
                               'batches': ['by-speed']}}
        (folder / 'batches.json').write_text(json.dumps(plan))
        cls.out = folder / 'batches'
        subprocess.run([sys.argv[1], 'plan', folder / 'batches.json', '-o', cls.out], check=True, capture_output=True, timeout=300)

    def setUp(self):
        super().setUp()
        self.open(self.out / 'plan.html')
        self.addCleanup(self.expect_quiet)

    # 4000 tokens among nodes of which one takes four times as long: 1600 and 400, 1.6 s a step.
    def test_says_the_tokens_of_each_site(self):
        column = "[...document.querySelectorAll('#sites-table thead th')].findIndex(one => one.textContent.includes('Tokens a step'))"
        cells = f"[...document.querySelectorAll('#sites-table tbody tr')].map(row => row.cells[{column}].innerText)"
        self.assertEqual(self.page.value(cells), ['1,600', '400'])
        self.assertIn('1.6 s', self.page.text('#facts'))


class FifoPlanPage(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = pathlib.Path(cls.folder.name)
        plan = json.loads((SCENARIOS / 'sites.json').read_text())
        del plan['$schema'], plan['model']
        plan |= {'parameters': 10000000, 'step_time': '1s', 'tcp': {'queue': 'fifo', 'queue_size': 0.5},
                 'candidates': {'methods': ['diloco'], 'inner_steps': [50], 'all_reduce': ['ring', 'halving-doubling'],
                                'connections': [8], 'rank_orders': ['blocks']}}
        (folder / 'fifos.json').write_text(json.dumps(plan))
        cls.out = folder / 'fifos'
        subprocess.run([sys.argv[1], 'plan', folder / 'fifos.json', '-o', cls.out], check=True, capture_output=True, timeout=300)
        cls.data = json.loads((cls.out / 'plan.json').read_text())

    def test_has_a_table_of_what_was_verified(self):
        self.open(self.out / 'plan.html')
        rows = self.page.value("[...document.querySelectorAll('#verification-table tbody tr')].map(row => [...row.cells].map(cell => cell.innerText))")
        plans = self.data['verification']['plans']
        self.assertEqual([[row[0], row[5]] for row in rows], [[one['words'], str(one['seeds'])] for one in plans])
        self.assertEqual(len(rows), 2)
        self.assertIn('measured to 25 % there', self.page.text('#verification-words'))
        self.expect_quiet()


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
