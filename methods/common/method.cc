#include "methods/common/method.h"

#include <fmt/core.h>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "methods/common/tensors.h"

namespace longhaul {

void Method::check(const Case& config) const {
  for (const Check one : checks) one(config);
}

std::vector<std::string> Method::warnings(const Case& config) const {
  std::vector<std::string> all;
  for (const Warnings some : hints)
    for (std::string& warning : some(config)) all.push_back(std::move(warning));
  return all;
}

std::vector<std::string> keeps_slow_weights(const Json&) {
  return {kSlowWeightsRow};
}

std::vector<std::string> keeps_outer_step(const Json&) {
  return {kSlowWeightsRow, kOuterMomentumRow};
}

std::vector<Node> joined(std::initializer_list<std::vector<Node>> lists) {
  std::vector<Node> all;
  for (const std::vector<Node>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

Node inner_steps_option(int fallback) {
  return integer("inner_steps")
      .at_least(1)
      .by_default(fallback)
      .in("steps")
      .means("inner steps per outer step (H)");
}

Node group_size_option() {
  return integer("group_size")
      .at_least(2)
      .by_default(2)
      .in("replicas")
      .means("replicas in a group (n); of N replicas N mod n sit out each outer step, drawn anew");
}

Node all_reduce_option() {
  std::vector<std::string> algorithms = all_reduce_collectives();
  algorithms.push_back("library");
  return choice("all_reduce", algorithms)
      .by_default("ring")
      .timing_only()
      .means(
          "collective algorithm of the all-reduce. library: as network.library chooses by bytes and "
          "members, which is the default of each library but plain");
}

std::vector<Node> all_reduce_options() {
  return {
      all_reduce_option(), tensors_option(),
      number("overlap_backward")
          .at_least(0)
          .at_most(1)
          .by_default(0)
          .timing_only()
          .in("of a step")
          .means(
              "the last part of a step that is its backward pass, with which the all-reduce after that step "
              "overlaps bucket by bucket; 0: nothing overlaps"),
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

std::vector<Node> with_all_reduce(std::vector<Node> options) {
  return joined({options, all_reduce_options()});
}

OperationRule all_reduce_rule(const char* name, const char* tensor, const Json& options,
                              const PlannedModel& model) {
  OperationRule rule{name, OperationKind::kAllReduce, options.at("all_reduce"), options.at("inner_steps")};
  rule.payload = whole({tensor}, model.wire);
  overlap(options, rule);
  return rule;
}

std::vector<std::string> overlap_warnings(const Case& config) {
  const Json& options = config.method.options;
  if (options.at("overlap_backward") == 0 || options.at("buckets") > 1) return {};
  return {config.name +
          ": with one bucket nothing overlaps with the backward pass: it is released at its end"};
}

void check_exchanging(const Case& config) {
  if (config.replicas < 2)
    throw InputError("replicas",
                     fmt::format("found 1 with method \"{}\", which exchanges", config.method.label),
                     "at least 2", "for a single replica use method \"independent\"");
}

void check_inner_steps(const Case& config) {
  check_exchanging(config);
  const int inner = config.method.options.at("inner_steps");
  if (inner > config.steps())
    throw InputError("method.inner_steps",
                     fmt::format("found {}, but there are only {} steps", inner, config.steps()),
                     "at most the number of steps", "the first outer step is after inner_steps steps");
}

void check_own_optimizer(const Case& config) {
  if (config.train && config.train->optimizer.name == InnerOptimizer::kMuon)
    throw InputError(
        "train.optimizer.name", fmt::format("found \"muon\" with method \"{}\"", config.method.label),
        "adamw",
        "the method has an optimizer of its own, which takes lr, betas, weight_decay and clip from there");
}

void check_group_size(const Case& config) {
  const int size = config.method.options.at("group_size");
  if (config.replicas < size)
    throw InputError(
        "replicas",
        fmt::format("found {} with groups of {} (method \"{}\")", config.replicas, size, config.method.label),
        fmt::format("at least {}", size), "a group needs that many: or make method.group_size smaller");
}

int fragment_of(FragmentPattern pattern, int layer, int layers, int count) {
  return pattern == FragmentPattern::kStrided ? layer % count
                                              : static_cast<int>(std::int64_t{layer} * count / layers);
}

std::vector<Columns> fragments(const PlannedModel& model, int count, FragmentPattern pattern,
                               bool embeddings_apart) {
  std::vector<Columns> parts(as_index(count));
  if (model.layers.empty()) {
    for (int part = 0; part < count; ++part)
      append(parts[as_index(part)], {part * model.parameters / count, (part + 1) * model.parameters / count});
    return parts;
  }
  if (!embeddings_apart) append(parts.front(), {0, model.layers.front().begin});
  const int layers = static_cast<int>(model.layers.size());
  for (int layer = 0; layer < layers; ++layer)
    append(parts[as_index(fragment_of(pattern, layer, layers, count))], model.layers[as_index(layer)]);
  if (!embeddings_apart) {
    append(parts.back(), {model.layers.back().end, model.parameters});
    return parts;
  }
  Columns embeddings;
  for (const Parameter& parameter : model.layout)
    if (parameter.layer < 0)
      append(parameter.is_embedding() ? embeddings : parts.back(),
             {parameter.offset, parameter.offset + parameter.size()});
  parts.push_back(std::move(embeddings));
  return parts;
}

}  // namespace longhaul
