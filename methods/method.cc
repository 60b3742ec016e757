#include "methods/method.h"

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
      .means("collective algorithm of the all-reduce");
}

void check_exchanging(const Case& one) {
  if (one.replicas < 2)
    throw InputError({"", "replicas", "found 1 with method \"" + one.method.label + "\", which exchanges",
                      "at least 2", "for a single replica use method \"independent\""});
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
