#include "trainer/merges.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
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

void read_all(SafetensorsFile& file, const std::string& name, std::int64_t bytes, void* out) {
  const SafetensorsFile::Entry& entry = file.entry(name);
  if (entry.bytes != bytes)
    throw InputError(name, "has " + std::to_string(entry.bytes) + " bytes", std::to_string(bytes),
                     "the checkpoint is of another training");
  file.read(entry, 0, bytes, out);
}

// By rule and replica the steps after which it posted what was merged.
using Posted = std::map<std::pair<int, int>, std::set<int>>;

// How many steps are in the Δ of a replica's model after `step`, as it was when the first `copies` of all
// copies were made; where it contributes after that step, before that.
int steps_behind(const Absences& absences, const Posted& posted, int rule, int replica, int step,
                 bool contributes_then, std::size_t copies) {
  int before = 0;
  if (const auto found = posted.find({rule, replica}); found != posted.end()) {
    const std::set<int>& steps = found->second;
    const auto after = contributes_then ? steps.lower_bound(step) : steps.upper_bound(step);
    if (after != steps.begin()) before = *std::prev(after);
  }
  std::size_t last = copies;
  for (std::size_t i = 0; i < copies; ++i) {
    const Absences::Copy& copy = absences.copies()[i];
    if (copy.replica == replica && (contributes_then ? copy.step < step : copy.step <= step)) last = i;
  }
  if (last == copies || absences.copies()[last].step < before)
    return absences.computed(replica, before, step);
  const Absences::Copy& copy = absences.copies()[last];
  return absences.computed(replica, copy.step, step) +
         steps_behind(absences, posted, rule, copy.source, copy.copied_step, false, last);
}

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

std::vector<std::vector<float>> token_shares(const Schedule& schedule) {
  Posted posted;
  for (const Merge& merge : schedule.merges)
    for (const Merge::Contribution& contribution : merge.contributions)
      posted[{merge.rule, contribution.replica}].insert(contribution.post_step);
  std::vector<std::vector<float>> shares;
  for (const Merge& merge : schedule.merges) {
    std::vector<int> steps;
    for (const Merge::Contribution& contribution : merge.contributions)
      steps.push_back(steps_behind(schedule.absences, posted, merge.rule, contribution.replica,
                                   contribution.post_step, true, schedule.absences.copies().size()));
    const double all = std::accumulate(steps.begin(), steps.end(), 0.);
    shares.emplace_back();
    for (const int own : steps) shares.back().push_back(static_cast<float>(own / all));
  }
  return shares;
}

Merges::Merges(const OperationPlan& plan, const PlanContext& context, const std::vector<Parameter>& layout,
               const Schedule& schedule, const Update& update, Replicas& replicas)
    : plan_(plan), context_(context), update_(update), replicas_(replicas) {
  const std::vector<std::vector<float>> shares = token_shares(schedule);
  for (const Merge& merge : schedule.merges) {
    const std::size_t number = merges_.size();
    Plan plan_here{&merge, shares[number], true, {}, {}};
    plan_here.is_even = std::all_of(plan_here.shares.begin(), plan_here.shares.end(),
                                    [&](float share) { return share == plan_here.shares.front(); });
    plan_here.columns =
        ranges_of(plan.rules[as_index(merge.rule)].payload.front().columns, context.parameters);
    for (const Parameter& tensor : layout)
      if (update.averages_directions() &&
          std::any_of(plan_here.columns.begin(), plan_here.columns.end(), [&](const ColumnRange& range) {
            return tensor.offset >= range.begin && tensor.offset < range.end;
          }))
        plan_here.tensors.push_back(tensor);
    merges_.push_back(std::move(plan_here));
    for (const Merge::Contribution& made : merge.contributions) {
      posted_[{made.replica, made.post_step}].push_back(number);
      if (made.taken_step > 0) taken_[{made.replica, made.taken_step}].push_back(number);
    }
  }
  for (auto* actions : {&taken_, &posted_})
    for (auto& [at, numbers] : *actions)
      std::stable_sort(numbers.begin(), numbers.end(), [&](std::size_t a, std::size_t b) {
        return merges_[a].merge->rule < merges_[b].merge->rule;
      });
  const float* first = replicas.arena.row(Slot::kWeights, 0);
  phi_.assign(first, first + context.parameters);
  momentum_.resize(phi_.size());
}

const OperationRule& Merges::rule_of(std::size_t merge) const {
  return plan_.rules[as_index(merges_[merge].merge->rule)];
}

MessageFormat Merges::format_of(std::size_t merge, int post_step) const {
  return MessageFormat(rule_of(merge).payload.front(), context_.parameters,
                       mask_draw(context_.seed, post_step));
}

std::int64_t Merges::size_of(std::size_t merge) const {
  return column_count(merges_[merge].columns, context_.parameters);
}

bool Merges::has_work(int replica, int step) const {
  return taken_.count({replica, step}) > 0 || posted_.count({replica, step}) > 0;
}

bool Merges::is_there(int replica, int step) const {
  const auto found = taken_.find({replica, step});
  return found == taken_.end() || std::all_of(found->second.begin(), found->second.end(),
                                              [this](std::size_t merge) { return merge < made_; });
}

void Merges::post(int replica, int step) {
  const auto found = posted_.find({replica, step});
  if (found == posted_.end()) return;
  for (const std::size_t merge : found->second) {
    const PayloadPart& part = rule_of(merge).payload.front();
    const auto [slot, less] = update_.source(part.tensor);
    Arena& arena = replicas_.arena;
    const RowSource source{arena.row(slot, replica), less ? arena.row(*less, replica) : nullptr};
    float* error = part.codec.feedback == Feedback::kNone ? nullptr : arena.row(Slot::kError, replica);
    messages_[{merge, replica}] = Message(format_of(merge, step), source).encoded(error);
    if (merges_[merge].tensors.empty()) continue;
    std::vector<float>& anchor = anchors_[{merge, replica}];
    for (const ColumnRange& range : merges_[merge].columns)
      anchor.insert(anchor.end(), source.less + range.begin, source.less + range.end);
  }
}

bool Merges::can_make(std::size_t merge) const {
  const std::vector<Merge::Contribution>& all = merges_[merge].merge->contributions;
  return std::all_of(all.begin(), all.end(), [&](const Merge::Contribution& contribution) {
    return messages_.count({merge, contribution.replica}) > 0;
  });
}

bool Merges::make() {
  const std::size_t before = made_;
  while (made_ < merges_.size() && can_make(made_)) make(made_++);
  return made_ > before;
}

void Merges::make(std::size_t number) {
  const Plan& plan = merges_[number];
  std::vector<const Message*> messages;
  std::vector<int> members;
  int last_step = 0;
  for (const Merge::Contribution& contribution : plan.merge->contributions) {
    messages.push_back(&messages_.at({number, contribution.replica}));
    members.push_back(contribution.replica);
    last_step = std::max(last_step, contribution.post_step);
  }
  replicas_.log.begin(last_step, rule_of(number).name);
  replicas_.log.group(members);
  for (std::size_t i = 0; i < members.size(); ++i)
    replicas_.log.sent(members[i], rule_of(number).payload.front().tensor, messages[i]->size());
  replicas_.log.end();

  if (plan.tensors.empty()) average(plan, messages);
  replicas_.backend.for_each(static_cast<int>(plan.tensors.size()), [&](int tensor) {
    average_directions(number, messages, plan.tensors[as_index(tensor)]);
  });
  for (const int member : members) {
    messages_.erase({number, member});
    anchors_.erase({number, member});
  }
  const auto takes = [](const Merge::Contribution& contribution) { return contribution.taken_step > 0; };
  const std::vector<Merge::Contribution>& all = plan.merge->contributions;
  takers_[number] = static_cast<int>(std::count_if(all.begin(), all.end(), takes));
  if (takers_[number] == 0) return;
  std::vector<float>& result = results_[number];
  for (const ColumnRange& range : plan.columns)
    result.insert(result.end(), phi_.begin() + range.begin, phi_.begin() + range.end);
}

void Merges::average(const Plan& plan, const std::vector<const Message*>& messages) {
  for (const ColumnRange& range : plan.columns)
    for_each_piece(replicas_.backend, range.size(), [&](std::int64_t from, std::int64_t to) {
      float mean[kBlock];
      for (std::int64_t begin = range.begin + from; begin < range.begin + to; begin += kBlock) {
        const std::int64_t end = std::min(range.begin + to, begin + kBlock);
        plan.is_even ? mean_of(messages, begin, end, mean)
                     : weighted_mean_of(messages, plan.shares, begin, end, mean);
        update_.merge(end - begin, mean, phi_.data() + begin, momentum_.data() + begin);
      }
    });
}

void Merges::average_directions(std::size_t number, const std::vector<const Message*>& messages,
                                const Parameter& tensor) {
  const Plan& plan = merges_[number];
  float* phi = phi_.data() + tensor.offset;
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = *messages[i];
    const std::vector<float>& anchors = anchors_.at({number, plan.merge->contributions[i].replica});
    const float* anchor = anchors.data() + message.format().place_of(tensor.offset);
    std::vector<float>& row = rows.emplace_back(as_index(tensor.size()));
    for (std::int64_t at = 0; at < tensor.size(); at += kBlock)
      message.read(tensor.offset + at, tensor.offset + std::min(tensor.size(), at + kBlock), row.data() + at);
    for (std::size_t at = 0; at < row.size(); ++at) row[at] += anchor[at] - phi[at];
  }
  const std::vector<float> mean =
      tensor.is_embedding() ? weighted_mean(rows, plan.shares) : radial_directional_mean(rows, plan.shares);
  update_.merge(tensor.size(), mean.data(), phi, momentum_.data() + tensor.offset);
}

void Merges::take_up(int replica, int step) {
  const auto found = taken_.find({replica, step});
  if (found == taken_.end()) return;
  for (const std::size_t merge : found->second) {
    const float* result = results_.at(merge).data();
    for (const ColumnRange& range : merges_[merge].columns) {
      update_.take_up(range.size(), result, replicas_.arena.row(Slot::kWeights, replica) + range.begin,
                      replicas_.arena.row(Slot::kSlowWeights, replica) + range.begin);
      result += range.size();
    }
    if (--takers_.at(merge) == 0) results_.erase(merge);
  }
}

std::vector<TensorView> Merges::tensors() const {
  std::vector<TensorView> views = {{kPhi, "F32", {context_.parameters}, phi_.data()},
                                   {kMomentum, "F32", {context_.parameters}, momentum_.data()}};
  for (const auto& [place, message] : messages_)
    views.push_back({name_of_message(place.first, place.second),
                     "U8",
                     {static_cast<std::int64_t>(message.bytes().size())},
                     message.bytes().data()});
  for (const auto& [place, anchor] : anchors_)
    views.push_back(
        {name_of_anchor(place.first, place.second), "F32", {size_of(place.first)}, anchor.data()});
  for (const auto& [merge, result] : results_)
    views.push_back({name_of_result(merge), "F32", {size_of(merge)}, result.data()});
  return views;
}

void Merges::restore(SafetensorsFile& file, std::size_t made, const IsOver& is_over) {
  if (made > merges_.size())
    throw InputError("merges", "found " + std::to_string(made), "at most " + std::to_string(merges_.size()),
                     "the checkpoint is of another schedule");
  made_ = made;
  const auto floats = static_cast<std::int64_t>(sizeof(float));
  read_all(file, kPhi, floats * context_.parameters, phi_.data());
  read_all(file, kMomentum, floats * context_.parameters, momentum_.data());
  for (std::size_t number = 0; number < merges_.size(); ++number)
    for (const Merge::Contribution& contribution : merges_[number].merge->contributions) {
      if (number < made) {
        takers_[number] +=
            contribution.taken_step > 0 && !is_over(contribution.replica, contribution.taken_step);
      } else if (is_over(contribution.replica, contribution.post_step)) {
        const MessageFormat format = format_of(number, contribution.post_step);
        std::vector<std::uint8_t> bytes(as_index(format.bytes()));
        read_all(file, name_of_message(number, contribution.replica), format.bytes(), bytes.data());
        messages_[{number, contribution.replica}] = Message(format, std::move(bytes));
        if (merges_[number].tensors.empty()) continue;
        std::vector<float>& anchor = anchors_[{number, contribution.replica}];
        anchor.resize(as_index(size_of(number)));
        read_all(file, name_of_anchor(number, contribution.replica), floats * size_of(number), anchor.data());
      }
    }
  for (const auto& [number, takers] : takers_) {
    if (takers == 0) continue;
    std::vector<float>& result = results_[number];
    result.resize(as_index(size_of(number)));
    read_all(file, name_of_result(number), floats * size_of(number), result.data());
  }
}

}  // namespace longhaul
