// How many of its packets a path loses at most, and up to where the times of lossy paths were measured.
//
// A packet is lost on each link by itself, so that the losses of a path's links combine: two links that lose
// 5e-3 each lose 0.9975 % together. Faults of kind link add to network.tcp.loss while they last.
#pragma once

#include <vector>

#include "core/scenario/network_spec.h"
#include "net/topology.h"

namespace longhaul {

// The share of its packets that a path of two links was measured to lose at most, with 5e-3 a link
// (results/reference/residuals/loss.md, results/reference/packets.md), and with BBR 1e-3
// (results/reference/kernel/bbr.md); fidelity `linux` with 5e-2, with BBR 1e-2
// (results/reference/kernel/rings.csv). Beyond it no fidelity was held against the kernel.
double most_measured_loss(const NetworkSpec& network);

// The path between two replicas that loses most.
struct LossyPath {
  double loss = 0;  // of its packets, 0 … 1; 0: no path loses any
  int links = 0;
  int source = 0, target = 0;
  int fault = -1;  // the one that loses most on it (an index of NetworkSpec::variation.faults); -1: none
};

// Faults that come again and again may coincide with all others; one with a time of its own counts then.
LossyPath lossiest_path(const NetworkSpec& network, const Topology& topology);

// Throws InputError at network.tcp.loss, or at a fault's loss, where a path may lose more than was measured.
// The same for every fidelity.
void check_losses(const NetworkSpec& network, const Topology& topology);

}  // namespace longhaul
