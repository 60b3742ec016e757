#include "analysis/run_declarations.h"

#include <set>

#include "core/base/limits.h"
#include "core/scenario/metrics.h"
#include "core/scenario/scenario_options.h"
#include "methods/common/registry.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace {

// An older program had fewer keys, a newer one has more words.
Node relaxed(Node node) {
  node.is_required = false;
  node.minimum_items = 0;
  if (node.kind == NodeKind::kChoice) node.kind = NodeKind::kText;
  for (Node& child : node.children) child = relaxed(std::move(child));
  return node;
}

// A sweep may stand for a value of any type only where it is written: this is the first point of it.
const Node& scenario_declaration() {
  static const Node declaration = [] {
    Node scenario = relaxed(scenario_options(method_options(), topology_options()));
    for (Node& section : scenario.children)
      if (section.key == "claims")
        for (Node& key : section.children[0].children) key.is_required = key.key == "id";
    return scenario;
  }();
  return declaration;
}

Node verdict() {
  return section("",
                 {text("id").required(), text("statement").required(), text("what").required(),
                  text("bound").required(), text("verdict").required(), anything("measured"),
                  list_of("interval", anything("")), list_of("possible", anything("")), number("residual"),
                  text("outside"), boolean("incomplete"), table_of("point", anything("")).required(),
                  integer("seeds").at_least(0).required(), integer("missing_cases").at_least(0)});
}

// "sync_time_s.mean" is the number `mean` in the section `sync_time_s`.
void add_metric(const std::string& path, std::vector<Node>& nodes) {
  const std::size_t dot = path.find('.');
  if (dot == std::string::npos) {
    nodes.push_back(number(path));
    return;
  }
  const std::string key = path.substr(0, dot);
  for (Node& node : nodes)
    if (node.key == key) return add_metric(path.substr(dot + 1), node.children);
  nodes.push_back(section(key, {}));
  add_metric(path.substr(dot + 1), nodes.back().children);
}

std::vector<Node> record_keys() {
  std::vector<Node> keys = {text("case").required(),
                            text("status"),
                            text("method"),
                            text("label"),
                            text("training"),
                            text("fidelity"),
                            text("queue"),
                            number("residual"),
                            text("outside"),
                            text("error"),
                            large_integer("seed"),
                            integer("number").at_least(0),
                            integer("replicas").at_least(1).at_most(kMostReplicas),
                            integer("workers").at_least(1).at_most(kMostReplicas),
                            table_of("swept", anything("")),
                            table_of("parameters", anything("")),
                            number("target_loss"),
                            number("final_loss_sampling_error"),
                            large_integer("evaluated_sequences").at_most(1e18)};
  std::set<std::string> known;
  for (const Node& key : keys) known.insert(key.key);
  for (const std::string& path : metric_paths())
    if (!known.count(path)) add_metric(path, keys);
  return keys;
}

}  // namespace

const Node& manifest_declaration() {
  static const Node declaration = [] {
    Node scenario = scenario_declaration();
    scenario.key = "scenario";
    return section("", {text("name"), text("command"), text("host"), text("started"), text("finished"),
                        text("status"), text("scenario_hash"), number("wall_s").at_least(0),
                        section("options", {text("shard")}), std::move(scenario)});
  }();
  return declaration;
}

const Node& written_declaration() {
  static const Node declaration = section("", {*scenario_declaration().child("claims")});
  return declaration;
}

const Node& summary_declaration() {
  static const Node declaration = section(
      "", {integer("format").at_least(0).required(), text("scenario"), integer("scenario_cases").at_least(0),
           list_of("cases", anything("")).required(), list_of("claims", verdict())});
  return declaration;
}

const Node& record_declaration() {
  static const Node declaration = section("", record_keys());
  return declaration;
}

const Node& training_declaration() {
  static const Node declaration =
      section("", {number("final_loss"), number("final_loss_of_ensemble"),
                   number("final_loss_sampling_error"), large_integer("evaluated_sequences").at_most(1e18),
                   number("best_loss"), number("weight_spread"), number("tokens"), number("unigram_entropy"),
                   number("source_entropy"), number("parameters"), text("corpus_hash")});
  return declaration;
}

const Node& replay_declaration() {
  static const Node declaration = section("", {number("transfers").at_least(0).at_most(1e18)});
  return declaration;
}

}  // namespace longhaul
