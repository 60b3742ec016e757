// The steps of the methods over tables [R, P] whose rows all lie in one memory, a thread each few columns of
// a group, in one pass: every row is read and written once. What is done to a column is the method's own
// (updates/). Sums go in the order of the members and begin with the first (0 + -0 is not -0), as in
// mean_of() of codecs/message.h.
#pragma once

#include <cstdint>
#include <vector>

#include "core/codecs/codec.h"
#include "trainer/codecs/number_formats.h"
#include "trainer/device/host_device.h"

namespace longhaul {

// As others see an exchanged number.
LONGHAUL_HOST_DEVICE inline float as_sent(float value, Wire to) {
  if (to == Wire::kBf16) return from_bf16(to_bf16(value));
  if (to == Wire::kFp16) return from_fp16(to_fp16(value));
  return value;
}

// Groups of replicas: the members of group g are members[begins[g] … begins[g + 1]), in ascending order.
struct GroupTable {
  const int* members;
  const int* begins;
};

// The same on the host.
struct FlatGroups {
  std::vector<int> members, begins;  // a begin for each group, and the end of the last one

  explicit FlatGroups(const std::vector<std::vector<int>>& groups) : begins{0} {
    for (const std::vector<int>& group : groups) {
      members.insert(members.end(), group.begin(), group.end());
      begins.push_back(static_cast<int>(members.size()));
    }
  }
};

// Columns of a table whose numbers are in the format they are rounded to: 4 bytes each, or 2.
template <int kColumns>
struct RoundedColumns {
  struct alignas(2 * kColumns) Halves {
    std::uint16_t at[kColumns];
  };

  LONGHAUL_HOST_DEVICE static Pack<kColumns> read(const void* table, std::int64_t at, Wire format) {
    if (format == Wire::kFp32) return Pack<kColumns>::read(static_cast<const float*>(table) + at);
    const Halves halves = *reinterpret_cast<const Halves*>(static_cast<const std::uint16_t*>(table) + at);
    Pack<kColumns> values;
    for (int c = 0; c < kColumns; ++c)
      values.at[c] = format == Wire::kBf16 ? from_bf16(halves.at[c]) : from_fp16(halves.at[c]);
    return values;
  }
  LONGHAUL_HOST_DEVICE static void write(const Pack<kColumns>& values, void* table, std::int64_t at,
                                         Wire format) {
    if (format == Wire::kFp32) return values.write(static_cast<float*>(table) + at);
    Halves halves;
    for (int c = 0; c < kColumns; ++c)
      halves.at[c] = format == Wire::kBf16 ? to_bf16(values.at[c]) : to_fp16(values.at[c]);
    *reinterpret_cast<Halves*>(static_cast<std::uint16_t*>(table) + at) = halves;
  }
};

// packed [R, P] ← rows, in the format.
template <int kColumns>
struct PackColumns {
  const float* rows;
  void* packed;
  Wire format;
  std::int64_t columns;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t column) const {
    const std::int64_t at = replica * columns + column;
    RoundedColumns<kColumns>::write(Pack<kColumns>::read(rows + at), packed, at, format);
  }
};

struct OuterTables {
  float *theta, *phi, *momentum;
  const void* anchors;  // φ as the group sees it, in the format of `wire`; null: phi, rounded here
  GroupTable groups;
  Wire wire;
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
    const Columns anchor = t.anchors ? RoundedColumns<kColumns>::read(t.anchors, at, t.wire) : slow;
    for (int c = 0; c < kColumns; ++c) {
      const float moved = as_sent(fast.at[c] - slow.at[c], t.wire);
      const float from = t.anchors ? anchor.at[c] : as_sent(anchor.at[c], t.wire);
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

// The outer step of a method (updates/) for the members of a group.
template <int kColumns, typename Step>
struct OuterColumns {
  OuterTables tables;
  Step step;

  struct Apply {
    const OuterColumns& of;
    const MeanOfMembers<kColumns>& mean;
    std::int64_t column;

    LONGHAUL_HOST_DEVICE void operator()(int member, Pack<kColumns> phi) const {
      using Columns = Pack<kColumns>;
      const OuterTables& t = of.tables;
      const std::int64_t at = member * t.columns + column;
      const Columns anchor =
          Step::kReadsPhi && t.anchors ? RoundedColumns<kColumns>::read(t.anchors, at, t.wire) : phi;
      Columns momentum = Columns::read(t.momentum + at), theta;
      for (int c = 0; c < kColumns; ++c) {
        const float sent = t.anchors ? anchor.at[c] : as_sent(anchor.at[c], t.wire);
        of.step(theta.at[c], phi.at[c], momentum.at[c], mean.delta.at[c], mean.phi.at[c], sent);
      }
      momentum.write(t.momentum + at);
      phi.write(t.phi + at);
      theta.write(t.theta + at);
    }
  };

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t group, std::int64_t column) const {
    const int begin = tables.groups.begins[group], end = tables.groups.begins[group + 1];
    const MeanOfMembers<kColumns> mean(tables, begin, end, column);
    for_each_member<kColumns>(tables, mean, begin, end, column, Apply{*this, mean, column});
  }
};

// Every member's row becomes the mean of the rounded rows of its group (RowAverage).
template <int kColumns>
struct AverageColumns {
  float* rows;
  GroupTable groups;
  Wire wire;
  std::int64_t columns;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t group, std::int64_t column) const {
    const int begin = groups.begins[group], end = groups.begins[group + 1];
    Pack<kColumns> mean{};
    for (int k = begin; k < end; ++k) {
      const Pack<kColumns> row = Pack<kColumns>::read(rows + groups.members[k] * columns + column);
      for (int c = 0; c < kColumns; ++c) {
        const float value = as_sent(row.at[c], wire);
        mean.at[c] = k == begin ? value : mean.at[c] + value;
      }
    }
    for (int c = 0; c < kColumns; ++c) mean.at[c] /= static_cast<float>(end - begin);
    for (int k = begin; k < end; ++k) mean.write(rows + groups.members[k] * columns + column);
  }
};

}  // namespace longhaul
