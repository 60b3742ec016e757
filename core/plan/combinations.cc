#include "core/plan/combinations.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/plan/absences.h"

namespace longhaul {
namespace {

using Found = RefusedCombination::Found;
using MaybeFound = std::optional<Found>;

// Of the first fault that makes replicas absent.
MaybeFound absence_with(const Case& config, bool is_so, const std::string& what, const char* allowed) {
  const auto first = std::find_if(config.faults.begin(), config.faults.end(),
                                  [](const Fault& fault) { return fault.absence; });
  if (!is_so || first == config.faults.end()) return std::nullopt;
  return Found{element_path("faults", as_index(first->number)) + ".kind",
               fmt::format("found \"{}\" with {}", first->kind, what), allowed};
}

MaybeFound trained_absence_with(const Case& config, const OperationPlan& plan, bool is_so, const char* what) {
  return absence_with(config, is_so && config.train && may_lack_members(config, plan),
                      fmt::format("train and {} (method \"{}\")", what, config.method.label),
                      "recovery.on_failure \"wait\", or no train section");
}

MaybeFound learned_with(const Case& config, bool is_so, const std::string& what, const char* allowed) {
  if (!is_so || !config.pipeline.boundary.learned) return std::nullopt;
  return Found{"pipeline.activations", "found \"learned\"" + what, allowed};
}

std::string of_stages(const Case& config) {
  return fmt::format("{} pipeline stages", config.pipeline.stages);
}

// Every gradient at each step, of all replicas, at once.
bool averages_all_gradients(const OperationRule& rule) {
  return rule.before_optimizer && rule.every == 1 && rule.grouping == Grouping::kEveryone &&
         rule.kind == OperationKind::kAllReduce && rule.completion.is_all();
}

bool has_all(const OperationPlan& plan, bool (*is_so)(const OperationRule&)) {
  return std::all_of(plan.rules.begin(), plan.rules.end(), is_so);
}

bool has_any(const OperationPlan& plan, bool (*is_so)(const OperationRule&)) {
  return std::any_of(plan.rules.begin(), plan.rules.end(), is_so);
}

MaybeFound python_with(const Case& config, bool is_so, const std::string& what, const char* allowed) {
  if (!is_so || !config.train || !config.method.options.contains("python")) return std::nullopt;
  return Found{"method.file", "found with " + what, allowed};
}

// Steps in which replicas talk while they compute, with something else.
MaybeFound parallelism_with(const Case& config, bool is_so, const std::string& what, const char* allowed) {
  if (!is_so || !config.parallelism.is_on()) return std::nullopt;
  return Found{"parallelism", fmt::format("found {} with {}", config.parallelism.kind, what), allowed};
}

// Groups of rollouts with something else.
MaybeFound rollouts_with(const Case& config, bool is_so, const std::string& what, const char* allowed) {
  if (!is_so || !config.rollouts) return std::nullopt;
  return Found{"rollouts", "found with " + what, allowed};
}

constexpr const char* kOneHasNoGates = "one worker trains for all, so that the others have no gates";
constexpr const char* kGatesOnTheLoop = "the gradient of the gates is computed on the loop of one CPU alone";

constexpr RefusedCombination kRefused[] = {
    {"crash with on_failure wait", "pipeline stages",
     "what the other stages had done of the step when one went is not kept",
     [](const Case& config, const OperationPlan& plan, const Executor&) {
       const bool waits = on_failure_of(config.recovery, plan) == RecoverySpec::OnFailure::kWait;
       return absence_with(config, waits && config.pipeline.has_stages(),
                           of_stages(config) + " and recovery.on_failure \"wait\"",
                           "on_failure retry or discard, or one stage");
     }},
    {"crash", "pipeline stages whose micro-batches leave their replica, or stages out",
     "micro-batches of others would pass the replica that went",
     [](const Case& config, const OperationPlan& plan, const Executor&) {
       const bool leaves_home =
           plan.pipeline.routing != MicrobatchRouting::kStraight || plan.pipeline.is_partial();
       return absence_with(config, leaves_home && plan.pipeline.has_stages(),
                           "micro-batches that take other paths than straight ones", "routing \"straight\"");
     }},
    {"crash", "a quorum whose result is fetched",
     "who fetches the result of an operation that lacks a member is not modelled",
     [](const Case& config, const OperationPlan& plan, const Executor&) {
       return absence_with(config, throws_late_work_away(plan),
                           fmt::format("a quorum of method \"{}\"", config.method.label),
                           "quorum \"all\", or a method that averages weights");
     }},
    {"crash", "training with error_feedback ef21",
     "its mean of what all have sent holds for the same members alone",
     [](const Case& config, const OperationPlan& plan, const Executor&) {
       return trained_absence_with(config, plan, feeds_back(plan, Feedback::kEf21),
                                   "error_feedback \"ef21\"");
     }},
    {"crash", "training with late gradients",
     "one who comes back lacks those of the steps that it did not take",
     [](const Case& config, const OperationPlan& plan, const Executor&) {
       return trained_absence_with(config, plan, !plan.delays.empty(), "late gradients");
     }},
    {"quorum or grace", "pipeline stages", "stages of one replica could meet others than the rest of it does",
     [](const Case& config, const OperationPlan& plan, const Executor&) -> MaybeFound {
       const auto waits_for_some = [](const OperationRule& rule) {
         return !rule.completion.is_all() && rule.kind != OperationKind::kMerge;
       };
       if (!config.pipeline.has_stages() || !has_any(plan, waits_for_some)) return std::nullopt;
       const char* key = config.method.options.contains("quorum") ? "quorum" : "grace";
       return Found{fmt::format("method.{}", key),
                    fmt::format("found {} with {}", config.method.options[key].dump(), of_stages(config)),
                    "one stage"};
     }},
    {"dynamic_steps", "pipeline stages", "the stages of a replica may differ in speed",
     [](const Case& config, const OperationPlan&, const Executor&) -> MaybeFound {
       const bool is_asked_for = member(config.method.options, "dynamic_steps") == true;
       if (!is_asked_for || !config.pipeline.has_stages()) return std::nullopt;
       return Found{"method.dynamic_steps", "found true with " + of_stages(config), "one stage, or false"};
     }},
    {"merges (decoupled-diloco)", "pipeline stages",
     "stages of one replica would take up merges at different steps",
     [](const Case& config, const OperationPlan& plan, const Executor&) -> MaybeFound {
       if (!config.pipeline.has_stages() || !has_merges(plan)) return std::nullopt;
       return Found{"pipeline.stages",
                    fmt::format("found {} with method \"{}\"", config.pipeline.stages, config.method.label),
                    "1"};
     }},
    {"changed_values_every", "merges (decoupled-diloco)",
     "replicas come to the end of a step at times of their own",
     [](const Case& config, const OperationPlan& plan, const Executor&) -> MaybeFound {
       if (!config.train || config.train->changed_values_every == 0 || !has_merges(plan)) return std::nullopt;
       return Found{"train.changed_values_every",
                    fmt::format("found {} with method \"{}\"", config.train->changed_values_every,
                                config.method.label),
                    "0, or another method"};
     }},
    {"units of all layers (ist)", "pipeline stages",
     "its replicas train sub-networks that go through all layers",
     [](const Case& config, const OperationPlan& plan, const Executor&) -> MaybeFound {
       const auto deals_out = [](const OperationRule& rule) { return rule.kind == OperationKind::kAllToAll; };
       if (!config.pipeline.has_stages() || !has_any(plan, deals_out)) return std::nullopt;
       return Found{
           "pipeline.stages",
           fmt::format("found {} with a method that deals out units of all layers", config.pipeline.stages),
           "1"};
     }},
    {"rebalance_every", "any method but averages of all gradients",
     "a worker that changes its stage takes over the weights of one that is there: all of a stage must "
     "have the same",
     [](const Case& config, const OperationPlan& plan, const Executor&) -> MaybeFound {
       const bool fits =
           plan.pipeline.routing == MicrobatchRouting::kThroughput && has_all(plan, averages_all_gradients);
       if (config.pipeline.rebalance_every == 0 || fits) return std::nullopt;
       return Found{
           "pipeline.rebalance_every",
           fmt::format("found {} with method \"{}\"", config.pipeline.rebalance_every, config.method.label),
           "routing \"throughput\" and a method that averages all gradients at each step, as ddp"};
     }},
    {"routing by throughput", "training with any method but averages of all gradients",
     "times decide the paths, so that a training could only follow them where all replicas have the same "
     "weights; without train it is replayed with every method",
     [](const Case& config, const OperationPlan& plan, const Executor&) -> MaybeFound {
       const bool fits = !plan.rules.empty() && has_all(plan, averages_all_gradients);
       if (!config.train || config.pipeline.routing != MicrobatchRouting::kThroughput || fits)
         return std::nullopt;
       return Found{"pipeline.routing",
                    fmt::format("found \"throughput\" with train and method \"{}\"", config.method.label),
                    "\"straight\" or \"random\"; or a method that averages all gradients at each step, as "
                    "ddp"};
     }},
    {"random paths of micro-batches", "several ranks",
     "micro-batches would pass replicas that other processes hold",
     [](const Case& config, const OperationPlan& plan, const Executor& executor) -> MaybeFound {
       const bool leaves_home =
           plan.pipeline.routing == MicrobatchRouting::kRandom && plan.pipeline.part_count() > 1;
       if (!config.train || executor.ranks == 1 || !leaves_home) return std::nullopt;
       return Found{"pipeline.routing", fmt::format("found \"random\" with {} ranks", executor.ranks),
                    "\"straight\", or one rank"};
     }},
    {"subspace", "a card", "the projection of the weights has no kernel yet",
     [](const Case& config, const OperationPlan& plan, const Executor& executor) -> MaybeFound {
       if (!executor.is_on_card || config.pipeline.boundary.subspace == 0 || !plan.pipeline.has_stages())
         return std::nullopt;
       return Found{"pipeline.subspace",
                    fmt::format("found {} with train.device \"cuda\"", config.pipeline.boundary.subspace),
                    "train.device \"cpu\""};
     }},
    {"activations learned", "no training", "the bits, and so the bytes of a replay, are those of a training",
     [](const Case& config, const OperationPlan&, const Executor&) {
       return learned_with(config, !config.train, ", but nothing is trained",
                           "a train section, or formats that are given");
     }},
    {"activations learned", "a card", "the gradient of the gates has no kernel yet",
     [](const Case& config, const OperationPlan&, const Executor& executor) {
       return learned_with(config, executor.is_on_card, " with train.device \"cuda\"",
                           "train.device \"cpu\"");
     }},
    {"activations learned", "train.precision bf16", kGatesOnTheLoop,
     [](const Case& config, const OperationPlan&, const Executor&) {
       return learned_with(config, config.train && config.train->precision != Precision::kFloat32,
                           " with train.precision \"bf16\"", "train.precision \"float32\"");
     }},
    {"activations learned", "several ranks", kGatesOnTheLoop,
     [](const Case& config, const OperationPlan&, const Executor& executor) {
       return learned_with(config, executor.ranks > 1, fmt::format(" with {} ranks", executor.ranks),
                           "one rank");
     }},
    {"activations learned", "a method that trains one worker for all", kOneHasNoGates,
     [](const Case& config, const OperationPlan& plan, const Executor&) {
       return learned_with(config, plan.takes_whole_batch,
                           fmt::format(" with method \"{}\"", config.method.label),
                           "a method that trains all replicas");
     }},
    {"activations learned", "a method in which times decide who takes part",
     "the replay then comes before the training, whose bits it needs",
     [](const Case& config, const OperationPlan& plan, const Executor&) {
       return learned_with(config, timing_matters(plan),
                           fmt::format(", but in method \"{}\" times decide who takes part in an "
                                       "operation, so that the replay comes before the training",
                                       config.method.label),
                           "formats that are given");
     }},
    {"parallelism", "training",
     "what is said inside a step is replayed, and changes no number that a training has",
     [](const Case& config, const OperationPlan&, const Executor&) {
       return parallelism_with(config, config.train.has_value(), "a train section", "no train section");
     }},
    {"parallelism", "pipeline stages",
     "a stage's passes have an order of their own, without collectives in it",
     [](const Case& config, const OperationPlan&, const Executor&) {
       return parallelism_with(config, config.pipeline.has_stages(), of_stages(config), "one stage");
     }},
    {"parallelism", "crash", "a group whose member is gone in the middle of a step is not modelled",
     [](const Case& config, const OperationPlan&, const Executor&) {
       return parallelism_with(config, config.has_absences(), "a fault of kind crash", "no such fault");
     }},
    {"parallelism", "an optimized rank order",
     "the search for an order does not count what is said inside a step",
     [](const Case& config, const OperationPlan&, const Executor&) {
       return parallelism_with(config, config.network.rank_order.kind == RankOrderSpec::Kind::kOptimized,
                               "network.rank_order \"optimized\"", "another order, or a list of places");
     }},
    {"parallelism", "a method that trains one worker for all", "the others take no steps",
     [](const Case& config, const OperationPlan& plan, const Executor&) {
       return parallelism_with(config, plan.takes_whole_batch,
                               fmt::format("method \"{}\"", config.method.label),
                               "a method in which all replicas compute");
     }},
    {"parallelism", "network.message_time with std, in steps of more than 4096 tasks",
     "a message's draw has its task's number in 12 bits",
     [](const Case& config, const OperationPlan& plan, const Executor&) {
       constexpr std::size_t kMostDrawn = 4096;
       const bool draws = config.network.message_time && config.network.message_time->std > 0;
       return parallelism_with(
           config, draws && plan.step_graph.tasks.size() > kMostDrawn,
           fmt::format("{} tasks in a step and network.message_time", plan.step_graph.tasks.size()),
           "fewer layers or microbatches, or a std of 0");
     }},
    {"parallelism", "dynamic_steps", "members of a group take the same steps",
     [](const Case& config, const OperationPlan& plan, const Executor&) {
       return parallelism_with(config, plan.dynamic_steps.is_on(), "dynamic_steps", "dynamic_steps false");
     }},
    {"step_time measured", "times that decide who takes part",
     "the replay then comes before the training, whose times it needs",
     [](const Case& config, const OperationPlan& plan, const Executor&) -> MaybeFound {
       if (config.workload.step_time.kind != StepTime::Kind::kMeasured || !do_times_decide(config, plan))
         return std::nullopt;
       return Found{
           "workload.step_time",
           fmt::format("found \"measured\", but in method \"{}\"{} times decide who takes part in "
                       "an operation, so that the replay comes before the training",
                       config.method.name, may_lack_members(config, plan) ? " with these faults" : ""),
           "constant, lognormal or flops"};
     }},
    {"a step in Python", "a card", "its numpy arrays are rows in host memory",
     [](const Case& config, const OperationPlan&, const Executor& executor) {
       return python_with(config, executor.is_on_card, "train.device \"cuda\"", "train.device \"cpu\"");
     }},
    {"a step in Python", "several ranks", "a group's members may be rows of other processes",
     [](const Case& config, const OperationPlan&, const Executor& executor) {
       return python_with(config, executor.ranks > 1, fmt::format("{} ranks", executor.ranks), "one rank");
     }},
    {"rollouts", "a training", "what stale samples do to a loss is not trained: only time is replayed",
     [](const Case& config, const OperationPlan&, const Executor&) {
       return rollouts_with(config, config.train.has_value(), "a train section",
                            "no train section: workload says what is replayed");
     }},
    {"rollouts", "crash", "who trains a version when a source of weights is gone is not modelled",
     [](const Case& config, const OperationPlan&, const Executor&) {
       return rollouts_with(config, config.has_absences(), "a fault of kind crash", "no such fault");
     }},
    {"rollouts", "an optimized rank order", "the search for an order does not count the weights",
     [](const Case& config, const OperationPlan&, const Executor&) {
       return rollouts_with(config, config.network.rank_order.kind == RankOrderSpec::Kind::kOptimized,
                            "network.rank_order \"optimized\"", "another order, or a list of places");
     }},
    {"rollouts", "fidelity analytic",
     "its messages share no link, so that one source would send to all at once",
     [](const Case& config, const OperationPlan&, const Executor&) {
       return rollouts_with(config, config.network.fidelity == "analytic", "fidelity \"analytic\"",
                            "fidelity \"flow\", \"linux\" or \"packet\"");
     }},
    {"rollouts", "network.message_time", "a drawn time is that of a message, whatever its size",
     [](const Case& config, const OperationPlan&, const Executor&) {
       return rollouts_with(config, config.network.message_time.has_value(), "network.message_time",
                            "a network of links");
     }},
    {"rollouts", "a method that trains one worker for all", "the others take no steps",
     [](const Case& config, const OperationPlan& plan, const Executor&) {
       return rollouts_with(config, plan.takes_whole_batch && config.replicas > 1,
                            fmt::format("method \"{}\"", config.method.label), "another method");
     }},
};

}  // namespace

const std::vector<RefusedCombination>& refused_combinations() {
  static const std::vector<RefusedCombination> table(std::begin(kRefused), std::end(kRefused));
  return table;
}

void check_combinations(const Case& config, const OperationPlan& plan, const Executor& executor) {
  for (const RefusedCombination& row : refused_combinations())
    if (const MaybeFound found = row.find(config, plan, executor))
      throw InputError(found->path, found->found, found->allowed, row.why);
}

void check_combinations(const Case& config, const OperationPlan& plan) {
  check_combinations(config, plan, {config.train && config.train->device == "cuda"});
}

}  // namespace longhaul
