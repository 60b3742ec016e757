// What would make the chosen plan faster: its busiest links, one at a time and by kind, five times as fast,
// by replay. Where sites were measured, what a connection carries between them counts as a link.
#pragma once

#include <string>
#include <vector>

#include "planner/evaluation.h"
#include "planner/replay_task.h"

namespace longhaul {

struct BusyLink {
  std::string name;  // "Oslo-wan", "Oslo's uplink", or of two sites that were measured "Oslo-Paris"
  bool is_forward = true;
  double rate = 0;   // bit/s in that direction; of all connections of two nodes, where sites were measured
  double bytes = 0;  // a step of the training, mean
  double busy = 0;   // share of the training's time that these bytes fill
  std::vector<std::string> sites = {};  // both, where they were measured
};

struct Upgrade {
  std::string what;         // "Oslo's uplink", "the link Oslo-wan", "every node's own link"
  double from = 0, to = 0;  // bit/s, of the slowest direction of these links
  double from_most = 0, to_most = 0;  // of the fastest; each has its own rate five times
  double saved_s = 0;       // of the whole training; may be below 0 within the model's error
};

// "every node's own link at 5 Gb/s instead of 1 Gb/s", or where rates differ "… five times as fast, now 200
// Mb/s to 400 Mb/s,".
std::string in_words(const Upgrade& upgrade);

struct Sensitivity {
  std::vector<BusyLink> links;    // the busiest first
  std::vector<Upgrade> upgrades;  // the largest saving first
};

// "busiest links: b's uplink forward (500 Mb/s, full 10 % of the time)", of the first three.
std::string busiest_in_words(const Sensitivity& sensitivity);

// `choice` has been replayed. What leaves the time alone is in the list too, with a saving of about 0.
Sensitivity sensitivity_of(const Evaluation& choice, const PlanTools& tools);

}  // namespace longhaul
