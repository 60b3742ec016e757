// Error feedback on one column, the sender's half (core/codecs/codec.h has the equations), the same on the
// host and on a GPU.
#pragma once

#include "core/codecs/codec.h"
#include "trainer/device/host_device.h"

namespace longhaul {

struct FeedbackStep {
  explicit FeedbackStep(const Codec& codec) : kind(codec.feedback), decay(static_cast<float>(codec.decay)) {}

  // What is encoded of a value; `row` is e or g.
  LONGHAUL_HOST_DEVICE float encoded(float value, float row) const {
    return kind == Feedback::kEf21 ? value - row : value + decay * row;
  }
  // e or g when of `encoded` was decoded what `sent` says.
  LONGHAUL_HOST_DEVICE float next(float encoded, float row, float sent) const {
    return kind == Feedback::kEf21 ? row + sent : encoded - sent;
  }

  Feedback kind;
  float decay;
};

}  // namespace longhaul
