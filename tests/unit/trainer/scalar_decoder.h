// The decoder once more, as plainly as it can be written: loops over doubles, one sequence at a time.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "core/base/model_shape.h"
#include "trainer/model/decoder.h"

namespace longhaul {

class ScalarDecoder {
 public:
  using Vector = std::vector<double>;
  using Matrix = std::vector<Vector>;  // [position][feature]

  ScalarDecoder(const ModelShape& shape, const Vector& weights)
      : shape_(shape), weights_(weights), layout_(parameter_layout(shape)) {}

  double loss(const Batch& batch) const {
    double sum = 0;
    const std::int64_t* tokens = batch.tokens.data();
    for (int s = 0; s < batch.sequences; ++s, tokens += shape_.context + 1)
      sum += loss_at_the_end(through_layers(embed(tokens), 0, shape_.layers), tokens);
    return sum / (batch.sequences * shape_.context);
  }

  // The parts of the model, on one sequence: x [position][feature].
  Matrix embed(const std::int64_t* tokens) const {
    const int h = shape_.hidden;
    Matrix x;
    for (int t = 0; t < shape_.context; ++t) {
      const double* row = parameter("embedding") + tokens[t] * h;
      x.emplace_back(row, row + h);
    }
    return x;
  }

  // Layers [first, end).
  Matrix through_layers(Matrix x, int first, int end) const {
    const int h = shape_.hidden;
    for (int layer = first; layer < end; ++layer) {
      const std::string attention = "layers." + std::to_string(layer) + ".attention.";
      const std::string feed_forward = "layers." + std::to_string(layer) + ".feed_forward.";
      Matrix in = norm(attention + "norm", x);
      Matrix q = times(attention + "query", h, in), k = times(attention + "key", h, in);
      turn(q);
      turn(k);
      add(x, times(attention + "output", h, attend(q, k, times(attention + "value", h, in))));
      in = norm(feed_forward + "norm", x);
      Matrix gate = times(feed_forward + "gate", shape_.ffn, in);
      const Matrix up = times(feed_forward + "up", shape_.ffn, in);
      for (std::size_t t = 0; t < gate.size(); ++t)
        for (int i = 0; i < shape_.ffn; ++i) gate[t][i] *= up[t][i] / (1 + std::exp(-gate[t][i]));
      add(x, times(feed_forward + "down", h, gate));
    }
    return x;
  }

  // The sum over the positions, from what the last layer leaves.
  double loss_at_the_end(const Matrix& x, const std::int64_t* tokens) const {
    const Matrix logits = times("output", shape_.vocabulary, norm("norm", x));
    double sum = 0;
    for (int t = 0; t < shape_.context; ++t) {
      double total = 0;
      for (double logit : logits[t]) total += std::exp(logit);
      sum += std::log(total) - logits[t][tokens[t + 1]];
    }
    return sum;
  }

 private:
  const double* parameter(const std::string& name) const {
    for (const Parameter& p : layout_)
      if (p.name == name) return weights_.data() + p.offset;
    throw std::logic_error("no parameter " + name);
  }

  // y = W x for each position, W [rows, x's width] row-major.
  Matrix times(const std::string& name, int rows, const Matrix& x) const {
    const double* w = parameter(name);
    Matrix y(x.size(), Vector(rows));
    for (std::size_t t = 0; t < x.size(); ++t)
      for (int i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < x[t].size(); ++j) y[t][i] += w[i * x[t].size() + j] * x[t][j];
    return y;
  }

  Matrix norm(const std::string& name, Matrix x) const {
    const double* w = parameter(name);
    for (Vector& v : x) {
      double squares = 0;
      for (double value : v) squares += value * value;
      const double scale = 1 / std::sqrt(squares / v.size() + 1e-5);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] *= scale * w[i];
    }
    return x;
  }

  // In each head, (x_i, x_{i + d/2}) turned by the angle t · 10000^(−2i/d).
  void turn(Matrix& x) const {
    const int width = shape_.hidden / shape_.heads, half = width / 2;
    for (std::size_t t = 0; t < x.size(); ++t)
      for (int head = 0; head < shape_.heads; ++head)
        for (int i = 0; i < half; ++i) {
          const double angle = t * std::pow(10000., -2. * i / width);
          double &a = x[t][head * width + i], &b = x[t][head * width + i + half];
          const double turned = a * std::cos(angle) - b * std::sin(angle);
          b = b * std::cos(angle) + a * std::sin(angle);
          a = turned;
        }
  }

  Matrix attend(const Matrix& q, const Matrix& k, const Matrix& v) const {
    const int width = shape_.hidden / shape_.heads;
    Matrix out(q.size(), Vector(shape_.hidden));
    for (int head = 0; head < shape_.heads; ++head)
      for (std::size_t t = 0; t < q.size(); ++t) {
        Vector weight(t + 1);
        double sum = 0;
        for (std::size_t s = 0; s <= t; ++s) {
          double product = 0;
          for (int i = head * width; i < (head + 1) * width; ++i) product += q[t][i] * k[s][i];
          sum += weight[s] = std::exp(product / std::sqrt(width));
        }
        for (std::size_t s = 0; s <= t; ++s)
          for (int i = head * width; i < (head + 1) * width; ++i) out[t][i] += weight[s] / sum * v[s][i];
      }
    return out;
  }

  void add(Matrix& x, const Matrix& y) const {
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t i = 0; i < x[t].size(); ++i) x[t][i] += y[t][i];
  }

  ModelShape shape_;
  Vector weights_;
  std::vector<Parameter> layout_;
};

}  // namespace longhaul
