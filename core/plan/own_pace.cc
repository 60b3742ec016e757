#include "core/plan/own_pace.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/base/index.h"
#include "core/plan/journal.h"

namespace longhaul {
namespace {

using namespace journal;

class OwnPace : public Journal {
 public:
  OwnPace(const JournalSpec& spec, Schedule schedule)
      : spec_(spec),
        schedule_(std::move(schedule)),
        contributed_(schedule_.merges.size()),
        replicas_(as_index(spec.context.replicas)) {
    for (Replica& replica : replicas_) replica.trained.resize(spec_.plan.rules.size());
    std::vector<std::size_t> by_rule(schedule_.merges.size());
    std::iota(by_rule.begin(), by_rule.end(), 0);
    std::stable_sort(by_rule.begin(), by_rule.end(), [this](std::size_t a, std::size_t b) {
      return schedule_.merges[a].rule < schedule_.merges[b].rule;
    });
    for (const std::size_t number : by_rule)
      for (const Merge::Contribution& contribution : schedule_.merges[number].contributions) {
        Replica& replica = at(contribution.replica);
        replica.contributes[contribution.post_step].push_back(number);
        if (contribution.taken_step > 0) replica.takes[contribution.taken_step].push_back(number);
      }
  }

  // Each replica takes the steps that it can take; then the steps end that can end.
  std::vector<Entry> next() override {
    entries_.clear();
    const int before = lowest();
    if (before == spec_.context.steps) return {};
    if (!std::exchange(is_begun_, true))
      for (int replica = 0; replica < spec_.context.replicas; ++replica) hold(replica);
    compute();
    if (!finish_steps()) throw std::logic_error("merges of a schedule wait for each other");
    evaluate_kept();
    const int step = lowest();
    if (step > 0)
      entries_.push_back(EndStep{step, computing(spec_.plan, schedule_.absences, spec_.context, step),
                                 ending(schedule_.absences, spec_.context, step)});
    for (int ended = before + 1; ended <= step; ++ended)
      if (spec_.is_kept(ended)) {
        entries_.push_back(Save{step});
        break;
      }
    return std::move(entries_);
  }

 private:
  using ByStep = std::map<int, std::vector<std::size_t>>;  // merges, in the order of the rules
  using Steps = std::vector<int>;                          // by rule

  struct Replica {
    ByStep takes, contributes;
    // The inner steps that are taken, and those whose end, with what is taken up and posted there, is over:
    // one behind the other where a replica waits for a merge that is not made yet.
    int computed = 0, finished = 0;
    std::size_t absences = 0;  // that are over
    Steps trained;             // in its model, since it contributed last
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
  bool stops_after(int replica, int step) {
    return spec_.is_evaluated(step) || spec_.is_kept(step) || at(replica).takes.count(step) > 0 ||
           at(replica).contributes.count(step) > 0 || !held_after(replica, step).empty();
  }

  void compute() {
    for (int replica = 0; replica < spec_.context.replicas; ++replica) {
      Replica& here = at(replica);
      if (here.computed > here.finished) continue;
      const int before = here.computed, last = last_step(replica);
      while (here.computed < last && !(here.computed > before && stops_after(replica, here.computed)))
        ++here.computed;
      if (here.computed == before) continue;
      entries_.push_back(Compute{{replica}, before + 1, here.computed});
      for (int& steps : here.trained) steps += here.computed - before;
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
    for (; made_ < schedule_.merges.size(); ++made_) {
      const Merge& merge = schedule_.merges[made_];
      if (contributed_[made_].size() < merge.contributions.size()) break;
      double all = 0;
      for (const auto& [replica, steps] : contributed_[made_]) all += steps;
      std::vector<float> shares;
      for (const auto& [replica, steps] : contributed_[made_])
        shares.push_back(static_cast<float>(steps / all));
      entries_.push_back(MakeMerge{made_, merge.rule, merge.contributions, std::move(shares)});
    }
    return made_ > before;
  }

  // Whether all that the replica takes up at the end of `step` is made.
  bool is_there(int replica, int step) {
    const ByStep& takes = at(replica).takes;
    const auto found = takes.find(step);
    return found == takes.end() || std::all_of(found->second.begin(), found->second.end(),
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
    Replica& here = at(replica);
    const bool is_evaluated = spec_.is_evaluated(step) && is_there_at_the_end(replica, step);
    const bool is_due = has_merge_due(step);
    const auto keep = [&](int phase, const char* word) {
      kept_[{step, phase}] = word;
      entries_.push_back(Keep{step, word, replica});
    };
    if (is_evaluated && is_due) keep(0, "before");
    const auto of_step = [step](const ByStep& merges) {
      const auto found = merges.find(step);
      return found == merges.end() ? std::vector<std::size_t>() : found->second;
    };
    for (const std::size_t merge : of_step(here.takes))
      entries_.push_back(TakeUp{merge, schedule_.merges[merge].rule, replica});
    for (const std::size_t merge : of_step(here.contributes)) {
      const int rule = schedule_.merges[merge].rule;
      entries_.push_back(Contribute{merge, rule, replica, step});
      contributed_[merge][replica] = std::exchange(here.trained[as_index(rule)], 0);
    }
    if (is_evaluated) keep(1, is_due ? "after" : "plain");
    here.finished = step;
    hold(replica);
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
    if (absence.copy) {
      const auto found = held_.find(*absence.copy);
      if (found == held_.end()) return false;
      entries_.push_back(Become{found->first, replica});
      here.trained = found->second;
      held_.erase(found);
    }
    ++here.absences;
    here.computed = here.finished = absence.comes_back() ? absence.first_step - 1 : spec_.context.steps;
    if (absence.comes_back()) hold(replica);
    return true;
  }

  // The copies of the replica's rows as they are after this step, in the life that it is in.
  std::vector<std::size_t> held_after(int replica, int step) {
    std::vector<std::size_t> numbers;
    const std::vector<Absences::Copy>& copies = schedule_.absences.copies();
    for (std::size_t number = 0; number < copies.size(); ++number)
      if (const Absences::Copy& copy = copies[number];
          copy.source == replica && copy.copied_step == step && copy.source_returns == at(replica).absences)
        numbers.push_back(number);
    return numbers;
  }

  void hold(int replica) {
    for (const std::size_t copy : held_after(replica, at(replica).finished)) {
      entries_.push_back(Hold{copy, replica});
      held_[copy] = at(replica).trained;
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
  std::vector<std::map<int, int>> contributed_;      // by merge: who has, and its steps since it last did
  std::size_t made_ = 0;                             // merges
  std::map<std::size_t, Steps> held_;                // by copy: those in its source's model
  std::map<std::pair<int, int>, std::string> kept_;  // by step and phase, its word
  std::vector<Replica> replicas_;
  bool is_begun_ = false;
  std::vector<Entry> entries_;
};

}  // namespace

std::unique_ptr<Journal> make_own_pace_journal(const JournalSpec& spec, Schedule schedule) {
  return std::make_unique<OwnPace>(spec, std::move(schedule));
}

}  // namespace longhaul
