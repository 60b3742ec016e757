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

// Throws InputError (paths "claims[i].KEY") for a claim, as declared, without exactly one of metric and ratio
// or exactly one bound.
void check_claim_forms(const Json& claims);

// Throws InputError (paths "claims[i].KEY") for a claim that cannot be judged: an unknown label or
// swept key, not exactly one of metric and ratio, not exactly one bound. `labels` of the methods; `swept` all
// keys of the sweep.
void check_claims(const Json& claims, const std::vector<std::string>& labels,
                  const std::set<std::string>& swept);

// The parts of that check which a published figure shares (validation.h): the label under `key`, where it is
// given, is one of `labels`; every key of the object `table` is swept. `path`: of the claim.
void check_label(const Json& claim, const std::string& path, const char* key,
                 const std::vector<std::string>& labels);
void check_swept(const Json& claim, const std::string& path, const char* table,
                 const std::set<std::string>& swept);

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

// The verdicts of one claim as a table over the two swept keys that decide it.
//
// Which keys decide is computed and not chosen: of every swept key the share of the variance of log(measured)
// that the means over its values explain (a one-way analysis of variance, main effects only). Of the two that
// explain most, the one whose values are all numbers, or else that with more values, makes the columns. A
// cell holds all points with its two values, so it is a range where other keys still matter.
struct VerdictCell {
  double low = 0, high = 0;                    // of what was measured; NaN where nothing was
  double possible_low = 0, possible_high = 0;  // the same with the network model's error
  int holds = 0, undecided = 0, fails = 0;

  int points() const { return holds + undecided + fails; }
};

struct VerdictMatrix {
  // The row's is empty (and there is one row) where one key varies; both are, without cells, where none does.
  std::string row_key, column_key;
  std::vector<std::string> rows, columns;
  bool columns_are_numbers = false;             // only then does a frontier have a side
  std::vector<std::vector<VerdictCell>> cells;  // [row][column]; without points where the sweep has none
  VerdictCell all;
  Json claim;
};

// Of a claim of a scenario over the case records of its runs.
VerdictMatrix verdict_matrix(const Json& claim, const std::vector<Json>& records);

// "holds from replicas = 512 on", "never holds: at most 3.1, at replicas = 1024": one line a row.
std::vector<std::string> frontier(const VerdictMatrix& matrix);

// What the verdict on a claim rests on: every point of the sweep, as a matrix and against its threshold.
// One entry a claim of a scenario that has a matrix, over the records of its run:
//   {"id", "statement", "words", "bound": "at_least" | "at_most" | "equals", "threshold",
//    "points", "row_key", "column_key", "rows", "columns", "numbers" (whether the columns are),
//    "cells": [row][column]: null, or [low, high, holds, undecided, fails, possible low, possible high,
//    the first two in words],
//    "frontier": [sentences]}
// possible: with the network model's error. Ends are null where nothing was measured.
Json claim_pictures(const Json& claims, const std::vector<Json>& records);

// The claim, its matrix and its frontier as GitHub's Markdown.
std::string verdict_markdown(const Json& claim, const std::vector<Json>& records);

}  // namespace longhaul
