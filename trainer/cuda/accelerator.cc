#include "trainer/cuda/accelerator.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <stdexcept>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"
#include "trainer/cuda/card_memory.h"
#include "trainer/cuda/device_evaluation.h"
#include "trainer/cuda/device_exchange.h"
#include "trainer/cuda/device_microbatches.h"
#include "trainer/cuda/device_optimizer.h"
#include "trainer/cuda/pinned.h"
#include "trainer/cuda/rank_exchange.h"
#include "trainer/cuda/step_graph.h"
#include "trainer/model/stacked_decoder.h"

namespace longhaul {
namespace {

// LibTorch's own error says how much it asked for, not what took the rest.
template <typename Work>
void explain_full_memory(const CardMemory& memory, const Arena& arena, const Work& work) {
  try {
    work();
  } catch (const c10::OutOfMemoryError& error) {
    throw RunError(
        "the GPU's memory is full, although it was enough by count: needed are " + in_words(memory, arena) +
        "; " + human_bytes(static_cast<double>(free_device_memory())) +
        " are free. Is another program on the card? Fewer replicas on it, a shorter context, a smaller "
        "model or train.precision \"bf16\" need less. LibTorch: " +
        error.what_without_backtrace());
  }
}

class GpuAccelerator : public Accelerator, private RowsOnCard {
 public:
  GpuAccelerator(const AcceleratorSpec& spec, Replicas& replicas, OperationRunner& operations)
      : before_rows_change_(spec.before_rows_change),
        train_(spec.train),
        replicas_(replicas),
        operations_(operations),
        stacked_(spec.stacked),
        weights_are_composed_(is_composed(spec.pipeline)),
        microbatch_count_(spec.pipeline.microbatches),
        memory_(plan_memory(spec, replicas.arena, operations.update().product(), replicas.ranks)),
        tables_(allocate()),
        on_host_(register_tables()),
        pinned_(tables_.size()),
        tokens_(tokens_of_a_step()),
        losses_(as_index(microbatch_count_ * replicas.arena.held().size())),
        optimizer_(spec.train.optimizer, spec.decay,
                   {row(Slot::kWeights), row(Slot::kGradient), row(Slot::kFirstMoment),
                    row(Slot::kSecondMoment), held().size(), replicas.arena.parameters()},
                   spec.muon, spec.train.precision),
        exchange_(replicas, spec.plan, [this](Slot slot) { return row(slot); }),
        rank_exchange_(replicas, [this](Slot slot) { return row(slot); }),
        microbatches_(spec.pipeline, replicas.arena.held().size(), replicas.arena.parameters()),
        decoder_(spec.train.model, Device::kCuda, spec.train.precision, memory_.activations.step,
                 spec.boundaries),
        evaluation_(spec.train, spec.boundaries, spec.validation, held().size(), spec.stacked,
                    memory_.activations.evaluation),
        under_way_{UnderWay(losses_.size()), UnderWay(losses_.size())},
        whole_steps_(spec.stacked),
        gradients_(spec.stacked),
        steps_(spec.stacked) {}

  void upload(State state) override {
    for (const Slot slot : replicas_.arena.slots()) {
      const bool is_moment = slot == Slot::kFirstMoment || slot == Slot::kSecondMoment;
      if (slot == Slot::kGradient || (is_moment && state == State::kAtStart))
        clear_on_device(row(slot), bytes_of_a_table());
      else
        upload(slot);
    }
    exchange_.forget();
  }

  void download() override {
    for (const Slot slot : replicas_.arena.slots())
      if (slot != Slot::kGradient) download(slot);
    exchange_.keep_in(operations_);
  }
  void download(Slot slot) override {
    if (memory_.is_on_host(slot)) return;
    before_rows_change_();
    pin(slot);
    copy_to_host(on_host(slot), row(slot), bytes_of_a_table());
  }

  void begin(const std::vector<Batch>& batches, const std::vector<std::vector<Route>>& paths,
             std::optional<Optimizing> optimizing) override {
    if (begun_ - finished_ == kStepsUnderWay) throw std::logic_error("too many steps are under way");
    StepGraph& graph = optimizing ? whole_steps_ : gradients_;
    UnderWay& step = under_way_[as_index(begun_++ % kStepsUnderWay)];
    with_memory([&] {
      graph.on_its_stream([&](CudaStream stream) {
        optimizer_.renew_narrow(stream);
        step.begun.record(stream);
        tokens_.send(stream, [&](std::int64_t* to) {
          for (const Batch& batch : batches) to = std::copy(batch.tokens.begin(), batch.tokens.end(), to);
        });
        microbatches_.set(paths, stream);
        if (optimizing) optimizer_.set(optimizing->lr, optimizing->step, stream);
      });
      graph.run([&] {
        microbatches_.run(
            {row(Slot::kWeights), row(Slot::kGradient)},
            [this](int microbatch, const DeviceMicrobatches::Tables& tables) {
              decode_all(microbatch, tables);
            },
            current_cuda_stream());
        if (optimizing) optimizer_.run(current_cuda_stream());
      });
      graph.on_its_stream([&](CudaStream stream) {
        copy_to_host(step.losses.get(), losses_.get(), losses_.size() * sizeof(double), stream);
        step.done.record(stream);
      });
    });
  }

  double finish(std::vector<double>& losses) override {
    if (begun_ == finished_) throw std::logic_error("no step is under way");
    const UnderWay& step = under_way_[as_index(finished_++ % kStepsUnderWay)];
    step.done.wait();
    const auto count = as_index(held().size());
    for (std::size_t at = 0; at < count; ++at) {
      double sum = 0;
      for (std::size_t i = at; i < step.losses.size(); i += count) sum += step.losses.get()[i];
      losses[as_index(held().first) + at] = sum / microbatch_count_;
    }
    return step.done.seconds_since(step.begun);
  }

  void optimize(double lr, int step) override {
    with_memory([&] {
      steps_.on_its_stream([&](CudaStream stream) { optimizer_.set(lr, step, stream); });
      steps_.run([this] { optimizer_.run(current_cuda_stream()); });
    });
    wait_for_device();
  }

  // What is packed now is read on the host.
  void post(const Operation& operation) override {
    if (operation.rule->is_blocking()) return operations_.post(operation);
    if (exchange_.send_ahead(operation, current_cuda_stream())) return wait_for_device();
    before_rows_change_();
    for (const Slot slot : slots_of(operation)) download(slot);
    operations_.post(operation);
    if (replicas_.arena.has(Slot::kError)) upload(Slot::kError);
  }

  void apply(const Operation& operation) override {
    if (!memory_.on_host.empty()) before_rows_change_();
    const bool is_alone = replicas_.ranks.size() == 1;
    if (operation.rule->is_blocking() &&
        (is_alone ? exchange_.run(operation, operations_, current_cuda_stream())
                  : rank_exchange_.run(operation, operations_, current_cuda_stream()))) {
      optimizer_.weights_have_changed();
      return wait_for_device();
    }
    apply_on_host(operation);
  }

  void take(const LocalStep& local, const std::vector<int>& replicas) override {
    std::vector<Slot> slots = method_slots();
    slots.push_back(Slot::kWeights);
    before_rows_change_();
    for (const Slot slot : slots) download(slot);
    operations_.take(local, replicas);
    for (const Slot slot : slots) upload(slot);
  }

  RowsOnCard& rows() override { return *this; }

  void on_host(const std::function<void()>& work) override {
    before_rows_change_();
    for (const Slot slot : replicas_.arena.slots()) download(slot);
    work();
    for (const Slot slot : replicas_.arena.slots()) upload(slot);
  }

  int sequences_at_once() const override { return piece().sequences; }
  int replicas_at_once() const override { return piece().replicas; }
  bool has_outer_state_on_host() const override { return !memory_.on_host.empty(); }

 private:
  StackedDecoder::Piece piece() const {
    return decoder_.piece_of(stacked_ ? held().size() : 1, sequences_of_microbatch(), true,
                             optimizer_.narrow() && !weights_are_composed_);
  }
  template <typename Work>
  void with_memory(const Work& work) const {
    explain_full_memory(memory_.needed, replicas_.arena, work);
  }
  std::size_t tokens_of_a_step() const {
    return as_index(held().size()) * as_index(train_.batch) * as_index(train_.model.context + 1);
  }
  std::size_t bytes_of_a_table() const {
    return sizeof(float) * as_index(held().size() * replicas_.arena.parameters());
  }

  std::vector<DeviceTable<float>> allocate() const {
    std::vector<DeviceTable<float>> tables;
    for (const Slot slot : replicas_.arena.slots())
      tables.emplace_back(memory_.is_on_host(slot) ? 0 : bytes_of_a_table() / sizeof(float));
    return tables;
  }
  std::vector<std::unique_ptr<RegisteredMemory>> register_tables() {
    std::vector<std::unique_ptr<RegisteredMemory>> tables;
    for (const Slot slot : replicas_.arena.slots())
      tables.push_back(memory_.is_on_host(slot)
                           ? std::make_unique<RegisteredMemory>(on_host(slot), bytes_of_a_table())
                           : nullptr);
    return tables;
  }
  // Pages that stay where they are take a copy four times as fast. Where the machine allows no more of them,
  // the copy goes without.
  void pin(Slot slot) {
    std::unique_ptr<RegisteredMemory>& pinned = pinned_[replicas_.arena.index_of(slot)];
    if (pinned || cannot_pin_) return;
    try {
      pinned = std::make_unique<RegisteredMemory>(on_host(slot), bytes_of_a_table());
    } catch (const RunError&) {
      cannot_pin_ = true;
    }
  }
  bool are_equal(Slot slot) override { return evaluation_.rows_are_equal(row(slot)); }
  double spread(Slot slot) override { return evaluation_.weight_spread(row(slot)); }
  void set_mean(const float* mean) override { evaluation_.set_mean(mean); }
  std::vector<double> losses(Slot slot, Of of, const std::vector<std::size_t>& numbers) override {
    std::vector<double> losses;
    with_memory([&] {
      losses = evaluation_.losses(of == Of::kMean ? evaluation_.mean() : row(slot),
                                  of == Of::kEach ? held().size() : 1, numbers);
    });
    return losses;
  }

  RowBlock held() const { return replicas_.arena.held(); }
  // `at` counts from the first replica that is held here.
  float* row(Slot slot, int at = 0) const {
    const std::size_t index = replicas_.arena.index_of(slot);
    float* const first =
        on_host_[index] ? static_cast<float*>(on_host_[index]->on_card()) : tables_[index].get();
    return first + at * replicas_.arena.parameters();
  }
  float* on_host(Slot slot) { return replicas_.arena.row(slot, held().first); }
  void upload(Slot slot) {
    if (!memory_.is_on_host(slot)) copy_to_device(row(slot), on_host(slot), bytes_of_a_table());
    if (slot == Slot::kWeights) optimizer_.weights_have_changed();
  }

  // Those that the method keeps.
  std::vector<Slot> method_slots() const {
    const std::vector<Slot> others = {Slot::kWeights,      Slot::kGradient, Slot::kFirstMoment,
                                      Slot::kSecondMoment, Slot::kError,    Slot::kSentMean};
    std::vector<Slot> slots;
    for (const Slot slot : replicas_.arena.slots())
      if (std::find(others.begin(), others.end(), slot) == others.end()) slots.push_back(slot);
    return slots;
  }

  // Rows that an operation reads or changes.
  std::vector<Slot> slots_of(const Operation& operation) const {
    if (operation.rule->sharded) return {};  // what all hold alike
    if (operations_.update().has_own_optimizer()) return replicas_.arena.slots();
    std::vector<Slot> slots = {Slot::kGradient};
    if (!operation.rule->before_optimizer) {
      slots = method_slots();
      slots.push_back(Slot::kWeights);
      for (const Slot slot : operations_.update().changed_state()) slots.push_back(slot);
    }
    for (const Slot kept : {Slot::kError, Slot::kSentMean})
      if (replicas_.arena.has(kept)) slots.push_back(kept);
    return slots;
  }

  // The host's update does the step. Both round each operation alike (outer_steps.cu), so that between
  // processes it is the step of one.
  void apply_on_host(const Operation& operation) {
    std::vector<Slot> slots;
    if (!operations_.update().reads(operation).empty()) {
      slots = slots_of(operation);
      exchange_.keep_in(operations_);
    }
    for (const Slot slot : slots) download(slot);
    operations_.apply(operation);
    exchange_.awaited(operation);
    for (const Slot slot : slots) upload(slot);
  }

  int sequences_of_microbatch() const { return train_.batch / microbatch_count_; }

  void decode_all(int microbatch, const DeviceMicrobatches::Tables& tables) {
    if (stacked_) return decode(microbatch, tables, 0, held().size());
    for (int at = 0; at < held().size(); ++at) decode(microbatch, tables, at, 1);
  }
  void decode(int microbatch, const DeviceMicrobatches::Tables& tables, int first, int count) {
    const std::int64_t sequence = train_.model.context + 1, stride = train_.batch * sequence,
                       row = first * replicas_.arena.parameters();
    decoder_.run({tables.weights + row, tables.gradients + row,
                  tokens_.get() + first * stride + microbatch * sequences_of_microbatch() * sequence, stride,
                  losses_.get() + microbatch * held().size() + first, count, sequences_of_microbatch(),
                  tables.weights == this->row(Slot::kWeights) && optimizer_.narrow()
                      ? optimizer_.narrow() + row
                      : nullptr});
  }

  std::function<void()> before_rows_change_;
  const TrainSpec& train_;
  Replicas& replicas_;
  OperationRunner& operations_;
  bool stacked_, weights_are_composed_;
  int microbatch_count_;
  MemoryPlan memory_;
  std::vector<DeviceTable<float>> tables_;                  // by slot, or
  std::vector<std::unique_ptr<RegisteredMemory>> on_host_;  // the arena's own
  std::vector<std::unique_ptr<RegisteredMemory>> pinned_;   // by slot: that downloads go to
  bool cannot_pin_ = false;
  SentTable<std::int64_t> tokens_;  // [held, batch, context + 1]
  DeviceTable<double> losses_;      // [microbatches, held]
  DeviceOptimizer optimizer_;
  DeviceExchange exchange_;
  RankExchange rank_exchange_;
  DeviceMicrobatches microbatches_;
  StackedDecoder decoder_;
  DeviceEvaluation evaluation_;

  // A step whose losses are not read yet.
  struct UnderWay {
    explicit UnderWay(std::size_t count) : losses(count) {}
    PinnedTable<double> losses;
    DeviceEvent begun, done;
  };
  UnderWay under_way_[kStepsUnderWay];
  std::int64_t begun_ = 0, finished_ = 0;  // steps
  StepGraph whole_steps_, gradients_, steps_;
};

}  // namespace

std::unique_ptr<Accelerator> Accelerator::make(const AcceleratorSpec& spec, Replicas& replicas,
                                               OperationRunner& operations) {
  return std::make_unique<GpuAccelerator>(spec, replicas, operations);
}

}  // namespace longhaul
