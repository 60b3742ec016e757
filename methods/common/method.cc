#include "methods/common/method.h"

#include "core/errors.h"

namespace longhaul {

Node inner_steps_option(int fallback) {
  return integer("inner_steps")
      .at_least(1)
      .by_default(fallback)
      .in("steps")
      .means("inner steps per outer step (H)");
}

Node all_reduce_option() {
  return choice("all_reduce", all_reduce_collectives())
      .by_default("ring")
      .timing_only()
      .means("collective algorithm of the all-reduce");
}

std::vector<Node> overlap_options() {
  return {
      number("overlap_backward")
          .at_least(0)
          .at_most(1)
          .by_default(0)
          .timing_only()
          .in("of a step")
          .means(
              "the last part of a step that is its backward pass, with which the all-reduce after that step "
              "overlaps bucket by bucket (two thirds as a rule); 0: nothing overlaps"),
      integer("buckets")
          .at_least(1)
          .at_most(kMostBuckets)
          .by_default(24)
          .timing_only()
          .means("equal parts in which the backward pass releases the payload, reduced one after another; "
                 "only with overlap_backward")};
}

void overlap(const Json& options, OperationRule& rule) {
  rule.overlap_backward = options.at("overlap_backward");
  rule.buckets = rule.overlap_backward > 0 ? options.at("buckets").get<int>() : 1;
}

std::vector<std::string> overlap_warnings(const Case& one) {
  const Json& options = one.method.options;
  if (options.at("overlap_backward") == 0 || options.at("buckets") > 1) return {};
  return {one.name + ": with one bucket nothing overlaps with the backward pass: it is released at its end"};
}

void check_exchanging(const Case& one) {
  if (one.replicas < 2)
    throw InputError("replicas", "found 1 with method \"" + one.method.label + "\", which exchanges",
                     "at least 2", "for a single replica use method \"independent\"");
}

void check_inner_steps(const Case& one) {
  const int inner = one.method.options.at("inner_steps");
  if (inner > one.steps())
    throw InputError(
        {"", "method.inner_steps",
         "found " + std::to_string(inner) + ", but there are only " + std::to_string(one.steps()) + " steps",
         "at most the number of steps", "the first outer step is after inner_steps steps"});
}

std::vector<std::string> no_warnings(const Case&) {
  return {};
}

}  // namespace longhaul
