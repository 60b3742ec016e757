#include "replay/flow/flow_variation.h"

#include "core/base/index.h"
#include "core/base/ranges.h"

namespace longhaul {

FlowVariation::FlowVariation(std::unique_ptr<Variation> variation, const Topology& topology,
                             const TcpSpec& tcp, FairShares& shares)
    : variation_(std::move(variation)),
      topology_(topology),
      tcp_(tcp),
      shares_(shares),
      is_changed_(variation_->rates().size()) {
  for (const Variation::CrossFlow& flow : variation_->cross_flows())
    shares_.add({&flow.data, &flow.acks, flow.weight, kUnlimited});
  for (std::size_t i = 0; i < is_changed_.size(); ++i)
    shares_.set_capacity(static_cast<LinkDirection>(i), variation_->capacities()[i]);
  share();
}

// Starting what is on and stopping what is off again changes nothing.
void FlowVariation::share() {
  for (const LinkDirection direction : variation_->changed()) {
    shares_.set_capacity(direction, variation_->capacities()[as_index(direction)]);
    is_changed_[as_index(direction)] = true;
  }
  const std::vector<Variation::CrossFlow>& flows = variation_->cross_flows();
  for (std::size_t i = 0; i < flows.size(); ++i)
    variation_->is_on(flows[i]) ? shares_.start(static_cast<int>(i)) : shares_.stop(static_cast<int>(i));
  next_change_ns_ = variation_->next_change_ns();
}

void FlowVariation::advance_to(std::int64_t now_ns) {
  for (const LinkDirection direction : variation_->changed()) is_changed_[as_index(direction)] = false;
  variation_->advance_to(now_ns);
  share();
}

bool FlowVariation::concerns(const ConnectionFacts& facts) const {
  const auto is_changed = [&](LinkDirection link_direction) { return is_changed_[as_index(link_direction)]; };
  return any_of(facts.data, is_changed) || any_of(facts.acks, is_changed);
}

ConnectionFacts FlowVariation::present(const ConnectionFacts& own, int source, int target) const {
  return facts_at(topology_, tcp_, source, target, own, variation_->rates(), variation_->delays_s());
}

double FlowVariation::cap(const ConnectionFacts& facts, double rate_limit) const {
  const bool is_way_back_open = std::all_of(
      facts.acks.begin(), facts.acks.end(),
      [&](LinkDirection link_direction) { return variation_->capacities()[as_index(link_direction)] > 0; });
  return is_way_back_open ? rate_limit : 0;
}

std::vector<double> FlowVariation::losses(const ConnectionFacts& facts) const {
  return each_of(facts.data, [&](LinkDirection at) { return variation_->losses()[as_index(at)]; });
}

double FlowVariation::tail_s(const ConnectionFacts& facts, std::int64_t bytes) const {
  return longhaul::tail_s(variation_->rates(), facts, tcp_.segment, bytes);
}

// Links whose outages take turns may end ten thousand of them and let no data through; that is an outage
// without end.
std::int64_t FlowVariation::next_wake_ns(bool is_moving) {
  constexpr int kMostEndsInVain = 10000;
  if (is_moving) {
    ends_in_vain_ = 0;
    return next_change_ns_;
  }
  return ++ends_in_vain_ <= kMostEndsInVain ? variation_->next_outage_end_ns() : kNever;
}

}  // namespace longhaul
