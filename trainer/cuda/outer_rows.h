// The exchanges of the methods over tables [R, P] whose rows all lie in one memory: the arithmetic of
// updates/noloco.cc, diloco.cc and ddp.cc, a thread each few columns of a group, in one pass: every row is
// read and written once. Sums go in the order of the members and begin with the first (0 + -0 is not -0), as
// in mean_of() of replicas/message.h.
#pragma once

#include <cstdint>

#include "trainer/cuda/number_formats.h"
#include "trainer/cuda/pack.h"

namespace longhaul {

// What an exchanged number is rounded to.
enum class Rounding { kNone, kBf16, kFp16 };

LONGHAUL_HOST_DEVICE inline float rounded(float value, Rounding to) {
  if (to == Rounding::kBf16) return from_bf16(to_bf16(value));
  if (to == Rounding::kFp16) return from_fp16(to_fp16(value));
  return value;
}

// Groups of replicas: the members of group g are members[begins[g] … begins[g + 1]), in ascending order.
struct GroupTable {
  const int* members;
  const int* begins;
};

struct OuterTables {
  float *theta, *phi, *momentum;
  const float* anchors;  // φ as the group sees it, rounded already; null: phi, rounded here
  GroupTable groups;
  Rounding rounding;
  std::int64_t columns;
};

// A member's slow weights are needed twice; those of the first few stay in registers.
constexpr int kKeptMembers = 4;

template <int kColumns>
struct MeanOfMembers {
  Pack<kColumns> delta{}, phi{}, kept[kKeptMembers];

  // Both means over a group, of Δ = θ − φ and of φ, as rounded.
  LONGHAUL_HOST_DEVICE MeanOfMembers(const OuterTables& t, int begin, int end, std::int64_t column) {
    LONGHAUL_UNROLL
    for (int k = 0; k < kKeptMembers; ++k)
      if (begin + k < end) kept[k] = add(t, t.groups.members[begin + k], column, k == 0);
    for (int k = begin + kKeptMembers; k < end; ++k) add(t, t.groups.members[k], column, false);
    const auto count = static_cast<float>(end - begin);
    for (int c = 0; c < kColumns; ++c) {
      delta.at[c] /= count;
      phi.at[c] /= count;
    }
  }

 private:
  LONGHAUL_HOST_DEVICE Pack<kColumns> add(const OuterTables& t, int member, std::int64_t column,
                                          bool is_first) {
    using Columns = Pack<kColumns>;
    const std::int64_t at = member * t.columns + column;
    const Columns fast = Columns::read(t.theta + at), slow = Columns::read(t.phi + at);
    const Columns anchor = t.anchors ? Columns::read(t.anchors + at) : slow;
    for (int c = 0; c < kColumns; ++c) {
      const float moved = rounded(fast.at[c] - slow.at[c], t.rounding);
      const float from = t.anchors ? anchor.at[c] : rounded(anchor.at[c], t.rounding);
      delta.at[c] = is_first ? moved : delta.at[c] + moved;
      phi.at[c] = is_first ? from : phi.at[c] + from;
    }
    return slow;
  }
};

// Calls apply(member, its φ) for all members of a group.
template <int kColumns, typename Apply>
LONGHAUL_HOST_DEVICE void for_each_member(const OuterTables& t, const MeanOfMembers<kColumns>& mean,
                                          int begin, int end, std::int64_t column, const Apply& apply) {
  LONGHAUL_UNROLL
  for (int k = 0; k < kKeptMembers; ++k)
    if (begin + k < end) apply(t.groups.members[begin + k], mean.kept[k]);
  for (int k = begin + kKeptMembers; k < end; ++k) {
    const int member = t.groups.members[k];
    apply(member, Pack<kColumns>::read(t.phi + member * t.columns + column));
  }
}

// δ_i ← α δ_i + β Δ̄ − γ (φ_i − φ̄);   φ_i ← φ_i + δ_i;   θ_i ← φ_i      (updates/noloco.h)
template <int kColumns>
struct NolocoColumns {
  OuterTables tables;
  float alpha, beta, gamma;

  struct Apply {
    const NolocoColumns& step;
    const MeanOfMembers<kColumns>& mean;
    std::int64_t column;

    LONGHAUL_HOST_DEVICE void operator()(int member, Pack<kColumns> phi) const {
      using Columns = Pack<kColumns>;
      const OuterTables& t = step.tables;
      const std::int64_t at = member * t.columns + column;
      const Columns anchor = t.anchors ? Columns::read(t.anchors + at) : phi;
      Columns momentum = Columns::read(t.momentum + at);
      for (int c = 0; c < kColumns; ++c) {
        const float sent = t.anchors ? anchor.at[c] : rounded(anchor.at[c], t.rounding);
        momentum.at[c] =
            step.alpha * momentum.at[c] + step.beta * mean.delta.at[c] - step.gamma * (sent - mean.phi.at[c]);
        phi.at[c] += momentum.at[c];
      }
      momentum.write(t.momentum + at);
      phi.write(t.phi + at);
      phi.write(t.theta + at);
    }
  };

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t group, std::int64_t column) const {
    const int begin = tables.groups.begins[group], end = tables.groups.begins[group + 1];
    const MeanOfMembers<kColumns> mean(tables, begin, end, column);
    for_each_member<kColumns>(tables, mean, begin, end, column, Apply{*this, mean, column});
  }
};

// Nesterov: v ← μ v + Δ̄; φ ← φ + η (Δ̄ + μ v).  Heavy ball: δ ← μ δ + η Δ̄; φ ← φ + δ.  θ_i ← φ
// (updates/diloco.h)
template <int kColumns>
struct DilocoColumns {
  OuterTables tables;
  float lr, mu;
  bool nesterov;

  struct Apply {
    const DilocoColumns& step;
    const MeanOfMembers<kColumns>& mean;
    std::int64_t column;

    LONGHAUL_HOST_DEVICE void operator()(int member, Pack<kColumns> phi) const {
      const OuterTables& t = step.tables;
      const std::int64_t at = member * t.columns + column;
      Pack<kColumns> momentum = Pack<kColumns>::read(t.momentum + at);
      for (int c = 0; c < kColumns; ++c) {
        const float delta = mean.delta.at[c];
        momentum.at[c] = step.mu * momentum.at[c] + (step.nesterov ? delta : step.lr * delta);
        phi.at[c] += step.nesterov ? step.lr * (delta + step.mu * momentum.at[c]) : momentum.at[c];
      }
      momentum.write(t.momentum + at);
      phi.write(t.phi + at);
      phi.write(t.theta + at);
    }
  };

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t group, std::int64_t column) const {
    const int begin = tables.groups.begins[group], end = tables.groups.begins[group + 1];
    const MeanOfMembers<kColumns> mean(tables, begin, end, column);
    for_each_member<kColumns>(tables, mean, begin, end, column, Apply{*this, mean, column});
  }
};

// Every member's row becomes the mean of the rounded rows of its group (updates/ddp.h).
template <int kColumns>
struct AverageColumns {
  float* rows;
  GroupTable groups;
  Rounding rounding;
  std::int64_t columns;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t group, std::int64_t column) const {
    const int begin = groups.begins[group], end = groups.begins[group + 1];
    Pack<kColumns> mean{};
    for (int k = begin; k < end; ++k) {
      const Pack<kColumns> row = Pack<kColumns>::read(rows + groups.members[k] * columns + column);
      for (int c = 0; c < kColumns; ++c) {
        const float value = rounded(row.at[c], rounding);
        mean.at[c] = k == begin ? value : mean.at[c] + value;
      }
    }
    for (int c = 0; c < kColumns; ++c) mean.at[c] /= static_cast<float>(end - begin);
    for (int k = begin; k < end; ++k) mean.write(rows + groups.members[k] * columns + column);
  }
};

}  // namespace longhaul
