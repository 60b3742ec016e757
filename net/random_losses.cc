#include "net/random_losses.h"

#include <cmath>
#include <utility>

namespace longhaul {

RandomLosses::RandomLosses(double probability, double segment, RandomStream stream)
    : probability_(probability), segment_(segment), stream_(std::move(stream)) {
  draw();
}

void RandomLosses::draw() {
  const double packets = std::floor(std::log1p(-stream_.uniform()) / std::log1p(-probability_)) + 1;
  to_next_ = packets * segment_;
}

bool RandomLosses::sent(double bytes) {
  constexpr double kRounding = 1e-3;
  to_next_ -= bytes;
  if (to_next_ > kRounding) return false;
  draw();
  return true;
}

double path_loss(double probability, int links) {
  return -std::expm1(links * std::log1p(-probability));
}

}  // namespace longhaul
