#include "core/scenario/scenario_options.h"

#include "core/base/errors.h"
#include "core/base/limits.h"
#include "core/base/model_presets.h"
#include "core/base/model_shape.h"
#include "core/parallelism/parallelism.h"
#include "core/scenario/case.h"
#include "core/scenario/fault.h"
#include "core/scenario/inner_optimizer.h"
#include "core/scenario/metrics.h"
#include "core/scenario/pipeline.h"
#include "core/scenario/rollouts.h"
#include "core/scenario/training_text.h"

namespace longhaul {
namespace {

std::vector<Node> model_dimensions() {
  return {
      integer("hidden").at_least(2).by_default(128).means("width of the residual stream"),
      integer("layers").at_least(1).at_most(kMostLayers).by_default(4).means("decoder layers"),
      integer("heads").at_least(1).by_default(4).means("attention heads; must divide hidden"),
      integer("ffn").at_least(1).by_default(384).means("inner width of SwiGLU"),
      integer("context").at_least(2).by_default(128).in("tokens").means("length of a sequence"),
      integer("vocabulary")
          .at_least(2)
          .by_default(256)
          .in("tokens")
          .means("size of the vocabulary; 256 for byte tokens"),
  };
}

Node data_options() {
  return one_of(
             "data",
             {choice("corpus", {"system-headers", kLinuxSource.name, kDebianProse.name})
                  .means("byte tokens; system-headers: the C and C++ headers in the standard include folder; "
                         "linux-source-6.1: Debian's package, by scripts/linux_source.sh; debian-prose-12: "
                         "English paragraphs of Debian "
                         "12's documentation packages, by scripts/debian_prose.sh"),
              list_of("text", text("")).not_empty().means("globs of text files, read as byte tokens"),
              list_of("shards", text(""))
                  .not_empty()
                  .means(
                      "globs of llm.c token shards (header of 256 int32: 20240520, 1, count; then uint16)"),
              section("synthetic",
                      {integer("branching")
                           .at_least(1)
                           .by_default(4)
                           .means("successors of each token; their entropy is the best reachable loss"),
                       large_integer("tokens")
                           .at_least(1000)
                           .at_most(kMostTokens)
                           .by_default(1000000)
                           .in("tokens")
                           .means("length of the text")})
                  .means("a first-order Markov source of known entropy"),
              list_of("validation", text(""))
                  .not_empty()
                  .beside()
                  .means("with text or shards: globs of the files to validate on; the others are all trained "
                         "on. Without it the end of the text is held out")})
      .by_default({{"corpus", "system-headers"}})
      .means("what the replicas are trained on");
}

Node train_options() {
  return section(
             "train",
             {integer("steps").at_least(1).required().in("steps").means("inner steps of each replica"),
              section("model", model_dimensions()).filled().means("the model that is really trained"),
              data_options(),
              number("validation_fraction")
                  .above(0)
                  .at_most(0.5)
                  .by_default(0.05)
                  .means("held-out share: of a corpus's files, folders (linux-source-6.1) or documents "
                         "(debian-prose-12), by a hash of their names; otherwise the end of the text"),
              either("evaluate_sequences", {integer("").at_least(1), choice("", {"all"})})
                  .by_default(32)
                  .in("sequences")
                  .means("validation sequences of one evaluation, evenly spaced over the held-out part: the "
                         "same for every replica, step, method and seed; \"all\": the whole part"),
              integer("evaluate_every")
                  .at_least(1)
                  .in("steps")
                  .means("steps between evaluations; default a tenth of the steps"),
              integer("changed_values_every")
                  .at_least(0)
                  .by_default(0)
                  .later()
                  .in("steps")
                  .means(
                      "steps between rows of changed_values.csv: the share of the weights whose bf16 value "
                      "a step has changed; 0: no such table"),
              boolean("evaluate_ensemble")
                  .by_default(false)
                  .later()
                  .means("also the loss of the ensemble after the last step: of the mean of the replicas' "
                         "predicted probabilities, token by token"),
              integer("checkpoint_every")
                  .at_least(1)
                  .timing_only()
                  .in("steps")
                  .means(
                      "steps between checkpoints, from which longhaul run --resume goes on; the last two are "
                      "kept; default a tenth of the steps"),
              integer("batch")
                  .at_least(1)
                  .by_default(4)
                  .in("sequences")
                  .means("sequences per replica and step"),
              optimizer_options(),
              choice("device", {"auto", "cpu", "cuda"})
                  .by_default("auto")
                  .means("where the replicas live; auto takes a GPU when there is one"),
              choice("precision", words_of<Precision>())
                  .by_default("float32")
                  .means("of the matrix products; with bf16 weights, optimizer and residual stream stay "
                         "float32"),
              number("target_loss")
                  .above(0)
                  .timing_only()
                  .means(
                      "time_to_target_s is the simulated time at which the mean validation loss reaches it")})
      .means("what is really trained; without it only the network is simulated");
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const ModelPreset& preset : model_presets()) names.push_back(preset.name);
  return names;
}

Node expert_options() {
  return section("experts",
                 {integer("count").at_least(1).required().means("experts of a layer, without the shared one"),
                  integer("per_token").at_least(1).required().means("of these compute a token"),
                  integer("ffn").at_least(1).required().means("inner width of each"),
                  integer("shared_ffn")
                      .at_least(0)
                      .means("inner width of what every token passes beside them; default 0: nothing"),
                  integer("dense_layers")
                      .at_least(0)
                      .at_most(kMostLayers)
                      .means("first layers without experts, whose inner width is the model's ffn; default 0"),
                  integer("every")
                      .at_least(1)
                      .at_most(kMostLayers)
                      .means("behind these only every so many layers one has experts; default 1")})
      .means("of a mixture of experts: compute counts those of a token, traffic and memory all");
}

Node latent_options() {
  return section("latent",
                 {integer("rank").at_least(1).required().means("of keys and values"),
                  integer("query_rank").at_least(0).means("of queries; default 0: not projected down"),
                  integer("plain").at_least(1).required().means("width of a head's part that is not turned"),
                  integer("turned").at_least(1).required().means("width of the part that is"),
                  integer("value").at_least(1).required().means("width of a head's values")})
      .means("latent attention (DeepSeek-V2, arXiv 2405.04434), instead of kv_heads and head_width");
}

// Of a model whose bytes travel; the trainer has none of the rest.
std::vector<Node> workload_dimensions() {
  std::vector<Node> all = model_dimensions();
  for (Node more :
       {integer("kv_heads")
            .at_least(1)
            .means("heads of keys and values, a divisor of heads (grouped queries); default heads"),
        integer("head_width").at_least(2).means("of each head; default hidden / heads"),
        boolean("gated").means("a gate in the feed-forward part: three matrices, not two; default true"),
        boolean("tied").means("the output is the embedding; default false"),
        boolean("qkv_bias").means("biases of queries, keys and values; default false"),
        integer("further").at_least(0).means(
            "weights of each layer that no other key counts (scales of queries and keys, biases); "
            "default 0"),
        expert_options(), latent_options()})
    all.push_back(std::move(more));
  return all;
}

Node step_time_options() {
  return one_of(
             "step_time",
             {duration("constant").above(0).means("the same for every replica and step"),
              section("lognormal",
                      {duration("mean").above(0).means("the expectation"),
                       number("mu").in("log s").means("mean of the logarithm, instead of mean"),
                       number("sigma").at_least(0).required().means("standard deviation of the logarithm")})
                  .means("drawn for each replica and step from the seed"),
              boolean("measured").means("true: what the trainer measured on this machine"),
              section(
                  "flops",
                  {number("peak").at_least(1e9).required().in("FLOP/s").means("peak of one accelerator"),
                   number("utilisation").above(0).at_most(1).by_default(0.4).means("model FLOP utilisation"),
                   large_integer("tokens")
                       .at_least(1)
                       .at_most(kMostTokens)
                       .in("tokens")
                       .means("tokens per replica and step; default workload.tokens")})
                  .means("6 · active parameters · tokens / (peak · utilisation)")})
      .by_default({{"constant", "1s"}})
      .means("compute time of one inner step");
}

Node workload_options() {
  return section(
             "workload",
             {either("model", {choice("", preset_names()), section("", workload_dimensions())})
                  .means("the model whose bytes travel; default the trained one. Also a name as "
                         "\"meta-llama/Llama-3.1-70B\" of such a preset, or a config.json of transformers"),
              large_integer("parameters")
                  .at_least(1)
                  .at_most(kMostParameters)
                  .means("parameter count, instead of model"),
              list_of("tensors", large_integer("").at_least(1).at_most(kMostParameters))
                  .not_empty()
                  .means("beside parameters: how many each parameter tensor has, in the model's order, for a "
                         "method's tensors. They add up to parameters. A model knows its own"),
              large_integer("active_parameters")
                  .at_least(1)
                  .at_most(kMostParameters)
                  .means("of a mixture of experts: those that compute a token, for step_time flops; default "
                         "all. Traffic and memory count all"),
              choice("wire", words_of<Wire>())
                  .by_default("bf16")
                  .means("number format of what is exchanged; the trainer rounds to it, but for int8, which "
                         "is replayed alone"),
              integer("steps").at_least(1).in("steps").means("inner steps when nothing is trained"),
              large_integer("total_tokens")
                  .at_least(1)
                  .at_most(kMostTotalTokens)
                  .in("tokens")
                  .means("instead of steps: as many as all replicas need for so many tokens, the last one "
                         "whole"),
              large_integer("tokens")
                  .at_least(1)
                  .at_most(kMostTokens)
                  .in("tokens")
                  .means("tokens per replica and step, for bytes_per_token; default batch times context of "
                         "what is trained"),
              step_time_options(),
              integer("accelerators")
                  .at_least(1)
                  .at_most(kMostReplicas)
                  .means("of each worker, for accelerator_hours; default 1"),
              table_of("step_time_factors", number("").above(0))
                  .means("{replica or range: factor}: slow or fast replicas, {\"3\": 2} or {\"0-3\": "
                         "0.5}, of those that overlap the last one; the draws stay the same")})
      .filled()
      .means("what the network carries and how long a step takes");
}

Node claim_options() {
  return section(
      "", {text("id").required().means("names the claim in summary.json"),
           text("statement").means("the claim in words"),
           choice("metric", metric_paths()).means("a number of a case record (docs/formats.md)"),
           choice("ratio", metric_paths())
               .means("instead of metric: that number of the method `of` over that of `to`"),
           text("of").means("label of a method; with metric optional: only its cases"),
           text("to").means("label of a method"), number("at_least").means("the bound"),
           number("at_most").means("instead of at_least"),
           number("equals").means("instead of at_least, with within"),
           number("within").at_least(0).means("allowed deviation from equals, as a fraction of it"),
           either("where", {table_of("", anything("")), list_of("", table_of("", anything(""))).not_empty()})
               .means("{swept key: value}: only these cases, null: those whose part of the sweep does not "
                      "vary the key; a list of such objects: the cases of any of them"),
           choice("quantifier", {"all", "any", "each"})
               .by_default("all")
               .means("over the points of the sweep; each: a verdict for every point")});
}

Node figure_options() {
  return section(
      "", {text("what").required().means("what was measured, in words"),
           number("value").above(0).required().means("the published figure, in the unit of the metric"),
           number("low").above(0).means("smallest of repeated measurements, where they are published"),
           number("high").above(0).means("largest of repeated measurements"),
           text("unit").by_default("s").means("of the metric, for people"),
           choice("metric", metric_paths()).means("the number of a case record that predicts the figure"),
           choice("ratio", metric_paths())
               .means("instead of metric: that number of the method `of` over that of `to`"),
           text("of").required().means("label of a method"), text("to").means("label of a method"),
           table_of("where", anything(""))
               .means("{swept key: value}: what the source says of this figure; only these cases predict it"),
           table_of("assumed", anything(""))
               .means("{swept key: value}: what the source leaves open and the prediction assumes; the other "
                      "points of the sweep are shown as other assumptions"),
           text("why").means("a sentence that is shown if the prediction is off by more than 15 %")});
}

Node validation_options() {
  return section(
             "validation",
             {choice("kind", {"measurement", "model"})
                  .by_default("measurement")
                  .means("measurement: taken on a real network; model: computed by the publication"),
              text("title").required().means("who measured what on what, in a few words"),
              text("source").required().means("the publication, with its address"),
              text("licence").required().means("of the publication, or what is known of it"),
              text("date").required().means("of the measurement, or of the publication"),
              text("read").required().means(
                  "how the figures were read: which files or tables, or from whom if not from the source"),
              text("setup").required().means("what the source says of hosts, network and traffic"),
              list_of("assumptions", text(""))
                  .means("what the source leaves open, and what the scenario takes instead"),
              list_of("figures", figure_options()).not_empty().required().means("the published figures")})
      .means("published figures to hold this scenario's predictions against: longhaul validate");
}

Node plan_options_of_rollouts() {
  return section("plan",
                 {choice("prefer", metric_paths())
                      .means("of which the choice has the least: default `cost` with rollouts.prices, else "
                             "simulated_time_s"),
                  choice("beside", metric_paths())
                      .means("what is weighed against it: default simulated_time_s, or refit_time_s.mean "
                             "where that is preferred"),
                  table_of("at_most", number("")).means("{metric: bound}: cases beyond are not taken")})
      .means("with rollouts: which case of the sweep longhaul plan takes");
}

Node fit_options() {
  return section(
             "fit",
             {table_of("unknown", anything(""))
                  .means("{dotted key: {\"from\": VALUE, \"to\": VALUE}}: a number that longhaul fit looks "
                         "for in this range; or {dotted key: [values]}: one of these"),
              table_of("found", anything(""))
                  .means("what longhaul fit has found: {dotted key: {value, low, high}}"),
              number("confidence").above(0).at_most(1).means("of low and high"),
              list_of("axes", list_of("", table_of("", anything(""))))
                  .means("pairs of {dotted key: value}: how far what was found may be off, together "
                         "(docs/howto/fit.md)"),
              choice("variance_from", {"repeats", "differences", "published"})
                  .means("what the intervals rest on"),
              number("deviation").at_least(0).means("standard deviation of the logarithm of a time"),
              integer("degrees_of_freedom").at_least(0).means("of that; 0: it is known"),
              text("source").means("of what was found")})
      .means("what is not known, and what was found of it: longhaul fit");
}

}  // namespace

std::vector<Node> common_method_options(const Json& optimizer) {
  return {text("name").required().means("which method"),
          text("label").means("how the case is called; default the name; must be unique in the scenario"),
          method_optimizer_options(optimizer),
          method_pipeline_options(),
          method_parallelism_options(),
          anything("python")};  // what longhaul makes of a step in Python (methods/common/python_step.h)
}

Node scenario_options(std::vector<Node> methods, const TopologyOptions& topologies) {
  return section(
      "",
      {text("$schema").means("for editors"),
       text("name").means("default: the file's name"),
       text("description").means("a sentence for people"),
       large_integer("seed").by_default(1).means("all random draws come from it"),
       list_of("seeds", large_integer("")).not_empty().means("instead of seed: every case once with each"),
       integer("replicas")
           .at_least(1)
           .at_most(kMostReplicas)
           .required()
           .means("data-parallel copies of the model"),
       list_of("methods", tagged("", "name", std::move(methods)))
           .not_empty()
           .required()
           .means("what is compared"),
       pipeline_options(),
       parallelism_options(),
       train_options(),
       workload_options(),
       network_options(topologies),
       rollout_options(),
       fault_options(),
       recovery_options(),
       anything("sweep").means("{dotted key: [values]}: every combination is a case; a list of such objects "
                               "is the union of their products; methods.LABEL.key addresses one method, of "
                               "labels that hold points "
                               "the longest that fits"),
       list_of("claims", claim_options()).means("statements that the run judges: holds, fails or undecided"),
       choice("tables", {"all", "totals"})
           .by_default("all")
           .means("what a finished case leaves behind: all its tables, or its record and its totals alone "
                  "(large sweeps)"),
       validation_options(),
       fit_options(),
       plan_options_of_rollouts()});
}

}  // namespace longhaul
