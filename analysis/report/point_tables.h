// The tables of cases at one point of a sweep: means over seeds, and losses after the same time and bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/runs/run_directory.h"
#include "core/base/json.h"

namespace longhaul {

// The first table: methods in rows, means over seeds with their intervals.
// One row a method (and variant) of the records, which are those of one point of a sweep; `indices` are the
// numbers of their cases on the page.
//   {"cases": [indices], "seeds": how many are done,
//    "texts" (mean_cell), "values" (means), "best"}
// The last three go with columns() and are there only where more than one seed is done. A number that some
// seeds lack (a target that was not reached) is no mean: its text says how many have it, its value is null.
// `best`: the lowest mean of those that every done seed has.
Json seed_means(const std::vector<Json>& records, const std::vector<std::size_t>& indices);

// How far methods were after the same time and the same bytes, as tables: "first" ends at the last column.
// [{"kind": "time" | "bytes", "first", "columns": [texts], "rows": [{"name", "label", "cells": [texts]}]}]
// Of the records of one point of a sweep; empty where nothing is trained. Throws DamagedFile.
Json equal_losses(const RunDirectory& run, const std::vector<Json>& records);

}  // namespace longhaul
