// The verdicts of one claim as a table over the two swept keys that decide it.
//
// Which keys decide is computed and not chosen: of every swept key the share of the variance of log(measured)
// that the means over its values explain (a one-way analysis of variance, main effects only). Of the two that
// explain most, the one whose values are all numbers, or else that with more values, makes the columns. A
// cell holds all points with its two values, so it is a range where other keys still matter.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"

namespace longhaul {

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
  // Points that do not vary one of the two keys, as of another object of the sweep: "homes, tree: 1.21
  // undecided".
  std::vector<std::string> outside;
  Json claim;
};

// Of a claim of a scenario over the case records of its runs.
VerdictMatrix verdict_matrix(const Json& claim, const std::vector<Json>& records);

// "holds from replicas = 512 on", "never holds: at most 3.1, at replicas = 1024": one line a row. Then a line
// for each point outside of the matrix, to a dozen.
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
