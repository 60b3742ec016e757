// What the verdict on a claim rests on: every point of the sweep, as a matrix and against its threshold.
#pragma once

#include <vector>

#include "core/options.h"

namespace longhaul {

// One entry a claim of a scenario that has a matrix (verdict_matrix.h), over the records of its run:
//   {"id", "statement", "words", "bound": "at_least" | "at_most" | "equals", "threshold", "within",
//    "points", "row_key", "column_key", "rows", "columns", "numbers" (whether the columns are),
//    "cells": [row][column]: null, or [low, high, holds, undecided, fails], "frontier": [sentences]}
// low and high are null where nothing was measured.
Json claim_pictures(const Json& claims, const std::vector<Json>& records);

}  // namespace longhaul
