// Expert parallelism (GShard, arXiv 2006.16668, section 3.2): two all-to-alls of a layer with experts and
// pass, between which its feed-forward network computes. Tokens choose all experts equally often, so that each replica sends 1/n of its tokens'
// copies to each other one.
#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "core/base/errors.h"
#include "core/parallelism/layer_operations.h"

namespace longhaul {
namespace {

Node expert_option() {
  return section(
             "experts",
             {integer("per_token")
                  .at_least(1)
                  .means("experts that a token passes; default those of workload.model"),
              hidden_option(),
              number("parameters")
                  .at_least(1)
                  .means("of all routed experts of the model together, of which a replica has "
                         "1/group_size; default those of workload.model"),
              number("bytes_per_token")
                  .above(0)
                  .in("bytes")
                  .means("what a token takes to all of its experts, and as much back; without it per_token "
                         "times hidden numbers in workload.wire"),
              choice("collective", {"pairwise", "bruck"})
                  .by_default("pairwise")
                  .means("how an all-to-all is lowered")})
      .means(
          "expert parallelism: in each layer with experts activations go to the replicas that have a token's "
          "experts, and back, in each pass (GShard, arXiv 2006.16668)");
}

struct ExpertsSpec {
  int per_token = 0;  // 0: those of workload.model; likewise below
  int hidden = 0;
  double parameters = 0;  // of all routed experts of the whole model
  double bytes_per_token =
      0;  // to all of its experts, each way; 0: per_token · hidden numbers of workload.wire
  std::string collective;
};

ExpertsSpec parse_spec(const Json& json) {
  return {json.value("per_token", 0), json.value("hidden", 0), json.value("parameters", 0.),
          json.value("bytes_per_token", 0.), json.at("collective")};
}

class ExpertOperations : public LayerOperations {
 public:
  ExpertOperations(const LayerContext& context, StepGraphBuilder& builder)
      : model_(context.model), group_size_(context.spec.group_size), spec_(parse_spec(context.spec.options)) {
    context.need_tokens();
    double bytes_per_token = spec_.bytes_per_token;
    if (bytes_per_token == 0)
      bytes_per_token = 1. * per_token() *
                        static_cast<double>(context.width(spec_.hidden, "parallelism.experts.hidden")) *
                        bytes_per_parameter(model_.wire);
    bytes_ = context.whole_bytes(
        bytes_per_token * static_cast<double>(context.microbatch_tokens),
        spec_.bytes_per_token > 0 ? "parallelism.experts.bytes_per_token" : "workload.tokens");
    if (has_own_experts()) refuse_what_the_model_says();
    if (has_own_experts() && model_.shape->experts.count % group_size_ != 0)
      throw InputError(
          "parallelism.group_size",
          fmt::format("found {} with {} experts in a layer", group_size_, model_.shape->experts.count),
          fmt::format("a divisor of {}", model_.shape->experts.count),
          "each replica of a group has as many experts");
    dispatch_ = builder.add({"dispatch", OperationKind::kAllToAll, spec_.collective});
    combine_ = builder.add({"combine", OperationKind::kAllToAll, spec_.collective});
  }

  // The backward pass gets the gradients of what was combined, and passes on those of what was dispatched.
  void before_feed_forward(StepGraphBuilder& builder, const LayerPass& pass) override {
    if (has_experts(pass.layer)) builder.exchange(pass.is_forward ? dispatch_ : combine_, bytes_);
  }
  void after_feed_forward(StepGraphBuilder& builder, const LayerPass& pass) override {
    if (has_experts(pass.layer)) builder.exchange(pass.is_forward ? combine_ : dispatch_, bytes_);
  }

  HeldParameters held() const override {
    const std::int64_t routed = routed_parameters();
    return {model_.parameters - routed, (routed + group_size_ - 1) / group_size_};
  }

 private:
  void refuse_what_the_model_says() const {
    for (const auto& [is_given, key] :
         {std::pair{spec_.per_token > 0, "per_token"}, {spec_.parameters > 0, "parameters"}})
      if (is_given)
        throw InputError(fmt::format("parallelism.experts.{}", key), "found beside a model that has experts",
                         "no such key", "workload.model says it");
  }

  bool has_own_experts() const { return model_.shape && model_.shape->experts.count > 0; }
  bool has_experts(int layer) const { return !has_own_experts() || model_.shape->has_experts(layer); }

  int per_token() const {
    if (spec_.per_token > 0) return spec_.per_token;
    if (has_own_experts()) return model_.shape->experts.per_token;
    throw InputError("parallelism.experts.per_token", "this key is missing", "an integer of at least 1",
                     "the model names no experts; or give bytes_per_token");
  }

  std::int64_t routed_parameters() const {
    if (!has_own_experts() && spec_.parameters == 0)
      throw InputError(
          "parallelism.experts.parameters", "this key is missing", "a number of at least 1",
          "the model names no experts: what of its parameters is shared by a group is not known");
    if (spec_.parameters > static_cast<double>(model_.parameters))
      throw InputError("parallelism.experts.parameters",
                       fmt::format("found {:.6g} of {} parameters", spec_.parameters, model_.parameters),
                       "at most the parameters of the model");
    if (!has_own_experts()) return std::llround(spec_.parameters);
    std::int64_t routed = 0;
    for (const Parameter& parameter : parameter_layout(*model_.shape))
      if (parameter.name.find(".experts.") != std::string::npos) routed += parameter.size();
    return routed;
  }

  const StepModel& model_;
  const int group_size_;
  const ExpertsSpec spec_;
  std::int64_t bytes_ = 0;
  int dispatch_ = 0, combine_ = 0;
};

std::unique_ptr<LayerOperations> make_experts(const LayerContext& context, StepGraphBuilder& builder) {
  return std::make_unique<ExpertOperations>(context, builder);
}

}  // namespace

ParallelKind experts_kind() {
  return {"experts", expert_option, make_experts};
}

}  // namespace longhaul
