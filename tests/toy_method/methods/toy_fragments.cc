// The method of docs/howto/add-a-method.md: two fragments in turn, overlapped with compute, compressed to a
// few columns. It is in the programs of tests/toy_method alone, to show what a method needs and to hold that
// it is enough.
#include "methods/common/method.h"

namespace longhaul {
namespace toy_fragments {

constexpr int kFragments = 2;

std::vector<Node> options() {
  return {inner_steps_option(8),
          integer("overlap").at_least(1).by_default(2).in("steps").means(
              "steps of compute that go on while a fragment is under way (tau)"),
          integer("kept")
              .at_least(1)
              .at_most(256)
              .by_default(16)
              .in("of 256 columns")
              .means("columns of largest magnitude that travel"),
          number("outer_lr").above(0).by_default(0.7).means("outer learning rate"),
          number("mixing").at_least(0).at_most(1).by_default(0.5).means(
              "share of its own weights that a replica keeps")};
}

// Each fragment every H steps, half of H after the other.
OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationPlan plan;
  const int every = method.options.at("inner_steps");
  const std::vector<Columns> parts = fragments(model, kFragments);
  for (int part = 0; part < kFragments; ++part) {
    OperationRule rule;
    rule.name = "fragment-" + std::to_string(part);
    rule.kind = OperationKind::kAllGather;
    rule.collective = "all-gather";
    rule.every = every;
    rule.phase = part * every / kFragments;
    rule.overlap_steps = method.options.at("overlap");
    const Codec codec{TopK{256, method.options.at("kept"), model.wire}, Feedback::kClassic};
    rule.payload = {{"delta", codec, parts[static_cast<std::size_t>(part)]}};
    plan.rules.push_back(rule);
  }
  return plan;
}

}  // namespace toy_fragments

Method toy_fragments_method() {
  using namespace toy_fragments;
  return Method("toy-fragments", "two compressed fragments that overlap with compute (a demonstration)",
                options(), plan, {check_inner_steps}, {}, keeps_slow_weights);
}

}  // namespace longhaul
