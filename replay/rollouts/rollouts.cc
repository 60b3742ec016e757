#include "replay/rollouts/rollouts.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/index.h"
#include "core/base/ranges.h"
#include "net/placement.h"

namespace longhaul {

Rollouts::Rollouts(const Case& config, const Topology& topology, Clock& clock, Network& network, int rule,
                   std::function<void()> on_settled)
    : case_(config),
      spec_(*config.rollouts),
      topology_(topology),
      clock_(clock),
      network_(network),
      rule_(rule),
      trees_(weight_trees(config, topology.site_of())),
      queue_(spec_, config.steps(), config.seed),
      receipts_(as_index(spec_.groups)),
      received_(as_index(spec_.groups)),
      taken_up_(as_index(spec_.groups)),
      on_settled_(std::move(on_settled)) {}

void Rollouts::start(double origin_s) {
  origin_s_ = origin_s;
  for (int group = 0; group < spec_.groups; ++group)
    groups_.push_back(std::make_unique<RolloutGroup>(
        clock_, spec_, queue_, spec_.speed_factors.empty() ? 1 : spec_.speed_factors[as_index(group)],
        RolloutGroup::Watcher{
            [this](const RolloutSample& sample, double took_s) { finished(sample, took_s); },
            [this, group](int version) { swapped(group, version); }, [this, group] { free(group); }}));
  for (int group = 0; group < spec_.groups; ++group) free(group);
}

void Rollouts::free(int group) {
  if (free_.empty()) clock_.after_ns(0, [this] { fill(); });
  free_.push_back(group);
}

// A sample goes to the group with the fewest under way, of several to the lowest number. A group that may not
// begin one now may not later in this instant either.
void Rollouts::fill() {
  std::set<std::pair<int, int>> by_load;  // samples under way and group
  for (const int group : std::exchange(free_, {}))
    if (groups_[as_index(group)]->may_begin()) by_load.emplace(groups_[as_index(group)]->under_way(), group);
  while (!by_load.empty()) {
    const int number = by_load.begin()->second;
    by_load.erase(by_load.begin());
    RolloutGroup& group = *groups_[as_index(number)];
    if (group.begin() && group.may_begin()) by_load.emplace(group.under_way(), number);
  }
}

BatchRow& Rollouts::batch(int step) {
  while (static_cast<int>(rows_.batches.size()) < step) {
    rows_.batches.emplace_back();
    rows_.batches.back().step = static_cast<int>(rows_.batches.size());
  }
  return rows_.batches[as_index(step - 1)];
}

void Rollouts::finished(const RolloutSample& sample, double took_s) {
  BatchRow& row = batch(sample.step);
  const double begun_s = now() - took_s;
  row.begun_s = row.begun_s < 0 ? begun_s : std::min(row.begun_s, begun_s);
  row.longest_s = std::max(row.longest_s, took_s);
  ++row.samples;
  row.tokens += sample.tokens;
  const int staleness = queue_.staleness_of(sample);
  row.staleness += staleness;
  row.stalest = std::max(row.stalest, staleness);
  if (rows_.samples_by_staleness.size() <= as_index(staleness))
    rows_.samples_by_staleness.resize(as_index(staleness) + 1);
  ++rows_.samples_by_staleness[as_index(staleness)];
  if (!queue_.finish(sample)) return;
  row.whole_s = now();
  const auto found = waiting_.find(sample.step);
  if (found == waiting_.end()) return;
  const std::vector<Waiting> waiting = std::move(found->second);
  waiting_.erase(found);
  for (const Waiting& one : waiting) {
    const double waited_s = seconds_between(one.since_s, clock_.now_s());
    BatchRow& used = batch(sample.step);
    used.used_s = now();
    used.waited_s = std::max(used.waited_s, waited_s);
    one.go(waited_s);
  }
}

void Rollouts::await_batch(int step, std::function<void(double waited_s)> go) {
  if (!queue_.is_whole(step)) {
    waiting_[step].push_back({clock_.now_s(), std::move(go)});
    return;
  }
  if (BatchRow& row = batch(step); row.used_s < 0) row.used_s = now();
  go(0);
}

void Rollouts::open(int version, int step) {
  rows_.versions.emplace_back();
  rows_.versions.back().version = version;
  rows_.versions.back().step = step;
  for (int group = 0; group < spec_.groups; ++group) rows_.refits.push_back({version, group});
  open_.push_back({version, {}});
}

void Rollouts::ended_step(int worker, int step) {
  const int every = spec_.weights.every;
  const bool is_source = any_of(trees_, [&](const WeightTree& tree) { return tree.source == worker; });
  // What the last step trained nobody generates with.
  if (!is_source || step % every != 0 || step >= case_.steps()) return;
  const int number = step / every;
  if (static_cast<int>(rows_.versions.size()) < number) open(number, step);
  if (current_ && sending_ == number) {
    row_of(number).published_s = now();
    current_->release(worker);
    return;
  }
  find_if(open_, [&](const Version& version) { return version.number == number; })->sources.push_back(worker);
  row_of(number).published_s = now();
  if (!current_) send_next();
}

void Rollouts::end_training() {
  if (!end_s_) end_s_ = now();
}

bool Rollouts::is_settled() const {
  const int last = static_cast<int>(rows_.versions.size());
  return !current_ && open_.empty() &&
         std::all_of(taken_up_.begin(), taken_up_.end(), [&](int version) { return version == last; });
}

void Rollouts::send_next() {
  if (open_.empty()) return;
  const Version version = std::move(open_.front());
  open_.pop_front();
  sending_ = version.number;
  row_of(sending_).sent_s = now();
  std::fill(receipts_.begin(), receipts_.end(), Receipt{});
  current_ =
      std::make_shared<WeightTransfer>(WeightTransfer::Carriers{clock_, network_}, spec_.weights, trees_,
                                       spec_.has_store() ? case_.host_of_store() : -1, sending_, rule_,
                                       [this](int host, std::int64_t bytes) { receive(host, bytes); });
  for (const auto& group : groups_) group->expect(sending_);
  for (const int source : version.sources) current_->release(source);
}

void Rollouts::receive(int host, std::int64_t bytes) {
  const int group = host - case_.host_of_group(0);
  Receipt& receipt = receipts_[as_index(group)];
  receipt.bytes += bytes;
  received_[as_index(group)] += bytes;
  const double unpack_s =
      spec_.weights.unpack_rate ? 8 * static_cast<double>(bytes) / *spec_.weights.unpack_rate : 0;
  receipt.unpacked_s = std::max(receipt.unpacked_s, clock_.now_s()) + unpack_s;
  if (receipt.bytes == spec_.weights.bytes) {
    row_of(sending_, group).arrived_s = now();
    clock_.after(std::max(0., receipt.unpacked_s - clock_.now_s()),
                 [this, group, version = sending_] { unpacked(group, version); });
  }
  if (!current_->is_done()) return;
  transfers_ += current_->transfers();
  bytes_ += current_->bytes();
  row_of(sending_).bytes = current_->bytes();
  clock_.retire(std::move(current_));
  current_.reset();
  send_next();
}

void Rollouts::unpacked(int group, int version) {
  groups_[as_index(group)]->take_up(version);
}

// Earlier versions that it has not generated with count too: it passed over them.
void Rollouts::swapped(int group, int version) {
  for (int number = taken_up_[as_index(group)] + 1; number <= version; ++number)
    row_of(number, group).swapped_s = now();
  taken_up_[as_index(group)] = version;
  const int everywhere = *std::min_element(taken_up_.begin(), taken_up_.end());
  for (int number = version; number > 0 && row_of(number).first_s < 0; --number)
    row_of(number).first_s = now();
  for (int number = everywhere; number > 0 && row_of(number).last_s < 0; --number)
    row_of(number).last_s = now();
  if (end_s_ && is_settled()) on_settled_();
}

RolloutRows Rollouts::rows(std::vector<SiteBytes> sites) const {
  RolloutRows rows = rows_;
  rows.sites = std::move(sites);
  rows.end_s = end_s_.value_or(now());
  if (current_) rows.versions[as_index(sending_ - 1)].bytes = current_->bytes();
  for (int group = 0; group < static_cast<int>(groups_.size()); ++group) {
    const int host = case_.host_of_group(group);
    const RolloutGroup::Work work = groups_[as_index(group)]->work();
    rows.groups.push_back({topology_.node_name(host),
                           topology_.site_of().empty() ? "" : site_name(topology_, host), work.busy_s,
                           work.sample_s, work.samples, work.tokens, received_[as_index(group)]});
  }
  return rows;
}

std::vector<std::string> Rollouts::waiting() const {
  std::vector<std::string> lines;
  for (const auto& [step, workers] : waiting_)
    lines.push_back(fmt::format("{} workers wait for the samples of step {}", workers.size(), step));
  for (std::size_t group = 0; group < groups_.size(); ++group)
    lines.push_back(fmt::format("group {} {}", group, groups_[group]->state()));
  if (current_)
    for (std::string& line : current_->waiting()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace longhaul
