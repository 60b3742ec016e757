// Decoupled DiLoCo (arXiv 2604.21428): replicas ("learners") that never wait. Each sends the outer gradient
// of a fragment, when it is due at its own step, to a synchronizer, which makes a merge of what has arrived
// when a quorum is there and a grace time is over; contributions count by the tokens behind them. Lengths and
// directions are averaged apart, tensor by tensor; embeddings are a fragment of their own and are averaged as
// they are. The merged fragment goes back to those that contributed and is mixed in when it has come.
#include <fmt/core.h>

#include "core/base/errors.h"
#include "methods/common/compression.h"
#include "methods/common/waiting.h"
#include "methods/streaming_diloco.h"

namespace longhaul {
namespace decoupled_diloco {

std::vector<Node> options() {
  return joined(
      {fragment_options({24, 1, 2, 1}),
       {choice("merge", {"radial-directional", "mean"})
            .by_default("radial-directional")
            .means(
                "radial-directional: of each tensor the mean length times the direction of the mean of the "
                "unit vectors, of differences from the synchronizer's model; embeddings, a fragment of their "
                "own, are averaged as they are. mean: all is averaged as it is, with streaming-diloco's "
                "fragments, each Δ from what its replica took up last")},
       merge_options()});
}

bool is_radial(const Json& options) {
  return options.at("merge") == "radial-directional";
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  const Json& options = method.options;
  OperationPlan plan{fragment_rules(options, model, is_radial(options) && !model.layers.empty())};
  for (OperationRule& rule : plan.rules) {
    rule.kind = OperationKind::kMerge;
    rule.collective = "parameter-server";
    rule.completion = completion_of(options);
    if (options.at("slack") != "unlimited") rule.slack_steps = options["slack"];
    rule.answer = whole({"phi"}, model.wire);
    rule.answer[0].columns = rule.payload[0].columns;
    rule.payload[0].codec = codec_of(options, model, rule.payload[0].columns);
  }
  return plan;
}

void check_quorum(const Case& config) {
  const Json& options = config.method.options;
  const Json& quorum = options.at("quorum");
  if (quorum.is_number() && quorum.get<int>() > config.replicas)
    throw InputError("method.quorum", fmt::format("found {}", quorum.get<int>()),
                     fmt::format("at most {}, the replicas", config.replicas));
  if (options.at("slack") == "unlimited") return;
  if (!completion_of(options).is_all())
    throw InputError("method.slack",
                     fmt::format("found {} with quorum {}", options["slack"].dump(), quorum.dump()),
                     "\"unlimited\", or quorum \"all\"",
                     "replicas that wait for merges of others, which wait for them, could wait for ever");
  const int inner = options.at("inner_steps"), overlap = options.at("overlap"), slack = options["slack"];
  if (slack >= inner - overlap)
    throw InputError("method.slack",
                     fmt::format("found {} with inner_steps {} and overlap {}", slack, inner, overlap),
                     fmt::format("\"unlimited\", or below {}", inner - overlap),
                     "a fragment comes back before it is due again");
}

void check(const Case& config) {
  if (config.method.options.at("error_feedback") == "ef21")
    throw InputError("method.error_feedback", "found \"ef21\"", "none or classic",
                     "the mean that it adds up is one of all replicas, equally weighted");
  if (is_radial(config.method.options) && config.train && !config.workload.model)
    throw InputError("method.merge", "found \"radial-directional\" with workload.parameters", "\"mean\"",
                     "or give workload.model: the embeddings are a fragment of their own");
  if (const std::vector<std::string> differ = fragment_warnings(config); !differ.empty())
    throw InputError("method.fragments", "found 0 where " + differ.front(), "the number of fragments",
                     "the training follows the merges of the fragments that the network carries");
}

}  // namespace decoupled_diloco

Method decoupled_diloco_method() {
  using namespace decoupled_diloco;
  return Method("decoupled-diloco",
                "merges of fragments by quorum, for which no replica waits (arXiv 2604.21428)", options(),
                plan, {check_inner_steps, check_compression, check_fragments, check_quorum, check}, {},
                keeps_slow_weights);
}

}  // namespace longhaul
