// Everything about a case but its seed, as flat keys: cases with equal configurations are seeds of one thing.
//
// From cases/CASE/case.json, the resolved case; where that is missing (a summary that was copied alone), from
// what the record says. A method's option is "methods.LABEL.key", as a sweep spells it, whether it was swept
// or not. So runs of different scenarios can be compared: what differs between them is found and named.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/runs/run_directory.h"

namespace longhaul {

class Configuration {
 public:
  // Also holds `corpus_hash` of the training, because losses compare within one text only; not where the text
  // is synthetic, which every seed has its own of.
  static Configuration of(const RunDirectory& run, const Json& record);

  // Null where there is no such key.
  Json value(const std::string& key) const;
  void set(const std::string& key, Json value);
  std::vector<std::string> keys() const;

 private:
  std::vector<std::pair<std::string, Json>> values_;
};

// The keys of `candidates` that are needed to tell the configurations apart, as far as the candidates can:
// each splits a set that those before it leave together. A configuration without an option
// "methods.LABEL.key" is of another method and has no other value of it. Same order.
std::vector<std::string> distinguishing_keys(const std::vector<const Configuration*>& configurations,
                                             const std::vector<std::string>& candidates);

// "network.tcp.connections = 8, replicas = 64"; a key without value is left out.
std::string in_words(const Configuration& configuration, const std::vector<std::string>& keys);

}  // namespace longhaul
