// Open models that are mixtures of experts: a token is computed by a few of their parameters, while all of
// them are stored and travel. Who counts all for compute plans several times too long.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace longhaul {

struct SparseModel {
  std::string name;
  double parameters = 0, active = 0;  // as published: total, and those that compute a token
  bool is_known_by_size = true;       // false: dense models have as many parameters
};

const std::vector<SparseModel>& sparse_models();

// One sentence where `about` (a name, a description) or the number of parameters is a mixture of experts' and
// so active_parameters (below the path `prefix`) would be missing; else "".
std::string sparse_hint(const std::string& about, std::int64_t parameters, const std::string& prefix = "");

}  // namespace longhaul
