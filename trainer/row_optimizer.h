// The optimizer on rows in host memory: clip, then the step of the method's own (Update) or of AdamW and
// Muon; weights of a subspace are projected back into it.
#pragma once

#include <optional>
#include <vector>

#include "trainer/operations/update.h"
#include "trainer/optimizer/muon.h"
#include "trainer/pipeline/subspace.h"

namespace longhaul {

// What is referred to must outlive it.
struct RowOptimizer {
  const TrainSpec& train;
  const std::vector<DecayRange>& decay;  // AdamW's columns; the others are those of `muon`
  const std::vector<MuonMatrix>& muon;
  const Update& update;
  Arena& arena;
  std::vector<int> taken;            // how many steps that of each replica has taken, wherever it is held
  std::optional<Subspace> subspace;  // that the weights are kept in

  // The step of a replica that is held here, on its gradient; several threads may take those of several.
  void step(int step, int replica);
  // What the method's own needs before an exchange.
  void prepare(int step, int replica) const;
  InnerStep facts(int step, int updates) const;
  void count_elsewhere(const std::vector<int>& replicas, int steps);
};

}  // namespace longhaul
