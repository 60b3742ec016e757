// transfers.csv: the single messages of a replay, for the timeline. Only the first ones: a ring among 1024
// has two million in one exchange.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/csv.h"
#include "core/plan/operations.h"
#include "replay/network/network.h"

namespace longhaul {

// By the number of a message's rule: the plan's, and behind them what passes between stages, forward and
// back, what a worker downloads that changes its stage, the collectives inside a step, and the
// weights that go to rollouts.
std::vector<std::string> row_names(const OperationPlan& plan);
int first_row_of_step_graph(const OperationPlan& plan);
int row_of_weights(const OperationPlan& plan);  // that go to rollouts

// A network that writes the first messages that it carries to transfers.csv, and passes all of them on.
class LoggedNetwork : public Network {
 public:
  // Truncates the file of an earlier replay in `folder`. Throws RunError. `names` are those of the messages'
  // rules; `clock` must outlive it.
  LoggedNetwork(std::unique_ptr<Network> network, const Clock& clock, const std::string& folder,
                std::vector<std::string> names);

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts) override;
  bool note_equal_round(EqualRound round) override;
  double ready_s() const override { return network_->ready_s(); }
  const std::vector<LinkLoad>& loads() override { return network_->loads(); }
  std::optional<SegmentCount> segments() const override { return network_->segments(); }

  void finish() { out_.flush(); }  // throws RunError if the disk is full

 private:
  void write_row(const Transmission& transfer, double start_s);

  std::unique_ptr<Network> network_;
  const Clock& clock_;
  std::vector<std::string> names_;
  CsvWriter out_;
  std::int64_t logged_ = 0;
  bool is_log_over_ = false;  // since a round that is over
};

}  // namespace longhaul
