// The journal: what a plan says by itself, and with a schedule, written down by hand; and the shares of
// merges. In journal.jsonl: what is written is read as the same, and what cannot be carried out is refused
// with its line.
#include "core/plan/journal.h"

#include <gtest/gtest.h>

#include <sstream>

#include "core/plan/journal_file.h"
#include "tests/support/said.h"
#include "tests/support/traces.h"

namespace longhaul::journal_test {

using Lines = std::vector<std::string>;

template <typename... Part>
std::string say(const Part&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

// As one line: "compute 012 1-4", "post outer@4", "meet outer@4 [02][1]", "hold 0 of 2", …
struct InWords {
  static std::string of(const std::vector<int>& replicas) {
    std::string text;
    for (const int replica : replicas) text += std::to_string(replica);
    return text;
  }
  static std::string of(const Operation& operation) {
    std::string text = say(operation.rule->name, "@", operation.post_step);
    for (const auto& group : operation.groups) text += " [" + of(group) + "]";
    for (const auto& taker : operation.takers.value_or(std::vector<Operation::Taker>()))
      text += say(" ", taker.replica, ":", taker.contributor);
    return text + (operation.sends_anew.empty() ? "" : " anew " + of(operation.sends_anew));
  }
  auto operator()(const journal::Compute& one) const {
    return say("compute ", of(one.replicas), " ", one.first, "-", one.last);
  }
  auto operator()(const journal::Optimize& one) const { return "optimize " + of(one.replicas); }
  auto operator()(const journal::Post& one) const { return "post " + of(one.operation); }
  auto operator()(const journal::Meet& one) const { return "meet " + of(one.operation); }
  auto operator()(const journal::Local& one) const { return "local " + of(one.replicas); }
  auto operator()(const journal::Contribute& one) const {
    return say("contribute ", one.replica, " to ", one.merge);
  }
  auto operator()(const journal::MakeMerge& one) const { return say("merge ", one.merge); }
  auto operator()(const journal::TakeUp& one) const {
    return say("take ", one.merge, " up by ", one.replica);
  }
  auto operator()(const journal::Hold& one) const { return say("hold ", one.copy, " of ", one.source); }
  auto operator()(const journal::Become& one) const { return say("become ", one.copy, " by ", one.replica); }
  auto operator()(const journal::Keep& one) const { return say("keep ", one.replica, " ", one.phase); }
  auto operator()(const journal::Evaluate& one) const {
    return say("evaluate ", of(one.replicas), " ", one.phase);
  }
  auto operator()(const journal::EndStep& one) const { return say("end ", one.step, " of ", of(one.there)); }
  auto operator()(const journal::Save& one) const { return say("save ", one.step); }
};

Lines lines(Journal& journal) {
  Lines lines;
  for (auto entries = journal.next(); !entries.empty(); entries = journal.next())
    for (const Entry& entry : entries) lines.push_back(std::visit(InWords(), entry));
  return lines;
}

// "outer", blocking unless it says how many steps it overlaps.
OperationPlan plan(int every = 3, int overlap_steps = 0) {
  OperationPlan plan{{rule_of("outer", "ring", every)}};
  plan.rules[0].overlap_steps = overlap_steps;
  return plan;
}

OperationPlan gradients() {
  OperationPlan gradients = plan(1);
  gradients.rules[0].before_optimizer = true;
  return gradients;
}

OperationPlan merging(int every = 3) {
  OperationPlan merging = plan(every, 1);
  merging.rules[0].kind = OperationKind::kMerge;
  merging.rules[0].completion = {1, 0.5};
  return merging;
}

Lines lines_of(const OperationPlan& plan, const PlanContext& context, Schedule schedule = {},
               bool discards = false) {
  return lines(*make_journal({plan, context, 6, 6, discards}, std::move(schedule)));
}

TEST(Journal, FollowsFromAPlanWhereTimeDecidesNothing) {
  EXPECT_EQ(lines_of(plan(), {1, 2, 6, 1}),
            (Lines{"compute 01 1-1", "end 1 of 01", "compute 01 2-2", "end 2 of 01", "compute 01 3-3",
                   "meet outer@3", "end 3 of 01", "compute 01 4-4", "end 4 of 01", "compute 01 5-5",
                   "end 5 of 01", "compute 01 6-6", "evaluate 01 before", "meet outer@6", "evaluate 01 after",
                   "end 6 of 01", "save 6"}));
  // What overlaps is where it is posted and where it is due; the optimizer is behind the gradients' exchange.
  OperationPlan once = plan(2, 1);
  once.rules[0].last_step = 2;
  EXPECT_EQ(
      lines_of(once, {1, 1, 3, 1}),
      (Lines{"compute 0 1-1", "end 1 of 0", "compute 0 2-2", "post outer@2", "end 2 of 0", "compute 0 3-3",
             "evaluate 0 before", "meet outer@2", "evaluate 0 after", "end 3 of 0", "save 3"}));
  EXPECT_EQ(lines_of(gradients(), {1, 2, 1, 1}), (Lines{"compute 01 1-1", "meet outer@1", "optimize 01",
                                                        "evaluate 01 plain", "end 1 of 01", "save 1"}));
}

// Replica 1 goes in step 2 and takes step 5 again, with what 0 held after step 3.
TEST(Journal, LeavesOutWhoIsGoneAndGivesItsRowsBack) {
  const PlanContext context{1, 2, 6, 1};
  Schedule schedule;
  schedule.has_all = true;
  schedule.absences = Absences({{1, 2, 1, 0, 3, 5}}, context, false);
  schedule.groups = {{{0, 3}, {{0}}}, {{0, 6}, {{0, 1}}}};
  EXPECT_EQ(lines_of(plan(), context, schedule),
            (Lines{"compute 01 1-1", "end 1 of 01", "compute 0 2-2", "end 2 of 0", "compute 0 3-3",
                   "meet outer@3 [0]", "end 3 of 0", "hold 0 of 0", "become 0 by 1", "compute 0 4-4",
                   "end 4 of 0", "compute 01 5-5", "end 5 of 01", "compute 01 6-6", "evaluate 01 before",
                   "meet outer@6 [01]", "evaluate 01 after", "end 6 of 01", "save 6"}));
}

// Of a quorum whose late ones fetch the result: replica 1 was late, and begins with what came of it.
TEST(Journal, GivesTheResultToWhoWasLate) {
  OperationPlan deadline = plan();
  deadline.rules[0].completion = {1, 0.5, {}, true};
  Schedule schedule;
  schedule.groups = {{{0, 3}, {{0}}}};
  EXPECT_EQ(lines_of(deadline, {1, 2, 3, 1}, schedule)[6], "meet outer@3 [0] 0:0 1:0");
}

// Gradients of replica 1 met with nobody: it has no step, where losing them is the policy, or where the group
// is everyone.
TEST(Journal, ThrowsAwayAStepWhoseGradientsMetWithNobody) {
  Schedule schedule;
  schedule.has_all = true;
  schedule.groups = {{{0, 1}, {{0}}}};
  EXPECT_EQ(lines_of(gradients(), {1, 2, 1, 1}, schedule)[2], "optimize 0");
  OperationPlan in_pairs = gradients();
  in_pairs.rules[0].grouping = Grouping::kRandom;
  in_pairs.rules[0].group_size = 2;
  EXPECT_EQ(lines_of(in_pairs, {1, 2, 1, 1}, schedule)[1], "optimize 01");
  EXPECT_EQ(lines_of(in_pairs, {1, 2, 1, 1}, schedule, true)[1], "optimize ");
}

// Two replicas, a merge after step 2 that is taken up after step 3: replica 1 is at step 5 before 0 is at 4,
// and is evaluated with it.
TEST(Journal, LetsReplicasOfMergesGoAtTheirOwnPace) {
  Schedule schedule;
  schedule.merges = {{0, 0, {{0, 2, 3}}}};
  EXPECT_EQ(lines_of(merging(2), {1, 2, 4, 1}, schedule),
            (Lines{"compute 0 1-2", "compute 1 1-4",                               // who can
                   "contribute 0 to 0", "keep 1 plain", "merge 0", "end 2 of 01",  // what ends then
                   "compute 0 3-3", "take 0 up by 0", "end 3 of 01",               //
                   "compute 0 4-4", "keep 0 plain", "evaluate 01 plain", "end 4 of 01", "save 4"}));
  schedule.merges = {{0, 0, {{0, 6, 4}}}};  // taken up before it can be made
  EXPECT_THROW(lines_of(merging(), {1, 1, 8, 1}, schedule), std::logic_error);
}

// Behind any number of entries the rest is the same, and what was posted and has not met is known.
TEST(Journal, GoesOnBehindAnyOfItsEntries) {
  const OperationPlan ahead = plan(3, 2);
  const JournalSpec spec{ahead, {1, 2, 200, 1}, 100, 50};
  const Lines whole = lines(*make_journal(spec, {}));
  std::size_t pending = 0;
  for (std::size_t passed = 0; passed < whole.size(); ++passed) {
    const auto journal = make_journal(spec, {});
    const Continued rest = skip(*journal, static_cast<std::int64_t>(passed));
    Lines found;
    for (const Entry& entry : rest.entries) found.push_back(std::visit(InWords(), entry));
    for (const std::string& line : lines(*journal)) found.push_back(line);
    ASSERT_EQ(found, Lines(whole.begin() + static_cast<std::ptrdiff_t>(passed), whole.end())) << passed;
    ASSERT_EQ(rest.pending.size(), pending) << passed;
    if (whole[passed].rfind("post", 0) == 0) ++pending;
    if (whole[passed].rfind("meet", 0) == 0) --pending;
  }
}

using Shares = std::vector<std::vector<float>>;

// Of each merge, in the journal of a plan with so many rules that only merge.
Shares token_shares(const Schedule& schedule, const PlanContext& context, std::size_t rules) {
  OperationPlan several = merging();
  several.rules.resize(rules, several.rules[0]);
  Shares shares(schedule.merges.size());
  const auto journal = make_journal({several, context, 100, 100}, schedule);
  for (auto entries = journal->next(); !entries.empty(); entries = journal->next())
    for (const Entry& entry : entries)
      if (const auto* merge = std::get_if<journal::MakeMerge>(&entry)) shares[merge->merge] = merge->shares;
  return shares;
}

// Steps since the contribution before to the same rule: at first all.
TEST(TokenShares, AreOfWhatWasTrainedSinceTheLastContribution) {
  Schedule schedule;
  schedule.merges = {
      {1, 0, {{0, 3, 5}}}, {0, 0, {{0, 5, 8}, {1, 5, 9}}}, {0, 1, {{0, 15, 0}, {1, 10, 0}, {2, 5, 0}}}};
  EXPECT_EQ(token_shares(schedule, {1, 3, 20, 1}, 2), (Shares{{1}, {0.5F, 0.5F}, {0.5F, 0.25F, 0.25F}}));
}

// Replica 0 posts after steps 5, 10 and 15. Replica 1 does not take steps 3 and 4: 8 of 10. Replica 2 begins
// step 13 with what 0 had after step 11, a step after its contribution: that one, and its own three. Replica
// 3 begins step 14 with what 2 then has: one of 0, one of 2, and its own two.
TEST(TokenShares, OfCopiesAreTheirOwnStepsAndThoseOfTheSourceSinceItContributed) {
  Schedule schedule;
  const PlanContext context{1, 4, 20, 1};
  schedule.has_all = true;
  schedule.absences =
      Absences({{1, 3, 2, -1, 0, 5}, {2, 2, 1, 0, 11, 13}, {3, 8, 7, 2, 13, 14}}, context, false);
  schedule.merges = {{0, 0, {{0, 5, 7}, {1, 10, 11}}},
                     {0, 1, {{0, 10, 12}}},
                     {0, 2, {{0, 15, 16}, {2, 15, 16}, {3, 15, 16}}}};
  EXPECT_EQ(token_shares(schedule, context, 1),
            (Shares{{5.F / 13, 8.F / 13}, {1}, {5.F / 13, 4.F / 13, 4.F / 13}}));
}

const PlanContext kContext{1, 4, 12, 1};

OperationPlan file_plan() {
  OperationRule outer = rule_of("outer", "pair", 4), ahead = rule_of("ahead", "ring", 4),
                merge = rule_of("fragment-0", "parameter-server", 4);
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
  OperationPlan lockstep = file_plan(), merging = file_plan();
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
  const OperationPlan of = file_plan();
  const std::string header = "{\"longhaul_journal\": 1, \"replicas\": 4, \"steps\": 12}\n";
  const auto refusal = [&](const std::string& lines) {
    return said_by([&] { read_and_written(header + lines, of); });
  };
  EXPECT_EQ(refusal("{\"save\": 12}"), "");
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
  const std::string given =
      R"({"contribute": 0, "merge": 0, "rule": "fragment-0", "step": 4})" + std::string("\n");
  expect(given + R"({"make": 0, "rule": "fragment-0", "of": [[0, 4, 6, 0.5]]})", "shares that add up to 1");
  expect(given + R"({"make": 0, "rule": "outer", "of": [[0, 4, 6, 1]]})", "line 3, rule: found \"outer\"");
  expect(given + R"({"take": 0, "merge": 0})", "a merge that is made");
  const std::string made = given + R"({"make": 0, "rule": "fragment-0", "of": [[0, 4, 0, 1]]})" + "\n";
  expect(made + R"({"take": 0, "merge": 0})", "one that takes the merge up, once");
  expect(R"({"become": 0, "copy": 3})", "a copy that is held");
  expect(R"({"keep": 0, "step": 4, "phase": "during"})", "before, after or plain");
  EXPECT_THROW(read_and_written("", of), InputError);
  EXPECT_SAYS(refusal("nonsense"), "line 2");
  const std::string other = R"({"longhaul_journal": 1, "replicas": 4, "steps": 13})";
  EXPECT_SAYS(said_by([&] { read_and_written(other, of); }), "steps: found 13; allowed: 12, as the case has");
}

}  // namespace longhaul::journal_test
