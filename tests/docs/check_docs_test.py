#!/usr/bin/env python3
"""Tests of the checker: a small tree that is right passes, and each thing that is wrong in it is found and named.
longhaul is a script here whose --help says what the test needs."""
import contextlib
import io
import json
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import check_docs
import commands as cmd
import markdown as md
from folder import InAFolder

LONGHAUL = r"""#!/bin/sh
main() { printf 'Usage: longhaul SUBCOMMAND\nOptions:\n  -h,--help x\nSubcommands:\n  run      Runs\n  check    Checks\n'; }
case "$1" in
  run) [ "$2" = --help ] && printf 'Options:\n  --out TEXT\n  --set TEXT\n  -o,--output TEXT\n' || { echo ran "$2"; exit 0; } ;;
  check) if [ "$2" = --help ]; then printf 'Options:\n  --set TEXT\n'; elif [ "$5" = replicas=0 ] || [ "$2" = bad.json ]; then echo "error: replicas" >&2; exit 2; fi ;;
  list) case "$2" in
      methods) printf 'noloco: pairs\n    pattern      x\n' ;;
      collectives) printf 'ring    all-reduce in rounds\npair    group average\n' ;;
      *) printf 'network\n    x\nnetwork.tcp.window\n    x\nnetwork.topology.<star>.rate\n    x\n' ;;
    esac ;;
  hidden) printf 'Options:\n  --case TEXT\n' ;;
  *) main ;;
esac
"""
GOOD = {
    "README.md": "# Good\n\nShort words. See [the page](docs/page.md#second-part).\n\n    make test\n    longhaul run scenarios/a.json --out x\n",
    "docs/README.md": "# Index\n\n[page](page.md) [pairs](results/pairs.md)\n",
    "docs/page.md": "# Page\n\n## Second part\n\nText with `scenarios/a.json` and `longhaul check scenarios/a.json`.\n",
    "docs/results/pairs.md": "# Pairs\n\n`noloco` beside a `ring`. See [the page](../page.md).\n",
    "scenarios/a.json": '{"methods": [{"name": "noloco"}, {"all_reduce": "ring"}]}\n',
    "Makefile": "test: all\nall:\n",
    "CMakePresets.json": '{"configurePresets": [{"name": "release"}]}',
}
TREE = "<!-- claim: net tree: 3 hold, 2 undecided, 4 fail -->"


class TreeTest(InAFolder):
    """A tree that is right, in a folder of its own."""

    def setUp(self):
        super().setUp()
        for path, text in GOOD.items():
            self.write(path, text)
        self.longhaul = self.write("bin/longhaul", LONGHAUL)
        self.longhaul.chmod(0o755)

    def problems(self, run=False):
        with contextlib.redirect_stdout(io.StringIO()):
            return check_docs.Checker(self.folder, self.longhaul, run).check()

    def with_text(self, text, page="docs/page.md", run=False):
        """The problems with the text added to the page."""
        self.write(page, GOOD[page] + "\n" + text + "\n")
        return self.problems(run)

    def finds(self, text, words, page="docs/page.md", run=False):
        """The text is added to the page; that alone is wrong, at the line where it begins."""
        found = self.with_text(text, page, run)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])
        self.assertTrue(found[0].startswith(page + ":"), found[0])
        return int(found[0].split(":")[1]) - GOOD[page].count("\n") - 2


class Tree(TreeTest):
    def test_a_tree_that_is_right_passes(self):
        self.assertEqual(self.problems(), [])

    def test_dead_links_and_anchors(self):
        self.assertEqual(self.finds("Then\n[gone](gone.md).", "dead link gone.md"), 1)
        self.finds("[x](page.md#third-part)", "no heading #third-part in docs/page.md")
        self.finds("[x](#third-part)", "no heading #third-part")
        self.finds("![x](picture.png)", "dead link picture.png")

    def test_what_is_no_mistake_is_left_alone(self):
        for text in ("`[x](gone.md)` [y](https://example.org/a#b)\n\n    [z](gone.md)",
                     "`scenarios/NAME.json` `scenarios/*.json` `docs/{a,b}.md`",  # for the reader to fill in
                     "    longhaul hidden --case x",  # a subcommand for other programs
                     "    longhaul run scenarios/a.json -- python3 my.py --speed 3",  # options of the reader's own program
                     "`network.tcp.window: 4` `network.topology.rate` `network.csv`"):
            self.assertEqual(self.with_text(text), [])

    def test_files_that_do_not_exist(self):
        self.finds("Look at `scenarios/b.json`.", "no file scenarios/b.json")
        self.finds("Look at docs/other.md, too.", "no file docs/other.md")
        self.assertEqual(self.finds("    cat scenarios/a.json\n    cat scenarios/b.json", "no file scenarios/b.json"), 1)

    def test_commands_that_no_longer_run(self):
        self.finds("    longhaul walk scenarios/a.json", "longhaul has no subcommand walk; it has check, run")
        self.finds("    build/bin/longhaul run scenarios/a.json --speed 3", "longhaul run has no option --speed")
        self.finds("Use `longhaul run s.json --speed`.", "longhaul run has no option --speed")
        self.finds("    cd x && longhaul check x.json --out y  # a comment --with", "longhaul check has no option --out")
        self.finds("    longhaul --speed run", "longhaul has no option --speed")
        self.finds("    longhaul run a \\\n      --speed 3", "longhaul run has no option --speed")
        self.finds("    longhaul check scenarios/a.json --set replicas=0", "longhaul check fails: error: replicas")
        self.finds("Set `network.tcp.windows`.", "a scenario has no option network.tcp.windows")
        self.finds("Then `make tset`.", "the Makefile has no target tset")
        self.finds("    cmake --preset fast && make all", "CMakePresets.json has no preset fast")

    def test_blocks_are_run(self):
        text = ("<!-- file: a/b.txt -->\n```\nhello\n```\n\n<!-- run -->\n```sh\ncat a/b.txt\nlonghaul run c.json\n```\n\n"
                "<!-- output: ran %s.json -->")
        self.assertEqual(self.with_text(text % "c", run=True), [])
        for wrong, words in ((text % "d", "the run did not print: ran d.json"),
                             ("<!-- run -->\n```\nfalse\n```", "ended with status 1 instead of 0"),
                             ("<!-- run: 2 -->\n```\ntrue\n```", "ended with status 0 instead of 2"),
                             ("<!-- scenario: bad.json -->\n```\n{}\n```", "ended with status 2 instead of 0"),
                             ("<!-- run -->\n\nwords", "no block of code follows")):
            self.finds(wrong, words, run=True)

    def test_words_and_sentences(self):
        self.finds("one two three.\n" * 300, "words; at most 900", "README.md")
        self.write("README.md", GOOD["README.md"])
        self.finds(("One " + "w " * 20 + "end. ") * 3, "the median sentence has 22.0 words; at most 20")
        self.finds("| a |\n" + "| b c |\n" * 2000, "words; at most 4000")

    def test_pages_that_nobody_links(self):
        self.write("docs/lonely.md", "# Lonely\n")
        self.assertEqual(self.problems(), ["docs/lonely.md:1: no way leads here from docs/README.md"])
        self.write("docs/lonely.md", GOOD["docs/page.md"])
        self.write("results/reference/README.md", "# Figures\n\n[Runs](runs/README.md)\n")
        self.write("results/reference/runs/README.md", "# Runs\n")
        self.assertEqual(self.with_text("[Lonely](lonely.md), [figures](../results/reference/README.md)"), [])
        self.write("results/reference/README.md", "# Figures\n")
        self.assertEqual(self.problems(), ["results/reference/runs/README.md:1: no way leads here from docs/README.md"])

    def test_scenarios_that_no_page_quotes(self):
        self.write("scenarios/sub/b.json", "{}")
        self.write("scenarios/networks/matrix.json", "{}")
        self.write("scenarios/plan.schema.json", "{}")
        self.assertEqual(self.problems(), ["scenarios/sub/b.json:1: no page quotes this scenario"])
        self.assertEqual(len(self.with_text("As `other-b.json` does.")), 1)
        self.write("scenarios/validation/run-1.json", "{}")  # of others: quoted by its name
        self.assertEqual(self.with_text("As `b.json` does."), ["scenarios/validation/run-1.json:1: no page quotes this scenario"])
        self.assertEqual(self.with_text("As `b.json` does.\n\n| `run-1` | 3 s |"), [])

    def test_mechanisms_that_nothing_quotes(self):
        self.write("scenarios/a.json", '{"all_reduce": "ring"}')
        self.assertEqual(self.problems(), ["scenarios:1: no quoted scenario has the method noloco"])
        self.write("scenarios/a.json", GOOD["scenarios/a.json"])
        self.write("docs/results/pairs.md", "# Pairs\n\nOf `noloco`.\n")
        self.assertEqual(self.problems(), ["docs/results:1: no page of results quotes the all-reduce ring"])

    def test_figures_that_the_tables_of_real_runs_do_not_have(self):
        self.write("results/reference/validation/tables.md",
                   "# Tables\n\n### run-1: a ring\n\n| 1 Gb/s | 8.28 s (8.2 – 8.3) | 7.52 s | 0.91 |\n\n### run-2: a tree\n\n| x | 9.00 s | **0.5** | |\n")
        self.write("docs/README.md", GOOD["docs/README.md"] + "[runs](validation/real-runs.md)\n")
        page = "# Runs\n\n[All](../../results/reference/validation/tables.md)\n\n| scenario | what | published | predicted |\n|---|---|---|---|\n| `run-2` | b | 9.00 s | 0.5 |\n| `run-1` | a | 8.28 s | %s |\n"
        self.write("docs/validation/real-runs.md", page % "7.52 s")
        self.assertEqual(self.problems(), [])
        self.write("docs/validation/real-runs.md", page % "9.00 s")
        self.assertEqual(self.problems(), ["docs/validation/real-runs.md:8: 9.00 s is no figure of `run-1`"])


class VerdictTree(TreeTest):
    """A page of verdicts as `longhaul claims` writes it, and its scenario."""

    def setUp(self):
        super().setUp()
        self.write("docs/results/pairs.md", GOOD["docs/results/pairs.md"] + "\nAs `scenarios/paper/star.json` says.\n")
        self.write("scenarios/paper/star.json", '{"claims": [{"id": "tree", "statement": "ten times"}, {"id": "ring", "statement": "twice"}]}')
        self.write("results/reference/claims/net.md",
                   "## star\n\n4 of 4 cases done.\n\n### tree\n\n*ten times*\n\nx of a over b; claimed: at least 10. "
                   "9 points: 2.9 – 17, 3 hold, 2 undecided, 4 fail.\n\n### ring\n\n*twice*\n\nx. 6 points: 1 – 1.5, fails.\n")

    def page(self, text):
        return f"<!-- verdicts -->\n\n{text}\n\n<!-- end of verdicts -->\n\nNo verdict here."

    def test_sentences_with_their_verdicts_pass(self):
        self.assertEqual(self.with_text(self.page(
            f"Ten holds at 3 of 9 points, from 2.9 to 17 times. {TREE}\nIs it so? <!-- claim: none -->\n\n| a | b |\n"
            "|---|---|\n| ring | fails at 6 of 6 points <!-- claim: net ring: fails --> |")), [])

    def test_sentences_without_one_are_found(self):
        good = "It fails. <!-- claim: net ring: fails -->"
        self.finds(self.page(good + " It holds."), "gives no claim: \"It holds.\"")
        self.finds(self.page("It holds. " + good), "two sentences and the claim of one")
        self.finds(self.page("| a |\n|---|\n| b |"), "gives no claim")

    def test_other_verdicts_are_found(self):
        self.finds(self.page("It holds. <!-- claim: net ring: holds -->"), 'the verdict on ring is "fails", not "holds"')
        self.finds(self.page("It fails. <!-- claim: net heap: fails -->"), "has no claim heap")
        self.finds(self.page("It fails. <!-- claim: gone ring: fails -->"), "no page results/reference/claims/gone.md")
        self.finds(self.page("Ten holds at 5 of 9 points. " + TREE), "no claim of this sentence has 5 of 9 points")
        self.finds(self.page("It takes 2.9 to 18 times as long. " + TREE), "no claim of this sentence is from 2.9 to 18")

    def test_nowhere_means_that_it_fails_everywhere(self):
        self.assertEqual(self.with_text(self.page("It holds nowhere. <!-- claim: net ring: fails -->")), [])
        self.finds(self.page("It holds nowhere. " + TREE), 'says "nowhere", and tree holds at 3 points')
        page = self.folder / "results/reference/claims/net.md"
        self.write("results/reference/claims/net.md", page.read_text().replace("1 – 1.5, fails.", "1 – 11, 2 undecided, 4 fail."))
        mark = "<!-- claim: net ring: 2 undecided, 4 fail -->"
        self.finds(self.page("It holds nowhere. " + mark), 'says "nowhere", and ring is undecided at 2 points')
        for said in ("It is shown nowhere.", "It holds nowhere, but is undecided at 2 of 6 points."):
            self.assertEqual(self.with_text(self.page(f"{said} {mark}")), [])

    def test_claims_that_scenarios_do_not_have_are_found(self):
        self.write("scenarios/paper/star.json", '{"claims": [{"id": "ring", "statement": "three times"}]}')
        self.finds(self.page("It fails. <!-- claim: net ring: fails -->"), "states the claim ring otherwise")
        self.finds(self.page("Some. " + TREE), "no scenario star has a claim tree")


class ConditionTree(TreeTest):
    """Claims of two scenarios with the conditions that their points have."""

    def setUp(self):
        super().setUp()
        self.write("docs/results/pairs.md", GOOD["docs/results/pairs.md"] + "\nAs `scenarios/paper/star.json` and `scenarios/paper/towns.json` say.\n")
        star = {"methods": [{"name": "diloco"}, {"name": "noloco"}],
                "workload": {"step_time": {"lognormal": {"mean": "1s", "sigma": 0}}},
                "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "100ms"}}},
                "sweep": [{"replicas": [8, 64], "network.tcp.loss": [0, 1e-5, 5e-3], "methods.diloco.all_reduce": ["ring", "tree"]},
                          {"replicas": [8], "network.slice": ["nccl"], "workload.step_time.lognormal.sigma": [0.1], "methods.diloco.all_reduce": ["ring"]},
                          {"replicas": [8, 64, 256], "workload.step_time.lognormal.sigma": [0.1], "methods.diloco.all_reduce": ["ring"], "methods.noloco.pattern": ["presend"]}]}
        claim = {"ratio": "x", "of": "diloco", "to": "noloco", "at_least": 10}
        apart = {"workload.step_time.lognormal.sigma": 0.1, "methods.diloco.all_reduce": "ring"}
        star["claims"] = [dict(claim, id="all", where={"network.slice": None, "workload.step_time.lognormal.sigma": None}),
                          dict(claim, id="lost", where=[{"network.tcp.loss": 1e-5}, {"network.tcp.loss": 5e-3}]),
                          dict(claim, id="apart", where=apart), dict(claim, id="whole", where={**apart, "network.slice": None})]
        homes = {"methods": star["methods"], "network": {"topology": {"homes": {}}}, "replicas": 8, "sweep": {"seed": [1, 2]},
                 "claims": [dict(claim, id="homes")]}
        self.write("scenarios/paper/star.json", json.dumps(star))
        self.write("scenarios/paper/towns.json", json.dumps(homes))
        pages = {"star": {"all": 12, "lost": 8, "apart": 4, "whole": 3}, "towns": {"homes": 2}}
        self.write("results/reference/claims/net.md", "".join(
            f"## {name}\n\n" + "".join(f"### {one}\n\nx. {points} points: 1 – 2, fails.\n\n" for one, points in of.items())
            for name, of in pages.items()))

    def judge(self, said, *claims, page="docs/page.md", before=""):
        marks = " ".join(f"<!-- claim: net {one}: fails -->" for one in claims)
        return self.with_text(f"<!-- verdicts -->\n\n{before}{said} {marks}\n\n<!-- end of verdicts -->", page)

    def wrong(self, said, *claims, **more):
        return [one.partition(": ")[2] for one in self.judge(said, *claims, **more)]

    def test_conditions_that_are_so_pass(self):
        for said, claim in (("With random loss of 1e-5 to 5e-3 it fails at 8 of 8 points, 8 to 64 replicas.", "lost"),
                            ("With and without losses of a star of 1 Gb/s and 100 ms it fails.", "all"),
                            ("A ring of whole chunks whose replicas start apart fails at 3 of 3 points, φ ahead.", "whole"),
                            ("Where steps vary it fails, with slices too.", "apart"), ("Between homes it fails.", "homes")):
            self.assertEqual(self.wrong(said, claim), [], said)

    def test_what_is_not_so_at_every_point_is_found(self):
        """The kinds of sentence that README had: with loss where points have none, apart where steps are equal, whole
        chunks where they are cut, more replicas than there are."""
        for said, claim, what in (("With random loss of 0 to 5e-3 it fails at 12 of 12 points.", "all", '"With random loss" is not so at all points of all'),
                                  ("With losses of 1e-5 to 1e-3 it fails.", "lost", '"losses of 1e-5 to 1e-3" is not so at all points of lost'),
                                  ("A ring of whole chunks fails where steps vary, with slices too.", "apart", '"whole chunks" is not so at all points of apart'),
                                  ("With random loss it fails where replicas start apart.", "lost", '"start apart" is not so at all points of lost'),
                                  ("With random loss it fails, 8 to 1024 replicas.", "lost", '"8 to 1024 replicas" is not so at all points of lost'),
                                  ("With equal steps that are lost it fails where they vary.", "whole", '"equal steps" is not so at all points of whole'),
                                  ("Between homes with slow weights ahead it fails.", "homes", '"slow weights ahead" is not so at all points of homes')):
            self.assertEqual(self.wrong(said, claim), [what], said)

    def test_what_points_have_is_named(self):
        self.assertEqual(self.wrong("It fails.", "lost"), ["points of lost have random loss, which the sentence does not say"])
        self.assertEqual(self.wrong("It fails.", "homes"), ["points of homes have homes, which the sentence does not say"])
        self.assertEqual(self.wrong("Where steps vary it fails.", "apart"), ["points of apart have slices, which the sentence does not say"])

    def test_pages_and_scenarios_have_the_same_points(self):
        page = (self.folder / "results/reference/claims/net.md").read_text()
        self.write("results/reference/claims/net.md", page.replace("8 points", "9 points"))
        self.assertEqual(self.wrong("With random loss it fails.", "lost"), ["lost has 9 points on its page, 8 in its scenario"])

    def test_sentences_of_the_readme_bring_their_whole_condition(self):
        at = {"page": "README.md"}
        self.assertEqual(self.wrong("With random loss it fails on a star of 8 to 64 replicas.", "lost", **at), [])
        self.assertEqual(self.wrong("With random loss it fails.", "lost", **at), ["the sentence does not say that lost has 8 to 64 replicas",
                                                                                "the sentence does not say that lost is of star"])
        lead = "On a star of 8 to 64 replicas it fails: <!-- claim: none -->\n\n"
        self.assertEqual(self.wrong("- with random loss.", "lost", before=lead, **at), [])
        self.assertEqual(self.wrong("- with random loss, where steps vary.", "whole", before=lead, **at),
                         ['"with random loss" is not so at all points of whole', '"8 to 64 replicas" is not so at all points of whole',
                          "the sentence does not say that whole has 8 to 256 replicas"])


class Quotations(TreeTest):
    def test_numbers_are_those_of_the_file_that_is_named(self):
        self.write("scenarios/table.md", "| loss | 24 | 28.2\n %, at | most |")
        said = "It is up to %s off. <!-- as: scenarios/table.md: | {24} | {%s} %%, at -->"
        quoted = [one for one in self.with_text((said % ("24 and 28 %", "28")).replace("\n", " ")) if "table.md" in one]
        self.assertEqual(quoted, [])
        self.finds(said % ("24 or 27 %", "27"), "scenarios/table.md does not say")
        self.finds(said % ("24 %", "28"), "the sentence does not have the number 28 of its quotation")
        self.finds("Some. <!-- as: scenarios/gone.md: x -->", "no file scenarios/gone.md to quote")
        self.finds("Some. <!-- as: x -->", "a quotation is PATH: TEXT")

    def test_sentences_of_the_paper_have_a_source(self):
        paper = "---\ndate: 26 November 2026\n---\n\n# Summary\n\nWords. %s\n\n# Limitations\n\n%s\n"
        marks = "It runs at 3 Gb/s. <!-- as: docs/page.md: Second part -->", "It is small. <!-- as: itself -->"
        self.write("paper/paper.md", paper % marks)
        self.assertEqual(self.problems(), [])
        self.write("paper/paper.md", paper % ("It runs at 3 Gb/s.", marks[1]))
        self.assertEqual(self.problems(), ['paper/paper.md:7: says no source: "It runs at 3 Gb/s."'])
        self.write("paper/paper.md", paper % (marks[0], "It has not run on a card."))
        self.assertEqual(self.problems(), ['paper/paper.md:11: says no source: "It has not run on a card."'])


class Markdown(unittest.TestCase):
    def test_sentences(self):
        source = ("# A title of five words\n\nOne two three. Four five? It is 3.5 times `a. b` long. `code` begins one.\n\n- an item\n- another item, e.g. this one\n\n"
                  "| no | sentence |\n|---|---|\n\n    no code\n\n```\nno code\n```\n\nThe [text of a link](a.md) counts.\n")
        self.assertEqual(md.sentences(source), [3, 2, 7, 3, 2, 5, 6])

    def test_anchors_are_githubs(self):
        source = "# One\n## `longhaul run`: what it does\n## One\n## Parts, 2 & 3\n```\n# code\n```\n<a id=\"own\"></a>\n"
        self.assertEqual(md.anchors(source), {"one", "longhaul-run-what-it-does", "one-1", "parts-2--3", "own"})

    def test_code_under_a_list_is_text(self):
        kinds = [block.kind for block in md.blocks("- item\n    more of it\n\ntext\n\n    code\n")]
        self.assertEqual(kinds, ["text", "text", "code"])


class Commands(unittest.TestCase):
    def test_words_end_at_pipes_and_comments(self):
        self.assertEqual(cmd.shell_words("longhaul run a.json | tail -1"), ["longhaul", "run", "a.json"])
        self.assertEqual(cmd.shell_words("$ longhaul run 'a b' --x  # why --y"), ["longhaul", "run", "a b", "--x"])

    def test_make_targets(self):
        self.assertEqual(cmd.make_targets("A := b\n.PHONY: x\nall test: y\n\tmake z\n"), {"all", "test"})


if __name__ == "__main__":
    unittest.main()
