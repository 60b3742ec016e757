#include "trainer/own_pace.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "trainer/training.h"

namespace longhaul {
namespace {

std::string name_of(const std::pair<int, int>& at, int replica) {
  return fmt::format("evaluated.{}.{}.{}", at.first, at.second, replica);
}

}  // namespace

int OwnPace::lowest() const {
  return *std::min_element(finished.begin(), finished.end());
}

void OwnPace::keep(int step, int phase, int replica, const float* row, std::int64_t parameters) {
  evaluated[{step, phase}][replica].assign(row, row + parameters);
}

Json OwnPace::state() const {
  Json rows = Json::array();
  for (const auto& [at, of] : evaluated)
    for (const auto& item : of) rows.push_back({at.first, at.second, item.first});
  return {{"computed", computed},
          {"finished", finished},
          {"absences", absences},
          {"merges", merges.made()},
          {"evaluated", rows}};
}

std::vector<TensorView> OwnPace::tensors() const {
  std::vector<TensorView> views = merges.tensors();
  for (const auto& [at, of] : evaluated)
    for (const auto& [replica, row] : of)
      views.push_back({name_of(at, replica), "F32", {static_cast<std::int64_t>(row.size())}, row.data()});
  return views;
}

void OwnPace::restore(const Json& state, SafetensorsFile& file, std::int64_t parameters) {
  computed = state.at("computed").get<std::vector<int>>();
  finished = state.at("finished").get<std::vector<int>>();
  absences = state.at("absences").get<std::vector<std::size_t>>();
  merges.restore(file, state.at("merges"),
                 [this](int replica, int step) { return finished[as_index(replica)] >= step; });
  for (const Json& json : state.at("evaluated")) {
    const std::pair<int, int> at(json.at(0), json.at(1));
    const int replica = json.at(2);
    std::vector<float>& row = evaluated[at][replica];
    row.resize(as_index(parameters));
    file.read(file.entry(name_of(at, replica)), 0, parameters * static_cast<std::int64_t>(sizeof(float)),
              row.data());
  }
}

// The last step before the replica is gone, or the last of all.
int Training::last_step_alone(int replica) const {
  const std::vector<Absence>& absences = schedule_.absences.of(replica);
  const std::size_t over = pace_->absences[as_index(replica)];
  return over < absences.size() ? absences[over].left_step - 1 : train_.steps;
}

// What one replica has to do with others, or with files, at the end of a step.
bool Training::stops_after(int step, int replica) const {
  return is_evaluated(step) || is_kept(step) || pace_->merges.has_work(replica, step) ||
         copied_.is_read_after(replica, step);
}

// Where the replica is gone, and begins again with what can be known now.
bool Training::come_back_alone(int replica) {
  int& finished = pace_->finished[as_index(replica)];
  std::size_t& over = pace_->absences[as_index(replica)];
  const std::vector<Absence>& absences = schedule_.absences.of(replica);
  if (over == absences.size() || finished != last_step_alone(replica)) return false;
  if (pace_->computed[as_index(replica)] != finished) return false;
  const Absence& absence = absences[over];
  if (absence.comes_back() && absence.source >= 0 && !copied_.make_next(replica)) return false;
  ++over;
  finished = absence.comes_back() ? absence.first_step - 1 : train_.steps;
  pace_->computed[as_index(replica)] = finished;
  if (absence.comes_back()) copied_.after(replica, finished);
  return true;
}

void Training::step_alone(int step, int replica) {
  const auto at = as_index(replica);
  if (!stacked_) {
    std::vector<float> no_gates;
    inner_step(step, replica, losses_[at], seconds_[at], no_gates);
  } else {
    losses_[at] = 0;
    clear_for_partial(plan_.pipeline, arena_.parameters(), arena_.row(Slot::kGradient, replica));
    for (int microbatch = 0; microbatch < plan_.pipeline.microbatches; ++microbatch)
      run_stack(step, microbatch, paths_at(step, microbatch), {replica, replica + 1});
    optimize(step, replica, seconds_[at]);
  }
  check_loss(step, replica);
}

// Each replica that can to the next step at whose end it has something to do.
void Training::compute_alone() {
  for_each_held([this](int replica) {
    int& computed = pace_->computed[as_index(replica)];
    if (computed > pace_->finished[as_index(replica)]) return;
    for (const int last = last_step_alone(replica); computed < last;) {
      step_alone(computed + 1, replica);
      ++computed;
      if (stops_after(computed, replica) || interrupted()) return;
    }
  });
}

// Where replicas that waited for it would take something up.
bool Training::has_merge_due(int step) const {
  return std::any_of(plan_.rules.begin(), plan_.rules.end(), [&](const OperationRule& rule) {
    return is_posted_at(rule, train_.steps, step - rule.overlap_steps);
  });
}

// What follows the program of a step (core/plan/program.h): what is there of merges is taken up, then posted.
void Training::finish_alone(int step, int replica) {
  const std::vector<int> all = is_evaluated(step) ? evaluated(step) : std::vector<int>();
  const bool is_kept_for_it = std::find(all.begin(), all.end(), replica) != all.end();
  const auto keep = [&](int phase) {
    pace_->keep(step, phase, replica, arena_.row(update_->product(), replica), arena_.parameters());
  };
  if (is_kept_for_it && has_merge_due(step)) keep(0);
  pace_->merges.take_up(replica, step);
  pace_->merges.post(replica, step);
  if (is_kept_for_it) keep(1);
  pace_->finished[as_index(replica)] = step;
  copied_.after(replica, step);
}

// Ends the steps that can end. Whether there was one.
bool Training::finish_steps_alone() {
  bool any = false;
  for (bool is_new = true; is_new;) {
    is_new = pace_->merges.make();
    for (int replica = 0; replica < case_.replicas; ++replica) {
      if (come_back_alone(replica)) is_new = any = true;
      const int step = pace_->computed[as_index(replica)];
      if (pace_->finished[as_index(replica)] == step || !pace_->merges.is_there(replica, step)) continue;
      finish_alone(step, replica);
      is_new = any = true;
    }
  }
  return any;
}

// With the rows in the arena that the replicas had at that step.
void Training::evaluate_kept() {
  while (!pace_->evaluated.empty() && pace_->evaluated.begin()->first.first <= pace_->lowest()) {
    auto& [at, rows] = *pace_->evaluated.begin();
    const auto swap_rows = [&, of = &rows] {
      for (auto& [replica, row] : *of)
        std::swap_ranges(row.begin(), row.end(), arena_.row(update_->product(), replica));
    };
    swap_rows();
    evaluate(at.first, at.second == 0 ? "before" : has_merge_due(at.first) ? "after" : "plain");
    swap_rows();
    pace_->evaluated.erase(pace_->evaluated.begin());
  }
}

void Training::run_at_own_pace() {
  if (saved_step_ == 0)
    for (int replica = 0; replica < case_.replicas; ++replica) copied_.after(replica, 0);
  while (saved_step_ < train_.steps) {
    if (interrupted()) {
      save_checkpoint(pace_->lowest());
      throw Interrupted();
    }
    const int lowest = pace_->lowest();
    compute_alone();
    if (!finish_steps_alone())
      throw InputError("--schedule", "has merges that wait for each other",
                       "the schedule of a replay of this case");
    evaluate_kept();
    bool is_due = false;
    for (int step = lowest + 1; step <= pace_->lowest(); ++step) is_due |= is_kept(step);
    if (is_due) save_checkpoint(pace_->lowest());
    report(pace_->lowest());
  }
}

}  // namespace longhaul
