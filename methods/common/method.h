// A method as the planner sees it: its options and its plan of operations. Pure data; what a method does to
// tensors is in trainer/updates/.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/base/options.h"
#include "core/plan/operations.h"
#include "core/scenario/case.h"

namespace longhaul {

// Of the model whose rows the operations carry.
struct PlannedModel {
  std::int64_t parameters = 0;
  std::vector<ColumnRange> layers;     // empty: only the number of parameters is known
  Wire wire = Wire::kBf16;             // of what is not compressed
  std::vector<Parameter> layout = {};  // empty where `layers` is
  // Columns of each parameter tensor, in order; empty where only their number is known.
  std::vector<ColumnRange> tensors = {};
};

struct Method {
  using Plan = OperationPlan (*)(const MethodSpec& method, const PlannedModel& model);
  using Check = void (*)(const Case& config);
  using Warnings = std::vector<std::string> (*)(const Case& config);
  using Keeps = std::vector<std::string> (*)(const Json& options);

  Method(std::string name, std::string about, std::vector<Node> options, Plan plan, std::vector<Check> checks,
         std::vector<Warnings> hints = {}, Keeps keeps = nullptr, Json optimizer = Json::object())
      : name(std::move(name)),
        about(std::move(about)),
        options(std::move(options)),
        plan(plan),
        checks(std::move(checks)),
        hints(std::move(hints)),
        keeps(keeps),
        optimizer(std::move(optimizer)) {}

  std::string name;
  std::string about;  // one line, with the source
  std::vector<Node> options;
  Plan plan;
  // Each throws InputError for a case that cannot be: paths are "replicas" or "method.KEY".
  std::vector<Check> checks;
  // What a user should know before running it; empty: nothing.
  std::vector<Warnings> hints;
  // The rows that a replica keeps for the method, by name (core/plan/operations.h); null: none.
  Keeps keeps;
  // Its own defaults of keys of train.optimizer (core/scenario/inner_optimizer.h).
  Json optimizer;

  void check(const Case& config) const;                         // all checks, in their order
  std::vector<std::string> warnings(const Case& config) const;  // all hints, likewise
};

std::vector<std::string> keeps_slow_weights(const Json& options);
std::vector<std::string> keeps_outer_step(const Json& options);  // slow weights and momentum

// The common pieces of the methods' declarations and checks.
std::vector<Node> joined(std::initializer_list<std::vector<Node>> lists);  // one behind another
Node inner_steps_option(int fallback);
Node group_size_option();  // of groups that are drawn
Node all_reduce_option();
// With `overlap_backward` and `buckets` behind it, and what these make of the rule of an all-reduce.
std::vector<Node> all_reduce_options();
void overlap(const Json& options, OperationRule& rule);
std::vector<Node> with_all_reduce(std::vector<Node> options);  // those behind a method's own
// An all-reduce of `tensor` every `inner_steps` steps, as these options say.
OperationRule all_reduce_rule(const char* name, const char* tensor, const Json& options,
                              const PlannedModel& model);
std::vector<std::string> overlap_warnings(const Case& config);
void check_exchanging(const Case& config);   // at least 2 replicas
void check_inner_steps(const Case& config);  // that, and method.inner_steps is at most the case's steps
// Of a method with an optimizer of its own: train.optimizer is not muon.
void check_own_optimizer(const Case& config);
void check_group_size(const Case& config);  // at least one group: method.group_size is at most replicas

// Fragments: parts of the model that are synchronized at different steps (Streaming DiLoCo, arXiv 2501.18512,
// section 2.1). `count` parts, 1 to as many as there are layers: layer l is in part l mod count (the paper's
// strided pattern), what comes before the first layer in the first part, what comes after the last layer in
// the last. With `embeddings_apart` embedding and output are a part of their own, behind the `count` others.
// Where the layers are not known, equal parts of the columns in their order.
enum class FragmentPattern {
  kStrided,      // as above
  kConsecutive,  // neighbouring layers: layer l of L is in part floor(l · count / L)
};
int fragment_of(FragmentPattern pattern, int layer, int layers, int count);
std::vector<Columns> fragments(const PlannedModel& model, int count,
                               FragmentPattern pattern = FragmentPattern::kStrided,
                               bool embeddings_apart = false);

}  // namespace longhaul
