#include "core/scenario/scenario_options.h"

#include "core/base/errors.h"
#include "core/base/limits.h"
#include "core/base/model_shape.h"
#include "core/scenario/corpora.h"
#include "core/scenario/fault.h"
#include "core/scenario/inner_optimizer.h"
#include "core/scenario/metrics.h"
#include "core/scenario/pipeline.h"
#include "core/scenario/recovery.h"

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
                  .means("byte tokens; system-headers: the C and C++ headers of libstdc++, libc and Linux in "
                         "the standard include folder; linux-source-6.1: Debian's package of that name, "
                         "unpacked by scripts/linux_source.sh; debian-prose-12: English paragraphs of Debian "
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
                         "on. "
                         "Without it the end of the text is held out")})
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
                  .means(
                      "held-out share: of a corpus this share of its files (system-headers), folders "
                      "(linux-source-6.1) or documents (debian-prose-12), chosen by a hash of their names; "
                      "otherwise the end of the text"),
              either("evaluate_sequences", {integer("").at_least(1), choice("", {"all"})})
                  .by_default(32)
                  .in("sequences")
                  .means("validation sequences of one evaluation, evenly spaced over the held-out part: the "
                         "same for every replica, step, method and seed; \"all\": the whole part, each token "
                         "predicted once"),
              integer("evaluate_every")
                  .at_least(1)
                  .in("steps")
                  .means("steps between evaluations; default a tenth of the steps"),
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
        boolean("qkv_bias").means("biases of queries, keys and values; default false")})
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
                  {number("peak").above(0).required().in("FLOP/s").means("peak of one accelerator"),
                   number("utilisation").above(0).at_most(1).by_default(0.4).means("model FLOP utilisation"),
                   large_integer("tokens")
                       .at_least(1)
                       .at_most(kMostTokens)
                       .in("tokens")
                       .means("tokens per replica and step; default workload.tokens")})
                  .means("6 · parameters · tokens / (peak · utilisation)")})
      .by_default({{"constant", "1s"}})
      .means("compute time of one inner step");
}

Node workload_options() {
  return section(
             "workload",
             {either("model", {choice("", preset_names()), section("", workload_dimensions())})
                  .means("the model whose bytes travel; default the trained one"),
              large_integer("parameters")
                  .at_least(1)
                  .at_most(kMostParameters)
                  .means("parameter count, instead of model"),
              choice("wire", {"fp32", "bf16", "fp16", "int8"})
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
                         "0.5}; the draws stay the same")})
      .filled()
      .means("what the network carries and how long a step takes");
}

Node message_time_options() {
  return section("message_time",
                 {duration("mean").at_least(0).required().means("the expectation; 0: communication is free"),
                  duration("std").at_least(0).by_default("0s").means("standard deviation")})
      .means(
          "each message takes an independent log-normal time, whatever its size and the links: the NoLoCo "
          "paper's assumption. On a mesh; on a star with an rtt of 0 it is the time that the message would "
          "take alone. Fidelities analytic and flow");
}

Node tcp_options() {
  return section(
             "tcp",
             {either("window", {choice("", {"unlimited"}), bytes("").above(0)})
                  .by_default("unlimited")
                  .means("largest window of one connection"),
              integer("connections")
                  .at_least(1)
                  .by_default(1)
                  .means("parallel connections from one replica to another; a transfer is split evenly "
                         "over them"),
              choice("congestion_control", {"cubic", "reno", "bbr"})
                  .by_default("cubic")
                  .means(
                      "of the senders; bbr: ns-3's BBR, fidelity packet only, where no packets are lost (no "
                      "loss, no fifo below 1.5 products)"),
              choice("queue", {"host", "fq_codel", "fifo"})
                  .by_default("host")
                  .means("host: fair queueing at the sender without local drops (a tuned Linux host); "
                         "fq_codel; fifo: drops what comes when it is full (fidelity packet)"),
              choice("trunk_queue", {"same", "fifo"})
                  .by_default("same")
                  .means("of links between routers: same as queue; fifo: of queue_size, while the links of "
                         "the replicas keep queue (fidelity packet)"),
              either("queue_size", {number("").above(0), bytes("").above(0)})
                  .by_default(1)
                  .means("of a fifo at every link: a number of bandwidth-delay products (of the link and the "
                         "longest round trip over it; at least 20 packets), or bytes"),
              boolean("ecn").by_default(false).means("explicit congestion notification, with fq_codel"),
              number("loss").at_least(0).at_most(0.5).by_default(0).means(
                  "probability that a packet is lost on a link"),
              choice("loss_response", {"linux", "ns3-3.37"})
                  .by_default("linux")
                  .means("what CUBIC does between random losses: linux: never below Reno (RFC 8312, 4.2); "
                         "ns3-3.37: the cubic alone, as in fidelity packet"),
              integer("segment").at_least(536).at_most(65483).by_default(1448).in("bytes").means(
                  "TCP payload of one packet"),
              boolean("slow_start_after_idle")
                  .by_default(true)
                  .means("a connection that was silent for longer than its time-out starts again with a "
                         "smaller window (RFC 2861; net.ipv4.tcp_slow_start_after_idle of a Linux host); "
                         "false: it keeps its window")})
      .filled()
      .means("how a transfer is carried");
}

Node rank_order_options(const std::vector<std::string>& without_sites) {
  return either("rank_order", {choice("", words_of<RankOrderSpec::Kind>()),
                               list_of("", integer("").at_least(0)).not_empty()})
      .by_default("blocks")
      .means(
          "which site rank (replica) 0, 1, … is at; rings, trees and halving-doubling go by rank. With "
          "stages "
          "a rank is a worker: rank r · stages + s is stage s of replica r. blocks: site after site; "
          "round-robin: over the sites in turn; random: a permutation drawn from the seed; optimized: for "
          "the "
          "case's all-reduce, or with stages for its step, on the paths' latency and throughput (longhaul "
          "check says what it gains); a list: entry r is the place of rank r, places counted as in blocks. "
          "Only blocks on " +
          enumeration(without_sites, "and") + ", which have no sites");
}

Node override_options() {
  return list_of(
             "overrides",
             section("", {text("link").means("name of a link (links.csv) or a glob, as \"*-core\""),
                          either("replica", {integer("").at_least(0), text("")})
                              .means("instead of link: a replica, or a range as \"3-7\": all its links"),
                          rate("rate").means("both directions, above 0"),
                          rate("up").means("from the replica, or from the first to the second node of the "
                                           "link's name; above 0"),
                          rate("down").means("the other direction, above 0"),
                          duration("delay").means("one way, at least 0")}))
      .means("links that differ from the topology as built, in this order: the last one wins");
}

// Shorter periods would make a replay of hours one of millions of changes.
constexpr double kShortestPeriod_s = 1e-3;

Node direction_option() {
  return choice("direction", {"both", "forward", "backward"})
      .by_default("both")
      .means("forward: from the first to the second node of the link's name");
}

Node trace_options() {
  return section(
      "",
      {text("link").required().means("name of a link, or a glob of names, as replica*-core"),
       text("file").required().means("CSV with the columns time_s and rate_bps, delay_s or both"),
       either("repeat", {boolean(""), duration("").at_least(kShortestPeriod_s)})
           .by_default(false)
           .means("false: the last row stays; true: from the beginning again at the time of the last row; "
                  "or the period"),
       direction_option()});
}

Node background_options() {
  return section(
      "",
      {text("link").means("name of a link, or a glob of names, each with traffic of its own"),
       direction_option(), text("from").means("instead of link, with to: the node where the traffic begins"),
       text("to").means("the node where it ends"),
       integer("flows").at_least(1).means(
           "so many long-lived TCP connections, which take their max-min share of what they meet"),
       rate("rate").above(0).means("instead of flows: a rate on the wire that yields to nobody"),
       number("share").above(0).at_most(0.9).means(
           "instead of flows: such a rate as a part of the link's own"),
       duration("on")
           .at_least(kShortestPeriod_s)
           .means("mean of the exponential times in which it is on; default always"),
       duration("off").at_least(kShortestPeriod_s).means("mean of the times between them, with on")});
}

Node jitter_options() {
  return section(
             "jitter",
             {number("rate_sigma")
                  .at_least(0)
                  .at_most(3)
                  .by_default(0)
                  .means("standard deviation of the logarithm of a factor on the rate"),
              number("delay_sigma")
                  .at_least(0)
                  .at_most(3)
                  .by_default(0)
                  .means("standard deviation of the logarithm of a factor on the delay"),
              duration("every").at_least(kShortestPeriod_s).by_default("1s").means("how long a draw stays")})
      .means("log-normal factors of mean 1 for each link and direction, from the seed");
}

Node network_options(const TopologyOptions& topologies) {
  return section(
             "network",
             {choice("fidelity", {"flow", "packet", "analytic"})
                  .by_default("flow")
                  .means("flow: max-min fair fluid with TCP's start-up; packet: ns-3 TCP, packet by packet; "
                         "analytic: every message on its own, as the NoLoCo paper's latency model"),
              one_of("topology", topologies.sections).required().means("who is joined to whom"),
              rank_order_options(topologies.without_sites), override_options(), message_time_options(),
              boolean("barrier").by_default(false).means(
                  "true: no message of an exchange travels before all of its group are ready, as the NoLoCo "
                  "paper counts; false: it travels once both its ends are"),
              either("slice", {choice("", {"whole", "nccl", "gloo"}), bytes("").at_least(1)})
                  .by_default("whole")
                  .means("into what a message of ring, pair, tree, leaf-tree, heap-tree, direct, "
                         "parameter-server, all-gather and reduce-scatter is cut; a slice is passed on as "
                         "soon as it has arrived. whole: not at all; bytes: equal slices of at most that; "
                         "nccl, gloo: as these libraries cut by default (docs/reference/collectives.md)"),
              either("eager", {choice("", {"unlimited"}), bytes("").at_least(0)})
                  .by_default("0B")
                  .means(
                      "bytes that a sender pushes to a receiver that has not posted the exchange yet (what "
                      "the sockets of both ends hold); 0: none (rendezvous)"),
              tcp_options(), variation_options()})
      .filled()
      .means("the wide-area network");
}

Node claim_options() {
  return section("",
                 {text("id").required().means("names the claim in summary.json"),
                  text("statement").means("the claim in words"),
                  choice("metric", metric_paths()).means("a number of a case record (docs/formats.md)"),
                  choice("ratio", metric_paths())
                      .means("instead of metric: that number of the method `of` over that of `to`"),
                  text("of").means("label of a method; with metric optional: only its cases"),
                  text("to").means("label of a method"), number("at_least").means("the bound"),
                  number("at_most").means("instead of at_least"),
                  number("equals").means("instead of at_least, with within"),
                  number("within").at_least(0).means("allowed deviation from equals, as a fraction of it"),
                  table_of("where", anything("")).means("{swept key: value}: only these cases"),
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

}  // namespace

std::vector<Node> common_method_options(const Json& optimizer) {
  return {text("name").required().means("which method"),
          text("label").means("how the case is called; default the name; must be unique in the scenario"),
          method_optimizer_options(optimizer), method_pipeline_options()};
}

Node scenario_options(std::vector<Node> methods, const TopologyOptions& topologies) {
  return section(
      "",
      {text("$schema").means("for editors"), text("name").means("default: the file's name"),
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
       pipeline_options(), train_options(), workload_options(), network_options(topologies), fault_options(),
       recovery_options(),
       anything("sweep").means("{dotted key: [values]}: every combination is a case; a list of such objects "
                               "is the union of their products; methods.LABEL.key addresses one method"),
       list_of("claims", claim_options()).means("statements that the run judges: holds, fails or undecided"),
       choice("tables", {"all", "totals"})
           .by_default("all")
           .means("what a finished case leaves behind: all its tables, or its record and its totals alone "
                  "(large sweeps)"),
       validation_options()});
}

Node variation_options() {
  return section("variation",
                 {list_of("traces", trace_options()).means("rates and delays of links from files"),
                  list_of("background", background_options()).means("traffic of others"), jitter_options()})
      .means("what of the network changes with time; nothing by default");
}

}  // namespace longhaul
