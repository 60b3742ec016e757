#include "trainer/cuda/accelerator.h"

#include <algorithm>

#include "core/errors.h"
#include "trainer/cuda/device_exchange.h"
#include "trainer/cuda/device_optimizer.h"
#include "trainer/cuda/step_graph.h"
#include "trainer/model/stacked_decoder.h"

namespace longhaul {
namespace {

// What activations may take: most of what is free on the card once the tables of all ranks are there, the
// same on all of them, since the pieces that follow from it may change the order of sums.
std::int64_t memory_for_activations(Ranks& ranks) {
  const std::vector<std::string> cards = gather(ranks, device_identity());
  std::ptrdiff_t sharing = 1;  // ranks on one card
  for (const std::string& card : cards)
    sharing = std::max(sharing, std::count(cards.begin(), cards.end(), card));
  const std::vector<double> free =
      gather(ranks, std::vector<double>{static_cast<double>(free_device_memory())});
  return static_cast<std::int64_t>(*std::min_element(free.begin(), free.end())) / sharing / 10 * 8;
}

const Slot kSlots[] = {Slot::kWeights,      Slot::kGradient,    Slot::kFirstMoment,
                       Slot::kSecondMoment, Slot::kSlowWeights, Slot::kOuterMomentum};

class GpuAccelerator : public Accelerator {
 public:
  GpuAccelerator(const AcceleratorSpec& spec, Replicas& replicas, Update& update)
      : train_(spec.train),
        replicas_(replicas),
        update_(update),
        stacked_(spec.stacked),
        tables_(allocate(replicas.arena)),
        tokens_(tokens_of_a_step()),
        losses_(static_cast<std::size_t>(replicas.arena.held().size())),
        optimizer_(spec.train.optimizer, spec.decay,
                   {row(Slot::kWeights), row(Slot::kGradient), row(Slot::kFirstMoment),
                    row(Slot::kSecondMoment), held().size(), replicas.arena.parameters()}),
        exchange_(spec.method, pointers()),
        decoder_(spec.train.model, Device::kCuda, spec.train.precision,
                 memory_for_activations(replicas.ranks)),
        gradients_(spec.stacked),
        steps_(spec.stacked) {}

  void upload() override {
    for (const Slot slot : kSlots)
      if (replicas_.arena.has(slot)) upload(slot);
  }

  void download() override {
    for (const Slot slot : kSlots)
      if (slot != Slot::kGradient && replicas_.arena.has(slot)) download(slot);
  }
  void download_weights() override { download(Slot::kWeights); }

  void gradients(const std::vector<Batch>& batches, std::vector<double>& losses) override {
    std::vector<std::int64_t> tokens;
    tokens.reserve(tokens_.size());
    for (const Batch& batch : batches) tokens.insert(tokens.end(), batch.tokens.begin(), batch.tokens.end());
    tokens_.set(tokens);
    gradients_.run([this] { stacked_ ? decode(0, held().size()) : decode_one_by_one(); });
    losses_.read(losses.data() + held().first, losses_.size());
  }

  void optimize(double lr, int step) override {
    optimizer_.set(lr, step);
    steps_.run([this] { optimizer_.run(current_cuda_stream()); });
    wait_for_device();
  }

  void exchange(const Exchange& exchange) override {
    if (replicas_.ranks.size() > 1) return exchange_on_host(exchange);
    exchange_.run(exchange, replicas_, update_, current_cuda_stream());
    wait_for_device();
  }

  void post(const Exchange& exchange) override {
    if (replicas_.arena.has(Slot::kSlowWeights)) download(Slot::kSlowWeights);
    update_.post(exchange, replicas_);
  }

  int sequences_at_once() const override {
    return decoder_.piece_of(stacked_ ? held().size() : 1, train_.batch, true).sequences;
  }

  std::int64_t bytes() const override {
    return static_cast<std::int64_t>(tables_.size() * bytes_of_a_table());
  }

 private:
  std::size_t tokens_of_a_step() const {
    return static_cast<std::size_t>(held().size()) * static_cast<std::size_t>(train_.batch) *
           static_cast<std::size_t>(train_.model.context + 1);
  }
  std::size_t bytes_of_a_table() const {
    return sizeof(float) * static_cast<std::size_t>(held().size() * replicas_.arena.parameters());
  }

  static std::vector<DeviceTable<float>> allocate(const Arena& arena) {
    std::vector<DeviceTable<float>> tables;
    for (const Slot slot : kSlots)
      if (arena.has(slot))
        tables.emplace_back(static_cast<std::size_t>(arena.held().size() * arena.parameters()));
    return tables;
  }
  std::vector<float*> pointers() const {
    std::vector<float*> all(std::size(kSlots), nullptr);
    for (std::size_t i = 0; i < tables_.size(); ++i) all[i] = tables_[i].get();
    return all;
  }
  RowBlock held() const { return replicas_.arena.held(); }
  // `at` counts from the first replica that is held here.
  float* row(Slot slot, int at = 0) const {
    return tables_[static_cast<std::size_t>(slot)].get() + at * replicas_.arena.parameters();
  }
  float* on_host(Slot slot) { return replicas_.arena.row(slot, held().first); }
  void upload(Slot slot) { copy_to_device(row(slot), on_host(slot), bytes_of_a_table()); }
  void download(Slot slot) { copy_to_host(on_host(slot), row(slot), bytes_of_a_table()); }

  // Between processes rows travel through host memory, and the host's update does the step. Both round each
  // operation alike (outer_steps.cu), so that it is the step of one process.
  void exchange_on_host(const Exchange& exchange) {
    std::vector<Slot> slots;
    if (update_.averages_gradients())
      slots = {Slot::kGradient};
    else
      slots = {Slot::kWeights, Slot::kSlowWeights, Slot::kOuterMomentum};
    if (exchange.rule->sharded) slots = {};  // gathers what all hold alike
    for (const Slot slot : slots) download(slot);
    update_.exchange(exchange, replicas_);
    for (const Slot slot : slots) upload(slot);
  }

  void decode(int first, int count) {
    const std::int64_t stride = std::int64_t{train_.batch} * (train_.model.context + 1);
    decoder_.run({row(Slot::kWeights, first), row(Slot::kGradient, first), tokens_.get() + first * stride,
                  stride, losses_.get() + first, count, train_.batch});
  }
  void decode_one_by_one() {
    for (int at = 0; at < held().size(); ++at) decode(at, 1);
  }

  const TrainSpec& train_;
  Replicas& replicas_;
  Update& update_;
  bool stacked_;
  std::vector<DeviceTable<float>> tables_;  // by slot
  DeviceTable<std::int64_t> tokens_;        // [held, batch, context + 1]
  DeviceTable<double> losses_;              // [held]
  DeviceOptimizer optimizer_;
  DeviceExchange exchange_;
  StackedDecoder decoder_;
  StepGraph gradients_, steps_;
};

}  // namespace

std::unique_ptr<Accelerator> Accelerator::make(const AcceleratorSpec& spec, Replicas& replicas,
                                               Update& update) {
  return std::make_unique<GpuAccelerator>(spec, replicas, update);
}

}  // namespace longhaul
