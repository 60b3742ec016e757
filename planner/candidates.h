// What a search may choose from: every combination of a plan's candidates, each as a scenario of one case.
//
// Where the model does not fit on a node, nodes are stages of replicas: a replica then has the batch of all
// its nodes, so that a step of all replicas has as many tokens however many stages there are.
//
// A plan lowers the bits of what travels only where the plan file asks for it: a method whose messages are
// quantized by default, but which is no method of compression, gets the codec "wire" and with it `wires`.
#pragma once

#include <string>
#include <vector>

#include "core/plan/operations.h"
#include "planner/plan_request.h"
#include "planner/planned_network.h"

namespace longhaul {

struct Candidate {
  std::string method;             // its name
  std::size_t number = 0;         // of the method, among candidates.methods
  std::string label;              // the same with what its object says: "streaming-diloco fragments 8"
  std::vector<std::string> ways;  // over the network: "ring", "8 connections", "optimized order"
  std::string words;              // "diloco, H = 100, int8, ring, 8 connections, optimized order"
  std::string recipe;             // the same without H: candidates of a recipe differ in it alone
  int inner_steps = 0;            // H; 0: the method has none, and synchronizes every step
  bool has_batches_by_speed = false;
  std::int64_t tokens = 0;        // of the whole training
  Json scenario;                  // of all its steps, without a name
};

// Gives a candidate its words and its recipe. What travels is known once its plan of operations is.
// `briefly`: of a method that warms up what travels afterwards, else all of it.
void name_candidate(const OperationPlan& plan, bool briefly, Candidate& candidate);

// `tokens_of`: by method, how many it needs; a method that is missing there is left out.
std::vector<Candidate> candidates_of(const PlanRequest& plan, const PlannedNetwork& network,
                                     const std::map<std::string, std::int64_t>& tokens_of);

// The names of the methods among the plan's candidates, each once.
std::vector<std::string> candidate_methods(const PlanRequest& plan);

}  // namespace longhaul
