#include "methods/common/registry.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/plan/absences.h"
#include "core/plan/trace.h"
#include "core/scenario/scenario_options.h"
#include "methods/common/dynamic_steps.h"
#include "methods/common/method.h"
#include "methods/common/python_step.h"
#include "methods/common/shards.h"
#include "methods/common/stages.h"
#include "methods/common/tensors.h"

namespace longhaul {
namespace {

void keep_numerics(const std::vector<Node>& options, Json& values) {
  for (const Node& option : options)
    if (option.is_timing_only || (option.is_later && values.value(option.key, Json()) == option.fallback))
      values.erase(option.key);
}

const std::vector<Node>& train_options() {
  static const Node section = *scenario_options({}, {}).child("train");
  return section.children;
}

// With the stages of the case; `shape`: of the model, where it is known.
OperationPlan whole_plan(const Case& config, const PlannedModel& model,
                         const std::optional<ModelShape>& shape, std::int64_t tokens) {
  OperationPlan plan = method_named(config.method.name).plan(config.method, model);
  plan.keeps = rows_kept_by(config.method);
  change_plan(config.method.options, model, plan);
  plan = with_stages(std::move(plan),
                     pipeline_plan(config.pipeline, shape, model.parameters, tokens, model.wire), model);
  split_by_tensors(config.method.options, model, plan);
  plan.dynamic_steps = dynamic_steps_of(config);
  return plan;
}

}  // namespace

PlannedModel planned_model(const ModelShape& shape, Wire wire) {
  std::vector<Parameter> layout = parameter_layout(shape);
  std::vector<ColumnRange> tensors = tensors_of_layout(layout);
  return {shape.parameters(), layer_columns(shape), wire, std::move(layout), std::move(tensors)};
}

const Method& method_named(const std::string& name) {
  return find_named(name, methods(), &Method::name, "method.name");
}

std::vector<Node> method_options() {
  std::vector<Node> sections;
  for (const Method& method : methods()) {
    std::vector<Node> options = common_method_options(method.optimizer);
    options.insert(options.end(), method.options.begin(), method.options.end());
    sections.push_back(section(method.name, std::move(options)).means(method.about));
  }
  sections.push_back(python_method_option());
  return sections;
}

void check_method_options(const Case& config) {
  const Method& method = method_named(config.method.name);
  std::vector<Node> options = joined({common_method_options(method.optimizer), method.options});
  for (Node& option : options)
    if (!option.fallback.is_null()) option.required();  // `longhaul run` has filled it in
  if (has_python_step(config.method.options))
    for (Node& option : options)
      if (option.key == "python") option = python_section();
  check_declared(section("", std::move(options)), config.method.options, "method");
}

std::vector<std::string> rows_kept_by(const MethodSpec& method) {
  const auto keeps = method_named(method.name).keeps;
  return keeps ? keeps(method.options) : std::vector<std::string>();
}

OperationPlan plan_of(const Case& config) {
  const WorkloadSpec& workload = config.workload;
  PlannedModel model{workload.parameters, {}, workload.wire, {}, tensors_of_sizes(workload.tensors)};
  if (workload.model) model = planned_model(*workload.model, workload.wire);
  model.parameters = workload.parameters;
  return with_shards(whole_plan(config, model, workload.model, workload.tokens), config,
                     {workload.model, workload.parameters, workload.tokens, workload.wire});
}

OperationPlan trained_plan_of(const Case& config) {
  const ModelShape& shape = config.train->model;
  return whole_plan(config, planned_model(shape, config.workload.wire), shape,
                    std::int64_t{config.train->batch} * shape.context);
}

Case trained_case(Case config) {
  const OperationPlan plan = trained_plan_of(config);
  if (plan.has_own_data) config.train->shards = config.replicas;
  if (!plan.takes_whole_batch) return config;
  config.train->streams = config.replicas;
  config.train->batch *= config.replicas;  // core/scenario/case.cc has checked that it can be
  config.replicas = 1;
  return config;
}

PlanContext plan_context(const Case& config) {
  if (needs_sites(plan_of(config)) && static_cast<int>(config.site_of.size()) != config.replicas)
    throw InputError("sites",
                     fmt::format("found {} sites of {} replicas", config.site_of.size(), config.replicas),
                     "the site of every replica, for groups by sites", "longhaul run writes it");
  return {config.seed, config.replicas, config.steps(), config.workload.parameters, config.site_of};
}

Trace trace_of(const Case& config) {
  Trace trace = make_trace(plan_of(config), plan_context(config));
  trace.evaluate_every = config.train ? config.train->evaluate_every : 0;
  return trace;
}

bool times_decide(const Case& config) {
  return do_times_decide(config, plan_of(config));
}

std::string training_key(const Case& config) {
  Json method = config.method.options;
  method.erase("label");
  if (has_python_step(method))
    for (const char* key : {"columnwise", "declares", "file", "keeps", "line", "model", "options",
                            "own_alone", "reads", "sends"})
      method["python"].erase(key);  // they follow from the content, and from train.model
  const bool do_times_decide = times_decide(config);
  if (!do_times_decide) keep_numerics(method_named(config.method.name).options, method);
  // As before there was a choice: without sites a training keeps its name.
  if (method.value("pairing", "random") == "random")
    for (const char* key : {"pairing", "across_every"}) method.erase(key);
  else
    method["sites"] = config.site_of;
  for (const auto& [later, fallback] : {std::pair{"tensors", "flat"}, {"warmup_steps", "none"}})
    if (method.value(later, Json(fallback)) == fallback) method.erase(later);
  // The option alone changes nothing; the steps that follow from it do.
  method.erase("dynamic_steps");
  if (const DynamicSteps steps = dynamic_steps_of(config); steps.is_on()) method["steps_taken"] = steps.taken;
  Json train = config.resolved.at("train");
  keep_numerics(train_options(), train);
  if (config.train->precision == Precision::kFloat32)
    train.erase("precision");  // as before there was a choice
  Json key = {{"seed", config.seed},
              {"replicas", config.replicas * config.train->streams},
              {"method", method},
              {"train", train},
              {"wire", to_string(config.workload.wire)},
              {"folder", config.train->data.globs.empty() ? "" : config.folder}};
  if (const Json pipeline = member(config.resolved, "pipeline"); !pipeline.is_null()) {
    key["pipeline"] = pipeline;
    keep_numerics(pipeline_options().children, key["pipeline"]);
  }
  if (do_times_decide)  // who takes part depends on all that takes time
    for (const char* section : {"workload", "network", "faults"})
      if (config.resolved.contains(section)) key[section] = config.resolved[section];
  if (may_lack_members(config, plan_of(config))) key["recovery"] = member(config.resolved, "recovery");
  return config.method.name + "-" + hex64(fnv1a(key.dump()));
}

}  // namespace longhaul
