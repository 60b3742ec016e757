// How far the times of a fitted scenario may be off because of the fit: its section `fit` has the ends of the
// principal axes of what was found, and each case is replayed at them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/run_outputs.h"
#include "core/scenario/scenario.h"

namespace longhaul {

class FitRanges {
 public:
  // `scenario` must outlive it.
  explicit FitRanges(const Scenario& scenario) : scenario_(scenario) {}

  // Writes fit_error.json into the folder of a case that has been replayed: {"fit_error": fraction}. That is
  // the root of the sum of squares, over the axes, of half the difference between both ends, over what the
  // case itself takes: of its synchronization or of all of its time, whichever is more. 1, not known, in
  // fidelity packet and where times decide what is trained. Nothing where the scenario was not fitted.
  void write(const RunLayout& layout, const Case& config);

 private:
  using Cases = std::map<std::string, Case>;  // by name

  void read_axes();
  double error_of(const RunLayout& layout, const Case& config);

  const Scenario& scenario_;
  bool is_read_ = false;
  std::vector<std::pair<Cases, Cases>> axes_;
};

}  // namespace longhaul
