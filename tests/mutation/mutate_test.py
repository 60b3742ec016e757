#!/usr/bin/env python3
"""Tests of the mutation tester: the mutants of small sources, by hand; and a program of one source with a mutant for each
outcome, built with CMake and GoogleTest as the product is."""
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import mutate
import operators
import results
import source_tokens
import suites

CMAKE_LISTS = """cmake_minimum_required(VERSION 3.25)
project(toy LANGUAGES CXX)
set(CMAKE_CXX_FLAGS_RELEASE -O0)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
find_package(GTest REQUIRED)
file(GLOB sources CONFIGURE_DEPENDS core/*.cc core/*/*.cc)
add_library(longhaul_core STATIC ${sources})
add_executable(core_test tests/toy_test.cc)
target_link_libraries(core_test PRIVATE longhaul_core GTest::gtest_main)
"""
OLD = "int old_sum(int a, int b) {\n  return a + b;\n}\n"
# A function for each outcome. The loop has a bound that the compiler does not know to end.
TOY = OLD + """
int sum(int a, int b) {
  return a + b;
}
int product(int a, int b) {
  return a * b;
}
bool is_any(unsigned x) {
  return x >= 0 || x == 7;
}
void count(volatile int& n) {
  while (n != 0)
    --n;
}
void call() {
  volatile int n = 3;
  return count(n);
}
"""
TEST = """#include <gtest/gtest.h>
int sum(int a, int b);
int product(int a, int b);
void call();
TEST(Toy, Sum) { EXPECT_EQ(sum(2, 3), 5); }
TEST(Toy, Ends) { call(); }
"""
PRODUCT_TEST = "TEST(Toy, Product) { EXPECT_EQ(product(2, 3), 6); }\n"


def mutants_of(text):
    return operators.mutants_of(source_tokens.Source(text))


def changes(text):
    """(operator, what is replaced, by what) of a function's statements."""
    text = f"void f() {{\n{text}\n}}\n"
    return {(mutant.operator, text[mutant.start:mutant.end], mutant.new) for mutant in mutants_of(text)}


class Operators(unittest.TestCase):
    def test_signs(self):
        self.assertEqual(changes("use(a < b);") - {("SDL", "use(a < b);", ";")}, {("ROR", "<", "<="), ("ROR", "<", ">=")})
        self.assertEqual(changes("int x = a + b;"), {("AOR", "+", "-")})
        self.assertEqual(changes("std::string x = a + \"b\";"), set(), "texts are not subtracted")
        self.assertEqual(changes("x += y;"), {("ASRS", "+=", "-="), ("SDL", "x += y;", ";")})
        self.assertEqual(changes("double x = std::min(a, b);"), {("AOR", "min", "max")})
        self.assertEqual(changes("for (int i = a; i != b; ++i) ++n;"),
                         {("ROR", "!=", "=="), ("AORS", "++", "--"), ("SDL", "++n;", ";")}, "not the header's ++")

    def test_what_only_looks_like_an_operator(self):
        for text in ("std::vector<int> x;", "Type& x = y;", "Type* x = &y;", "auto&& x = y;", 'use_of x("a < b && c");',
                     "// a < b", "std::map<int, std::vector<int>> x;", "auto x = y->z;", "int x{y};"):
            self.assertEqual(changes(text), set(), text)

    def test_connectors_and_their_terms(self):
        self.assertEqual(changes("bool x = a && b && c;"),
                         {("LCR", "&&", "||"), ("LCR", "a && ", ""), ("LCR", " && b", ""), ("LCR", " && c", "")})
        self.assertEqual(changes("bool x = a || b && f(c, d);"),
                         {("LCR", "&&", "||"), ("LCR", "||", "&&"), ("LCR", "a || ", ""), ("LCR", " || b && f(c, d)", ""),
                          ("LCR", "b && ", ""), ("LCR", " && f(c, d)", "")})

    def test_conditions(self):
        self.assertEqual(changes("if (a) return;"), {("UOI", "a", "!(a)"), ("SDL", "return;", ";")})
        self.assertEqual(changes("if (!a) return;"), {("UOI", "!", ""), ("SDL", "return;", ";")})
        self.assertEqual(changes("if (a == b) return;"), {("ROR", "==", "!="), ("SDL", "return;", ";")})
        self.assertEqual(changes("if (auto a = f(); a.b) return;"), {("UOI", "a.b", "!(a.b)"), ("SDL", "return;", ";")})
        self.assertEqual(changes("if (auto* a = f()) return;"), {("SDL", "return;", ";")})
        self.assertEqual(changes("int x = a ? b : c;"), {("UOI", "a", "!(a)")})

    def test_constants_and_returns(self):
        self.assertEqual(changes("int x = 0, y = 1, z = 12;"),
                         {("CRP", "0", "1"), ("CRP", "1", "0"), ("CRP", "12", "(12 + 1)")})
        self.assertEqual(changes("return true;"), {("CRP", "true", "false")})
        self.assertEqual(changes("return g(x);"), {("CSR", "g(x)", "{}")})
        self.assertEqual(mutants_of("class A {\n  virtual void f() = 0;\n};\n"), [])

    def test_statements(self):
        deleted = {old for operator, old, _ in changes("int x = y;\nif (a) {\n  f(x);\n}\n++x;\n*p = g([&] { h(); });\nthrow E();")
                   if operator == "SDL"}
        self.assertEqual(deleted, {"f(x);", "++x;", "*p = g([&] { h(); });", "h();", "throw E();"})
        self.assertEqual(mutants_of("namespace a {\nusing b::c;\nclass D {\n  int e_;\n};\n}\n"), [])

    def test_brackets_that_do_not_match(self):
        for text in ("void f() {", "void f() ]"):
            with self.assertRaises(ValueError):
                source_tokens.Source(text)


class Suites(unittest.TestCase):
    def test_programs_of_a_room(self):
        self.assertEqual(suites.programs_of("net/linux", []), ["net_test", "replay_test"])
        self.assertEqual(suites.programs_of("net/tcp", ["planner"]), ["net_test", "planner_test"])
        with self.assertRaises(KeyError):
            suites.programs_of("network", [])

    def test_what_waits_or_computes_forever_is_ended(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch("suites.STALLED_S", 1):
            for script in ("sleep 600", "while :; do :; done"):
                program = pathlib.Path(folder) / "program"
                program.write_text(f"#!/bin/sh\n{script}\n")
                program.chmod(0o755)
                outcome = suites.run_suite(program, limit_s=1)
                self.assertEqual((outcome.timed_out, outcome.failed), (True, []), script)

    def test_quick_tests_are_a_tenth_of_the_time(self):
        took = {"A.A": 900, "A.B": 60, "A.C": 39, "A.D": 1, "A.E": 0}
        text = "".join(f"[ RUN      ] {name}\n[       OK ] {name} ({ms} ms)\n" for name, ms in took.items())
        self.assertEqual(suites.quick_tests(text), ["A.E", "A.D", "A.C", "A.B", "A.A"], "a tenth is no more than 100 ms")
        self.assertEqual(suites.quick_tests(text.replace("(60 ms)", "(70 ms)")), ["A.E", "A.D", "A.C", "A.B"])

    def test_names_of_failed_tests(self):
        self.assertEqual(suites.failed_tests("[  FAILED  ] A.B (3 ms)\n[  FAILED  ] 1 test\n[  FAILED  ] A.B\n", 1), ["A.B"])
        self.assertEqual(suites.failed_tests("[ RUN      ] A.B\n[       OK ] A.B\n[ RUN      ] A.C\n", -11), ["A.C (SIGSEGV)"])
        self.assertEqual(suites.failed_tests("[ RUN      ] A.B\n", 0), [])


class Tool(unittest.TestCase):
    """The toy once; each test has what the ones before left, so that there is one build."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.root, cls.file = cls.folder / "toy", cls.folder / "mutants.jsonl"
        for name, text in {"CMakeLists.txt": CMAKE_LISTS, "core/toy.cc": OLD, "tests/toy_test.cc": TEST}.items():
            (cls.root / name).parent.mkdir(parents=True, exist_ok=True)
            (cls.root / name).write_text(text)
        cls.git("init", "--quiet")
        cls.commit("old")
        cls.since = cls.git("rev-parse", "HEAD").strip()
        (cls.root / "core/toy.cc").write_text(TOY)
        cls.commit("new")
        cls.draw = ["--room", "core", "--since", cls.since, "--operators", "AOR,CSR,ROR,SDL", "--draw", "1000"]
        cls.status, cls.output, cls.errors = cls.tool(*cls.draw)
        cls.first = list(results.read(cls.file).values())

    @classmethod
    def git(cls, *words):
        settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", "-C", cls.root, *settings, *words], check=True, capture_output=True, text=True).stdout

    @classmethod
    def commit(cls, subject):
        cls.git("add", "--all")
        cls.git("commit", "--quiet", "-m", subject)

    @classmethod
    def tool(cls, *words):
        """(exit status, what it prints, its errors)"""
        words = ["mutate.py", "--root", str(cls.root), "--build", str(cls.folder / "build"), "--results", str(cls.file), *words]
        output, errors = io.StringIO(), io.StringIO()
        with unittest.mock.patch("sys.argv", words), contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            status = mutate.main()
        return status, output.getvalue(), errors.getvalue()

    def outcome(self, line, operator, after):
        [found] = [result for result in self.first if (result["line"], result["operator"], result["after"]) == (line, operator, after)]
        return found["outcome"], found["tests"]

    def test_1_each_outcome(self):
        self.assertEqual(self.status, 0, self.output + self.errors)
        self.assertEqual(self.outcome(6, "AOR", "return a - b;"), ("noticed", ["Toy.Sum"]))
        self.assertEqual(self.outcome(9, "AOR", "return a / b;"), ("survived", []))
        self.assertEqual(self.outcome(12, "ROR", "return x >= 0 || x != 7;"), ("same code", []))
        self.assertEqual(self.outcome(16, "SDL", ";"), ("timeout", []))
        self.assertEqual(self.outcome(20, "CSR", "return {};"), ("does not compile", []))
        self.assertNotIn(2, {result["line"] for result in self.first}, "an old line")
        self.assertEqual(self.git("status", "--porcelain"), "", "the checkout is as it was")

    def test_2_scores_and_survivors(self):
        status, output, _ = self.tool("--list", str(self.file))
        self.assertEqual(status, 0)
        counts = {outcome: sum(result["outcome"] == outcome for result in self.first) for outcome in results.OUTCOMES}
        seen = counts["noticed"] + counts["timeout"]
        self.assertIn(f"| core | {len(self.first)} | {' | '.join(map(str, counts.values()))} | "
                      f"{100 * seen / (seen + counts['survived']):.0f} % |", output)
        self.assertIn("core/toy.cc:9: AOR: return a * b; → return a / b;", output)
        self.assertNotIn("return a - b", output)

    def test_3_continues_behind_a_cut_line(self):
        lines = self.file.read_text().splitlines(keepends=True)
        last = json.loads(lines[-1])
        self.file.write_text("".join(lines[:-1]) + lines[-1][:20])
        status, output, _ = self.tool(*self.draw)
        self.assertEqual(status, 0)
        self.assertIn(f"{len(self.first) - 1} of them done before", output)
        again = list(results.read(self.file).values())
        self.assertEqual(len(again), len(self.first))
        self.assertEqual((again[-1]["id"], again[-1]["outcome"]), (last["id"], last["outcome"]))
        self.assertIn("no mutant is left to run", self.tool(*self.draw[:-1], "5")[1])

    def test_4_a_survivor_is_killed_where_its_file_stands_now(self):
        (self.root / "core/sums").mkdir()
        self.git("mv", "core/toy.cc", "core/sums/toy.cc")
        (self.root / "tests/toy_test.cc").write_text(TEST + PRODUCT_TEST)
        status, output, errors = self.tool("--again")
        self.assertEqual(status, 0, output + errors)
        [found] = [result for result in results.read(self.file).values() if result["after"] == "return a / b;"]
        self.assertEqual((found["file"], found["outcome"], found["tests"]), ("core/sums/toy.cc", "noticed", ["Toy.Product"]))
        self.assertEqual(len(results.read(self.file)), len(self.first), "the last of an id counts")

    def test_5_refuses_where_a_suite_fails(self):
        file = self.root / "core/sums/toy.cc"
        file.write_text(file.read_text().replace("return a + b;", "return a - b;"))
        before = self.file.read_text()
        status, _, errors = self.tool("--room", "core", "--seed", "2")
        self.assertEqual(status, 1)
        self.assertIn("core_test fails without a mutant (Toy.Sum)", errors)
        self.assertEqual(self.file.read_text(), before)

    def test_6_wrong_words(self):
        for words, said in {("--room", "cores"): "--room cores: no test program", ("--room", "net"): "is no folder",
                            ("--room", "core", "--operators", "XYZ"): "--operators: no XYZ",
                            ("--room", "core", "--since", "26.11."): "--since 26.11.: neither a commit"}.items():
            status, _, errors = self.tool(*words)
            self.assertEqual(status, 2, words)
            self.assertIn(said, errors)
        status, _, errors = self.tool("--room", "core", "--build", str(self.root))
        self.assertEqual(status, 1)
        self.assertIn("has other files", errors)
        self.file.write_text("{}\n")
        status, _, errors = self.tool("--list", str(self.file))
        self.assertEqual(status, 2)
        self.assertIn("mutants.jsonl:1: not a line of mutate.py", errors)


if __name__ == "__main__":
    unittest.main()
