// How fast a training is: tokens a second for its progress, and speed.json (docs/formats.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/json.h"
#include "core/base/model_shape.h"
#include "core/scenario/case.h"

namespace longhaul {

// Useful arithmetic of a token, forward and backward: 6 for each parameter, and for attention 6 · layers ·
// hidden · context: scores and their use, without the half that causality masks (PaLM, arXiv 2204.02311,
// appendix B, which counts that half too).
double flop_per_token(const ModelShape& shape);

// Products of matrices a second of one card, dense, with sums in float32, by its data sheet. None of a card
// that is not known here.
std::optional<double> peak_flop_per_second(const std::string& card, Precision precision);

class Speed {
 public:
  using Clock = std::chrono::steady_clock;

  // Adds the wall time of its life to `seconds`.
  class Stopwatch {
   public:
    explicit Stopwatch(double& seconds) : seconds_(seconds), start_(Clock::now()) {}
    ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

   private:
    double& seconds_;
    Clock::time_point start_;
  };

  // Now, with no step taken.
  void begin() { start_ = window_start_ = Clock::now(); }
  // So many tokens since then.
  void reached(double tokens, Clock::time_point now = Clock::now());
  // Over the last second or more; none before that.
  std::optional<double> tokens_per_second() const { return lately_; }

  // `peak`: of all cards together; none: utilization is not said.
  Json summary(const ModelShape& shape, int steps, std::optional<double> peak,
               Clock::time_point now = Clock::now()) const;

  double evaluations_s = 0, checkpoints_s = 0;

 private:
  Clock::time_point start_, window_start_;
  double tokens_ = 0, window_tokens_ = 0;
  std::optional<double> lately_;
};

}  // namespace longhaul
