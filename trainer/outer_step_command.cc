#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/limits.h"
#include "core/scenario/scenario_options.h"
#include "methods/common/registry.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/commands.h"
#include "trainer/merges.h"
#include "trainer/operations/operation_runner.h"
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

// Of a table of the arena in the files: the papers' letters, where there are some.
std::string name_of(Slot slot) {
  if (slot == Slot::kWeights) return "theta";
  if (slot == Slot::kSlowWeights) return "phi";
  if (slot == Slot::kOuterMomentum) return "momentum";
  return slot.name;
}

// The method's options, checked and with its defaults, as in a scenario.
MethodSpec method_spec(const OuterStepArguments& arguments) {
  std::vector<std::string> names;
  for (const Method& method : methods()) {
    names.push_back(method.name);
    if (method.name != arguments.method) continue;
    Json options = Json::object();
    for (const std::string& assignment : arguments.assignments) {
      const std::size_t equals = assignment.find('=');
      if (equals == std::string::npos) throw InputError("--set", "found \"" + assignment + "\"", "key=value");
      const std::string text = assignment.substr(equals + 1);
      Json& value = options[assignment.substr(0, equals)] = text;
      try {
        value = parse_json(text);
      } catch (const InputError&) {  // a text without its quotes
      }
    }
    return {method.name, method.name, resolve(section("", method.options), options, "--set")};
  }
  throw InputError("--method", "found \"" + arguments.method + "\"", "one of " + join(names),
                   did_you_mean(arguments.method, names));
}

const StoredTensor& tensor(const StoredTensors& tensors, const std::string& file, const std::string& name,
                           const std::string& dtype, const std::string& needed) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw InputError({file, name, "is missing", "tensors " + needed, ""});
  if (found->second.dtype != dtype || found->second.shape.size() != 2)
    throw InputError({file, name, "is " + found->second.dtype + Json(found->second.shape).dump(),
                      dtype + " with two dimensions", ""});
  for (const std::int64_t size : found->second.shape)  // of nothing there may be any number
    if (size < 1 || size > kMostParameters)
      throw InputError({file, name, fmt::format("is of shape {}", Json(found->second.shape).dump()),
                        fmt::format("sizes from 1 to {}", kMostParameters), ""});
  if (found->second.shape[0] > kMostReplicas)
    throw InputError({file, name, fmt::format("has {} rows", found->second.shape[0]),
                      fmt::format("at most {}", kMostReplicas), ""});
  return found->second;
}

std::vector<std::int64_t> numbers_in(const StoredTensor& stored) {
  std::vector<std::int64_t> flat(as_index(stored.elements()));
  std::memcpy(flat.data(), stored.bytes.data(), stored.bytes.size());
  return flat;
}

// By replica those that it sends to.
std::vector<std::vector<int>> targets_from(const StoredTensor& stored, const std::string& file,
                                           int replicas) {
  if (stored.shape[0] != replicas)
    throw InputError({file, "targets", fmt::format("has {} rows", stored.shape[0]),
                      fmt::format("one for each of the {} replicas", replicas), ""});
  const std::vector<std::int64_t> flat = numbers_in(stored);
  std::vector<std::vector<int>> targets(as_index(replicas));
  for (std::size_t i = 0; i < flat.size(); ++i) {
    std::vector<int>& mine = targets[i / as_index(stored.shape[1])];
    const int target = static_cast<int>(flat[i]);
    if (flat[i] < 0 || flat[i] >= replicas || flat[i] == &mine - targets.data() ||
        std::count(mine.begin(), mine.end(), target) > 0)
      throw InputError({file, "targets", fmt::format("has replica {} at {}", flat[i], i),
                        fmt::format("other replicas, 0 to {}, each at most once in a row", replicas - 1),
                        ""});
    mine.push_back(target);
  }
  return targets;
}

std::vector<std::vector<int>> groups_from(const StoredTensor& stored, const std::string& file, int replicas) {
  const std::vector<std::int64_t> flat = numbers_in(stored);
  std::vector<std::vector<int>> groups(as_index(stored.shape[0]));
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < flat.size(); ++i) {
    if (flat[i] < 0 || flat[i] >= replicas || !seen.insert(flat[i]).second)
      throw InputError({file, "groups", "has replica " + std::to_string(flat[i]) + " at " + std::to_string(i),
                        "replicas 0 … " + std::to_string(replicas - 1) + ", each in one group at most", ""});
    groups[i / as_index(stored.shape[1])].push_back(static_cast<int>(flat[i]));
  }
  return groups;
}

// Where groups are drawn, a replica that is left over takes the step as a group of one (random_groups()).
void add_left_over(int replicas, std::vector<std::vector<int>>& groups) {
  std::set<int> drawn;
  for (const std::vector<int>& group : groups) drawn.insert(group.begin(), group.end());
  for (int replica = 0; replica < replicas; ++replica)
    if (drawn.count(replica) == 0) groups.push_back({replica});
}

// Of the tensors' columns, as far as the arguments say.
PlannedModel model_of(const OuterStepArguments& arguments, const StoredTensor& theta) {
  const Wire wire = from_word<Wire>(arguments.wire, "--wire");
  if (arguments.model.empty()) return {theta.shape[1], {}, wire, {}};
  const Json given = [&] {
    try {
      return parse_json(arguments.model);
    } catch (const InputError&) {
      throw InputError("--model", "found \"" + arguments.model + "\"", "JSON: {\"hidden\": 48, ...}");
    }
  }();
  const Node options = scenario_options({}, {});
  const Json json = resolve(*options.child("train")->child("model"), given, "--model");
  const ModelShape shape = parse_model(json, "--model");
  if (shape.parameters() != theta.shape[1])
    throw InputError({arguments.in, "theta",
                      "has " + std::to_string(theta.shape[1]) + " columns, and --model " +
                          std::to_string(shape.parameters()) + " parameters",
                      "as many", ""});
  return planned_model(shape, wire);
}

// The operations of one round, and the rows of the file that they are carried out on.
class OuterStep {
 public:
  OuterStep(const OuterStepArguments& arguments, const MethodSpec& method)
      : file_(arguments.in), update_(make_update(method)), tensors_(read_safetensors(arguments.in)) {
    const StoredTensor& theta = tensor(tensors_, file_, "theta", "F32", "theta [R, P] and more");
    const PlannedModel model = model_of(arguments, theta);
    layout_ = model.layout;
    if (layout_.empty()) layout_ = {{"theta", 1, theta.shape[1], 0, 0}};  // one tensor, no embedding
    plan_ = method_named(method.name).plan(method, model);
    plan_.keeps = rows_kept_by(method);
    check_has_rules(arguments, method);
    const auto is_of_another_step = [&arguments](const OperationRule& rule) {
      return arguments.step < rule.first_step || (rule.last_step > 0 && arguments.step > rule.last_step);
    };
    plan_.rules.erase(std::remove_if(plan_.rules.begin(), plan_.rules.end(), is_of_another_step),
                      plan_.rules.end());
    seed_ = arguments.seed;
    inner_.step = inner_.updates = arguments.step;
    inner_.lr = arguments.lr;
    if (plan_.rules.empty())
      throw InputError(
          "--step", fmt::format("found {}, at which \"{}\" exchanges nothing", arguments.step, method.name),
          "a step at which it does");
    is_first_ = arguments.first;
    if (is_first_ && !std::any_of(plan_.local.begin(), plan_.local.end(), is_of_first_round))
      throw InputError("--first",
                       fmt::format("found with method \"{}\", whose rounds are all alike", method.name),
                       "a method whose messages are a round late: eager-diloco with delay 1, dilocox, co2");
    context_ = {arguments.seed, static_cast<int>(theta.shape[0]), arguments.step, theta.shape[1]};
    for (const OperationRule& rule : plan_.rules)
      if (update_->counts_rounds() && !is_posted_at(rule, arguments.step, arguments.step))
        throw InputError("--step", "found " + std::to_string(arguments.step),
                         "a multiple of " + std::to_string(rule.every),
                         "what the step does depends on the number of the round that it ends");
    update_->follow(plan_, context_);
    decay_ = {{0, theta.shape[1], false}};
    arena_ = std::make_unique<Arena>(slots(), static_cast<int>(theta.shape[0]), theta.shape[1]);
    for (const Slot slot : tables_) load(name_of(slot), slot, theta);
  }

  void run(const std::string& out) {
    const std::unique_ptr<Backend> backend = make_loop_backend();
    ExchangeLog log;
    Replicas all{*arena_, *backend, log};
    has_merges(plan_) ? merge(all) : exchange(all);
    for (const Slot slot : tables_) {
      StoredTensor& stored = tensors_[name_of(slot)];
      std::memcpy(stored.bytes.data(), arena_->row(slot, 0), stored.bytes.size());
    }
    for (auto at = tensors_.begin(); at != tensors_.end();) {
      const std::string& name = at->first;
      const bool is_input = name == "groups" || name == "targets" || name.rfind("posted.", 0) == 0;
      at = is_input ? tensors_.erase(at) : std::next(at);
    }
    write_safetensors(out, tensors_);
  }

 private:
  void exchange(Replicas& all) {
    OperationRunner runner(*update_, all);
    std::vector<Operation> operations;
    for (const OperationRule& rule : plan_.rules)
      operations.push_back({&rule, inner_.step, inner_.step, groups_of_rule(rule), 0, targets_of_rule(rule),
                            mask_draw(seed_, inner_.step)});
    if (update_->has_own_optimizer())
      for (int replica = 0; replica < arena_->replicas(); ++replica)
        update_->prepare(inner_, replica, *arena_);
    as_posted([&] {
      for (const Operation& operation : operations)
        if (!operation.rule->is_blocking() && !nobody_takes_part(operation)) runner.post(operation);
    });
    take_local_steps(runner);
    for (const bool is_blocking : {true, false})
      for (const Operation& operation : operations)
        if (operation.rule->is_blocking() == is_blocking && !is_first_ && !nobody_takes_part(operation))
          is_blocking ? runner.run(operation) : runner.apply(operation);
    if (update_->has_own_optimizer())
      for (int replica = 0; replica < arena_->replicas(); ++replica) optimize(replica);
  }

  // A merge of each rule and group, in the order of the file, to which the members contribute alike.
  void merge(Replicas& all) {
    check_rows_alike(Slot::kSlowWeights, "the synchronizer's model");
    check_rows_alike(Slot::kOuterMomentum, "the synchronizer's momentum");
    Merges merges(plan_, context_, layout_, *update_, all);
    merges.begin_with(arena_->row(Slot::kSlowWeights, 0), arena_->row(Slot::kOuterMomentum, 0));
    std::vector<journal::MakeMerge> made;
    for (int rule = 0; rule < static_cast<int>(plan_.rules.size()); ++rule)
      for (const std::vector<int>& group :
           sorted_groups({&plan_.rules[as_index(rule)], 0, 0, groups_of_rule(plan_.rules[as_index(rule)])},
                         arena_->replicas())) {
        journal::MakeMerge& entry = made.emplace_back();
        entry.merge = made.size() - 1, entry.rule = rule;
        entry.shares.assign(group.size(), 1.F / static_cast<float>(group.size()));
        for (const int replica : group) entry.contributions.push_back({replica, inner_.step, inner_.step});
      }
    as_posted([&] {
      for (const journal::MakeMerge& entry : made)
        for (const Merge::Contribution& one : entry.contributions)
          merges.contribute({entry.merge, entry.rule, one.replica, inner_.step});
    });
    for (const journal::MakeMerge& entry : made) {
      merges.make(entry);
      for (const Merge::Contribution& one : entry.contributions)
        merges.take_up({entry.merge, entry.rule, one.replica});
    }
    for (int replica = 0; replica < arena_->replicas(); ++replica)
      std::copy(merges.momentum().begin(), merges.momentum().end(),
                arena_->row(Slot::kOuterMomentum, replica));
  }

  void check_rows_alike(Slot slot, const std::string& meaning) const {
    const float* first = arena_->row(slot, 0);
    for (int replica = 1; replica < arena_->replicas(); ++replica)
      if (!std::equal(first, first + arena_->parameters(), arena_->row(slot, replica)))
        throw InputError({file_, name_of(slot), fmt::format("has rows 0 and {} that differ", replica),
                          "the same in all rows: " + meaning, ""});
  }

  // Fragments of a model of which nothing is known are none, unless their number is given.
  void check_has_rules(const OuterStepArguments& arguments, const MethodSpec& method) const {
    if (!plan_.rules.empty()) return;
    if (method.options.value("fragments", -1) == 0 && arguments.model.empty())
      throw InputError(
          "--method",
          fmt::format("\"{}\" exchanges fragments of layers, and nothing says how many there are",
                      method.name),
          "--model with the dimensions, or --set fragments=1 (all of it)");
    throw InputError("--method", "\"" + method.name + "\" exchanges nothing", "a method that does");
  }

  // One that ends stands in for the outer step of the first round; others precede each.
  static bool is_of_first_round(const LocalStep& local) { return local.last_step > 0; }

  void take_local_steps(OperationRunner& runner) const {
    std::vector<int> all(as_index(arena_->replicas()));
    std::iota(all.begin(), all.end(), 0);
    for (const LocalStep& local : plan_.local)
      if (!is_of_first_round(local) || is_first_) runner.take(local, all);
  }

  // What the file must have, then all.
  std::vector<Slot> slots() {
    std::vector<std::string> kept = kept_rows(plan_);
    if (has_merges(plan_)) kept.push_back(kOuterMomentumRow);  // the synchronizer's
    tables_ = {Slot::kWeights};
    for (const Slot slot : update_->changed_state()) tables_.push_back(slot);
    if (update_->has_own_optimizer())
      tables_.insert(tables_.end(), {Slot::kFirstMoment, Slot::kSecondMoment});
    const bool sends_gradient =
        std::any_of(plan_.rules.begin(), plan_.rules.end(), [](const OperationRule& rule) {
          const std::vector<std::string> tensors = rule.tensors();
          return std::count(tensors.begin(), tensors.end(), "gradient") > 0;
        });
    if (update_->has_own_optimizer() || sends_gradient) tables_.push_back(Slot::kGradient);
    for (const std::string& name : kept) tables_.push_back(slot_named(name));
    return slots_with(kept);
  }

  std::string needed() const {
    std::vector<std::string> names;
    for (const Slot slot : tables_) names.push_back(name_of(slot));
    for (const OperationRule& rule : plan_.rules)
      if (rule.grouping != Grouping::kEveryone)
        return join(names) + (has_targets(rule.grouping) ? " and targets" : " and groups");
    return join(names);
  }

  void load(const std::string& name, Slot slot, const StoredTensor& theta) {
    const StoredTensor& stored = tensor(tensors_, file_, name, "F32", needed());
    if (stored.shape != theta.shape)
      throw InputError({file_, name, "is " + Json(stored.shape).dump(),
                        "the shape of theta, " + Json(theta.shape).dump(), ""});
    std::memcpy(arena_->row(slot, 0), stored.bytes.data(), stored.bytes.size());
  }

  std::vector<std::vector<int>> groups_of_rule(const OperationRule& rule) const {
    if (rule.is_of_everyone() && (has_targets(rule.grouping) || tensors_.count("groups") == 0)) return {};
    std::vector<std::vector<int>> groups =
        groups_from(tensor(tensors_, file_, "groups", "I64", needed()), file_, arena_->replicas());
    if (rule.grouping == Grouping::kRandom || rule.grouping == Grouping::kSites)
      add_left_over(arena_->replicas(), groups);
    return groups;
  }

  std::vector<std::vector<int>> targets_of_rule(const OperationRule& rule) const {
    if (!has_targets(rule.grouping)) return {};
    return targets_from(tensor(tensors_, file_, "targets", "I64", needed()), file_, arena_->replicas());
  }

  void optimize(int replica) {
    if (update_->optimize(inner_, replica, *arena_)) return;
    adamw_step(spec_, inner_.lr, inner_.step, 1, decay_,
               {arena_->row(Slot::kWeights, replica), arena_->row(Slot::kGradient, replica),
                arena_->row(Slot::kFirstMoment, replica), arena_->row(Slot::kSecondMoment, replica)});
  }

  // No groups in the file would mean one of all replicas.
  bool nobody_takes_part(const Operation& operation) const {
    return operation.groups.empty() && operation.targets.empty() && tensors_.count("groups") > 0;
  }

  // Overlapped operations are posted with the tables as they were then, where the file has them.
  template <typename Post>
  void as_posted(const Post& post) {
    const StoredTensor& theta = tensors_.at("theta");
    const std::string before = "posted.";
    for (const Slot slot : tables_)
      if (tensors_.count(before + name_of(slot))) load(before + name_of(slot), slot, theta);
    post();
    for (const Slot slot : tables_)
      if (tensors_.count(before + name_of(slot))) load(name_of(slot), slot, theta);
  }

  const std::string file_;
  std::unique_ptr<Update> update_;
  StoredTensors tensors_;
  OperationPlan plan_;
  PlanContext context_;
  std::vector<Parameter> layout_;
  std::vector<Slot> tables_;  // that the file has
  std::unique_ptr<Arena> arena_;
  std::uint64_t seed_ = 1;
  bool is_first_ = false;
  const OptimizerSpec spec_;
  std::vector<DecayRange> decay_;
  InnerStep inner_{1, 1, 0, 1, spec_, decay_};
};

}  // namespace

void run_outer_step(const OuterStepArguments& arguments) {
  OuterStep(arguments, method_spec(arguments)).run(arguments.out);
}

}  // namespace longhaul
