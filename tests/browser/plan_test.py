"""The page of `longhaul plan` in Debian's chromium: what it says, draws and asks for; pictures in light, dark, print and narrow.

usage: plan_test.py LONGHAUL CHROMIUM CHROMEDRIVER PICTURES   (status 77: something is missing here)
"""
import json
import pathlib
import subprocess
import sys
import unittest

try:
    from page import PageTest
except ImportError:
    print('skipped: python3-selenium is not installed')
    sys.exit(77)

LONGHAUL = sys.argv[1]
SCENARIOS = pathlib.Path(__file__).resolve().parents[2] / 'scenarios' / 'plans'


class PlanPage(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.out = pathlib.Path(cls.folder.name) / 'sites'
        subprocess.run([LONGHAUL, 'plan', SCENARIOS / 'sites.json', '-o', cls.out], check=True, capture_output=True, timeout=300)
        cls.data = json.loads((cls.out / 'plan.json').read_text())

    def setUp(self):
        super().setUp()
        self.page.open(self.out / 'plan.html')

    def tearDown(self):
        self.assertEqual(self.page.console_errors(), [])
        self.assertEqual(self.page.requests(), [])

    def test_says_what_the_terminal_says(self):
        self.assertEqual(self.page.text('#decision'), self.data['decision'])
        rows = self.page.run("return [...document.querySelectorAll('#plans-table tbody tr')].map(row => row.cells[0].innerText);")
        self.assertEqual(rows, [one['words'] for one in self.data['plans']])
        rows = self.page.run("return [...document.querySelectorAll('#sites-table tbody tr')].map(row => row.cells[0].innerText);")
        self.assertEqual(rows, ['Oslo', 'Paris', 'Montreal'])
        self.assertEqual(self.page.run("return document.querySelectorAll('#caveats li').length;"), len(self.data['caveats']))

    def test_draws_every_plan_that_is_not_far_off(self):
        points = self.page.run('return chart.data.datasets.flatMap(set => set.data.map(point => [point.x, point.y]));')
        longest = 3 * self.data['plans'][0]['time_s']
        expected = sorted([one['time_s'], one['cost']] for one in self.data['plans'] if one['time_s'] <= longest)
        self.assertGreater(len(expected), 5)
        self.assertEqual(sorted(points), expected)

    def test_light_dark_print_and_narrow(self):
        self.page.picture('plan-light')
        light = self.page.run("return getComputedStyle(document.body).backgroundColor;")
        self.page.emulate(scheme='dark')
        self.assertNotEqual(self.page.run("return getComputedStyle(document.body).backgroundColor;"), light)
        self.page.picture('plan-dark')
        self.page.emulate()
        self.page.size(390, 844)
        self.page.settle()
        self.assertLessEqual(self.page.run('return document.documentElement.scrollWidth;'), 390)
        self.page.picture('plan-narrow')
        self.page.size(1280, 900)
        self.assertGreater(len(self.page.print('plan-print')), 10000)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
