#include "replay/pipeline/wiring.h"

#include <algorithm>

namespace longhaul {
namespace {

constexpr double kWeightOfNew = 0.2;

}  // namespace

Wiring::Wiring(int replicas, int stages)
    : stages_(stages), stage_of_(as_index(replicas * stages)), peers_(stage_of_.size()) {
  for (std::size_t worker = 0; worker < stage_of_.size(); ++worker)
    stage_of_[worker] = static_cast<int>(worker) % stages;
  for (std::size_t worker = 0; worker < stage_of_.size(); ++worker)
    if (stage_of_[worker] + 1 < stages)
      for (int replica = 0; replica < replicas; ++replica)
        peers_[worker].push_back({replica * stages + stage_of_[worker] + 1, -1, 0});
}

int Wiring::choose(int worker) {
  std::vector<Peer>& peers = peers_[as_index(worker)];
  double fastest_s = -1;
  for (const Peer& peer : peers)
    if (peer.seconds >= 0 && (fastest_s < 0 || peer.seconds < fastest_s)) fastest_s = peer.seconds;
  if (fastest_s < 0) fastest_s = 1;  // nothing is known: all alike
  const int first_of_replica = worker / stages_ * stages_;
  std::size_t own = 0;
  while (own < peers.size() && peers[own].worker < first_of_replica) ++own;
  Peer* chosen = nullptr;
  double least_s = 0;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    Peer& peer = peers[(own + i) % peers.size()];
    const double one_s = peer.seconds < 0 ? fastest_s : peer.seconds;
    const double after_s = peer.given_s + one_s;
    if (chosen && after_s >= least_s) continue;
    chosen = &peer;
    least_s = after_s;
  }
  chosen->given_s = least_s;
  return chosen->worker;
}

void Wiring::measured(int worker, int to, double seconds) {
  for (Peer& peer : peers_[as_index(worker)])
    if (peer.worker == to)
      peer.seconds = peer.seconds < 0 ? seconds : peer.seconds + kWeightOfNew * (seconds - peer.seconds);
}

void Wiring::leave(int worker) {
  stage_of_[as_index(worker)] = -1;
  peers_[as_index(worker)].clear();
  for (std::vector<Peer>& peers : peers_)
    peers.erase(
        std::remove_if(peers.begin(), peers.end(), [&](const Peer& peer) { return peer.worker == worker; }),
        peers.end());
}

void Wiring::join(int worker, int stage) {
  stage_of_[as_index(worker)] = stage;
  const auto by_worker = [](const Peer& a, const Peer& b) { return a.worker < b.worker; };
  for (std::size_t other = 0; other < peers_.size(); ++other) {
    if (stage_of_[other] == stage + 1) peers_[as_index(worker)].push_back({static_cast<int>(other), -1, 0});
    if (stage_of_[other] < 0 || stage_of_[other] + 1 != stage) continue;
    std::vector<Peer>& peers = peers_[other];
    Peer joined{worker, -1, peers.empty() ? 0 : peers.front().given_s};
    for (const Peer& peer : peers) joined.given_s = std::min(joined.given_s, peer.given_s);
    peers.insert(std::upper_bound(peers.begin(), peers.end(), joined, by_worker), joined);
  }
}

}  // namespace longhaul
