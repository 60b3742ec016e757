// The trainer's speed on a GPU, beside what the same card reaches in the same run in a plain matrix product
// and a plain copy. Writes one JSON.
//
//   gpu_benchmark [--quick] [--part NAME] [--out FILE]      # FILE is written anew after every part
//
// Useful arithmetic is 6 · parameters · tokens; attention's share is not counted and stated apart.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <tuple>

#include "core/base/random.h"
#include "methods/common/registry.h"
#include "trainer/cuda/accelerator.h"
#include "trainer/cuda/device_exchange.h"
#include "trainer/cuda/device_optimizer.h"
#include "trainer/cuda/outer_rows.h"
#include "trainer/device/device.h"
#include "trainer/device/device_products.h"
#include "trainer/device/flash_attention.h"
#include "trainer/model/decoder.h"
#include "trainer/operations/update.h"
#include "trainer/updates/diloco.h"
#include "trainer/updates/noloco.h"

namespace longhaul {
namespace {

// The mean of `count` calls after `before` that are not counted.
template <typename Work>
double seconds_a_call(int before, int count, const Work& work) {
  for (int i = 0; i < before; ++i) work();
  wait_for_device();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) work();
  wait_for_device();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / count;
}

// Bytes read and written a second by a plain copy.
double copy_rate(std::size_t bytes) {
  const at::Tensor from =
      at::ones({static_cast<std::int64_t>(bytes)}, at::TensorOptions(at::kByte).device(at::kCUDA));
  at::Tensor to = at::empty_like(from);
  return 2 * static_cast<double>(bytes) / seconds_a_call(3, 20, [&] { to.copy_(from); });
}

double product_rate(at::ScalarType type, std::int64_t size) {
  const auto options = at::TensorOptions(at::kFloat).device(at::kCUDA);
  const at::Tensor a = at::randn({size, size}, options).to(type),
                   b = at::randn({size, size}, options).to(type);
  at::Tensor c = at::empty_like(a);
  const double flop = 2 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  return flop / seconds_a_call(3, 10, [&] { at::mm_out(c, a, b); });
}

// Replicas in training, as the trainer has them on a GPU.
class Bench {
 public:
  Bench(const ModelShape& shape, int replicas, int batch, Precision precision, bool stacked,
        bool with_muon = false)
      : backend_(make_loop_backend()),
        arena_(slots_with({"slow_weights", "outer_momentum"}), replicas, shape.parameters()) {
    train_.model = shape;
    train_.batch = batch;
    train_.precision = precision;
    train_.optimizer.clip = 1;
    method_.name = method_.label = "noloco";
    method_.options = {{"alpha", 0.5}, {"beta", 0.7}, {"gamma", 0.7}};
    update_ = make_update(method_);
    operations_ = std::make_unique<OperationRunner>(*update_, replicas_);
    if (with_muon) {
      train_.optimizer.name = InnerOptimizer::kMuon;
      train_.optimizer.momentum = 0.95;
      train_.optimizer.newton_schulz_steps = 5;
    }
    muon_ = muon_matrices(shape, train_.optimizer);
    decay_ = adamw_columns(shape, muon_);
    const std::vector<float> weights = initial_weights(shape, 1);
    for (int r = 0; r < replicas; ++r)
      std::copy(weights.begin(), weights.end(), arena_.row(Slot::kWeights, r));
    accelerator_ =
        Accelerator::make({train_, decay_, muon_, pipeline_, boundaries_, stacked}, replicas_, *operations_);
    accelerator_->upload(Accelerator::State::kAtStart);
    RandomStream stream(1, Purpose::kTrainingData);
    for (int r = 0; r < replicas; ++r) {
      Batch batch_here{batch, {}};
      for (int i = 0; i < batch * (shape.context + 1); ++i)
        batch_here.tokens.push_back(
            static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(shape.vocabulary))));
      batches_.push_back(batch_here);
    }
    losses_.resize(static_cast<std::size_t>(replicas));
  }

  // Gradients, clip and AdamW: an inner step of all replicas, seconds.
  double step(int before, int count) {
    const auto begin = [&] { accelerator_->begin(batches_, {}, Accelerator::Optimizing{1e-4, 1}); };
    begin();
    const double seconds = seconds_a_call(before, count, [&] {
      begin();
      accelerator_->finish(losses_);
    });
    accelerator_->finish(losses_);
    return seconds;
  }

  const Accelerator& accelerator() const { return *accelerator_; }

 private:
  TrainSpec train_;
  MethodSpec method_;
  std::unique_ptr<Backend> backend_;
  Arena arena_;
  ExchangeLog log_;
  Replicas replicas_{arena_, *backend_, log_};
  std::unique_ptr<Update> update_;
  std::unique_ptr<OperationRunner> operations_;
  std::vector<DecayRange> decay_;
  std::vector<MuonMatrix> muon_;
  PipelinePlan pipeline_;  // none
  Boundaries boundaries_;
  std::unique_ptr<Accelerator> accelerator_;
  std::vector<Batch> batches_;
  std::vector<double> losses_;
};

Json training_speed(const ModelShape& shape, int replicas, int batch, Precision precision, double rate,
                    int steps) {
  Bench bench(shape, replicas, batch, precision, true);
  const double seconds = bench.step(4, steps);
  const double tokens = static_cast<double>(replicas) * batch * shape.context,
               flop = 6 * static_cast<double>(shape.parameters()) * tokens,
               // Scores and their use, forward and twice backward; the half that causality masks not counted.
      attention = 6. * shape.layers * shape.hidden * shape.context * tokens;
  return {{"replicas", replicas},
          {"parameters", shape.parameters()},
          {"context", shape.context},
          {"batch", batch},
          {"precision", word_of(precision)},
          {"replicas_at_once", bench.accelerator().replicas_at_once()},
          {"sequences_at_once", bench.accelerator().sequences_at_once()},
          {"step_s", seconds},
          {"tokens_per_s", tokens / seconds},
          {"useful_tflop_per_s", flop / seconds * 1e-12},
          {"attention_tflop_per_s", attention / seconds * 1e-12},
          {"share_of_matrix_rate", flop / seconds / rate}};
}

Json against_the_loop(const ModelShape& shape, int replicas, int batch, Precision precision, int steps) {
  const double stacked = Bench(shape, replicas, batch, precision, true).step(4, steps),
               loop = Bench(shape, replicas, batch, precision, false).step(2, 3);
  return {{"replicas", replicas}, {"parameters", shape.parameters()}, {"context", shape.context},
          {"batch", batch},       {"precision", word_of(precision)},  {"stacked_step_s", stacked},
          {"loop_step_s", loop},  {"times_the_loop", loop / stacked}};
}

Json share(double bytes, double seconds, double rate) {
  return {{"bytes", bytes},
          {"seconds", seconds},
          {"bytes_per_s", bytes / seconds},
          {"share_of_copy_rate", bytes / seconds / rate}};
}

// Causal attention of a layer, forward and back: what the trainer takes, beside cuDNN's.
Json attention(const ModelShape& shape, int replicas, int batch) {
  const auto options = at::TensorOptions(at::kBFloat16).device(at::kCUDA);
  const std::int64_t sequences = std::int64_t{replicas} * batch, width = shape.hidden / shape.heads;
  const auto heads = [&] { return at::randn({sequences, shape.heads, shape.context, width}, options); };
  const at::Tensor q = heads(), k = heads(), v = heads(), d_out = heads();
  Json json = {{"context", shape.context}, {"width", width}, {"sequences", sequences}};
  FlashAttention kept;
  json["forward_s"] = seconds_a_call(3, 10, [&] { kept = flash_attention(q, k, v); });
  json["backward_s"] = seconds_a_call(3, 10, [&] { flash_attention_backward(kept, d_out, q, k, v); });
#ifdef LONGHAUL_FLASH_ATTENTION
  try {
    json["cudnn_forward_s"] = seconds_a_call(
        3, 10, [&] { at::_scaled_dot_product_cudnn_attention(q, k, v, std::nullopt, true, 0., true); });
  } catch (const std::exception& error) {
    json["cudnn"] = error.what();
  }
#endif
  return json;
}

// A step with Muon for the matrices beside one with AdamW for all.
Json muon_step(const ModelShape& shape, int replicas, int batch, int steps) {
  const double adamw = Bench(shape, replicas, batch, Precision::kBf16, true).step(4, steps),
               muon = Bench(shape, replicas, batch, Precision::kBf16, true, true).step(4, steps);
  return {{"replicas", replicas},
          {"parameters", shape.parameters()},
          {"adamw_step_s", adamw},
          {"muon_step_s", muon}};
}

// AdamW with its clip factors, and the outer steps: each reads and writes what it must once.
Json row_kernels(std::int64_t replicas, std::int64_t columns, double rate) {
  const auto elements = static_cast<std::size_t>(replicas * columns);
  const DeviceTable<float> a(elements), b(elements), c(elements), d(elements);
  Json json = {{"replicas", replicas}, {"columns", columns}};
  DeviceOptimizer optimizer({}, {{0, columns, true}},
                            {a.get(), b.get(), c.get(), d.get(), replicas, columns});
  optimizer.set(1e-4, 1, nullptr);
  const auto all = static_cast<double>(elements);
  json["adamw_with_clip"] =
      share((4 + 28) * all, seconds_a_call(3, 20, [&] { optimizer.run(nullptr); }), rate);
  std::vector<std::vector<int>> pairs, everybody(1);
  for (int r = 0; r < replicas; ++r) {
    everybody[0].push_back(r);
    if (r % 2 == 1) pairs.push_back({r - 1, r});
  }
  const auto outer = [&](const std::vector<std::vector<int>>& groups, const auto& step) {
    const FlatGroups flat(groups);
    const DeviceTable<int> members(flat.members), begins(flat.begins);
    const OuterTables tables{a.get(),     b.get(), c.get(), nullptr, {members.get(), begins.get()},
                             Wire::kBf16, columns};
    return share(24 * all,
                 seconds_a_call(3, 20, [&] { step(tables, static_cast<std::int64_t>(groups.size())); }),
                 rate);
  };
  json["noloco_outer_step"] = outer(pairs, [](const OuterTables& tables, std::int64_t groups) {
    outer_step_on_device(tables, groups, NolocoStep{0.5f, 0.7f, 0.7f}, nullptr);
  });
  json["diloco_outer_step"] = outer(everybody, [](const OuterTables& tables, std::int64_t groups) {
    outer_step_on_device(tables, groups, DilocoStep{0.7f, 0.9f, true}, nullptr);
  });
  return json;
}

// A step's products in bf16 by LibTorch and by the trainer (device_products.h), as shares of the matrix rate.
Json products(const ModelShape& shape, int replicas, int batch, double rate) {
  const std::int64_t tokens = std::int64_t{batch} * shape.context, h = shape.hidden, f = shape.ffn;
  const auto by_trainer = make_device_products();
  const auto options = at::TensorOptions(at::kBFloat16).device(at::kCUDA);
  Json json = Json::array();
  double libtorch_s = 0, trainer_s = 0, all = 0;
  for (const auto& [name, rows, columns] : {std::tuple{"qkv", 3 * h, h},
                                            {"attention_output", h, h},
                                            {"gate_up", 2 * f, h},
                                            {"down", h, f},
                                            {"output", std::int64_t{shape.vocabulary}, h}}) {
    const at::Tensor x = at::randn({replicas, tokens, columns}, options),
                     dy = at::randn({replicas, tokens, rows}, options),
                     w = at::randn({replicas, rows, columns}, options);
    const double flop = 2. * replicas * static_cast<double>(tokens) * static_cast<double>(rows) *
                        static_cast<double>(columns);
    const auto measure = [&](const char* pass, const at::Tensor& left, const at::Tensor& right,
                             bool into_float) {
      const at::Tensor result = at::empty({replicas, left.size(1), right.size(2)},
                                          options.dtype(into_float ? at::kFloat : at::kBFloat16));
      const auto operand = [](const at::Tensor& matrices) {
        const bool transposed = matrices.stride(2) != 1;
        return ProductOperand{matrices.data_ptr(), matrices.stride(transposed ? 2 : 1), matrices.stride(0),
                              transposed};
      };
      const BatchedProduct product{
          replicas,          left.size(1),     right.size(2),    left.size(2), operand(left), operand(right),
          result.data_ptr(), result.stride(1), result.stride(0), into_float,   false};
      const double plain = seconds_a_call(3, 10, [&] { at::bmm(left, right); }),
                   tuned =
                       seconds_a_call(3, 10, [&] { by_trainer->multiply(product, current_cuda_stream()); });
      libtorch_s += plain, trainer_s += tuned, all += flop;
      json.push_back({{"product", name},
                      {"pass", pass},
                      {"libtorch_share", flop / plain / rate},
                      {"trainer_share", flop / tuned / rate}});
    };
    measure("forward", x, w.transpose(1, 2), false);
    measure("backward to x", dy, w, false);
    measure("backward to the weights", dy.transpose(1, 2), x, true);
  }
  json.push_back({{"product", "all of a layer, and the output"},
                  {"libtorch_share", all / libtorch_s / rate},
                  {"trainer_share", all / trainer_s / rate}});
  return json;
}

// One after the other, the most wanted first; `write` is called with all figures after each.
void benchmark(bool quick, const std::string& wanted, const std::function<void(const Json&)>& write) {
  const int steps = quick ? 3 : 10;
  const std::int64_t size = quick ? 4096 : 8192;
  // 110,119,680 and 1,016,960 parameters.
  const ModelShape large{768, 12, 12, 2944, 512, 256}, small{128, 4, 4, 448, 128, 256},
      longer{768, 12, 12, 2944, 1024, 256}, classes{768, 12, 12, 2048, 1024, 32768};
  const int replicas = quick ? 64 : 256;
  const double rate = product_rate(at::kBFloat16, size),
               copy = copy_rate(std::size_t{1} << (quick ? 30 : 32));
  Json json = {{"card", device_name()},
               {"libtorch", torch_version()},
               {"bf16_matrix_tflop_per_s", rate * 1e-12},
               {"matrix_size", size},
               {"copy_bytes_per_s", copy}};
  const std::vector<std::pair<std::string, std::function<Json()>>> parts = {
      {"training", [&] { return training_speed(large, 8, quick ? 4 : 16, Precision::kBf16, rate, steps); }},
      {"against_the_loop_bf16",
       [&] { return against_the_loop(small, replicas, 4, Precision::kBf16, steps); }},
      {"against_the_loop_float32",
       [&] { return against_the_loop(small, replicas, 4, Precision::kFloat32, steps); }},
      {"products", [&] { return products(large, 8, quick ? 4 : 16, rate); }},
      {"training_1024",
       [&] { return training_speed(longer, 8, quick ? 2 : 16, Precision::kBf16, rate, steps); }},
      {"training_32k_classes",
       [&] { return training_speed(classes, 8, quick ? 2 : 16, Precision::kBf16, rate, steps); }},
      {"attention_1024", [&] { return attention(longer, 8, quick ? 2 : 16); }},
      {"muon", [&] { return muon_step(large, 8, quick ? 4 : 16, steps); }},
      {"row_kernels_large", [&] { return row_kernels(8, large.parameters() / (quick ? 8 : 1), copy); }},
      {"row_kernels_small", [&] { return row_kernels(256, small.parameters(), copy); }}};
  for (const auto& [name, measure] : parts) {
    if (!wanted.empty() && name != wanted) continue;
    give_back_cached_memory();
    try {
      json[name] = measure();
    } catch (const std::exception& error) {  // the others are tried all the same
      json[name] = {{"error", error.what()}};
      json["failed"].push_back(name);
    }
    write(json);
  }
}

}  // namespace
}  // namespace longhaul

int main(int argc, char** argv) {
  bool quick = false;
  std::string out, part;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) quick = true;
    if (std::strcmp(argv[i], "--out") == 0 && i + 1 < argc) out = argv[++i];
    if (std::strcmp(argv[i], "--part") == 0 && i + 1 < argc) part = argv[++i];
  }
  try {
    longhaul::choose_device("cuda", "");
    const c10::NoGradGuard no_gradient;
    longhaul::Json figures;
    longhaul::benchmark(quick, part, [&](const longhaul::Json& json) {
      figures = json;
      if (!out.empty()) std::ofstream(out) << json.dump(2) << "\n";
    });
    std::puts(figures.dump(2).c_str());
    return figures.is_null() || figures.contains("failed");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_benchmark: %s\n", error.what());
    return 1;
  }
}
