// SPARTA, sparse parameter averaging (EXO Labs): every step a random share of the weights is averaged over
// all replicas, at once or some steps late. Published as code and posts only. Which weights is drawn from the
// seed and the step by everyone alike.
#include "methods/common/compression.h"

namespace longhaul {
namespace sparta {

std::vector<Node> options() {
  return {
      inner_steps_option(1),
      number("share").above(0).at_most(1).by_default(0.005).means(
          "share p of the weights that is averaged at a time"),
      Numbers::option("numbers", "wire"),
      integer("overlap").at_least(0).by_default(0).in("steps").means(
          "steps of compute with which an average overlaps; it is used when they are done"),
      choice("arrival", {"replace", "add"})
          .by_default("replace")
          .means("what a late average does to the weights of now: it takes their place, as in its authors' "
                 "code, or its difference from what was sent is added to them"),
      all_reduce_option()};
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  const Json& options = method.options;
  OperationRule rule{"average", OperationKind::kAllReduce, options.at("all_reduce"),
                     options.at("inner_steps")};
  rule.overlap_steps = options.at("overlap");
  rule.posts_first = rule.overlap_steps > 0;
  rule.payload = {
      {"weights", {RandomMask{options.at("share"), row_from_option(options.at("numbers"), model.wire)}}}};
  return {{rule}};
}

}  // namespace sparta

Method sparta_method() {
  using namespace sparta;
  return Method("sparta", "mean of a random 0.5 % of the weights every step, at once or late (EXO Labs)",
                options(), plan, {check_inner_steps});
}

}  // namespace longhaul
