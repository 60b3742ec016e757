// Operations and messages as tests write them: whole rows in plain numbers.
#pragma once

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "methods/common/registry.h"
#include "trainer/operations/operation_runner.h"

namespace longhaul {

inline std::vector<float> normal_row(std::int64_t columns, std::uint64_t seed, std::uint32_t number = 0) {
  RandomStream stream(seed, Purpose::kInitialWeights, number);
  std::vector<float> row(static_cast<std::size_t>(columns));
  for (float& value : row) value = static_cast<float>(stream.normal());
  return row;
}

inline void expect_near(const std::vector<float>& found, const std::vector<double>& expected,
                        const std::string& what = "", double within = 1e-6) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], within) << what << " at " << i;
}

inline Message message_of(const float* row, std::int64_t columns, Wire wire, const float* less = nullptr) {
  return Message(MessageFormat({"row", {wire}}, columns), RowSource{row, less});
}

inline OperationRule rule_for(const std::vector<std::string>& tensors, Wire wire = Wire::kFp32) {
  OperationRule rule{"outer", OperationKind::kGroupAverage, ""};
  rule.payload = whole(tensors, wire);
  return rule;
}

// With the defaults of its options, but for these.
inline MethodSpec method_with(const std::string& name, const Json& options = Json::object()) {
  MethodSpec spec{name, name, Json::object()};
  for (const Node& option : method_named(name).options) spec.options[option.key] = option.fallback;
  spec.options.update(options);
  return spec;
}

// Rows of an update, and what it does to them when an operation is run.
struct UpdateBench {
  UpdateBench(const MethodSpec& method, int replicas, std::int64_t columns,
              const std::vector<Slot>& more = {})
      : update(make_update(method)),
        arena(slots_of(method, more), replicas, columns),
        backend(make_loop_backend()),
        all{arena, *backend, log},
        runner(*update, all) {}

  static std::vector<Slot> slots_of(const MethodSpec& method, const std::vector<Slot>& more) {
    std::vector<Slot> slots = slots_with(rows_kept_by(method));
    slots.insert(slots.end(), more.begin(), more.end());
    return slots;
  }

  void run(const OperationRule& rule, int step = 1, const std::vector<std::vector<int>>& groups = {}) {
    runner.run({&rule, step, step, groups, 0});
  }
  void set(Slot slot, int replica, const std::vector<float>& values) {
    std::copy(values.begin(), values.end(), arena.row(slot, replica));
  }
  std::vector<float> row(Slot slot, int replica) const {
    const float* first = arena.row(slot, replica);
    return {first, first + arena.parameters()};
  }
  // All rows, one behind the other.
  void set(Slot slot, const std::vector<float>& table) { set(slot, 0, table); }
  std::vector<float> table(Slot slot) const {
    const float* first = arena.row(slot, 0);
    return {first, first + arena.replicas() * arena.parameters()};
  }

  std::unique_ptr<Update> update;
  Arena arena;
  std::unique_ptr<Backend> backend;
  ExchangeLog log;
  Replicas all;
  OperationRunner runner;
};

}  // namespace longhaul
