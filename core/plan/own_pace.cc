#include "core/plan/own_pace.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

using namespace journal;

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

class OwnPace : public Journal {
 public:
  OwnPace(const JournalSpec& spec, Schedule schedule)
      : spec_(spec),
        schedule_(std::move(schedule)),
        shares_(token_shares(schedule_)),
        contributed_count_(schedule_.merges.size()),
        is_made_(schedule_.absences.copies().size()),
        replicas_(as_index(spec.context.replicas)) {
    for (std::size_t number = 0; number < schedule_.merges.size(); ++number)
      for (const Merge::Contribution& contribution : schedule_.merges[number].contributions) {
        contributed_[{contribution.replica, contribution.post_step}].push_back(number);
        if (contribution.taken_step > 0)
          taken_[{contribution.replica, contribution.taken_step}].push_back(number);
      }
    for (auto* actions : {&taken_, &contributed_})
      for (auto& [at, numbers] : *actions)
        std::stable_sort(numbers.begin(), numbers.end(), [this](std::size_t a, std::size_t b) {
          return schedule_.merges[a].rule < schedule_.merges[b].rule;
        });
  }

  // Each replica takes the steps that it can take; then the steps end that can end.
  std::vector<Entry> next() override {
    entries_.clear();
    const int before = lowest();
    if (before == spec_.context.steps) return {};
    if (!is_begun_)
      for (int replica = 0; replica < spec_.context.replicas; ++replica) hold(replica, 0);
    is_begun_ = true;
    compute();
    if (!finish_steps())
      throw InputError("--schedule", "has merges that wait for each other",
                       "the schedule of a replay of this case");
    evaluate_kept();
    if (const int step = lowest(); step > 0)
      entries_.push_back(EndStep{step, computing(spec_.plan, schedule_.absences, spec_.context, step),
                                 ending(schedule_.absences, spec_.context, step)});
    for (int step = before + 1; step <= lowest(); ++step)
      if (spec_.is_kept(step)) {
        entries_.push_back(Save{lowest()});
        break;
      }
    return std::move(entries_);
  }

 private:
  using At = std::pair<int, int>;  // replica, step

  // The inner steps that are taken, and those whose end, with what is taken up and posted there, is over: one
  // behind the other where a replica waits for a merge that is not made yet. Absences that are over.
  struct Replica {
    int computed = 0, finished = 0;
    std::size_t absences = 0;
  };

  Replica& at(int replica) { return replicas_[as_index(replica)]; }

  // The last step that all have finished.
  int lowest() const {
    const auto is_before = [](const Replica& a, const Replica& b) { return a.finished < b.finished; };
    return std::min_element(replicas_.begin(), replicas_.end(), is_before)->finished;
  }

  // The last step before the replica is gone, or the last of all.
  int last_step(int replica) {
    const std::vector<Absence>& absences = schedule_.absences.of(replica);
    const std::size_t over = at(replica).absences;
    return over < absences.size() ? absences[over].left_step - 1 : spec_.context.steps;
  }

  // What one replica has to do with others, or with files, at the end of a step.
  bool stops_after(int replica, int step) const {
    return spec_.is_evaluated(step) || spec_.is_kept(step) || taken_.count({replica, step}) > 0 ||
           contributed_.count({replica, step}) > 0 || is_held_after(replica, step);
  }

  void compute() {
    for (int replica = 0; replica < spec_.context.replicas; ++replica) {
      Replica& here = at(replica);
      if (here.computed > here.finished) continue;
      const int first = here.computed + 1, last = last_step(replica);
      while (here.computed < last && !(here.computed >= first && stops_after(replica, here.computed)))
        ++here.computed;
      if (here.computed >= first) entries_.push_back(Compute{{replica}, first, here.computed});
    }
  }

  // Whether there was one.
  bool finish_steps() {
    bool any = false;
    for (bool is_new = true; is_new;) {
      is_new = make_merges();
      for (int replica = 0; replica < spec_.context.replicas; ++replica) {
        if (come_back(replica)) is_new = any = true;
        const int step = at(replica).computed;
        if (at(replica).finished == step || !is_there(replica, step)) continue;
        finish(replica, step);
        is_new = any = true;
      }
    }
    return any;
  }

  // In the order of the schedule, as soon as all that contribute have. Whether there was one.
  bool make_merges() {
    const std::size_t before = made_;
    const auto can_make = [this](std::size_t number) {
      return contributed_count_[number] == schedule_.merges[number].contributions.size();
    };
    for (; made_ < schedule_.merges.size() && can_make(made_); ++made_) {
      const Merge& merge = schedule_.merges[made_];
      entries_.push_back(MakeMerge{made_, merge.rule, merge.contributions, shares_[made_]});
    }
    return made_ > before;
  }

  // Whether all that the replica takes up at the end of `step` is made.
  bool is_there(int replica, int step) const {
    const auto found = taken_.find({replica, step});
    return found == taken_.end() || std::all_of(found->second.begin(), found->second.end(),
                                                [this](std::size_t merge) { return merge < made_; });
  }

  // Where replicas that waited for it would take something up.
  bool has_merge_due(int step) const {
    return std::any_of(spec_.plan.rules.begin(), spec_.plan.rules.end(), [&](const OperationRule& rule) {
      return is_posted_at(rule, spec_.context.steps, step - rule.overlap_steps);
    });
  }

  // What follows the program of a step (program.h): what is there of merges is taken up, then posted.
  void finish(int replica, int step) {
    const bool is_evaluated = spec_.is_evaluated(step) && is_there_at_the_end(replica, step);
    const bool is_due = has_merge_due(step);
    const auto keep = [&](int phase, const char* word) {
      kept_[{step, phase}] = word;
      entries_.push_back(Keep{step, word, replica});
    };
    if (is_evaluated && is_due) keep(0, "before");
    const auto of_merges = [&](const std::map<At, std::vector<std::size_t>>& actions, const auto& add) {
      if (const auto found = actions.find({replica, step}); found != actions.end())
        for (const std::size_t merge : found->second) add(merge, schedule_.merges[merge].rule);
    };
    of_merges(taken_, [&](std::size_t merge, int rule) { entries_.push_back(TakeUp{merge, rule, replica}); });
    of_merges(contributed_, [&](std::size_t merge, int rule) {
      entries_.push_back(Contribute{merge, rule, replica, step});
      ++contributed_count_[merge];
    });
    if (is_evaluated) keep(1, is_due ? "after" : "plain");
    at(replica).finished = step;
    hold(replica, step);
  }

  bool is_there_at_the_end(int replica, int step) const {
    const std::vector<int> all = ending(schedule_.absences, spec_.context, step);
    return std::binary_search(all.begin(), all.end(), replica);
  }

  // Where the replica is gone, and begins again with what can be known now.
  bool come_back(int replica) {
    Replica& here = at(replica);
    const std::vector<Absence>& absences = schedule_.absences.of(replica);
    if (here.absences == absences.size() || here.finished != last_step(replica)) return false;
    if (here.computed != here.finished) return false;
    const Absence& absence = absences[here.absences];
    if (absence.comes_back() && absence.source >= 0) {
      const auto found = held_.find(next_copy_of(replica));
      if (found == held_.end()) return false;
      entries_.push_back(Become{*found, replica});
      is_made_[*found] = true;
      held_.erase(found);
    }
    ++here.absences;
    here.computed = here.finished = absence.comes_back() ? absence.first_step - 1 : spec_.context.steps;
    if (absence.comes_back()) hold(replica, here.finished);
    return true;
  }

  // The replica's next one; their count if there is none.
  std::size_t next_copy_of(int replica) const {
    const std::vector<Absences::Copy>& copies = schedule_.absences.copies();
    std::size_t next = 0;
    while (next < copies.size() && (copies[next].replica != replica || is_made_[next])) ++next;
    return next;
  }

  // Where the replica itself came back after this step, those that come later in their order are of what it
  // began with.
  bool is_held_now(std::size_t copy, int replica, int step) const {
    const std::vector<Absences::Copy>& copies = schedule_.absences.copies();
    if (copies[copy].source != replica || copies[copy].copied_step != step || is_made_[copy]) return false;
    if (copy > next_copy_of(replica)) return false;
    for (std::size_t own = copy + 1; own < copies.size(); ++own)
      if (copies[own].replica == replica && is_made_[own]) return false;
    return true;
  }

  bool is_held_after(int replica, int step) const {
    for (std::size_t copy = 0; copy < is_made_.size(); ++copy)
      if (is_held_now(copy, replica, step)) return true;
    return false;
  }

  void hold(int replica, int step) {
    for (std::size_t copy = 0; copy < is_made_.size(); ++copy)
      if (is_held_now(copy, replica, step)) {
        entries_.push_back(Hold{copy, replica});
        held_.insert(copy);
      }
  }

  void evaluate_kept() {
    while (!kept_.empty() && kept_.begin()->first.first <= lowest()) {
      const int step = kept_.begin()->first.first;
      entries_.push_back(
          Evaluate{step, kept_.begin()->second, ending(schedule_.absences, spec_.context, step)});
      kept_.erase(kept_.begin());
    }
  }

  const JournalSpec spec_;
  const Schedule schedule_;
  const std::vector<std::vector<float>> shares_;
  std::map<At, std::vector<std::size_t>> taken_, contributed_;  // merges, in the order of the rules
  std::vector<std::size_t> contributed_count_;                  // by merge
  std::size_t made_ = 0;                                        // merges
  std::vector<bool> is_made_;                                   // by number of the copy
  std::set<std::size_t> held_;                                  // copies
  std::map<std::pair<int, int>, std::string> kept_;             // by step and phase, its word
  std::vector<Replica> replicas_;
  bool is_begun_ = false;
  std::vector<Entry> entries_;
};

}  // namespace

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

std::unique_ptr<Journal> make_own_pace_journal(const JournalSpec& spec, Schedule schedule) {
  return std::make_unique<OwnPace>(spec, std::move(schedule));
}

}  // namespace longhaul
