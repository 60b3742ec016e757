// journal.jsonl: what is written is read as the same, and what cannot be carried out is refused with its
// line.
#include <gtest/gtest.h>

#include <sstream>

#include "core/plan/journal.h"
#include "tests/support/said.h"

namespace longhaul::journal_file_test {

const PlanContext kContext{1, 4, 12, 1};

OperationPlan plan() {
  OperationRule outer, ahead, merge;
  outer.name = "outer", ahead.name = "ahead", merge.name = "fragment-0";
  outer.payload = ahead.payload = merge.payload = whole({"delta"}, Wire::kFp32);
  outer.every = ahead.every = merge.every = 4;
  outer.grouping = Grouping::kRandom;
  outer.group_size = 2;
  ahead.overlap_steps = merge.overlap_steps = 2;
  merge.kind = OperationKind::kMerge;
  return {{outer, ahead, merge}};
}

std::string written(Journal& journal, const OperationPlan& plan) {
  std::ostringstream out;
  write_journal(journal, plan, kContext, out);
  return out.str();
}

std::string read_and_written(const std::string& text, const OperationPlan& plan) {
  std::istringstream in(text);
  return written(*read_journal(in, "journal.jsonl", plan, kContext), plan);
}

TEST(JournalFile, IsReadAsItWasWritten) {
  OperationPlan lockstep = plan(), merging = plan();
  lockstep.rules.pop_back();
  merging.rules.erase(merging.rules.begin(), merging.rules.begin() + 2);
  Schedule schedule, merges;
  schedule.has_all = merges.has_all = true;
  schedule.absences = merges.absences = Absences({{1, 6, 5, 0, 6, 8}}, kContext, true);
  schedule.groups = {
      {{0, 4}, {{3, 1}, {0, 2}}}, {{0, 8}, {{2, 3}}}, {{1, 4}, {{0, 1, 2, 3}}}, {{1, 8}, {{0, 2, 3}}}};
  merges.merges = {{0, 0, {{0, 4, 6}, {1, 4, 0}}}, {0, 1, {{0, 8, 10}, {3, 4, 11}}}};
  for (const auto& [of, followed] : {std::pair(&lockstep, &schedule), std::pair(&merging, &merges)}) {
    const JournalSpec spec{*of, kContext, 6, 3};
    const std::string text = written(*make_journal(spec, *followed), *of);
    EXPECT_EQ(read_and_written(text, *of), text);
    EXPECT_GT(std::count(text.begin(), text.end(), '\n'), 30);
  }
}

// A line that is wrong behind those that are right.
TEST(JournalFile, WhatCannotBeCarriedOutIsRefusedWithItsLine) {
  const OperationPlan of = plan();
  const std::string header = R"({"longhaul_journal": 1, "replicas": 4, "steps": 12})"
                             "\n";
  const auto refusal = [&](const std::string& lines) {
    return said_by([&] { read_and_written(header + lines, of); });
  };
  const std::string save = "{\"save\": 12}";
  EXPECT_EQ(refusal(save), "");
  const auto expect = [&](const std::string& lines, const std::string& words) {
    EXPECT_SAYS(refusal(lines), words) << lines << "\n" << refusal(lines);
  };
  expect("", "{\"save\": 12}");
  expect(R"({"compute": [0, 4], "steps": [1, 2]})", "line 2, compute: found 4; allowed: 0 to 3");
  expect(R"({"compute": [1, 0], "steps": [1, 2]})", "ascending");
  expect(R"({"compute": [0], "steps": [3, 2]})", "steps: found [3,2]");
  expect(R"({"compute": [0], "steps": [3, 13]})", "1 to 12");
  expect(R"({"dance": [0]})", "an entry: compute");
  expect(R"({"post": "outer", "step": 4})", "one that overlaps");
  expect(R"({"post": "inner", "step": 4})", "allowed: outer, ahead");
  expect(R"({"post": "ahead", "step": 5})", "a step after which ahead is posted");
  expect(R"({"meet": "ahead", "step": 4})", "what was posted and has not met");
  expect(R"({"meet": "outer", "step": 4, "groups": [[0, 9]]})", "9");
  expect(R"({"meet": "outer", "step": 4, "takers": [[0, 7]]})", "takers: found 7");
  expect(R"({"make": 0, "rule": "fragment-0", "of": [[0, 4, 6, 1]]})", "what was contributed to this merge");
  const std::string given = R"({"contribute": 0, "merge": 0, "rule": "fragment-0", "step": 4})"
                            "\n";
  expect(given + R"({"make": 0, "rule": "fragment-0", "of": [[0, 4, 6, 0.5]]})", "shares that add up to 1");
  expect(given + R"({"make": 0, "rule": "outer", "of": [[0, 4, 6, 1]]})", "line 3, rule: found \"outer\"");
  expect(given + R"({"take": 0, "merge": 0})", "a merge that is made");
  const std::string made = given + R"({"make": 0, "rule": "fragment-0", "of": [[0, 4, 0, 1]]})"
                                   "\n";
  expect(made + R"({"take": 0, "merge": 0})", "one that takes the merge up, once");
  expect(R"({"become": 0, "copy": 3})", "a copy that is held");
  expect(R"({"keep": 0, "step": 4, "phase": "during"})", "before, after or plain");
  EXPECT_THROW(read_and_written("", of), InputError);
  EXPECT_SAYS(refusal("nonsense"), "line 2");
}

}  // namespace longhaul::journal_file_test
