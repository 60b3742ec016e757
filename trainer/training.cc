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
#include "core/plan/combinations.h"
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

// The bytes that travel in the training are those of the model that is trained, whatever `workload` replays.
PlanContext trained_context(const Case& config) {
  PlanContext context = plan_context(config);
  context.parameters = config.train->model.parameters();
  return context;
}

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

// Entries that read or change rows where the host has them.
bool is_on_host_rows(const Entry& entry) {
  return std::holds_alternative<journal::Contribute>(entry) ||
         std::holds_alternative<journal::MakeMerge>(entry) ||
         std::holds_alternative<journal::TakeUp>(entry) || std::holds_alternative<journal::Hold>(entry) ||
         std::holds_alternative<journal::Become>(entry) || std::holds_alternative<journal::Keep>(entry);
}

}  // namespace

Training::Training(const Case& config, Device device, std::unique_ptr<Backend> backend, TrainingFiles& files,
                   ProgressReporter& progress, Ranks& ranks, const MakeJournal& make, OuterState outer_state)
    : case_(trained_case(config)),
      train_(*case_.train),
      device_(device),
      backend_(std::move(backend)),
      files_(files),
      progress_(progress),
      ranks_(ranks),
      data_(load_dataset(case_)),
      muon_(muon_matrices(train_.model, train_.optimizer)),
      decay_(adamw_columns(train_.model, muon_)),
      plan_(trained_plan_of(case_)),
      context_(trained_context(case_)),
      boundaries_(boundaries_of(plan_.pipeline, case_.pipeline.boundary)),
      decoder_(train_.model, device, train_.precision, boundaries_),
      update_(make_update(case_.method)),
      arena_(slots_with(kept_rows(plan_)), case_.replicas, train_.model.parameters(),
             block_of(ranks, case_.replicas)),
      log_(&files.exchanges()),
      replicas_{arena_, *backend_, log_, ranks},
      operations_(*update_, replicas_),
      steps_({case_, plan_, data_, decoder_, boundaries_, *update_, replicas_, muon_, decay_, device_,
              saved_step_}),
      held_(replicas_, steps_.optimizer_steps()),
      evaluator_(decoder_, validation_batches(data_.validation, train_), train_.evaluate_sequences > 0,
                 arena_, *backend_, ranks, update_->product()),
      evaluations_(evaluator_, replicas_, update_->product(), files, speed_),
      checkpoints_(files.folder(), training_key(case_)) {
  check_agreement(ranks, {{"a training", training_key(case_)},
                          {"steps", train_.steps},
                          {"a text with hash", identity()["corpus_hash"]},
                          {"device", identity()["device"]},
                          {"an arithmetic", identity()["arithmetic"]},
                          {"libraries", identity()["libraries"]}});
  check_own_parts(data_.training.size(), train_);
  check_combinations(case_, plan_, {device_ == Device::kCuda, ranks_.size()});
  std::vector<float> weights = initial_weights(train_.model, case_.seed);
  steps_.keep_in_subspace(weights);
  for (const int replica : arena_.held().replicas())
    std::copy(weights.begin(), weights.end(), arena_.row(Slot::kWeights, replica));
  replicas_.losses = &steps_.results().losses;
  update_->follow(plan_, context_);
  update_->start(replicas_);
  if (has_merges(plan_))
    merges_ = std::make_unique<Merges>(plan_, context_, parameter_layout(train_.model), *update_, replicas_);
  if (train_.changed_values_every > 0)
    changed_values_ =
        std::make_unique<ChangedValues>(train_.changed_values_every, train_.model, replicas_, files);
  journal_ = make ? make(journal_spec()) : make_journal(journal_spec(), {});
  if (BitGates* gates = steps_.gates())
    evaluator_.use_boundaries([gates](int replica) {
      return replica < 0 ? gates->boundaries_of_mean() : gates->boundaries(replica);
    });
  if (device != Device::kCuda) return;
  accelerator_ =
      Accelerator::make({train_, decay_, muon_, plan_.pipeline, boundaries_, backend_->stacks(),
                         evaluator_.validation(), plan_, outer_state, [this] { finish_writing(); }},
                        replicas_, operations_);
  steps_.use_card(*accelerator_);
  evaluations_.use_card(*accelerator_);
}

Training::~Training() = default;

JournalSpec Training::journal_spec() const {
  const bool discards = on_failure_of(case_.recovery, plan_) == RecoverySpec::OnFailure::kDiscard;
  return {plan_, context_, train_.evaluate_every, train_.checkpoint_every, discards};
}

int Training::resume(std::vector<std::string>& refused) {
  if (ranks_.is_first()) resumed_ = checkpoints_.newest(refused);
  share_checkpoint(ranks_, resumed_);
  if (!resumed_) return 0;
  check_same_run(identity(), resumed_->state, files_.folder());
  restore(*resumed_);
  return saved_step_ = resumed_->step;
}

void Training::restore(const Checkpoint& checkpoint) {
  const Json& state = checkpoint.state;
  step_ = checkpoint.step;
  position_ = state.at("position");
  replica_steps_ = state.at("replica_steps");
  there_ = state.at("there").get<std::vector<int>>();
  evaluations_.restore(state);
  if (step_ == 0) return;
  Continued rest = skip(*journal_, position_);
  begun_ = std::move(rest.entries);
  pending_ = std::move(rest.pending);
  CheckpointTensors tensors(checkpoint, replicas_);
  restore_tensors(tensors, replicas_, operations_, pending_, step_ == train_.steps);
  if (BitGates* gates = steps_.gates()) {
    for (const auto& [name, values] : gates->tables()) tensors.to_all(name, *values);
    gates->restored();
  }
  if (step_ < train_.steps) {
    steps_.optimizer_steps() = state.at("optimizer_steps").get<std::vector<int>>();
    held_.restore(state.at("held"), tensors);
    evaluations_.restore_kept(state, tensors);
    if (changed_values_) changed_values_->restore(step_, tensors);
    if (merges_) merges_->restore(state.at("merges"), tensors);
  }
  if (accelerator_) accelerator_->upload(Accelerator::State::kTrained);
}

Json Training::identity() const {
  std::string arithmetic = backend_->stacks() ? "stacked" : "replica by replica";
  // A GPU's library may multiply another number of matrices by another kernel.
  if (backend_->stacks() && ranks_.size() > 1)
    arithmetic += " on " + std::to_string(ranks_.size()) + " ranks";
  Json json = {{"corpus_hash", hex64(data_.hash)},
               {"device", to_string(device_)},
               {"arithmetic", arithmetic},
               {"libraries", {{"libtorch", torch_version()}, {"blas", blas_name()}}}};
  if (device_ == Device::kCuda) json["libraries"]["gpu"] = device_name();
  if (journal_) json["journal"] = journal_->identity();
  if (accelerator_) json["sequences_at_once"] = accelerator_->sequences_at_once();
  return json;
}

Json Training::run() {
  speed_.begin();
  if (resumed_) {
    files_.continue_from(resumed_->state.at("files"));
  } else {
    if (ranks_.is_first()) checkpoints_.clear();
    files_.begin();
    for (int replica = 0; replica < case_.replicas; ++replica) there_.push_back(replica);
    save_checkpoint(0);
  }
  first_step_ = step_;
  first_replica_steps_ = replica_steps_;
  for (std::vector<Entry> entries = begun_.empty() ? journal_->next() : begun_; !entries.empty();
       entries = journal_->next()) {
    if (is_asked_to_stop()) stop();
    carry_out(entries);
  }
  finish_writing();
  if (ranks_.is_first()) checkpoints_.keep_only(train_.steps);
  write_speed();
  return summary();
}

bool Training::is_asked_to_stop() const {
  return is_asked_to_stop_ || (ranks_.size() == 1 && interrupted());
}

void Training::stop() {
  save_checkpoint(step_);
  finish_writing();
  operations_.posted().settle();
  throw Interrupted();
}

// Replicas may be rounds apart while rounds are done, so that a step whose weights are looked at is the last.
void Training::carry_out(const std::vector<Entry>& entries) {
  for (std::size_t at = 0; at < entries.size();) {
    std::vector<Round> rounds;
    const auto ends_a_look = [&] {
      return !rounds.empty() && rounds.back().end && looks_at(*rounds.back().end);
    };
    for (; at < entries.size() && !ends_a_look(); ++at) {
      const auto* compute = std::get_if<journal::Compute>(&entries[at]);
      const auto* end = std::get_if<journal::EndStep>(&entries[at]);
      const bool is_open = !rounds.empty() && !rounds.back().end;
      if (compute && !(is_open && rounds.back().is_apart_from(*compute))) rounds.emplace_back();
      if (compute)
        rounds.back().computes.push_back(*compute);
      else if (end && is_open)
        rounds.back().end = *end;
      else
        break;
    }
    if (!rounds.empty() &&
        steps_.run(rounds, [this](const Round& round) { return end_round(round); }) < rounds.size())
      stop();
    if (ends_a_look()) {
      look(*rounds.back().end);
      continue;
    }
    const auto carry_out_next = [&] {
      carry_out(entries[at]);
      ++at, ++position_;
    };
    if (at == entries.size()) return;
    if (accelerator_ && is_on_host_rows(entries[at]))
      accelerator_->on_host([&] {
        while (at < entries.size() && is_on_host_rows(entries[at])) carry_out_next();
      });
    else
      carry_out_next();
  }
}

void Training::carry_out(const Entry& next) {
  std::visit(Overloaded{[](const journal::Compute&) {},  // in a round
                        [this](const journal::Optimize& entry) { optimize(entry); },
                        [this](const journal::Post& entry) { post(entry.operation); },
                        [this](const journal::Meet& entry) { meet(entry.operation); },
                        [this](const journal::Local& entry) { take(entry); },
                        [this](const journal::Contribute& entry) { merges_->contribute(entry); },
                        [this](const journal::MakeMerge& entry) { merges_->make(entry); },
                        [this](const journal::TakeUp& entry) { merges_->take_up(entry); },
                        [this](const journal::Hold& entry) { held_.hold(entry.copy, entry.source); },
                        [this](const journal::Become& entry) { held_.become(entry.copy, entry.replica); },
                        [this](const journal::Keep& entry) { evaluations_.keep(entry); },
                        [this](const journal::Evaluate& entry) { evaluations_.evaluate(entry); },
                        [this](const journal::EndStep& entry) {
                          end_step(entry);
                          if (looks_at(entry)) look(entry);
                        },
                        [this](const journal::Save& entry) { save_checkpoint(entry.step); }},
             next);
}

bool Training::end_round(const Round& round) {
  meet_ranks();
  for (const journal::Compute& entry : round.computes) {
    for (const int replica : entry.replicas)
      steps_.check_loss(entry.last, replica, steps_.results().losses[as_index(replica)]);
    replica_steps_ += static_cast<std::int64_t>(entry.replicas.size()) * (entry.last - entry.first + 1);
    ++position_;
  }
  if (!round.end) return true;
  end_step(*round.end);
  ++position_;
  return !is_asked_to_stop();
}

void Training::optimize(const journal::Optimize& entry) {
  steps_.optimize(entry);
  meet_ranks();
}

void Training::post(const Operation& operation) {
  accelerator_ ? accelerator_->post(operation) : operations_.post(operation);
  pending_.push_back(operation);
}

void Training::meet(const Operation& operation) {
  accelerator_ ? accelerator_->apply(operation) : operations_.apply(operation);
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(),
                                [&](const Operation& other) {
                                  return other.rule == operation.rule &&
                                         other.post_step == operation.post_step;
                                }),
                 pending_.end());
}

void Training::take(const journal::Local& entry) {
  const LocalStep& local = plan_.local[as_index(entry.number)];
  std::vector<int> here;
  for (const int replica : entry.replicas)
    if (arena_.held().contains(replica)) here.push_back(replica);
  accelerator_ ? accelerator_->take(local, here) : operations_.take(local, here);
}

void Training::end_step(const journal::EndStep& entry) {
  step_ = entry.step;
  there_ = entry.there;
  if (!merges_) files_.write_step_times(entry.step, entry.replicas, steps_.results().seconds);
  if (steps_.gates()) write_bits(entry.step);
  report(entry);
}

bool Training::looks_at(const journal::EndStep& entry) const {
  return changed_values_ && changed_values_->looks_at(entry.step);
}

void Training::look(const journal::EndStep& entry) {
  if (accelerator_) accelerator_->download(Slot::kWeights);
  changed_values_->look(entry.step, entry.there);
}

void Training::meet_ranks() {
  if (ranks_.size() == 1) return;
  const RowBlock held = arena_.held();
  std::vector<double> mine = {interrupted() ? 1. : 0.};
  for (const auto* values : {&steps_.results().losses, &steps_.results().seconds})
    mine.insert(mine.end(), values->begin() + held.first, values->begin() + held.end);
  const std::vector<double> all = gather(ranks_, mine);
  const auto block = as_index(held.size());
  for (std::size_t rank = 0; rank < as_index(ranks_.size()); ++rank) {
    auto from = all.begin() + static_cast<std::ptrdiff_t>(rank * mine.size());
    is_asked_to_stop_ |= *from++ != 0;
    for (auto* values : {&steps_.results().losses, &steps_.results().seconds}) {
      std::copy_n(from, block, values->begin() + static_cast<std::ptrdiff_t>(rank * block));
      from += static_cast<std::ptrdiff_t>(block);
    }
  }
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
                {"files", files_.save()}};
  state.update(identity());
  evaluations_.save(state);
  state["position"] = position_;
  state["replica_steps"] = replica_steps_;
  state["there"] = there_;
  state["optimizer_steps"] = steps_.optimizer_steps();
  state["held"] = held_.state();
  if (merges_) state["merges"] = merges_->state();
  if (update_->product() != Slot::kWeights) state["product"] = update_->product().name;
  std::vector<TensorView> tensors;
  if (step > 0) tensors = tensors_to_keep(replicas_, operations_, pending_, step == train_.steps);
  if (BitGates* gates = steps_.gates(); gates && step > 0)
    for (const auto& [name, values] : gates->tables())
      tensors.push_back({name, "F32", {case_.replicas, gates->hops()}, values->data()});
  if (step > 0 && step < train_.steps) {
    for (TensorView& tensor : held_.tensors()) tensors.push_back(std::move(tensor));
    for (TensorView& tensor : evaluations_.tensors()) tensors.push_back(std::move(tensor));
    if (changed_values_)
      for (TensorView& tensor : changed_values_->tensors(step)) tensors.push_back(std::move(tensor));
    if (merges_)
      for (TensorView& tensor : merges_->tensors()) tensors.push_back(std::move(tensor));
  }
  // Rows of a card in host memory stay as they are until they are fetched again; those of the CPU change with
  // the next step, and those of other ranks have to be asked for.
  if (accelerator_ && ranks_.size() == 1 && !merges_ && held_.is_empty()) {
    finish_writing();
    writing_ =
        std::async(std::launch::async, [this, step, state = std::move(state), tensors = std::move(tensors)] {
          checkpoints_.write(step, state, tensors);
        });
  } else if (ranks_.is_first()) {
    checkpoints_.write(step, std::move(state), tensors);
  } else {
    for (const TensorView& tensor : tensors) tensor.read([](const void*, std::size_t) {});
  }
  saved_step_ = step;
}

void Training::finish_writing() {
  if (writing_.valid()) writing_.get();
}

void Training::write_bits(int step) {
  for (int replica = 0; replica < case_.replicas; ++replica)
    for (int hop = 0; hop < steps_.gates()->hops(); ++hop) {
      const double gate = double{steps_.results().gates[as_index(replica)][as_index(hop)]};
      files_.write_bits(step, replica, hop, used_bits(*case_.pipeline.boundary.learned, gate), gate);
    }
}

void Training::report(const journal::EndStep& entry) {
  double mean = 0;
  for (const int replica : entry.replicas)
    mean += steps_.results().losses[as_index(replica)] / static_cast<double>(entry.replicas.size());
  speed_.reached(new_tokens());
  std::string text = fmt::format("loss {:.3f}", mean);
  if (const Evaluation& last = evaluations_.last(); last.step > 0)
    text += fmt::format(", spread {:.2e}", last.weight_spread);
  if (const auto speed = speed_.tokens_per_second()) text += fmt::format(", {:.0f} tokens/s", *speed);
  progress_.progress(entry.step, train_.steps, "steps", text);
}

// Since this process began.
double Training::new_tokens() const {
  return static_cast<double>(replica_steps_ - first_replica_steps_) * train_.batch * train_.model.context;
}

void Training::write_speed() {
  speed_.reached(new_tokens());
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

Json Training::summary() const {
  const Evaluation& last = evaluations_.last();
  Json json = {
      {"parameters", arena_.parameters()},
      {"tokens", replica_steps_ * train_.batch * train_.model.context},
      {"train_tokens_in_corpus", data_.training.size()},
      {"corpus_hash", hex64(data_.hash)},
      {"validation_tokens", data_.validation.size()},
      {"validation_tokens_copied", data_.copied_tokens},
      {"evaluated_sequences",
       validation_starts(data_.validation.size(), train_.model.context, train_.evaluate_sequences).size()},
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
  json["final_loss"] = last.mean_loss();
  if (last.sampling_error) json["final_loss_sampling_error"] = *last.sampling_error;
  if (train_.evaluate_ensemble)
    json["final_loss_of_ensemble"] = evaluator_.ensemble_loss(train_.model, there_, boundaries_);
  json["best_loss"] = evaluations_.best_loss();
  json["weight_spread"] = last.weight_spread;
  json["blas"] = blas_name();
  json["libtorch"] = torch_version();
  return json;
}

}  // namespace longhaul
