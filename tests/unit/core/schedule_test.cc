// Who took part in an operation that does not wait for everyone: read from a replay's schedule, given to the
// operations of a plan.
#include "core/plan/schedule.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "core/errors.h"
#include "core/plan/trace.h"

namespace longhaul {
namespace {

OperationPlan plan() {
  OperationRule all, quorum;
  all.name = "all", quorum.name = "outer";
  all.collective = quorum.collective = "ring";
  all.payload = quorum.payload = whole({"delta"}, Wire::kBf16);
  all.every = quorum.every = 5;
  quorum.completion = {2, 0.5};
  return {{all, quorum}};
}

const PlanContext kContext{1, 4, 10, 100};

Schedule schedule_in(const std::string& text) {
  std::istringstream in(text);
  return read_schedule(in, "schedule.jsonl", plan(), kContext);
}

std::string refusal(const std::string& text) {
  try {
    schedule_in(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

constexpr char kHeader[] = "{\"longhaul_schedule\": 1, \"replicas\": 4}\n";

TEST(Schedule, GivesOperationsThatDoNotWaitForAllTheGroupsThatMet) {
  const Schedule schedule = schedule_in(std::string(kHeader) +
                                        R"({"rule": 0, "step": 5, "start_s": 1, "done_s": 2}
{"rule": 1, "step": 5, "group": [0, 2, 3], "start_s": 1, "done_s": 2}
{"rule": 1, "step": 10, "group": [1], "start_s": 1, "done_s": 1}
)");
  const OperationPlan of_method = plan();
  const auto posted = [&](int step) {
    return followed(schedule, of_method, operations_at(of_method, kContext, step));
  };
  ASSERT_EQ(posted(5).size(), 2u);
  EXPECT_TRUE(posted(5)[0].groups.empty()) << "everyone, as planned";
  EXPECT_EQ(posted(5)[1].groups, (std::vector<std::vector<int>>{{0, 2, 3}}));
  EXPECT_EQ(posted(10)[1].groups, (std::vector<std::vector<int>>{{1}}));
}

// Of drawn groups who was left alone takes no step; where nobody met there is no operation.
TEST(Schedule, OfDrawnGroupsTheLoneAreLeftOut) {
  OperationPlan of_method = plan();
  of_method.rules[1].grouping = Grouping::kRandom;
  of_method.rules[1].group_size = 2;
  std::istringstream in(std::string(kHeader) +
                        R"({"rule": 1, "step": 5, "group": [3], "start_s": 1, "done_s": 1}
{"rule": 1, "step": 5, "group": [2, 0], "start_s": 1, "done_s": 2}
{"rule": 1, "step": 10, "group": [1], "start_s": 1, "done_s": 1}
{"rule": 1, "step": 10, "group": [0], "start_s": 1, "done_s": 1}
)");
  const Schedule schedule = read_schedule(in, "schedule.jsonl", of_method, kContext);
  const auto posted = [&](int step) {
    return followed(schedule, of_method, operations_at(of_method, kContext, step));
  };
  ASSERT_EQ(posted(5).size(), 2u);
  EXPECT_EQ(posted(5)[1].groups, (std::vector<std::vector<int>>{{2, 0}}));
  ASSERT_EQ(posted(10).size(), 1u);
  EXPECT_EQ(posted(10)[0].rule->name, "all");
}

TEST(Schedule, WithoutAnOperationOfThePlanIsRefused) {
  const OperationPlan of_method = plan();
  EXPECT_THROW(followed(schedule_in(kHeader), of_method, operations_at(of_method, kContext, 5)), InputError);
}

TEST(Schedule, RefusalsNameTheLine) {
  EXPECT_NE(refusal("").find("is empty"), std::string::npos);
  EXPECT_NE(refusal("{\"longhaul_schedule\": 1, \"replicas\": 8}\n").find("line 1, replicas: found 8"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(kHeader) + "{\"rule\": 2, \"step\": 5}\n").find("line 2, rule: found 2"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(kHeader) + "{\"rule\": 1, \"step\": 5, \"group\": [4]}\n")
                .find("line 2, group: found replica 4"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(kHeader) + "nonsense\n").find("line 2"), std::string::npos);
}

// It travels in the trace, and a trace says so where it is impossible.
TEST(Completion, IsKeptByATrace) {
  std::stringstream text;
  write_trace(make_trace(plan(), kContext), text);
  const Trace read = read_trace(text, "trace.jsonl");
  EXPECT_TRUE(read.plan.rules[0].completion.is_all());
  EXPECT_EQ(read.plan.rules[1].completion.quorum, 2);
  EXPECT_EQ(read.plan.rules[1].completion.grace_s, 0.5);
  EXPECT_TRUE(timing_matters(read.plan));
}

TEST(Completion, ItsAdaptiveGraceIsKeptByATrace) {
  for (const double start_s : {12.5, std::numeric_limits<double>::infinity()}) {
    OperationPlan adaptive = plan();
    adaptive.rules[1].completion = {1, 0, AdaptiveGrace{2.5, 32, 0.25, start_s}};
    std::stringstream text;
    write_trace(make_trace(adaptive, kContext), text);
    const Trace read = read_trace(text, "trace.jsonl");
    const Completion& completion = read.plan.rules[1].completion;
    EXPECT_EQ(completion.quorum, 1);
    ASSERT_TRUE(completion.adaptive);
    EXPECT_EQ(completion.adaptive->mads, 2.5);
    EXPECT_EQ(completion.adaptive->window, 32);
    EXPECT_EQ(completion.adaptive->at_least_s, 0.25);
    EXPECT_EQ(completion.adaptive->start_s, start_s);
  }
}

TEST(Completion, AnEmptyWindowIsRefused) {
  OperationPlan adaptive = plan();
  adaptive.rules[1].completion = {1, 0, AdaptiveGrace{2.5, 0, 0.25, 1}};
  std::stringstream text;
  write_trace(make_trace(adaptive, kContext), text);
  EXPECT_THROW(read_trace(text, "trace.jsonl"), InputError);
}

TEST(Completion, AQuorumOfNobodyIsRefused) {
  std::stringstream text;
  write_trace(make_trace(plan(), kContext), text);
  std::string wrong = text.str();
  wrong.replace(wrong.find("\"quorum\":2"), 10, "\"quorum\":0");
  std::istringstream in(wrong);
  EXPECT_THROW(read_trace(in, "trace.jsonl"), InputError);
}

}  // namespace
}  // namespace longhaul
