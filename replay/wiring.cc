#include "replay/wiring.h"

#include <algorithm>

namespace longhaul {
namespace {

constexpr double kWeightOfNew = 0.2;

}  // namespace

int Wiring::choose(int replica, int part) {
  Peer* peers = peers_of(replica, part);
  double fastest_s = -1;
  for (int peer = 0; peer < replicas_; ++peer)
    if (peers[peer].seconds >= 0 && (fastest_s < 0 || peers[peer].seconds < fastest_s))
      fastest_s = peers[peer].seconds;
  if (fastest_s < 0) fastest_s = 1;  // nothing is known: all alike
  int chosen = -1;
  double least_s = 0;
  for (int i = 0; i < replicas_; ++i) {
    const int peer = (replica + i) % replicas_;
    const double one_s = peers[peer].seconds < 0 ? fastest_s : peers[peer].seconds;
    const double after_s = peers[peer].given_s + one_s;
    if (chosen >= 0 && after_s >= least_s) continue;
    chosen = peer;
    least_s = after_s;
  }
  peers[chosen].given_s = least_s;
  return chosen;
}

void Wiring::measured(int replica, int part, int peer, double seconds) {
  double& mean_s = peers_of(replica, part)[peer].seconds;
  mean_s = mean_s < 0 ? seconds : mean_s + kWeightOfNew * (seconds - mean_s);
}

}  // namespace longhaul
