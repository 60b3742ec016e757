// Where a test lets the arithmetic over the arena's tables run: the functions that a GPU runs, on the host
// one after the other, or the kernels themselves, on tables that are copied there and back.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>
#include <variant>
#include <vector>

#include "trainer/cuda/device_exchange.h"
#include "trainer/cuda/device_optimizer.h"
#include "trainer/cuda/outer_rows.h"
#include "trainer/device/device.h"
#include "trainer/device/host_device.h"
#include "trainer/updates/diloco.h"
#include "trainer/updates/noloco.h"

namespace longhaul {

using Table = std::vector<float>;  // [R, P]

struct AdamwRun {
  Table weights, gradient, first_moment, second_moment;
  std::int64_t replicas, columns;
  std::vector<Bf16> narrow{};  // the weights in bf16; AdamW's machine writes it
};

struct OuterRun {
  Table theta, phi, momentum;
  Table anchors;  // empty: φ
  std::vector<std::vector<int>> groups;
  Wire wire;
  std::int64_t columns;
};

using AnyOuterStep = std::variant<NolocoStep, DilocoStep>;

class RowMachine {
 public:
  virtual ~RowMachine() = default;
  virtual std::vector<float> clip_factors(const AdamwRun& run, double largest) = 0;
  virtual void adamw(AdamwRun& run, const std::vector<float>& factors, const StepScalars& scalars,
                     const std::vector<std::uint32_t>& decaying, const AdamwConstants& constants) = 0;
  virtual void outer(OuterRun& run, const AnyOuterStep& step) = 0;
  virtual void average(Table& rows, const std::vector<std::vector<int>>& groups, Wire wire,
                       std::int64_t columns) = 0;
};

// kColumns as a thread of a GPU would take them.
template <int kColumns>
class HostMachine : public RowMachine {
 public:
  std::vector<float> clip_factors(const AdamwRun& run, double largest) override {
    const std::int64_t slices = norm_slices(run.columns);
    std::vector<double> partial(static_cast<std::size_t>(run.replicas * slices));
    std::vector<float> factors(static_cast<std::size_t>(run.replicas));
    launch_.rows(run.replicas * slices,
                 SquareSums<kColumns>{run.gradient.data(), partial.data(), run.columns, slices});
    launch_.rows(run.replicas, ClipFactors{partial.data(), factors.data(), slices, largest});
    return factors;
  }
  void adamw(AdamwRun& run, const std::vector<float>& factors, const StepScalars& scalars,
             const std::vector<std::uint32_t>& decaying, const AdamwConstants& constants) override {
    run.narrow.resize(run.weights.size());
    launch_.grid(run.replicas, run.columns, kColumns,
                 AdamwColumns<kColumns>{run.weights.data(), run.gradient.data(), run.first_moment.data(),
                                        run.second_moment.data(), factors.data(), &scalars, decaying.data(),
                                        nullptr, constants, run.columns, run.narrow.data()});
  }
  void outer(OuterRun& run, const AnyOuterStep& step) override {
    const FlatGroups flat(run.groups);
    const OuterTables of_run = tables(run, flat);
    std::visit(
        [&](const auto& of_method) {
          launch_.grid(static_cast<std::int64_t>(run.groups.size()), run.columns, kColumns,
                       OuterColumns<kColumns, std::decay_t<decltype(of_method)>>{of_run, of_method});
        },
        step);
  }
  void average(Table& rows, const std::vector<std::vector<int>>& groups, Wire wire,
               std::int64_t columns) override {
    const FlatGroups flat(groups);
    launch_.grid(
        static_cast<std::int64_t>(groups.size()), columns, kColumns,
        AverageColumns<kColumns>{rows.data(), {flat.members.data(), flat.begins.data()}, wire, columns});
  }

 private:
  OuterTables tables(OuterRun& run, const FlatGroups& flat) {
    packed_.resize(run.anchors.size() * static_cast<std::size_t>(bytes_per_parameter(run.wire)));
    launch_.grid(static_cast<std::int64_t>(run.anchors.size()) / run.columns, run.columns, kColumns,
                 PackColumns<kColumns>{run.anchors.data(), packed_.data(), run.wire, run.columns});
    return {run.theta.data(),
            run.phi.data(),
            run.momentum.data(),
            run.anchors.empty() ? nullptr : packed_.data(),
            {flat.members.data(), flat.begins.data()},
            run.wire,
            run.columns};
  }
  HostLaunch launch_;
  std::vector<std::uint8_t> packed_;  // anchors
};

// Not available (make_device_machine() is null) without a GPU or without CUDA in the build.
std::unique_ptr<RowMachine> make_device_machine();

}  // namespace longhaul
