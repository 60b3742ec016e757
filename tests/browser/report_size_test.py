"""A report of 1500 cases: below 10 MB, and usable within 2 s in the browser.

    report_size_test.py LONGHAUL CHROMIUM CHROMEDRIVER PICTURES

Usable: from the beginning of the navigation until everything that is in the page is drawn and it answers. The best of
three counts, since a machine may be busy with something else. Prints what it measured."""
import os
import sys
import unittest

from page import ReportPage
from runs import many, summary

CASES, MOST_BYTES, MOST_SECONDS = 1500, 10_000_000, 2.0


class Size(ReportPage):
    def test_a_large_report_is_small_and_quick(self):
        run = self.runs.finished(many(CASES), '--jobs', str(os.cpu_count()))
        size, times = (run / 'report.html').stat().st_size, []
        for _ in range(3):
            self.page.open(run / 'report.html')
            times.append(self.page.seconds_until_usable())
        self.page.picture('many', full=False)
        print(f'{size / 1e6:.2f} MB, usable after {min(times):.2f} s of {times}')
        self.assertEqual(self.page.console_errors(), [])
        self.assertGreaterEqual(len(summary(run)['cases']), CASES)
        self.assertIn('sync', self.page.visible_charts())
        self.assertLess(size, MOST_BYTES)
        self.assertLessEqual(min(times), MOST_SECONDS)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
