// Every metric of a case record, declared once: the tables of the terminal and the report, `longhaul
// compare`, `plot` and `claims`, and the schema's list of names follow from it. To add one, declare it in
// metrics.cc, write it in analysis/case_record.cc and say in docs/formats.md how it is measured.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

struct Metric {
  enum class Unit {
    kNats,      // a token
    kSeconds,   // of simulated time
    kFraction,  // 0 to 1, shown in per cent
    kBytes,
    kCount,  // whole
    kNone,
  };
  enum class Better { kNeither, kLower, kHigher };

  std::string path;  // in a record, "sync_time_s.mean"
  Unit unit = Unit::kNone;
  std::string meaning;                   // "" where the path says enough
  Better better = Better::kNeither;
  bool of_exchanges = false;             // a method that never exchanges is out of competition
  bool depends_on_network_time = false;  // has the residual of the network model (analysis/residual.h)
  bool compared = false;                 // by `longhaul compare` and `plot` if no metric is asked for
  std::string target;   // the goal in the record: with it, a record without value never got there
  std::string heading;  // of its column in the terminal
  std::string title;    // of its column in the report
  int importance = 0;   // of the column: a narrow terminal leaves out the highest; 0: no column
};

// In the order in which tables and comparisons show them. A claim and a published figure may name each.
const std::vector<Metric>& metrics();

// "final_loss", "sync_time_s.mean", ...: of metrics(), in their order.
std::vector<std::string> metric_paths();

// Any number of a record: its declaration, or for what is not declared a unit by its name and nothing else.
Metric metric_named(const std::string& path);

// Whether it follows from a training, which draws its first weights and its data from the seed.
bool follows_from_training(const Metric& metric);

// "s", "B", "nats"; "" for what is written without.
std::string unit_sign(Metric::Unit unit);

}  // namespace longhaul
