#include "core/plan/journal.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/index.h"
#include "core/plan/own_pace.h"
#include "core/plan/program.h"

namespace longhaul {
namespace {

using namespace journal;

// How many steps without a meeting are said at once.
constexpr int kMostSteps = 64;

bool is_in(const std::vector<int>& replicas, int replica) {
  return std::find(replicas.begin(), replicas.end(), replica) != replicas.end();
}

// All replicas end each step together, as far as a journal can tell.
class Lockstep : public Journal {
 public:
  Lockstep(const JournalSpec& spec, Schedule schedule)
      : spec_(spec), plan_(spec_.plan), context_(spec_.context), schedule_(std::move(schedule)) {}

  std::vector<Entry> next() override {
    std::vector<Entry> entries;
    if (step_ == 0) add_copies(entries);
    for (int steps = 0; step_ < context_.steps && steps < kMostSteps; ++steps) {
      ++step_;
      const std::vector<int> replicas = computing(plan_, schedule_.absences, context_, step_);
      entries.push_back(Compute{replicas, step_, step_});
      const bool meets = meet();
      if (meets) follow_program(entries);
      entries.push_back(EndStep{step_, replicas, ending(schedule_.absences, context_, step_)});
      const bool has_copies = add_copies(entries);
      if (!meets && !has_copies) continue;
      if (spec_.is_kept(step_)) entries.push_back(Save{step_});
      break;
    }
    return entries;
  }

 private:
  bool meet() const {
    const auto has_operation = [this](const OperationRule& rule) {
      return is_posted_at(rule, context_.steps, step_) ||
             is_posted_at(rule, context_.steps, step_ - rule.overlap_steps);
    };
    return spec_.is_evaluated(step_) || spec_.is_kept(step_) || has_local_step() ||
           std::any_of(plan_.rules.begin(), plan_.rules.end(), has_operation);
  }

  bool has_local_step() const {
    return std::any_of(plan_.local.begin(), plan_.local.end(),
                       [this](const LocalStep& local) { return is_taken_at(local, step_); });
  }

  // In their order: a source may itself have come back after this step. Whether there are any.
  bool add_copies(std::vector<Entry>& entries) const {
    const std::size_t before = entries.size();
    const std::vector<Absences::Copy>& copies = schedule_.absences.copies();
    for (std::size_t i = 0; i < copies.size(); ++i) {
      if (copies[i].copied_step == step_) entries.push_back(Hold{i, copies[i].source});
      if (copies[i].step == step_) entries.push_back(Become{i, copies[i].replica});
    }
    return entries.size() > before;
  }

  // What follows the step's compute (program.h). A step that changes weights after the optimizer is evaluated
  // on both sides of that.
  void follow_program(std::vector<Entry>& entries) const {
    const std::vector<Operation> posted = posted_now(), due = due_now();
    // Null where nobody met.
    const auto named = [&](const Instruction& instruction) -> const Operation* {
      const OperationRule& rule = plan_.rules[as_index(instruction.rule)];
      for (const std::vector<Operation>* operations : {&posted, &due})
        for (const Operation& operation : *operations)
          if (operation.rule == &rule && operation.post_step == instruction.post_step) return &operation;
      if (schedule_.decides(rule)) return nullptr;
      throw std::logic_error("the program of step " + std::to_string(step_) +
                             " names an operation it has not");
    };
    const bool has_outer_step = !due.empty() || has_local_step() ||
                                std::any_of(posted.begin(), posted.end(), [](const Operation& operation) {
                                  return operation.rule->is_blocking() && !operation.rule->before_optimizer;
                                });
    const auto evaluate = [&](const char* phase) {
      std::vector<int> replicas = ending(schedule_.absences, context_, step_);
      if (spec_.is_evaluated(step_) && !replicas.empty())
        entries.push_back(Evaluate{step_, phase, std::move(replicas)});
    };
    for (const Instruction& instruction : program_of_step(plan_, context_.steps, step_).instructions)
      switch (instruction.kind) {
        case Instruction::Kind::kCompute:
          break;
        case Instruction::Kind::kOptimize:
          if (exchanges_gradients(plan_)) entries.push_back(Optimize{with_gradients(posted), step_});
          if (has_outer_step) evaluate("before");
          break;
        case Instruction::Kind::kLocal:
          entries.push_back(Local{instruction.rule, present(schedule_.absences, context_, step_)});
          break;
        case Instruction::Kind::kPost:
          // The numbers are those of the end of the step, whenever the replay lets them go.
          if (const Operation* operation = named(instruction);
              operation && !operation->rule->is_blocking() && instruction.left == 0 &&
              instruction.bucket >= operation->rule->buckets - 1)
            entries.push_back(Post{*operation});
          break;
        case Instruction::Kind::kAwait:
          if (const Operation* operation = named(instruction)) entries.push_back(Meet{*operation});
          break;
      }
    evaluate(has_outer_step ? "after" : "plain");
  }

  std::vector<Operation> posted_now() const {
    std::vector<Operation> posted = followed(schedule_, plan_, operations_at(plan_, context_, step_));
    const std::vector<int> there = present(schedule_.absences, context_, step_);
    for (Operation& operation : posted)
      if (schedule_.has_all && !operation.rule->is_blocking())
        for (const std::vector<int>& group : operation.groups)
          for (const int replica : group) {
            if (!operation.takers) operation.takers.emplace();
            operation.takers->push_back({replica, replica});
          }
    for (Operation& operation : posted)
      if (operation.rule->completion.fetches) {
        const std::vector<int>& members = operation.groups.front();
        operation.takers.emplace();
        for (const int replica : there)
          operation.takers->push_back({replica, is_in(members, replica) ? replica : members.front()});
      }
    if (schedule_.absences.copies().empty()) return posted;
    for (Operation& operation : posted)
      for (const OperationRule& ahead : plan_.rules)
        if (operation.rule->is_blocking() && is_posted_at(ahead, context_.steps, step_ - ahead.overlap_steps))
          for (const int replica : there)
            if (schedule_.absences.contributor(replica, step_ - ahead.overlap_steps, step_) != replica)
              operation.sends_anew.push_back(replica);
    return posted;
  }

  std::vector<Operation> due_now() const {
    std::vector<Operation> due = followed(schedule_, plan_, operations_due(plan_, context_, step_));
    if (!schedule_.has_all) return due;
    for (Operation& operation : due) {
      operation.takers.emplace();
      for (const int replica : present(schedule_.absences, context_, step_))
        operation.takers->push_back(
            {replica, schedule_.absences.contributor(replica, operation.post_step, step_)});
    }
    return due;
  }

  // Whose gradients of the step have been exchanged, as far as they should be; the others throw it away.
  std::vector<int> with_gradients(const std::vector<Operation>& posted) const {
    std::vector<int> replicas = computing(plan_, schedule_.absences, context_, step_);
    if (!schedule_.has_all) return replicas;
    const auto has_met = [&](int replica, const OperationRule& rule) {
      return std::any_of(posted.begin(), posted.end(), [&](const Operation& operation) {
        return operation.rule == &rule &&
               std::any_of(operation.groups.begin(), operation.groups.end(),
                           [replica](const std::vector<int>& group) { return is_in(group, replica); });
      });
    };
    const auto lacks_one = [&](int replica) {
      return std::any_of(plan_.rules.begin(), plan_.rules.end(), [&](const OperationRule& rule) {
        return rule.before_optimizer && is_posted_at(rule, context_.steps, step_) &&
               (rule.is_of_everyone() || spec_.discards) && !has_met(replica, rule);
      });
    };
    replicas.erase(std::remove_if(replicas.begin(), replicas.end(), lacks_one), replicas.end());
    return replicas;
  }

  const JournalSpec spec_;
  const OperationPlan& plan_;
  const PlanContext& context_;
  const Schedule schedule_;
  int step_ = 0;  // the last one that was said
};

template <typename Of>
std::vector<int> replicas_that(int replicas, const Of& of) {
  std::vector<int> those;
  for (int replica = 0; replica < replicas; ++replica)
    if (of(replica)) those.push_back(replica);
  return those;
}

}  // namespace

std::vector<int> present(const Absences& absences, const PlanContext& context, int step) {
  return replicas_that(context.replicas, [&](int replica) { return absences.computes(replica, step); });
}

std::vector<int> computing(const OperationPlan& plan, const Absences& absences, const PlanContext& context,
                           int step) {
  return replicas_that(context.replicas, [&](int replica) {
    return absences.computes(replica, step) && plan.dynamic_steps.takes(replica, step);
  });
}

std::vector<int> ending(const Absences& absences, const PlanContext& context, int step) {
  std::vector<int> those =
      replicas_that(context.replicas, [&](int replica) { return absences.ends(replica, step); });
  return those.empty() && step == context.steps ? present(absences, context, step) : those;
}

Continued skip(Journal& journal, std::int64_t passed) {
  Continued rest;
  const auto is_same = [](const Operation& operation) {
    return [&operation](const Operation& other) {
      return other.rule == operation.rule && other.post_step == operation.post_step;
    };
  };
  while (passed > 0) {
    std::vector<Entry> entries = journal.next();
    if (entries.empty()) break;
    const auto here = std::min(passed, static_cast<std::int64_t>(entries.size()));
    for (const Entry& entry : std::vector<Entry>(entries.begin(), entries.begin() + here)) {
      if (const auto* post = std::get_if<Post>(&entry)) rest.pending.push_back(post->operation);
      if (const auto* meet = std::get_if<Meet>(&entry))
        rest.pending.erase(std::remove_if(rest.pending.begin(), rest.pending.end(), is_same(meet->operation)),
                           rest.pending.end());
    }
    passed -= here;
    rest.entries.assign(entries.begin() + here, entries.end());
  }
  return rest;
}

std::unique_ptr<Journal> make_journal(const JournalSpec& spec, Schedule schedule) {
  if (!has_merges(spec.plan)) return std::make_unique<Lockstep>(spec, std::move(schedule));
  if (!schedule.has_all && !timing_matters(spec.plan)) schedule = synchronous_merges(spec.plan, spec.context);
  return make_own_pace_journal(spec, std::move(schedule));
}

}  // namespace longhaul
