// What a scenario names as not known: its section `fit`, as {dotted key: what it may be}.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/options.h"

namespace longhaul {

// A number between two ends, or one of a few values.
//
// A number is looked for on a scale of its logarithm where its range begins above 0, else on its own: `place`
// goes from 0 to 1 on that scale.
class Unknown {
 public:
  // `option`: the declaration of `path`. Throws InputError at fit.unknown.
  Unknown(std::string path, const Json& written, const Node& option);

  const std::string& path() const { return path_; }
  bool is_choice() const { return !choices_.empty(); }
  const std::vector<Json>& choices() const { return choices_; }

  double low() const { return low_; }  // in SI units, as core/base/units.h
  double high() const { return high_; }
  double value_at(double place) const;
  double place_of(double value) const;  // of a value outside of the range that of its end

  double number_of(const Json& written) const;  // in SI units
  Json written(double value) const;             // as a scenario has it: "49.8Mbps"
  std::string for_people(double value) const;   // "49.8 Mb/s"

 private:
  std::string path_;
  NodeKind kind_ = NodeKind::kNumber;
  double low_ = 0, high_ = 0;
  bool is_logarithmic_ = false;
  std::vector<Json> choices_;
};

// Those of a scenario's section `fit`, in the order written; `assignments` are "PATH=FROM..TO" and
// "PATH=A|B|C" of a command line and come before. Throws InputError for a path that the scenario does not
// declare, and where there are none.
std::vector<Unknown> unknowns_of(const Json& scenario, const Node& declaration,
                                 const std::vector<std::string>& assignments = {});

}  // namespace longhaul
