// The forward pass of transformers' LlamaForCausalLM, written from its definition with loops over doubles and
// reading nothing but an exported folder: config.json and model.safetensors.
#pragma once

#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "trainer/checkpoint/safetensors.h"

namespace longhaul {

class ExportedLlama {
 public:
  using Vector = std::vector<double>;
  using Matrix = std::vector<Vector>;  // [position][feature]

  explicit ExportedLlama(const std::string& folder)
      : config_(Json::parse(std::ifstream(folder + "/config.json"))),
        tensors_(read_safetensors(folder + "/model.safetensors")),
        hidden_(config_.at("hidden_size")),
        heads_(config_.at("num_attention_heads")) {}

  // Mean cross-entropy of predicting tokens 1 … n − 1.
  double loss(const std::vector<std::int64_t>& tokens) const {
    const Matrix all = logits({tokens.begin(), tokens.end() - 1});
    double sum = 0;
    for (std::size_t t = 0; t < all.size(); ++t) {
      double total = 0;
      for (double logit : all[t]) total += std::exp(logit);
      sum += std::log(total) - all[t][static_cast<std::size_t>(tokens[t + 1])];
    }
    return sum / static_cast<double>(all.size());
  }

  const StoredTensors& tensors() const { return tensors_; }
  const Json& config() const { return config_; }

 private:
  Vector values(const std::string& name) const {
    const StoredTensor& tensor = tensors_.at(name + ".weight");
    std::vector<float> floats(static_cast<std::size_t>(tensor.elements()));
    std::memcpy(floats.data(), tensor.bytes.data(), tensor.bytes.size());
    return {floats.begin(), floats.end()};
  }

  // nn.Linear: y = x Wᵀ, W [out, in].
  Matrix linear(const std::string& name, const Matrix& x) const {
    const Vector w = values(name);
    const std::size_t in = x[0].size(), out = w.size() / in;
    Matrix y(x.size(), Vector(out));
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t o = 0; o < out; ++o)
        for (std::size_t i = 0; i < in; ++i) y[t][o] += w[o * in + i] * x[t][i];
    return y;
  }

  Matrix norm(const std::string& name, Matrix x) const {
    const Vector w = values(name);
    for (Vector& v : x) {
      double squares = 0;
      for (double value : v) squares += value * value;
      const double scale = 1 / std::sqrt(squares / hidden_ + config_.at("rms_norm_eps").get<double>());
      for (std::size_t i = 0; i < v.size(); ++i) v[i] *= scale * w[i];
    }
    return x;
  }

  // q · cos + rotate_half(q) · sin, with emb = cat(freqs, freqs) and rotate_half(q) = cat(−q₂, q₁).
  Vector rotary(const Vector& head, std::size_t position) const {
    const std::size_t width = head.size(), half = width / 2;
    Vector rotated(width), out(width);
    for (std::size_t i = 0; i < half; ++i) {
      rotated[i] = -head[half + i];
      rotated[half + i] = head[i];
    }
    for (std::size_t i = 0; i < width; ++i) {
      const double exponent = 2. * static_cast<double>(i % half) / static_cast<double>(width);
      const double angle =
          static_cast<double>(position) / std::pow(config_.at("rope_theta").get<double>(), exponent);
      out[i] = head[i] * std::cos(angle) + rotated[i] * std::sin(angle);
    }
    return out;
  }

  Matrix attention(const std::string& name, const Matrix& x) const {
    const Matrix q = linear(name + "q_proj", x), k = linear(name + "k_proj", x),
                 v = linear(name + "v_proj", x);
    const std::size_t width = hidden_ / heads_;
    Matrix out(x.size(), Vector(hidden_));
    for (std::size_t first = 0; first < hidden_; first += width) {
      Matrix turned_q, turned_k;
      const auto begin = static_cast<std::ptrdiff_t>(first), end = static_cast<std::ptrdiff_t>(first + width);
      for (std::size_t t = 0; t < x.size(); ++t) {
        turned_q.push_back(rotary({q[t].begin() + begin, q[t].begin() + end}, t));
        turned_k.push_back(rotary({k[t].begin() + begin, k[t].begin() + end}, t));
      }
      for (std::size_t t = 0; t < x.size(); ++t) {
        Vector weight(t + 1);
        double sum = 0;
        for (std::size_t s = 0; s <= t; ++s) {
          for (std::size_t i = 0; i < width; ++i) weight[s] += turned_q[t][i] * turned_k[s][i];
          sum += weight[s] = std::exp(weight[s] / std::sqrt(static_cast<double>(width)));
        }
        for (std::size_t s = 0; s <= t; ++s)
          for (std::size_t i = first; i < first + width; ++i) out[t][i] += weight[s] / sum * v[s][i];
      }
    }
    return linear(name + "o_proj", out);
  }

  Matrix mlp(const std::string& name, const Matrix& x) const {
    Matrix gate = linear(name + "gate_proj", x);
    const Matrix up = linear(name + "up_proj", x);
    for (std::size_t t = 0; t < gate.size(); ++t)
      for (std::size_t i = 0; i < gate[t].size(); ++i) gate[t][i] *= up[t][i] / (1 + std::exp(-gate[t][i]));
    return linear(name + "down_proj", gate);
  }

  static void add(Matrix& x, const Matrix& y) {
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t i = 0; i < x[t].size(); ++i) x[t][i] += y[t][i];
  }

  Matrix logits(const std::vector<std::int64_t>& tokens) const {
    const Vector embedding = values("model.embed_tokens");
    Matrix x;
    for (std::int64_t token : tokens) {
      const auto row = embedding.begin() + token * static_cast<std::ptrdiff_t>(hidden_);
      x.emplace_back(row, row + static_cast<std::ptrdiff_t>(hidden_));
    }
    for (int layer = 0; layer < config_.at("num_hidden_layers").get<int>(); ++layer) {
      const std::string name = "model.layers." + std::to_string(layer) + ".";
      add(x, attention(name + "self_attn.", norm(name + "input_layernorm", x)));
      add(x, mlp(name + "mlp.", norm(name + "post_attention_layernorm", x)));
    }
    return linear("lm_head", norm("model.norm", x));
  }

  Json config_;
  StoredTensors tensors_;
  std::size_t hidden_, heads_;
};

}  // namespace longhaul
