// The inner optimizer: what each replica does with its own gradient (trainer/optimizer/). train.optimizer is
// for all methods of a scenario; a method's own `optimizer` section takes the place of some of its keys for
// that method's cases, and a method may have defaults of its own (Method::optimizer).
#pragma once

#include <string>

#include "core/base/options.h"
#include "core/base/words.h"

namespace longhaul {

enum class InnerOptimizer { kAdamw, kMuon };
template <>
struct Words<InnerOptimizer> {
  static constexpr Word<InnerOptimizer> all[] = {{InnerOptimizer::kAdamw, "adamw"},
                                                 {InnerOptimizer::kMuon, "muon"}};
};

// What Muon's step on a matrix is multiplied with: kAdamw 0.2·sqrt(max(rows, columns)), kAspect
// sqrt(max(1, rows/columns)).
enum class MuonScale { kAdamw, kAspect };
template <>
struct Words<MuonScale> {
  static constexpr Word<MuonScale> all[] = {{MuonScale::kAdamw, "adamw"}, {MuonScale::kAspect, "aspect"}};
};

struct OptimizerSpec {
  double lr = 0, min_lr = 0;
  int warmup = 0;                                                // steps
  double beta1 = 0.9, beta2 = 0.95, weight_decay = 0, clip = 0;  // clip 0: none
  InnerOptimizer name = InnerOptimizer::kAdamw;
  double momentum = 0;  // these three of Muon
  int newton_schulz_steps = 0;
  MuonScale update_scale = MuonScale::kAdamw;
};

// The declaration of train.optimizer.
Node optimizer_options();
// That of a method's `optimizer`: the same keys, of which none has a default but those in `defaults`.
Node method_optimizer_options(const Json& defaults);

// A resolved case with its method's `optimizer`, if it has one, merged into train.optimizer: a case says once
// what it is trained with, and its training key follows. Keys of Muon are inherited only where both sections
// mean Muon. The name is left out where it is adamw, which is what its absence means. Throws InputError.
Json with_effective_optimizer(Json resolved);

// Of a resolved section; `path` is where it stands. Throws InputError where values contradict each other.
OptimizerSpec parse_optimizer(const Json& section, int steps, const std::string& path,
                              const std::string& hint = "");

}  // namespace longhaul
