#include "trainer/cuda/accelerator.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/index.h"
#include "trainer/cuda/captured_work.h"
#include "trainer/cuda/card_memory.h"
#include "trainer/cuda/device_evaluation.h"
#include "trainer/cuda/device_exchange.h"
#include "trainer/cuda/device_microbatches.h"
#include "trainer/cuda/device_optimizer.h"
#include "trainer/cuda/device_table.h"
#include "trainer/cuda/rank_exchange.h"
#include "trainer/model/stacked_decoder.h"

namespace longhaul {
namespace {

class GpuAccelerator : public Accelerator {
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
        tables_(replicas.arena, memory_.on_host),
        tokens_(tokens_of_a_step()),
        losses_(as_index(microbatch_count_ * replicas.arena.held().size())),
        optimizer_(spec.train.optimizer, spec.decay,
                   {tables_.of(Slot::kWeights), tables_.of(Slot::kGradient), tables_.of(Slot::kFirstMoment),
                    tables_.of(Slot::kSecondMoment), held().size(), replicas.arena.parameters()},
                   spec.muon, spec.train.precision),
        exchange_(replicas, spec.plan, [this](Slot slot) { return tables_.of(slot); }),
        rank_exchange_(replicas, [this](Slot slot) { return tables_.of(slot); }),
        microbatches_(spec.pipeline, replicas.arena.held().size(), replicas.arena.parameters()),
        decoder_(spec.train.model, Device::kCuda, spec.train.precision, memory_.activations.step,
                 spec.boundaries),
        evaluation_(spec.train, spec.boundaries, spec.validation, tables_, held().size(), spec.stacked,
                    memory_),
        under_way_{UnderWay(losses_.size()), UnderWay(losses_.size())},
        whole_steps_(spec.stacked),
        gradients_(spec.stacked),
        steps_(spec.stacked) {}

  void upload(State state) override {
    for (const Slot slot : replicas_.arena.slots()) {
      const bool is_moment = slot == Slot::kFirstMoment || slot == Slot::kSecondMoment;
      if (slot == Slot::kGradient || (is_moment && state == State::kAtStart))
        tables_.clear(slot);
      else
        tables_.upload(slot);
    }
    optimizer_.weights_have_changed();
    exchange_.forget();
  }

  void download() override {
    before_rows_change_();
    for (const Slot slot : replicas_.arena.slots())
      if (slot != Slot::kGradient) tables_.download(slot);
    exchange_.keep_in(operations_);
  }
  void download(Slot slot) override {
    before_rows_change_();
    tables_.download(slot);
  }

  void begin(const std::vector<Batch>& batches, const std::vector<std::vector<Route>>& paths,
             std::optional<Optimizing> optimizing) override {
    if (begun_ - finished_ == kStepsUnderWay) throw std::logic_error("too many steps are under way");
    CapturedWork& graph = optimizing ? whole_steps_ : gradients_;
    UnderWay& step = under_way_[as_index(begun_++ % kStepsUnderWay)];
    with_memory(memory_, [&] {
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
            {tables_.of(Slot::kWeights), tables_.of(Slot::kGradient)},
            [this](int microbatch, const DeviceMicrobatches::Tables& tables) { decode(microbatch, tables); },
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
    with_memory(memory_, [&] {
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
    for (const Slot slot : slots_of(operation)) tables_.download(slot);
    operations_.post(operation);
    if (replicas_.arena.has(Slot::kError)) tables_.upload(Slot::kError);
  }

  void apply(const Operation& operation) override {
    if (has_outer_state_on_host()) before_rows_change_();
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
    on_host(kept_slots(), [&] { operations_.take(local, replicas); });
  }

  RowsOnCard& rows() override { return evaluation_; }

  void on_host(const std::function<void()>& work) override { on_host(replicas_.arena.slots(), work); }

  int sequences_at_once() const override { return piece().sequences; }
  int replicas_at_once() const override { return piece().replicas; }
  bool has_outer_state_on_host() const override { return !memory_.on_host.empty(); }

 private:
  StackedDecoder::Piece piece() const {
    return decoder_.piece_of(stacked_ ? held().size() : 1, sequences_of_microbatch(), true,
                             optimizer_.narrow() && !weights_are_composed_);
  }
  std::size_t tokens_of_a_step() const {
    return as_index(held().size()) * as_index(train_.batch) * as_index(train_.model.context + 1);
  }
  RowBlock held() const { return replicas_.arena.held(); }
  // The tables of these slots come to host memory for the work, and go back.
  void on_host(const std::vector<Slot>& slots, const std::function<void()>& work) {
    if (!slots.empty()) before_rows_change_();
    for (const Slot slot : slots) tables_.download(slot);
    work();
    for (const Slot slot : slots) tables_.upload(slot);
    if (std::find(slots.begin(), slots.end(), Slot::kWeights) != slots.end())
      optimizer_.weights_have_changed();
  }

  // The weights, and what the method keeps.
  std::vector<Slot> kept_slots() const {
    const std::vector<Slot> others = {Slot::kGradient, Slot::kFirstMoment, Slot::kSecondMoment, Slot::kError,
                                      Slot::kSentMean};
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
      slots = kept_slots();
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
    on_host(slots, [&] { operations_.apply(operation); });
    exchange_.awaited(operation);
  }

  int sequences_of_microbatch() const { return train_.batch / microbatch_count_; }

  void decode(int microbatch, const DeviceMicrobatches::Tables& tables) {
    const std::int64_t sequence = train_.model.context + 1, stride = train_.batch * sequence;
    const int sequences = sequences_of_microbatch(), together = stacked_ ? held().size() : 1;
    const bool is_narrow = tables.weights == tables_.of(Slot::kWeights) && optimizer_.narrow();
    for (int first = 0; first < held().size(); first += together) {
      const std::int64_t row = first * replicas_.arena.parameters();
      decoder_.run({tables.weights + row, tables.gradients + row,
                    tokens_.get() + first * stride + microbatch * sequences * sequence, stride,
                    losses_.get() + microbatch * held().size() + first, together, sequences,
                    is_narrow ? optimizer_.narrow() + row : nullptr});
    }
  }

  std::function<void()> before_rows_change_;
  const TrainSpec& train_;
  Replicas& replicas_;
  OperationRunner& operations_;
  bool stacked_, weights_are_composed_;
  int microbatch_count_;
  MemoryPlan memory_;
  CardTables tables_;
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
  CapturedWork whole_steps_, gradients_, steps_;
};

}  // namespace

std::unique_ptr<Accelerator> Accelerator::make(const AcceleratorSpec& spec, Replicas& replicas,
                                               OperationRunner& operations) {
  return std::make_unique<GpuAccelerator>(spec, replicas, operations);
}

}  // namespace longhaul
