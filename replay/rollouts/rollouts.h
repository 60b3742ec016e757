// The rollouts of a replay: groups generate the samples of each step, trainers wait for them, and versions of
// the weights go from the trainers to the groups, one after another.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "net/distributions/distribution.h"
#include "net/topology.h"
#include "replay/network/network.h"
#include "replay/output/rollout_rows.h"
#include "replay/rollouts/counted_network.h"
#include "replay/rollouts/rollout_group.h"
#include "replay/rollouts/sample_queue.h"
#include "replay/rollouts/weight_transfer.h"

namespace longhaul {

class Rollouts {
 public:
  // All must outlive it. `rule`: in the names of its messages (row_of_weights()). `on_settled`: it
  // is_settled().
  Rollouts(const Case& config, const Topology& topology, Clock& clock, Network& network, int rule,
           std::function<void()> on_settled);
  Rollouts(const Rollouts&) = delete;  // what it starts calls back
  Rollouts& operator=(const Rollouts&) = delete;

  // Training begins at this time of the clock: all groups have version 0.
  void start(double origin_s);
  // Calls `go` once the batch of that step is whole, with the seconds that the worker has waited.
  void await_batch(int step, std::function<void(double waited_s)> go);
  void ended_step(int worker, int step);
  // All trainers have taken their last step. Versions that are on their way still go to all groups.
  void end_training();
  // Every version that was published is with all groups, and they generate with it.
  bool is_settled() const;

  std::int64_t transfers() const { return transfers_ + (current_ ? current_->transfers() : 0); }
  std::int64_t bytes() const { return bytes_ + (current_ ? current_->bytes() : 0); }  // of weights, sent
  // Whatever is still on its way or unfinished counts as far as it has come. `sites`: what the network of the
  // replay carried between them.
  RolloutRows rows(std::vector<SiteBytes> sites) const;
  std::vector<std::string> waiting() const;

 private:
  struct Version {
    int number = 0;
    std::vector<int> sources;  // that have trained it
  };
  // What a group has received of the version that is on its way.
  struct Receipt {
    std::int64_t bytes = 0;
    double unpacked_s = 0;  // of the clock
  };
  struct Waiting {
    double since_s = 0;
    std::function<void(double)> go;
  };

  double now() const { return seconds_between(origin_s_, clock_.now_s()); }
  VersionRow& row_of(int version) { return rows_.versions[as_index(version - 1)]; }
  RefitRow& row_of(int version, int group) {
    return rows_.refits[as_index(version - 1) * as_index(spec_.groups) + as_index(group)];
  }
  void open(int version, int step);
  void send_next();
  void receive(int host, std::int64_t bytes);
  void unpacked(int group, int version);
  void swapped(int group, int version);
  void finished(const RolloutSample& sample, double took_s);
  BatchRow& batch(int step);
  void free(int group);
  void fill();

  const Case& case_;
  const RolloutSpec& spec_;
  const Topology& topology_;
  Clock& clock_;
  Network& network_;
  const int rule_;
  const std::vector<WeightTree> trees_;
  SampleQueue queue_;
  std::vector<std::unique_ptr<RolloutGroup>> groups_;
  std::deque<Version> open_;  // published in part or whole, and not sent
  std::shared_ptr<WeightTransfer> current_;
  int sending_ = 0;                              // the version that is on its way, or was last
  std::vector<Receipt> receipts_;                // by group
  std::vector<std::int64_t> received_;           // bytes in all, by group
  std::map<int, std::vector<Waiting>> waiting_;  // by step
  RolloutRows rows_;
  std::vector<int> taken_up_;  // by group: with which version it generates
  std::vector<int> free_;      // groups that may begin samples at the end of this instant
  std::int64_t transfers_ = 0, bytes_ = 0;
  double origin_s_ = 0;
  std::optional<double> end_s_;  // of the training
  const std::function<void()> on_settled_;
};

}  // namespace longhaul
