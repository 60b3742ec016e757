// What came out of a search (search.h), with what was asked about the choice afterwards.
#pragma once

#include <optional>
#include <vector>

#include "planner/connection_gain.h"
#include "planner/evaluation.h"
#include "planner/faulty_times.h"
#include "planner/search.h"
#include "planner/sensitivity.h"
#include "planner/site_shares.h"
#include "planner/token_needs.h"
#include "planner/verification.h"

namespace longhaul {

struct PlanResult {
  TokenNeeds needs;
  SearchResult search;
  std::optional<Verification> verification;
  Sensitivity sensitivity;
  std::vector<SiteShare> sites;
  std::optional<Evaluation> by_speed;  // the choice with batches by speed, where they would save time
  std::vector<FaultyTime> faulty;
  std::vector<GainTime> by_gain;
  bool is_cut = false;  // the user interrupted it: what is above is not complete

  const Evaluation& choice() const { return search.evaluations.front(); }
};

}  // namespace longhaul
