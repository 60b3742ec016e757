// What came out of a search in words, for the terminal and for plan.json.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "planner/evaluation.h"
#include "planner/plan_request.h"
#include "planner/plan_result.h"
#include "planner/search.h"

namespace longhaul {

// The sentence that decides: what to take, how long, how dear, and what else is on the front for what.
std::string decision(const PlanRequest& plan, const PlanResult& result);

// What the choice and its rival take behind the plan's FIFOs, and on which condition; "" where it has none.
std::string verification_in_words(const PlanRequest& plan, const PlanResult& result);

// One sentence: time with its range, money and what to change.
std::string in_short(const PlanRequest& plan, const PlanResult& result);

// What no replay can know, in sentences: the loss, how the time was found, how wrong it may be.
std::vector<std::string> caveats(const PlanRequest& plan, const PlanResult& result);

// What it means to be on the front.
std::string front_in_words(const SearchResult& search);

// Throws std::logic_error where a time cannot be (expect_possible()). What prints or writes a result asks
// first.
void expect_possible(const PlanResult& result);

// What lies between the low and the high end of a time.
std::string range_meaning();

// Everything for the terminal: decision, table, H, memory, links, placement.
std::string plan_text(const PlanRequest& plan, const PlanResult& result);

// "12,400": three significant digits where there are more before the point.
std::string human_amount(double amount);

}  // namespace longhaul
