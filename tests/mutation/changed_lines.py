"""Product lines changed since a commit or a date, by `git blame`."""
import datetime
import re
import subprocess


def git(root, *arguments):
    """What it prints. ValueError: it failed."""
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def product_files(root, room, headers):
    """Sources of a folder that are known to git, or would be added; from the root, sorted."""
    ends = (".cc", ".h") if headers else (".cc",)
    names = git(root, "ls-files", "-co", "--exclude-standard", "--deduplicate", "--", f"{room}/").splitlines()
    return sorted(name for name in names if name.endswith(ends) and (root / name).exists())


def commits_since(root, since):
    """Of the checkout's history: those after a commit, or from a date on. ValueError: it is neither."""
    named = subprocess.run(["git", "-C", str(root), "rev-parse", "--verify", "--quiet", f"{since}^{{commit}}"],
                           capture_output=True)
    if named.returncode == 0:
        return set(git(root, "rev-list", "HEAD", f"^{since}").split())
    try:
        begins = datetime.datetime.fromisoformat(since)
    except ValueError:
        raise ValueError(f"--since {since}: neither a commit nor a date as 2026-11-26 or 2026-11-26T12:00") from None
    return set(git(root, "rev-list", f"--since={begins.isoformat()}", "HEAD").split())


def lines_of(root, file, commits):
    """Numbers of the lines of the file as it stands that came with one of `commits`, or are not committed. A line that was
    moved as it is keeps its age."""
    if not git(root, "ls-files", "--", file):
        return set(range(1, (root / file).read_text().count("\n") + 2))
    text = git(root, "blame", "--porcelain", "-w", "-M", "-C", "--", file)
    rows = re.findall(r"^([0-9a-f]{40}) \d+ (\d+)", text, re.MULTILINE)
    return {int(number) for commit, number in rows if commit in commits or not commit.strip("0")}
