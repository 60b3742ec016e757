"""What the walks share: a folder of their own, the command as a user types it, and what is expected of its words.

A walk does what a user does, from files of their own to an answer, and fails where the answer is not there."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile


class Walk:
    def __init__(self, longhaul):
        self.longhaul = pathlib.Path(longhaul).resolve()
        self.temporary = tempfile.TemporaryDirectory(prefix='longhaul-walk-')
        self.folder = pathlib.Path(self.temporary.name)

    def write(self, name, text):
        (self.folder / name).write_text(text if isinstance(text, str) else json.dumps(text, indent=2))

    def __call__(self, *arguments, timeout=600, status=0):
        """What `longhaul ARGUMENTS` prints, run in the walk's folder; its errors where another status is expected."""
        print('longhaul', *arguments, flush=True)
        done = subprocess.run([self.longhaul, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=timeout)
        if done.returncode != status:
            sys.exit(f'exit status {done.returncode}\n{done.stdout}{done.stderr}')
        return done.stderr.strip() if status else done.stdout

    def refused(self, *arguments):
        return self(*arguments, status=2)

    def summary(self, run):
        return json.loads((self.folder / run / 'summary.json').read_text())

    def report_data(self, run):
        """What the script of the page shows."""
        page = (self.folder / run / 'report.html').read_text()
        return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL).group(1))


def expect(is_met, words):
    if not is_met:
        sys.exit(f'FAILED: {words}')
    print('ok:', words)


def near(found, by_hand, within, words):
    expect(abs(found / by_hand - 1) < within, f'{words}: {found:.6g}, by hand {by_hand:.6g}')


def bullets(text):
    """The sentences of the block "What to conclude", put together again."""
    block = text[text.index('What to conclude'):].split('\nThe verdicts are those of')[0]
    return [' '.join(part.split()) for part in block.split('\n- ')[1:]]
