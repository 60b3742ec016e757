"""A report of 1500 cases: below 10 MB, and usable within 2 s in the browser.

    report_size_test.py LONGHAUL CHROMIUM CHROMEDRIVER PICTURES

Usable: from the beginning of the navigation until everything that is in the page is drawn and it answers. The best of
three counts, since a machine may be busy with something else. Prints what it measured."""
import json
import os
import sys
import tempfile

try:
    from page import Page
except ImportError as missing:
    print(f'skipped: {missing} (Debian: python3-selenium)')
    sys.exit(77)
from runs import Runs, many

CASES, MOST_BYTES, MOST_SECONDS = 1500, 10_000_000, 2.0


def main(longhaul, chromium, chromedriver, pictures):
    page = Page(chromium, chromedriver, pictures)
    try:
        with tempfile.TemporaryDirectory(prefix='longhaul-browser-') as folder:
            run = Runs(longhaul, folder).finished(many(CASES), '--jobs', str(os.cpu_count()))
            cases = len(json.loads((run / 'summary.json').read_text())['cases'])
            size = (run / 'report.html').stat().st_size
            times = []
            for _ in range(3):
                page.open(run / 'report.html')
                times.append(page.seconds_until_usable())
            page.picture('many', full=False)
            errors = page.console_errors()
            charts = page.visible_charts()
    finally:
        page.close()
    print(f'{cases} cases, {size / 1e6:.2f} MB, usable after {min(times):.2f} s (of {", ".join(f"{one:.2f}" for one in times)} s), charts: {", ".join(charts)}')
    failures = errors + [f'{cases} cases instead of {CASES}'] * (cases < CASES) + ['nothing is drawn'] * ('sync' not in charts)
    failures += ['too large'] * (size >= MOST_BYTES) + ['too slow'] * (min(times) > MOST_SECONDS)
    for failure in failures:
        print(f'failed: {failure}')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:5]))
