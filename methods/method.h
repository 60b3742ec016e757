// A method as the planner sees it: its options and its exchange plan. Pure data; what a method does to
// tensors is in trainer/updates/.
#pragma once

#include <string>
#include <vector>

#include "core/case.h"
#include "core/exchange_plan.h"
#include "core/options.h"

namespace longhaul {

struct Method {
  std::string name;
  std::string about;  // one line, with the source
  std::vector<Node> options;
  // The plan of a case of this method.
  ExchangePlan (*plan)(const MethodSpec& method);
  // Throws InputError for a case that cannot be: paths are "replicas" or "method.KEY".
  void (*check)(const Case& one);
  // What a user should know before running it; empty: nothing.
  std::vector<std::string> (*warnings)(const Case& one);
};

// The common pieces of the methods' declarations and checks.
Node inner_steps_option(int fallback);
Node all_reduce_option();
// `overlap_backward` and `buckets`, and what they make of the rule of an all-reduce.
std::vector<Node> overlap_options();
void overlap(const Json& options, ExchangeRule& rule);
std::vector<std::string> overlap_warnings(const Case& one);
void check_exchanging(const Case& one);   // at least 2 replicas
void check_inner_steps(const Case& one);  // method.inner_steps is at most the case's steps
std::vector<std::string> no_warnings(const Case& one);

}  // namespace longhaul
