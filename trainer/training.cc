#include "trainer/training.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>

#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/model_shape.h"
#include "core/plan/kept_rows.h"
#include "core/plan/program.h"
#include "core/scenario/training_text.h"
#include "methods/common/registry.h"
#include "trainer/checkpoint/checkpoint_folder.h"
#include "trainer/checkpoint/training_state.h"
#include "trainer/data/dataset.h"
#include "trainer/device/cuda_device.h"
#include "trainer/model/decoder.h"
#include "trainer/model/gemm.h"
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

// Of AdamW's columns: all that are not in one of Muon's matrices.
std::vector<DecayRange> decay_ranges(const ModelShape& shape, const std::vector<MuonMatrix>& muon) {
  std::vector<DecayRange> ranges;
  for (const Parameter& parameter : parameter_layout(shape)) {
    const bool is_muons = std::any_of(muon.begin(), muon.end(), [&](const MuonMatrix& matrix) {
      return matrix.offset == parameter.offset;
    });
    if (is_muons) continue;
    const std::int64_t end = parameter.offset + parameter.size();
    const bool adjoins = !ranges.empty() && ranges.back().end == parameter.offset;
    if (adjoins && ranges.back().decays == !parameter.is_norm)
      ranges.back().end = end;
    else
      ranges.push_back({parameter.offset, end, !parameter.is_norm});
  }
  return ranges;
}

// The bytes that travel in the training are those of the model that is trained, whatever `workload` replays.
PlanContext trained_context(const Case& config) {
  PlanContext context = plan_context(config);
  context.parameters = config.train->model.parameters();
  return context;
}

// What activations of a stacked back-end may take on a CPU, bytes.
constexpr std::int64_t kStackedMemory = std::int64_t{1} << 30;

// Of gates, or of rows that are copied.
template <typename Tables>
void restore_tables(const Checkpoint& checkpoint, const Tables& tables) {
  SafetensorsFile file(checkpoint.tensors_file);
  for (const auto& [name, values] : tables) {
    const SafetensorsFile::Entry& entry = file.entry(name);
    const auto bytes = static_cast<std::int64_t>(values->size() * sizeof(float));
    if (entry.bytes != bytes)
      throw InputError({checkpoint.tensors_file, name, fmt::format("has {} bytes", entry.bytes),
                        fmt::format("{}", bytes), "the checkpoint is of another training"});
    file.read(entry, 0, bytes, values->data());
  }
}

bool any_rule(const OperationPlan& plan, bool (*is_so)(const OperationRule&)) {
  return std::any_of(plan.rules.begin(), plan.rules.end(), is_so);
}

}  // namespace

Training::Training(const Case& config, Device device, std::unique_ptr<Backend> backend, TrainingFiles& files,
                   ProgressReporter& progress, Ranks& ranks, Schedule schedule, OuterState outer_state)
    : case_(trained_case(config)),
      train_(*case_.train),
      device_(device),
      backend_(std::move(backend)),
      files_(files),
      progress_(progress),
      ranks_(ranks),
      data_(load_dataset(case_)),
      muon_(muon_matrices(train_.model, train_.optimizer)),
      decay_(decay_ranges(train_.model, muon_)),
      plan_(trained_plan_of(case_)),
      context_(trained_context(case_)),
      boundaries_(boundaries_of(plan_.pipeline, case_.pipeline.boundary)),
      decoder_(train_.model, device, train_.precision, boundaries_),
      schedule_(std::move(schedule)),
      exchanges_gradients_(any_rule(plan_, [](const OperationRule& rule) { return rule.before_optimizer; })),
      update_(make_update(case_.method)),
      arena_(slots_with(kept_rows(plan_)), case_.replicas, train_.model.parameters(),
             block_of(ranks, case_.replicas)),
      microbatches_(plan_.pipeline, arena_.parameters(),
                    [this](const float* weights, float* gradient, const Batch& batch) {
                      return decoder_.loss_and_gradient(weights, gradient, batch);
                    }),
      log_(&files.exchanges()),
      replicas_{arena_, *backend_, log_, ranks},
      operations_(*update_, replicas_),
      optimizer_steps_(as_index(case_.replicas)),
      copied_(schedule_.absences, arena_, optimizer_steps_),
      evaluator_(decoder_, validation_batches(data_.validation, train_), train_.evaluate_sequences > 0,
                 arena_, *backend_, ranks, update_->product()),
      losses_(as_index(case_.replicas)),
      seconds_(losses_.size()),
      best_loss_(std::numeric_limits<double>::infinity()),
      checkpoints_(files.folder(), training_key(case_)) {
  check_agreement(ranks, {{"a training", training_key(case_)},
                          {"steps", train_.steps},
                          {"a text with hash", hex64(data_.hash)},
                          {"device", to_string(device)},
                          {"an arithmetic", arithmetic()},
                          {"libraries", libraries()}});
  check_own_parts(data_.training.size(), train_);
  if (leaves_home(plan_.pipeline) && ranks.size() > 1)
    throw InputError("pipeline.routing", fmt::format("found \"random\" with {} ranks", ranks.size()),
                     "\"straight\", or one rank",
                     "micro-batches would pass replicas that other processes hold");
  check_absences();
  check_deadlines();
  check_dynamic_steps();
  if (has_merges(plan_)) {
    if (device == Device::kCuda)
      throw InputError("train.device", "found \"cuda\" with method \"" + case_.method.name + "\"",
                       "train.device \"cpu\"", "merges have no kernel yet");
    if (ranks.size() > 1)
      throw InputError("--ranks", fmt::format("found {} with method \"{}\"", ranks.size(), case_.method.name),
                       "one rank", "a synchronizer's merges are made in one process yet");
  }
  make_gates();
  std::vector<float> weights = initial_weights(train_.model, case_.seed);
  if (const int rank = case_.pipeline.boundary.subspace; rank > 0 && plan_.pipeline.has_stages()) {
    if (device == Device::kCuda)
      throw InputError("pipeline.subspace", fmt::format("found {} with train.device \"cuda\"", rank),
                       "train.device \"cpu\"", "the projection of the weights has no kernel yet");
    subspace_.emplace(train_.model, plan_.pipeline, rank, case_.seed, weights);
    subspace_->project(weights.data());
  }
  for_each_held(
      [&](int replica) { std::copy(weights.begin(), weights.end(), arena_.row(Slot::kWeights, replica)); });
  update_->follow(plan_, context_);
  update_->start(replicas_);
  if (has_merges(plan_)) {
    if (!schedule_.has_all && !timing_matters(plan_)) schedule_ = synchronous_merges(plan_, context_);
    pace_ = std::make_unique<OwnPace>(plan_, context_, parameter_layout(train_.model), schedule_, *update_,
                                      replicas_);
  }
  if (device == Device::kCuda) {
    accelerator_ =
        Accelerator::make({train_, decay_, muon_, plan_.pipeline, boundaries_, backend_->stacks(),
                           evaluator_.validation(), plan_, outer_state, [this] { writing_.wait(); }},
                          replicas_, operations_);
    accelerator_->upload();
    evaluator_.use_card(accelerator_->rows());
  } else if (backend_->stacks()) {
    stacked_ = std::make_unique<StackedDecoder>(train_.model, device, train_.precision,
                                                kStackedMemory / backend_->threads(), boundaries_);
    const std::size_t numbers = as_index(arena_.held().size() * arena_.parameters());
    if (is_composed(plan_.pipeline)) composed_.resize(numbers);
    if (plan_.pipeline.microbatches > 1 || is_composed(plan_.pipeline)) partial_.resize(numbers);
  }
}

Training::~Training() = default;

void Training::check_absences() const {
  if (!schedule_.has_all) return;
  const auto refuse = [](const std::string& found, const std::string& allowed) {
    throw InputError("faults", "found replicas that may be gone with " + found, allowed,
                     "replicas that come back get rows of others there alone");
  };
  if (device_ == Device::kCuda) refuse("train.device \"cuda\"", "train.device \"cpu\"");
  if (ranks_.size() > 1) refuse(fmt::format("{} ranks", ranks_.size()), "one rank");
}

void Training::check_deadlines() const {
  if (!throws_late_work_away(plan_)) return;
  const std::string found = "found a quorum of method \"" + case_.method.name + "\" with ";
  if (device_ == Device::kCuda)
    throw InputError("train.device", found + "train.device \"cuda\"", "train.device \"cpu\"",
                     "those who are late get the rows of others there alone");
  if (ranks_.size() > 1)
    throw InputError("--ranks", found + fmt::format("{} ranks", ranks_.size()), "one rank",
                     "those who are late get the rows of others in one process alone");
}

void Training::check_dynamic_steps() const {
  if (plan_.dynamic_steps.is_on() && device_ == Device::kCuda)
    throw InputError("method.dynamic_steps", "found true with train.device \"cuda\"", "train.device \"cpu\"",
                     "a GPU takes the steps of all replicas together yet");
}

bool Training::computes(int replica, int step) const {
  return schedule_.absences.computes(replica, step) && plan_.dynamic_steps.takes(replica, step);
}

std::vector<int> Training::present(int step) const {
  std::vector<int> replicas;
  for (int replica = 0; replica < case_.replicas; ++replica)
    if (schedule_.absences.computes(replica, step)) replicas.push_back(replica);
  return replicas;
}

std::vector<int> Training::computing(int step) const {
  std::vector<int> replicas;
  for (int replica = 0; replica < case_.replicas; ++replica)
    if (computes(replica, step)) replicas.push_back(replica);
  return replicas;
}

// Where all went in the exchange of the last step, those that had computed it.
std::vector<int> Training::evaluated(int step) const {
  std::vector<int> replicas;
  for (const int replica : present(step))
    if (schedule_.absences.ends(replica, step)) replicas.push_back(replica);
  return replicas.empty() && step == train_.steps ? present(step) : replicas;
}

void Training::make_gates() {
  if (!case_.pipeline.boundary.learned || plan_.pipeline.hop_count() == 0) return;
  const auto refuse = [](const std::string& found, const std::string& allowed) {
    throw InputError("pipeline.activations", "found \"learned\" with " + found, allowed,
                     "the gradient of the gates is computed there alone");
  };
  if (device_ == Device::kCuda) refuse("train.device \"cuda\"", "train.device \"cpu\"");
  if (backend_->stacks()) refuse("the stacked back-end", "--backend loop or threads");
  if (ranks_.size() > 1) refuse(fmt::format("{} ranks", ranks_.size()), "one rank");
  gates_.emplace(*case_.pipeline.boundary.learned, boundaries_, case_.replicas);
  learned_passes_.resize(as_index(case_.replicas));
  for (int replica = 0; replica < case_.replicas; ++replica) {
    LearnedPass& learned = learned_passes_[as_index(replica)];
    learned.rounding.resize(as_index(gates_->hops()));
    learned.pass = std::make_unique<MicrobatchPass<float>>(
        plan_.pipeline, arena_.parameters(),
        [this, replica, &sum = learned.rounding](const float* weights, float* gradient, const Batch& batch) {
          RoundingEffects rounding;
          const double loss =
              decoder_.loss_and_gradient(weights, gradient, batch, gates_->boundaries(replica), &rounding);
          for (std::size_t hop = 0; hop < sum.size(); ++hop)
            sum[hop] += rounding[hop] / plan_.pipeline.microbatches;
          return loss;
        });
  }
  evaluator_.use_boundaries([this](int replica) {
    return replica < 0 ? gates_->boundaries_of_mean() : gates_->boundaries(replica);
  });
}

int Training::resume(std::vector<std::string>& refused) {
  if (ranks_.is_first()) resumed_ = checkpoints_.newest(refused);
  share_checkpoint(ranks_, resumed_);
  if (!resumed_) return 0;
  const Json& state = resumed_->state;
  check_same_run(state);
  if (resumed_->step > 0)
    restore_tensors(*resumed_, replicas_, operations_, pending_after(resumed_->step),
                    resumed_->step == train_.steps);
  if (gates_ && resumed_->step > 0) {
    restore_tables(*resumed_, gates_->tables());
    gates_->restored();
  }
  if (resumed_->step > 0 && resumed_->step < train_.steps) {
    // Without absences each replica has taken all its steps.
    for (int replica = 0; replica < case_.replicas; ++replica)
      optimizer_steps_[as_index(replica)] =
          static_cast<int>(plan_.dynamic_steps.taken_until(replica, resumed_->step));
    if (schedule_.has_all) {
      optimizer_steps_ = state.at("optimizer_steps").get<std::vector<int>>();
      copied_.expect(state.at("copied"));
      restore_tables(*resumed_, copied_.tables());
    }
    if (pace_) {
      SafetensorsFile file(resumed_->tensors_file);
      pace_->restore(state.at("own_pace"), file, arena_.parameters());
      if (!schedule_.has_all) optimizer_steps_ = pace_->computed;
    }
  }
  if (accelerator_) accelerator_->upload();
  if (!state.at("best_loss").is_null()) best_loss_ = state["best_loss"];
  if (!state.at("last_evaluation").is_null()) last_ = evaluation_from(state["last_evaluation"]);
  return saved_step_ = resumed_->step;
}

void Training::check_same_run(const Json& state) const {
  const std::string hash = hex64(data_.hash), device = to_string(device_);
  const std::string begin_anew = "remove " + files_.folder() + "/checkpoints to begin anew";
  if (state.at("corpus_hash") != hash)
    throw InputError("train.data", "the text is not the one of the checkpoint (its hash is " + hash + ")",
                     "hash " + state["corpus_hash"].get<std::string>(), begin_anew);
  if (state.at("device") != device)
    throw InputError("train.device", "found \"" + device + "\", which gives other bits",
                     state["device"].dump() + ", as the checkpoint", begin_anew);
  if (state.value("arithmetic", arithmetic()) != arithmetic())
    throw InputError("--backend", "works " + arithmetic() + ", which gives other bits",
                     state["arithmetic"].get<std::string>() + ", as the checkpoint",
                     "use the other back-end or number of ranks, or " + begin_anew);
  if (accelerator_ && state.value("sequences_at_once", accelerator_->sequences_at_once()) !=
                          accelerator_->sequences_at_once())
    throw InputError("",
                     "the GPU's free memory is enough for " +
                         std::to_string(accelerator_->sequences_at_once()) +
                         " sequences of a replica together, which gives other sums",
                     state["sequences_at_once"].dump() + ", as the checkpoint",
                     "use a card with as much free memory, or " + begin_anew);
  if (state.value("libraries", libraries()) != libraries())
    throw InputError("",
                     "the libraries are " + libraries().dump() +
                         ", which may give other bits than those of the checkpoint",
                     state["libraries"].dump(), "use these, or " + begin_anew);
}

std::string Training::arithmetic() const {
  if (!backend_->stacks()) return "replica by replica";
  // A GPU's library may multiply another number of matrices by another kernel.
  const bool depends = device_ == Device::kCuda && ranks_.size() > 1;
  return depends ? "stacked on " + std::to_string(ranks_.size()) + " ranks" : "stacked";
}

Json Training::libraries() const {
  Json json = {{"libtorch", torch_version()}, {"blas", blas_name()}};
  if (device_ == Device::kCuda) json["gpu"] = device_name();
  return json;
}

Json Training::run() {
  speed_.begin();
  if (resumed_) {
    files_.continue_from(resumed_->state.at("files"));
  } else {
    if (ranks_.is_first()) checkpoints_.clear();
    files_.begin();
    save_checkpoint(0);
  }
  counted_steps_ = first_step_ = saved_step_;
  if (saved_step_ == 0 && !pace_) copied_.after(0);
  if (pace_) run_at_own_pace();
  for (int step = saved_step_; step < train_.steps;) {
    if (is_asked_to_stop_ || (ranks_.size() == 1 && interrupted())) {
      save_checkpoint(step);
      writing_.wait();
      throw Interrupted();
    }
    step = inner_steps(step + 1);
    if (meet_after(step)) finish_step(step);
  }
  writing_.wait();
  if (ranks_.is_first()) checkpoints_.keep_only(train_.steps);
  write_speed();
  return summary();
}

// The files first: a checkpoint must not say more than they hold. The one before the first step has no
// tensors: they follow from the seed, and half a gigabyte of them was most of a start.
void Training::save_checkpoint(int step) {
  if (step == saved_step_) return;
  const Speed::Stopwatch watch(speed_.checkpoints_s);
  if (accelerator_ && step > 0) accelerator_->download();
  const ModelShape& shape = train_.model;
  Json state = {{"steps", train_.steps},
                {"replicas", case_.replicas},
                {"wire", to_string(case_.workload.wire)},
                {"model",
                 {{"hidden", shape.hidden},
                  {"layers", shape.layers},
                  {"heads", shape.heads},
                  {"ffn", shape.ffn},
                  {"context", shape.context},
                  {"vocabulary", shape.vocabulary}}},
                {"corpus_hash", hex64(data_.hash)},
                {"device", to_string(device_)},
                {"arithmetic", arithmetic()},
                {"libraries", libraries()},
                {"best_loss", last_.step > 0 ? Json(best_loss_) : Json()},
                {"last_evaluation", last_.step > 0 ? to_json(last_) : Json()},
                {"files", files_.save()}};
  if (schedule_.has_all) {
    state["optimizer_steps"] = optimizer_steps_;
    state["copied"] = copied_.state();
    state["there"] = evaluated(step);
  }
  if (update_->product() != Slot::kWeights) state["product"] = update_->product().name;
  if (accelerator_) state["sequences_at_once"] = accelerator_->sequences_at_once();
  std::vector<TensorView> tensors;
  if (step > 0) tensors = tensors_to_keep(replicas_, operations_, pending_after(step), step == train_.steps);
  if (step > 0 && gates_)
    for (const auto& [name, values] : gates_->tables())
      tensors.push_back({name, "F32", {case_.replicas, gates_->hops()}, values->data()});
  if (pace_ && step > 0 && step < train_.steps) {
    state["own_pace"] = pace_->state();
    for (TensorView& tensor : pace_->tensors()) tensors.push_back(std::move(tensor));
  }
  if (step > 0 && step < train_.steps)
    for (const auto& [name, row] : copied_.tables())
      tensors.push_back({name, "F32", {arena_.parameters()}, row->data()});
  // Rows of a card in host memory stay as they are until they are fetched again; those of the CPU change with
  // the next step, and those of other ranks have to be asked for.
  if (accelerator_ && ranks_.size() == 1)
    writing_.start([this, step, state = std::move(state), tensors = std::move(tensors)] {
      checkpoints_.write(step, state, tensors);
    });
  else if (ranks_.is_first())
    checkpoints_.write(step, std::move(state), tensors);
  else
    for (const TensorView& tensor : tensors) tensor.read([](const void*, std::size_t) {});
  saved_step_ = step;
}

bool Training::is_evaluated(int step) const {
  return step % train_.evaluate_every == 0 || step == train_.steps;
}

bool Training::is_kept(int step) const {
  return step % train_.checkpoint_every == 0 || step == train_.steps;
}

bool Training::meet_after(int step) const {
  const auto has_operation = [&](const OperationRule& rule) {
    return is_posted_at(rule, train_.steps, step) ||
           is_posted_at(rule, train_.steps, step - rule.overlap_steps);
  };
  return is_evaluated(step) || is_kept(step) || update_->has_own_optimizer() ||
         schedule_.absences.has_copy_at(step) ||
         std::any_of(plan_.rules.begin(), plan_.rules.end(), has_operation) || has_local_step(step);
}

bool Training::has_local_step(int step) const {
  return std::any_of(plan_.local.begin(), plan_.local.end(),
                     [step](const LocalStep& local) { return is_taken_at(local, step); });
}

void Training::finish_step(int step) {
  follow_program(step);
  files_.write_step_times(step, computing(step), seconds_);
  copied_.after(step);
  if (gates_) write_bits(step);
  if (is_kept(step)) save_checkpoint(step);
  report(step);
}

// What follows the step's compute (core/plan/program.h). A step that changes weights after the optimizer is
// evaluated on both sides of that.
void Training::follow_program(int step) {
  const std::vector<Operation> posted = posted_at(step), due = due_at(step);
  // Null where nobody met.
  const auto named = [&](const Instruction& instruction) -> const Operation* {
    const OperationRule& rule = plan_.rules[as_index(instruction.rule)];
    for (const std::vector<Operation>* operations : {&posted, &due})
      for (const Operation& operation : *operations)
        if (operation.rule == &rule && operation.post_step == instruction.post_step) return &operation;
    if (schedule_.decides(rule)) return nullptr;
    throw std::logic_error("the program of step " + std::to_string(step) + " names an operation it has not");
  };
  const bool has_outer_step = !due.empty() || has_local_step(step) ||
                              std::any_of(posted.begin(), posted.end(), [](const Operation& operation) {
                                return operation.rule->is_blocking() && !operation.rule->before_optimizer;
                              });
  for (const Instruction& instruction : program_of_step(plan_, train_.steps, step).instructions)
    switch (instruction.kind) {
      case Instruction::Kind::kCompute:  // inner_steps.cc
        if (instruction.left == 0 && update_->has_own_optimizer()) prepare_all(step);
        break;
      case Instruction::Kind::kOptimize:
        if (exchanges_gradients_) optimize_all(step, posted);
        if (is_evaluated(step) && has_outer_step) evaluate(step, "before");
        break;
      case Instruction::Kind::kLocal:
        take(plan_.local[as_index(instruction.rule)], step);
        break;
      case Instruction::Kind::kPost:
        // The numbers are those of the end of the step, whenever the replay lets them go.
        if (const Operation* operation = named(instruction);
            operation && instruction.left == 0 && instruction.bucket >= operation->rule->buckets - 1)
          post(*operation);
        break;
      case Instruction::Kind::kAwait:
        if (const Operation* operation = named(instruction)) apply(*operation);
        break;
    }
  if (is_evaluated(step)) evaluate(step, has_outer_step ? "after" : "plain");
}

void Training::write_bits(int step) {
  for (int replica = 0; replica < case_.replicas; ++replica)
    for (int hop = 0; hop < gates_->hops(); ++hop) {
      const double gate = double{used_gates_[as_index(replica)][as_index(hop)]};
      files_.write_bits(step, replica, hop, used_bits(*case_.pipeline.boundary.learned, gate), gate);
    }
}

std::vector<Operation> Training::posted_at(int step) const {
  std::vector<Operation> posted = followed(schedule_, plan_, operations_at(plan_, context_, step));
  for (Operation& operation : posted)
    if (operation.rule->completion.fetches) {
      const std::vector<int>& members = operation.groups.front();
      operation.takers.emplace();
      for (const int replica : present(step)) {
        const bool is_in = std::find(members.begin(), members.end(), replica) != members.end();
        operation.takers->push_back({replica, is_in ? replica : members.front()});
      }
    }
  if (schedule_.absences.copies().empty()) return posted;
  for (Operation& operation : posted)
    for (const OperationRule& ahead : plan_.rules)
      if (operation.rule->is_blocking() && is_posted_at(ahead, train_.steps, step - ahead.overlap_steps))
        for (const int replica : present(step))
          if (schedule_.absences.contributor(replica, step - ahead.overlap_steps, step) != replica)
            operation.sends_anew.push_back(replica);
  return posted;
}

std::vector<Operation> Training::due_at(int step) const {
  std::vector<Operation> due = followed(schedule_, plan_, operations_due(plan_, context_, step));
  if (!schedule_.has_all) return due;
  for (Operation& operation : due) {
    operation.takers.emplace();
    for (const int replica : present(step))
      operation.takers->push_back(
          {replica, schedule_.absences.contributor(replica, operation.post_step, step)});
  }
  return due;
}

std::vector<Operation> Training::pending_after(int step) const {
  if (pace_) return {};  // Merges keeps what is under way
  return followed(schedule_, plan_, operations_pending(plan_, context_, step));
}

void Training::post(const Operation& operation) {
  accelerator_ ? accelerator_->post(operation) : operations_.post(operation);
}

void Training::apply(const Operation& operation) {
  accelerator_ ? accelerator_->apply(operation) : operations_.apply(operation);
}

void Training::take(const LocalStep& local, int step) {
  if (accelerator_) return accelerator_->take(local);
  std::vector<int> replicas = arena_.held().replicas();
  if (schedule_.has_all) replicas = present(step);
  operations_.take(local, replicas);
}

InnerStep Training::inner_step_facts(int step, int updates) const {
  return {step, updates, learning_rate(train_.optimizer, step, train_.steps), 1, train_.optimizer, decay_};
}

void Training::prepare_all(int step) {
  const auto prepare = [&] {
    for_each_held([&](int replica) {
      if (!computes(replica, step)) return;
      InnerStep facts = inner_step_facts(step, optimizer_steps_[as_index(replica)] + 1);
      facts.clip = clip_factor(row_norm(arena_.row(Slot::kGradient, replica), arena_.parameters()),
                               train_.optimizer.clip);
      update_->prepare(facts, replica, arena_);
    });
  };
  accelerator_ ? accelerator_->on_host(prepare) : prepare();
}

void Training::optimize_all(int step, const std::vector<Operation>& posted) {
  if (accelerator_)
    optimize_on_gpu(step);
  else
    for_each_held([&](int replica) {
      if (has_exchanged(step, replica, posted)) optimize(step, replica, seconds_[as_index(replica)]);
    });
  meet_ranks();
}

// Of a group that was drawn, one who is left over goes on with its own gradients, unless the group's exchange
// fails without it.
bool Training::has_exchanged(int step, int replica, const std::vector<Operation>& posted) const {
  if (!computes(replica, step)) return false;
  if (!schedule_.has_all) return true;
  const bool discards = on_failure_of(case_.recovery, plan_) == RecoverySpec::OnFailure::kDiscard;
  const auto is_in = [replica](const Operation& operation) {
    return std::any_of(operation.groups.begin(), operation.groups.end(), [replica](const auto& group) {
      return std::find(group.begin(), group.end(), replica) != group.end();
    });
  };
  return std::all_of(plan_.rules.begin(), plan_.rules.end(), [&](const OperationRule& rule) {
    if (!rule.before_optimizer || !is_posted_at(rule, train_.steps, step)) return true;
    if (!rule.is_of_everyone() && !discards) return true;
    return std::any_of(posted.begin(), posted.end(), [&](const Operation& operation) {
      return operation.rule == &rule && is_in(operation);
    });
  });
}

void Training::evaluate(int step, const std::string& phase) {
  const std::vector<int> replicas = evaluated(step);
  if (replicas.empty()) return;
  const Speed::Stopwatch watch(speed_.evaluations_s);
  if (accelerator_ && ranks_.size() > 1) accelerator_->download(update_->product());
  last_ = evaluator_.evaluate(step, phase, replicas);
  best_loss_ = std::min(best_loss_, last_.mean_loss());
  files_.write(last_);
}

void Training::report(int step) {
  double mean = 0;
  const std::vector<int> replicas = computing(step);
  for (const int replica : replicas)
    mean += losses_[as_index(replica)] / static_cast<double>(replicas.size());
  count_tokens(step);
  std::string text = fmt::format("loss {:.3f}", mean);
  if (last_.step > 0) text += fmt::format(", spread {:.2e}", last_.weight_spread);
  if (const auto speed = speed_.tokens_per_second()) text += fmt::format(", {:.0f} tokens/s", *speed);
  progress_.progress(step, train_.steps, "steps", text);
}

void Training::count_tokens(int step) {
  while (counted_steps_ < step)
    counted_tokens_ +=
        static_cast<double>(computing(++counted_steps_).size()) * train_.batch * train_.model.context;
  speed_.reached(counted_tokens_);
}

void Training::write_speed() {
  count_tokens(train_.steps);
  std::set<std::string> cards = {"the processor"};
  if (accelerator_) {
    const std::vector<std::string> all = gather(ranks_, device_identity());
    cards = {all.begin(), all.end()};
    if (!peak_) peak_ = peak_flop_per_second(device_name(), train_.precision);
  }
  std::optional<double> peak = peak_;
  if (peak) *peak *= static_cast<double>(cards.size());
  Json json = speed_.summary(train_.model, train_.steps - first_step_, peak);
  if (accelerator_) json["card"] = device_name();
  files_.write_speed(json);
}

std::size_t Training::evaluated_sequences() const {
  return validation_starts(data_.validation.size(), train_.model.context, train_.evaluate_sequences).size();
}

Json Training::summary() const {
  std::int64_t replica_steps = 0;
  for (int step = 1; step <= train_.steps; ++step)
    replica_steps += static_cast<std::int64_t>(computing(step).size());
  Json json = {{"parameters", arena_.parameters()},
               {"tokens", replica_steps * train_.batch * train_.model.context},
               {"train_tokens_in_corpus", data_.training.size()},
               {"corpus_hash", hex64(data_.hash)},
               {"validation_tokens", data_.validation.size()},
               {"validation_tokens_copied", data_.copied_tokens},
               {"evaluated_sequences", evaluated_sequences()},
               {"unigram_entropy", unigram_entropy(data_.training)}};
  if (data_.source_entropy) json["source_entropy"] = *data_.source_entropy;
  json["arena_bytes"] = arena_.bytes();
  json["device"] = to_string(device_);
  json["backend"] = backend_->name();
  json["precision"] = word_of(train_.precision);
  if (accelerator_) {
    json["replicas_at_once"] = accelerator_->replicas_at_once();
    json["sequences_at_once"] = accelerator_->sequences_at_once();
    json["outer_state"] = accelerator_->has_outer_state_on_host() ? "host" : "card";
  }
  json["final_loss"] = last_.mean_loss();
  if (last_.sampling_error) json["final_loss_sampling_error"] = *last_.sampling_error;
  if (train_.evaluate_ensemble)
    json["final_loss_of_ensemble"] =
        evaluator_.ensemble_loss(train_.model, evaluated(train_.steps), boundaries_);
  json["best_loss"] = best_loss_;
  json["weight_spread"] = last_.weight_spread;
  json["blas"] = blas_name();
  json["libtorch"] = torch_version();
  return json;
}

}  // namespace longhaul
