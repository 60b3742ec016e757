// The first table of the report: methods in rows, means over seeds with their intervals.
#pragma once

#include <vector>

#include "core/options.h"

namespace longhaul {

// One row a method (and variant) of the records, which are those of one point of a sweep; `indices` are the
// numbers of their cases on the page.
//   {"cases": [indices], "seeds": how many are done,
//    "texts", "values" (means), "half" (half the width of the 95 % t interval; null with one seed), "best"}
// The last four go with columns() and are there only where more than one seed is done. A number that some
// seeds lack (a target that was not reached) is no mean: its text says how many have it, its value is null.
// `best`: the lowest mean of those that every done seed has.
Json seed_means(const std::vector<Json>& records, const std::vector<std::size_t>& indices);

}  // namespace longhaul
