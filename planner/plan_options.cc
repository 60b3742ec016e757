#include "planner/plan_options.h"

#include "core/base/errors.h"
#include "core/base/limits.h"
#include "core/base/model_shape.h"
#include "core/scenario/pipeline.h"
#include "net/library.h"
#include "planner/accelerators.h"

namespace longhaul {
namespace {

Node accelerator_options() {
  return section(
             "accelerator",
             {choice("name", accelerator_names())
                  .means("a known one: peak and memory come from its datasheet"),
              either("peak", {number("").at_least(1e9), text("")})
                  .in("FLOP/s")
                  .means(
                      "of one accelerator in bf16 without sparsity, instead of what the name says; a number, "
                      "or \"2.25 PFLOPS\""),
              bytes("memory").above(0).means("of one accelerator, instead of what the name says"),
              number("utilization")
                  .above(0)
                  .at_most(1)
                  .by_default(0.4)
                  .means("model FLOP utilization inside a node, without what goes over the network"),
              integer("per_node")
                  .at_least(1)
                  .at_most(kMostReplicas)
                  .by_default(1)
                  .means("of each node, which share weights, gradients and optimizer (ZeRO-3, FSDP)"),
              number("price").at_least(0).by_default(0).means(
                  "of one accelerator for an hour, in `currency`, waiting included")})
      .filled()
      .means("what a node computes with");
}

// What a key does not say is what the plan's accelerator is.
Node accelerator_of_site() {
  Node node =
      accelerator_options().means("of its nodes, where it is not the plan's; missing keys are the plan's");
  node.fill_section = false;
  for (Node& key : node.children) key.fallback = nullptr;
  return node;
}

Node site_options() {
  return section(
      "", {text("name").required().means("of the site"),
           integer("nodes").at_least(1).by_default(1).means("nodes at the site"),
           rate("rate").above(0).means("of the site's way out and in, which its nodes share"),
           rate("up").above(0).means("instead of rate: the way out"),
           rate("down").above(0).means("instead of rate: the way in"),
           number("latitude")
               .at_least(-90)
               .at_most(90)
               .in("degrees")
               .means("with longitude: round trips to other sites follow from the distance"),
           number("longitude").at_least(-180).at_most(180).in("degrees").means("of the site"),
           number("egress").at_least(0).means("price of a GB (10^9 bytes) that leaves this site"),
           accelerator_of_site(),
           duration("step_time").above(0).means("of its nodes, where it is not the plan's"),
           list_of("hosts", text("")).means("addresses between which iperf3 ran, for `measurements`")});
}

Node egress_options() {
  return either("egress",
                {number("").at_least(0),
                 section("", {number("price").at_least(0).by_default(0).means("where no site says otherwise"),
                              table_of("sites", number("").at_least(0)).means("{site: price}")})})
      .by_default(0)
      .means(
          "price of a GB (10^9 bytes) that leaves a site, in `currency`; a site is a site of the network, "
          "or a node where it has none");
}

// Of a list: without a key and a default of its own.
Node element(Node node) {
  node.key = "";
  node.fallback = nullptr;
  return node;
}

// A section that may be absent.
Node not_filled(Node node) {
  node.fill_section = false;
  return node;
}

Node candidate_options(const Node& scenario) {
  const Node& methods = *scenario.child("methods");
  std::vector<std::string> names;
  for (const Node& method : methods.children[0].children) names.push_back(method.key);
  const Node& network = *scenario.child("network");
  const Node order = element(network.child("rank_order")->children[0]);
  return section(
             "candidates",
             {list_of("methods", either("", {choice("", names), methods.children[0]}))
                  .not_empty()
                  .by_default({"ddp", "diloco", "streaming-diloco", "noloco"})
                  .means("names of methods, or objects as in a scenario; what an object says is not varied"),
              list_of("inner_steps", integer("").at_least(1))
                  .not_empty()
                  .by_default({50, 100, 200, 500})
                  .in("steps")
                  .means("H, of methods that have it. To prefer time the smallest is taken that keeps "
                         "min_utilization, because more inner steps cost loss, which no replay sees"),
              list_of("wires", element(*scenario.child("workload")->child("wire")))
                  .not_empty()
                  .by_default({"bf16"})
                  .means("number formats of what is exchanged; fewer bits may cost loss"),
              list_of("all_reduce", text(""))
                  .not_empty()
                  .by_default({"ring", "double-tree", "halving-doubling"})
                  .means("collectives, of methods that have one (longhaul list collectives)"),
              list_of("connections", integer("").at_least(1))
                  .not_empty()
                  .by_default({1, 8})
                  .means("parallel connections from one node to another"),
              list_of("slow_start_after_idle", boolean(""))
                  .not_empty()
                  .by_default({true})
                  .means(
                      "whether a connection that was idle begins with a small window again, as Linux has "
                      "it; false: net.ipv4.tcp_slow_start_after_idle=0 on all nodes, which launch.sh sets"),
              list_of("pipelines", element(method_pipeline_options()))
                  .not_empty()
                  .means(
                      "objects as `pipeline` of a scenario. Without stages an object is tried with the two "
                      "smallest numbers that divide the nodes and on which the model fits; without "
                      "microbatches it has eight for each stage, or as many as are whole sequences. A "
                      "replica's batch is tokens_per_step for each stage. Default: no stages where the model "
                      "fits on a node; else cut by cost, or by layers where that alone fits"),
              list_of("batches", choice("", {"equal", "by-speed"}))
                  .not_empty()
                  .means("how a step's tokens are shared among nodes whose steps differ: tokens_per_step "
                         "each, or "
                         "so that all compute equally long, with as many together. Without stages and "
                         "dynamic_steps. Default: equal; where sites differ the answer says what the choice "
                         "would take by speed"),
              list_of("rank_orders", order)
                  .not_empty()
                  .means("orders of the ranks over the sites; default blocks and optimized where the network "
                         "has sites (docs/reference/placement.md)")})
      .filled()
      .means("what the search may choose from: every combination");
}

Node target_options() {
  return section("target", {list_of("runs", text(""))
                                .not_empty()
                                .required()
                                .means("run directories with learning curves, relative to the plan's folder"),
                            number("loss").required().means("validation loss, in nats")})
      .means(
          "instead of tokens, or beside it: each method gets as many tokens as it took to this loss in these "
          "runs. Beside tokens these are what the fastest of them needs, and the others in proportion");
}

}  // namespace

Node plan_options(const Node& scenario) {
  const Node& workload = *scenario.child("workload");
  return section(
      "",
      {text("$schema").means("for editors"),
       text("name").means("default: the file's name"),
       text("description").means("a sentence for people"),
       large_integer("seed").by_default(1).means("all random draws come from it"),
       integer("nodes")
           .at_least(2)
           .at_most(kMostReplicas)
           .means("each has a replica of the model, or a stage of one; default what `sites` add up to"),
       Node(*workload.child("model"))
           .means("the model that is trained: a preset or a name of one (\"meta-llama/Llama-3.1-70B\"), a "
                  "config.json of transformers, or dimensions"),
       *workload.child("parameters"),
       *workload.child("active_parameters"),
       large_integer("tokens")
           .at_least(1)
           .at_most(kMostTotalTokens)
           .in("tokens")
           .means("of the whole training, all nodes together"),
       target_options(),
       large_integer("tokens_per_step")
           .at_least(1)
           .at_most(kMostTokens)
           .required()
           .in("tokens")
           .means("of one node and step"),
       accelerator_options(),
       duration("step_time")
           .above(0)
           .means("of one node, instead of 6 · active parameters · tokens_per_step over what its "
                  "accelerators reach"),
       text("currency").by_default("EUR").means("of all prices, for people"),
       egress_options(),
       not_filled(*scenario.child("network")).means("as in a scenario, without what `candidates` vary"),
       Node(*scenario.child("fit"))
           .means("beside network: what longhaul fit found of it and how far that may be off, as it stands "
                  "in the "
                  "scenario that it has written; widens the range of the choice"),
       list_of("sites", site_options()).not_empty().means("instead of network: nodes at sites"),
       list_of("paths", section("", {list_of("between", text("")).required().means("two sites"),
                                     duration("rtt").above(0).required().means("round-trip time")}))
           .means("with sites: round trips, where they do not follow from coordinates"),
       either("measurements", {text(""), list_of("", text("")).not_empty()})
           .means(
               "with sites: files of what one connection carries between them, folders or patterns of "
               "them: what iperf3, ping and their like printed, by `hosts` or named as oslo-paris.txt, or a "
               "table from,to,rate_mbps,rtt_ms (.csv)"),
       not_filled(*scenario.child("network")->child("tcp"))
           .means("with sites: as network.tcp of a scenario, without connections and hosts. Behind FIFOs, "
                  "here or in network.tcp, the search has fair queues, and the choice is verified in "
                  "fidelity linux"),
       duration("inside").above(0).by_default("1ms").means("round trip between two nodes of one site"),
       rate("node_rate").above(0).by_default("10Gbps").means("with sites: of each node's own link"),
       number("inflation")
           .at_least(1)
           .by_default(1.55)
           .means("with coordinates: round trip over twice the great circle at 200 km/ms; 1.55 was measured "
                  "between clouds, 2.1 for end hosts"),
       either("connections_gain", {number("").at_least(1), choice("", {"connections"})})
           .by_default("connections")
           .means("what several connections of two nodes carry together, in times of one, where a matrix or "
                  "measurements say what one carries; \"connections\": as many times as they are, an upper "
                  "bound; 3.1 is the one published figure, of eight. What several were measured to carry "
                  "(iperf3 -P) bounds it too"),
       choice("library", library_names())
           .by_default("plain")
           .means("which communication library carries the exchanges (longhaul list libraries). But for "
                  "plain, candidates.all_reduce is its own choice and candidates.connections what it opens, "
                  "unless they say otherwise"),
       choice("way_out", {"shared", "per-accelerator"})
           .by_default("shared")
           .means("shared: the accelerators of a node share its link; per-accelerator: each has one of that "
                  "rate, and connections of its own"),
       candidate_options(scenario),
       number("min_utilization")
           .at_least(0)
           .at_most(1)
           .means("share of the time in which a node computes that a plan should keep; where none does, all "
                  "plans are a choice; default 0.8, or 0 beside a deadline or a budget"),
       duration("deadline")
           .above(0)
           .means("plans that take longer are no choice, unless all do; what the deadline costs is said"),
       number("budget").above(0).means(
           "in `currency`: plans that cost more are no choice, unless all do; what the budget costs is said"),
       choice("prefer", {"time", "money", "bytes"})
           .means("time: the smallest H that keeps min_utilization, and the fastest plan with it; money, "
                  "bytes: the least, whatever H; default time, or money beside a deadline where prices are "
                  "given"),
       integer("replays").at_least(1).by_default(32).means(
           "at most so many candidates are replayed with flow, but for one of each method and "
           "every H of the choice"),
       large_integer("verify_segments")
           .at_least(0)
           .at_most(1e15)
           .by_default(300000000)
           .in("segments")
           .means("of replays in fidelity linux that verify the choice and its nearest rival behind FIFOs, 2 "
                  "million a second on one core; more seeds where they fit, none where one does not"),
       Node(*scenario.child("faults"))
           .means("as in a scenario, with every: what they add to the choice, and to "
                  "the best plan of each other method"),
       *scenario.child("recovery"),
       integer("fault_draws").at_least(2).at_most(1000).by_default(8).means("of the faults")});
}

}  // namespace longhaul
