// Claims: statements about the cases of a scenario, written as data, and the verdicts on them.
//
// A claim compares a number of each case (`metric`, of the method labelled `of`), or the ratio of a number
// between two methods (`ratio`, `of` over `to`), with a bound. Cases are paired at equal swept values and
// equal seed; at each point the mean over seeds has a 95 % t interval.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "analysis/statistics.h"
#include "core/base/options.h"

namespace longhaul {

// One record a claim, or one a point where its quantifier is "each":
//   id, statement, measured, interval [low, high], threshold, verdict (holds, fails, undecided), evidence
//   (case names), what (the number in words), bound ("at least 10"), point (the swept values that decided),
//   points (how many were judged), seeds (of the deciding point; the interval of a single one is a point),
//   residual (by which the interval was widened), possible (the widened interval), incomplete (a case of the
//   deciding point is not done)
// "all" holds if it holds at every point, and fails if it fails at one; "any" the other way round. Undecided:
// the threshold lies within the interval widened by the residual of the network model, or a case that it
// needs is not done.
// `missing_cases` of the scenario are in shards that are not at hand: then every claim is undecided, and its
// record has their number as missing_cases.
Json judge_claims(const Json& claims, const std::vector<Json>& records, std::size_t missing_cases = 0);

// One point of the sweep under a claim. `measured`: NaN where no case of it is done.
struct JudgedPoint {
  Json swept;
  double measured = 0;
  std::string verdict;
  Interval possible = {};  // the interval of `measured`, widened by the network model's error
  double residual = 0;     // that error, a fraction
};

// Every point that the claim quantifies over, whatever its quantifier is.
std::vector<JudgedPoint> judged_points(const Json& claim, const std::vector<Json>& records);

// A number with three significant digits, and as many more as it needs to stand on its own side of the
// claim's bound: 9.996 is not at least 10, and is not written as 10. So what is printed never contradicts its
// verdict.
std::string beside_bound(const Json& claim, double value);

// "sync_time_s.mean of diloco over noloco; claimed: at least 10".
std::string claim_in_words(const Json& claim);

// A verdict for people, the same wherever it is said: "ten is undecided: sync_time_s.mean of diloco over
// noloco is 9.14; the network model's 7 % make that 7.95 to 10.5, so at least 10 is undecided (at replicas =
// 64)".
std::string verdict_sentence(const Json& verdict);

// One line a claim; of one that is judged at each point how many points hold, are undecided and fail.
std::vector<std::string> verdict_lines(const Json& verdicts);

// The part of it after the colon.
std::string verdict_grounds(const Json& verdict);

}  // namespace longhaul
