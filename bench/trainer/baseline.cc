// What the trainer's speed is held against (trainer_speed.py): the same LLaMA with LibTorch's own modules and
// torch::optim::AdamW, as one would write it first.
//
//   trainer_baseline gemm THREADS SECONDS          GFLOP/s of single-threaded 512³ products by the BLAS
//   trainer_baseline onednn THREADS SECONDS        the same by oneDNN, as Longhaul multiplies
//   trainer_baseline loop REPLICAS STEPS           one process that loops over its replicas
//   trainer_baseline gloo RANK WORLD STEPS PORT    a process per replica; weights averaged over Gloo at times
//
// Prints one JSON line: tokens and the seconds that they took, after three steps of warming up.
#include <torch/torch.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "trainer/model/gemm.h"

namespace {

using torch::Tensor;

// The pinned point: 1.1 M parameters.
constexpr std::int64_t kHidden = 128, kLayers = 4, kHeads = 4, kFfn = 512, kContext = 128, kVocabulary = 256;
constexpr std::int64_t kBatch = 4;
constexpr int kWarmUp = 3, kAverageEvery = 20;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct RmsNorm : torch::nn::Module {
  RmsNorm() : weight(register_parameter("weight", torch::ones({kHidden}))) {}
  Tensor forward(const Tensor& x) { return x * (x.square().mean(-1, true) + 1e-5).rsqrt() * weight; }
  Tensor weight;
};

torch::nn::Linear linear(std::int64_t in, std::int64_t out) {
  return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(false));
}

struct Block : torch::nn::Module {
  Block()
      : norm1(register_module("norm1", std::make_shared<RmsNorm>())),
        norm2(register_module("norm2", std::make_shared<RmsNorm>())),
        qkv(register_module("qkv", linear(kHidden, 3 * kHidden))),
        output(register_module("output", linear(kHidden, kHidden))),
        gate(register_module("gate", linear(kHidden, kFfn))),
        up(register_module("up", linear(kHidden, kFfn))),
        down(register_module("down", linear(kFfn, kHidden))) {
    constexpr std::int64_t half = kHidden / kHeads / 2;
    const Tensor frequency = torch::pow(10000., -torch::arange(half) / static_cast<double>(half));
    const Tensor angle = torch::outer(torch::arange(kContext), frequency);
    cosine = torch::cat({angle.cos(), angle.cos()}, 1);
    sine = torch::cat({-angle.sin(), angle.sin()}, 1);
    future = torch::ones({kContext, kContext}, torch::kBool).triu(1);
  }

  Tensor rotate(const Tensor& x) {
    const auto halves = x.chunk(2, -1);
    return x * cosine + torch::cat({halves[1], halves[0]}, -1) * sine;
  }

  Tensor forward(Tensor x) {
    const std::int64_t batch = x.size(0);
    const auto parts = qkv(norm1->forward(x)).view({batch, kContext, 3, kHeads, -1}).permute({2, 0, 3, 1, 4});
    const Tensor scores = torch::matmul(rotate(parts[0]), rotate(parts[1]).transpose(-1, -2)) /
                          std::sqrt(static_cast<double>(kHidden / kHeads));
    const Tensor mixed = torch::matmul(torch::softmax(scores.masked_fill(future, -INFINITY), -1), parts[2]);
    x = x + output(mixed.transpose(1, 2).reshape({batch, kContext, kHidden}));
    const Tensor y = norm2->forward(x);
    return x + down(torch::silu(gate(y)) * up(y));
  }

  std::shared_ptr<RmsNorm> norm1, norm2;
  torch::nn::Linear qkv, output, gate, up, down;
  Tensor cosine, sine, future;
};

struct Llama : torch::nn::Module {
  Llama()
      : embedding(register_module("embedding", torch::nn::Embedding(kVocabulary, kHidden))),
        norm(register_module("norm", std::make_shared<RmsNorm>())),
        output(register_module("output", linear(kHidden, kVocabulary))) {
    for (int i = 0; i < kLayers; ++i)
      blocks.push_back(register_module("block" + std::to_string(i), std::make_shared<Block>()));
  }

  Tensor loss(const Tensor& tokens) {
    Tensor x = embedding(tokens.narrow(1, 0, kContext));
    for (const auto& block : blocks) x = block->forward(x);
    const Tensor logits = output(norm->forward(x)).view({-1, kVocabulary});
    return torch::cross_entropy_loss(logits, tokens.narrow(1, 1, kContext).reshape({-1}));
  }

  torch::nn::Embedding embedding;
  std::shared_ptr<RmsNorm> norm;
  torch::nn::Linear output;
  std::vector<std::shared_ptr<Block>> blocks;
};

struct Replica {
  Replica() : optimizer(model.parameters(), torch::optim::AdamWOptions(1e-3).betas({0.9, 0.95})) {}

  void step() {
    const Tensor tokens = torch::randint(kVocabulary, {kBatch, kContext + 1}, torch::kLong);
    optimizer.zero_grad();
    model.loss(tokens).backward();
    torch::nn::utils::clip_grad_norm_(model.parameters(), 1.);
    optimizer.step();
  }

  Llama model;
  torch::optim::AdamW optimizer;
};

void use_one_thread() {
  at::set_num_threads(1);
  at::set_num_interop_threads(1);
}

void print(int replicas, int steps, double seconds, std::int64_t parameters) {
  std::printf("{\"tokens\": %lld, \"seconds\": %.6f, \"parameters\": %lld}\n",
              static_cast<long long>(kBatch * kContext * replicas * steps), seconds,
              static_cast<long long>(parameters));
  std::fflush(stdout);
}

std::int64_t count(const Llama& model) {
  std::int64_t total = 0;
  for (const Tensor& tensor : model.parameters()) total += tensor.numel();
  return total;
}

constexpr std::int64_t kSize = 512;

void multiply_on_blas(Tensor& c, const Tensor& a, const Tensor& b) {
  torch::mm_out(c, a, b);
}

void multiply_by_onednn(Tensor& c, const Tensor& a, const Tensor& b) {
  longhaul::multiply(kSize, kSize, kSize, 1, {a.data_ptr<float>(), kSize}, {b.data_ptr<float>(), kSize}, 0,
                     c.data_ptr<float>(), kSize);
}

template <typename Multiply>
void run_gemm(int threads, double seconds, const Multiply& multiply) {
  std::vector<std::thread> pool;
  std::atomic<std::int64_t> products{0};
  const double begin = now_s();
  for (int i = 0; i < threads; ++i)
    pool.emplace_back([&] {
      at::set_num_threads(1);
      const torch::NoGradGuard no_gradient;
      const Tensor a = torch::rand({kSize, kSize}), b = torch::rand({kSize, kSize});
      Tensor c = torch::empty({kSize, kSize});
      while (now_s() - begin < seconds) {
        multiply(c, a, b);
        ++products;
      }
    });
  for (std::thread& thread : pool) thread.join();
  std::printf("{\"gflops\": %.3f}\n",
              static_cast<double>(products) * 2 * kSize * kSize * kSize / (now_s() - begin) / 1e9);
}

void run_loop(int replicas, int steps) {
  std::vector<std::unique_ptr<Replica>> all;
  for (int i = 0; i < replicas; ++i) all.push_back(std::make_unique<Replica>());
  double begin = 0;
  for (int step = 0; step < kWarmUp + steps; ++step) {
    if (step == kWarmUp) begin = now_s();
    for (const auto& replica : all) replica->step();
  }
  print(replicas, steps, now_s() - begin, count(all.front()->model));
}

void run_gloo(int rank, int world, int steps, int port) {
  c10d::TCPStoreOptions store_options;
  store_options.port = static_cast<std::uint16_t>(port);
  store_options.isServer = rank == 0;
  store_options.numWorkers = world;
  const auto store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", store_options);
  const auto options = c10d::ProcessGroupGloo::Options::create();
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  c10d::ProcessGroupGloo group(store, rank, world, options);
  Replica replica;
  double begin = 0;
  for (int step = 0; step < kWarmUp + steps; ++step) {
    if (step == kWarmUp) {
      group.barrier()->wait();
      begin = now_s();
    }
    replica.step();
    if (step == 0) {
      std::printf("first step\n");
      std::fflush(stdout);
    }
    if ((step + 1) % kAverageEvery != 0) continue;
    const torch::NoGradGuard no_gradient;
    for (Tensor& parameter : replica.model.parameters()) {
      std::vector<Tensor> tensors = {parameter.detach()};
      group.allreduce(tensors)->wait();
      parameter.div_(world);
    }
  }
  group.barrier()->wait();
  print(1, steps, now_s() - begin, count(replica.model));
  group.barrier()->wait();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) { return std::atoi(argv[i]); };
  use_one_thread();
  if (mode == "gemm" && argc == 4) {
    run_gemm(number(2), std::atof(argv[3]), multiply_on_blas);
  } else if (mode == "onednn" && argc == 4) {
    setenv("LONGHAUL_PRODUCTS", "onednn", 1);  // whatever the trainer beside it is told
    longhaul::prepare_products();              // throws here, not in a thread, where there is none
    run_gemm(number(2), std::atof(argv[3]), multiply_by_onednn);
  } else if (mode == "loop" && argc == 4) {
    run_loop(number(2), number(3));
  } else if (mode == "gloo" && argc == 6) {
    run_gloo(number(2), number(3), number(4), number(5));
  } else {
    std::fprintf(stderr,
                 "usage: trainer_baseline gemm|onednn THREADS SECONDS | loop REPLICAS STEPS | gloo RANK "
                 "WORLD STEPS PORT\n");
    return 2;
  }
}
