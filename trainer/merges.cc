#include "trainer/merges.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

std::string name_of_message(std::size_t merge, int replica) {
  return "contribution." + std::to_string(merge) + "." + std::to_string(replica);
}

std::string name_of_anchor(std::size_t merge, int replica) {
  return "anchor." + std::to_string(merge) + "." + std::to_string(replica);
}

std::string name_of_result(std::size_t merge) {
  return "merged." + std::to_string(merge);
}

constexpr const char* kPhi = "synchronizer.phi";
constexpr const char* kMomentum = "synchronizer.momentum";

double length_of(const std::vector<float>& row) {
  double squares = 0;
  for (const float value : row) squares += double{value} * value;
  return std::sqrt(squares);
}

std::vector<float> weighted_mean(const std::vector<std::vector<float>>& rows,
                                 const std::vector<float>& weights) {
  std::vector<float> mean(rows.front().size());
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += weights[r] * rows[r][i];
  return mean;
}

}  // namespace

std::vector<float> radial_directional_mean(const std::vector<std::vector<float>>& rows,
                                           const std::vector<float>& weights) {
  std::vector<float> direction(rows.front().size());
  double mean_length = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double length = length_of(rows[r]);
    mean_length += weights[r] * length;
    if (length == 0) continue;
    const auto scale = static_cast<float>(weights[r] / length);
    for (std::size_t i = 0; i < direction.size(); ++i) direction[i] += scale * rows[r][i];
  }
  const double length = length_of(direction);
  if (length == 0) return weighted_mean(rows, weights);
  for (float& value : direction) value *= static_cast<float>(mean_length / length);
  return direction;
}

Merges::Merges(const OperationPlan& plan, const PlanContext& context, const std::vector<Parameter>& layout,
               const Update& update, Replicas& replicas)
    : plan_(plan), context_(context), layout_(layout), update_(update), replicas_(replicas) {
  const float* first = replicas.arena.row(Slot::kWeights, replicas.arena.held().first);
  phi_.assign(first, first + context.parameters);
  momentum_.resize(phi_.size());
}

void Merges::begin_with(const float* phi, const float* momentum) {
  phi_.assign(phi, phi + context_.parameters);
  momentum_.assign(momentum, momentum + context_.parameters);
}

Columns Merges::columns_of(int rule) const {
  return ranges_of(rule_of(rule).payload.front().columns, context_.parameters);
}

std::vector<Parameter> Merges::tensors_of(int rule) const {
  std::vector<Parameter> tensors;
  if (!update_.averages_directions()) return tensors;
  const Columns columns = columns_of(rule);
  std::copy_if(layout_.begin(), layout_.end(), std::back_inserter(tensors), [&](const Parameter& tensor) {
    return std::any_of(columns.begin(), columns.end(), [&](const ColumnRange& range) {
      return tensor.offset >= range.begin && tensor.offset < range.end;
    });
  });
  return tensors;
}

MessageFormat Merges::format_of(int rule, int post_step) const {
  return MessageFormat(rule_of(rule).payload.front(), context_.parameters,
                       mask_draw(context_.seed, post_step));
}

void Merges::contribute(const journal::Contribute& entry) {
  Posted& posted = posted_[{entry.merge, entry.replica}];
  posted = {entry.rule, entry.step};
  if (!is_here(entry.replica)) return;
  const PayloadPart& part = rule_of(entry.rule).payload.front();
  const auto [slot, less] = update_.source(part.tensor);
  Arena& arena = replicas_.arena;
  const RowSource source{arena.row(slot, entry.replica), less ? arena.row(*less, entry.replica) : nullptr};
  float* error = part.codec.feedback == Feedback::kNone ? nullptr : arena.row(Slot::kError, entry.replica);
  posted.message = Message(format_of(entry.rule, entry.step), source).encoded(error);
  if (tensors_of(entry.rule).empty()) return;
  for (const ColumnRange& range : columns_of(entry.rule))
    posted.anchor.insert(posted.anchor.end(), source.less + range.begin, source.less + range.end);
}

void Merges::fetch(Posted& posted, int replica) {
  Ranks& ranks = replicas_.ranks;
  if (ranks.size() == 1) return;
  const int holder = holder_of(ranks, replicas_.arena.replicas(), replica);
  const MessageFormat format = format_of(posted.rule, posted.step);
  std::vector<std::uint8_t> bytes(as_index(format.bytes()));
  if (is_here(replica)) bytes = posted.message.bytes();
  broadcast(ranks, holder, bytes.data(), bytes.size());
  if (!is_here(replica)) posted.message = Message(format, std::move(bytes));
  if (tensors_of(posted.rule).empty()) return;
  posted.anchor.resize(as_index(size_of(posted.rule)));
  broadcast(ranks, holder, posted.anchor.data(), posted.anchor.size() * sizeof(float));
}

void Merges::make(const journal::MakeMerge& entry) {
  const OperationRule& rule = rule_of(entry.rule);
  std::vector<const Message*> messages;
  std::vector<int> members;
  int last_step = 0, takers = 0;
  for (const Merge::Contribution& contribution : entry.contributions) {
    Posted& posted = posted_.at({entry.merge, contribution.replica});
    fetch(posted, contribution.replica);
    messages.push_back(&posted.message);
    members.push_back(contribution.replica);
    last_step = std::max(last_step, contribution.post_step);
    takers += contribution.taken_step > 0;
  }
  replicas_.log.begin(last_step, rule.name);
  replicas_.log.group(members);
  for (std::size_t i = 0; i < members.size(); ++i)
    replicas_.log.sent(members[i], rule.payload.front().tensor, messages[i]->size());
  replicas_.log.end();

  const std::vector<Parameter> tensors = tensors_of(entry.rule);
  if (tensors.empty()) average(entry, messages);
  replicas_.backend.for_each(static_cast<int>(tensors.size()),
                             [&](int tensor) { average_directions(entry, tensors[as_index(tensor)]); });
  for (const int member : members) posted_.erase({entry.merge, member});
  if (takers == 0) return;
  Result& result = results_[entry.merge];
  result.rule = entry.rule;
  result.takers = takers;
  for (const ColumnRange& range : columns_of(entry.rule))
    result.phi.insert(result.phi.end(), phi_.begin() + range.begin, phi_.begin() + range.end);
}

void Merges::average(const journal::MakeMerge& entry, const std::vector<const Message*>& messages) {
  const bool is_even = std::all_of(entry.shares.begin(), entry.shares.end(),
                                   [&](float share) { return share == entry.shares.front(); });
  for (const ColumnRange& range : columns_of(entry.rule))
    for_each_piece(replicas_.backend, range.size(), [&](std::int64_t from, std::int64_t to) {
      float mean[kBlock];
      for (std::int64_t begin = range.begin + from; begin < range.begin + to; begin += kBlock) {
        const std::int64_t end = std::min(range.begin + to, begin + kBlock);
        is_even ? mean_of(messages, begin, end, mean)
                : weighted_mean_of(messages, entry.shares, begin, end, mean);
        update_.merge(end - begin, mean, phi_.data() + begin, momentum_.data() + begin);
      }
    });
}

void Merges::average_directions(const journal::MakeMerge& entry, const Parameter& tensor) {
  float* phi = phi_.data() + tensor.offset;
  std::vector<std::vector<float>> rows;
  for (const Merge::Contribution& contribution : entry.contributions) {
    const Posted& posted = posted_.at({entry.merge, contribution.replica});
    const float* anchor = posted.anchor.data() + posted.message.format().place_of(tensor.offset);
    std::vector<float>& row = rows.emplace_back(as_index(tensor.size()));
    for (std::int64_t at = 0; at < tensor.size(); at += kBlock)
      posted.message.read(tensor.offset + at, tensor.offset + std::min(tensor.size(), at + kBlock),
                          row.data() + at);
    for (std::size_t at = 0; at < row.size(); ++at) row[at] += anchor[at] - phi[at];
  }
  const std::vector<float> mean =
      tensor.is_embedding() ? weighted_mean(rows, entry.shares) : radial_directional_mean(rows, entry.shares);
  update_.merge(tensor.size(), mean.data(), phi, momentum_.data() + tensor.offset);
}

void Merges::take_up(const journal::TakeUp& entry) {
  Result& result = results_.at(entry.merge);
  const float* phi = result.phi.data();
  for (const ColumnRange& range : columns_of(entry.rule)) {
    if (!is_here(entry.replica)) break;
    update_.take_up(range.size(), phi, replicas_.arena.row(Slot::kWeights, entry.replica) + range.begin,
                    replicas_.arena.row(Slot::kSlowWeights, entry.replica) + range.begin);
    phi += range.size();
  }
  if (--result.takers == 0) results_.erase(entry.merge);
}

Json Merges::state() const {
  Json posted = Json::array(), results = Json::array();
  for (const auto& [place, of] : posted_) posted.push_back({place.first, place.second, of.rule, of.step});
  for (const auto& [merge, of] : results_) results.push_back({merge, of.rule, of.takers});
  return {{"posted", posted}, {"results", results}};
}

std::vector<TensorView> Merges::tensors() const {
  std::vector<TensorView> views = {{kPhi, "F32", {context_.parameters}, phi_.data()},
                                   {kMomentum, "F32", {context_.parameters}, momentum_.data()}};
  for (const auto& [place, of] : posted_) {
    const auto& [merge, replica] = place;
    views.push_back(held_tensor(replicas_, name_of_message(merge, replica), "U8",
                                format_of(of.rule, of.step).bytes(), replica,
                                is_here(replica) ? of.message.bytes().data() : nullptr));
    if (!tensors_of(of.rule).empty())
      views.push_back(held_tensor(replicas_, name_of_anchor(merge, replica), "F32", size_of(of.rule), replica,
                                  of.anchor.data()));
  }
  for (const auto& [merge, of] : results_)
    views.push_back({name_of_result(merge), "F32", {size_of(of.rule)}, of.phi.data()});
  return views;
}

void Merges::restore(const Json& state, CheckpointTensors& tensors) {
  tensors.to_all(kPhi, phi_);
  tensors.to_all(kMomentum, momentum_);
  for (const Json& json : state.at("posted")) {
    const std::size_t merge = json.at(0);
    const int replica = json.at(1);
    Posted& posted = posted_[{merge, replica}];
    posted = {json.at(2), json.at(3)};
    const MessageFormat format = format_of(posted.rule, posted.step);
    std::vector<std::uint8_t> bytes =
        tensors.held<std::uint8_t>(name_of_message(merge, replica), replica, format.bytes());
    if (is_here(replica)) posted.message = Message(format, std::move(bytes));
    if (!tensors_of(posted.rule).empty())
      posted.anchor = tensors.held(name_of_anchor(merge, replica), replica, size_of(posted.rule));
  }
  for (const Json& json : state.at("results")) {
    const std::size_t merge = json.at(0);
    Result& result = results_[merge];
    result.rule = json.at(1), result.takers = json.at(2);
    result.phi.resize(as_index(size_of(result.rule)));
    tensors.to_all(name_of_result(merge), result.phi);
  }
}

}  // namespace longhaul
