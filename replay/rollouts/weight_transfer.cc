#include "replay/rollouts/weight_transfer.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/base/index.h"

namespace longhaul {

std::vector<std::int64_t> pieces_of(const WeightTree& tree, const WeightsSpec& weights) {
  const auto most = weights.piece ? static_cast<std::int64_t>(*weights.piece) : tree.bytes;
  const std::int64_t count = (tree.bytes + most - 1) / most;
  std::vector<std::int64_t> pieces;
  for (std::int64_t i = 0; i < count; ++i) pieces.push_back(tree.bytes / count + (i < tree.bytes % count));
  return pieces;
}

namespace {

std::vector<std::vector<std::int64_t>> all_pieces(const std::vector<WeightTree>& trees,
                                                  const WeightsSpec& weights) {
  std::vector<std::vector<std::int64_t>> pieces;
  for (const WeightTree& tree : trees) pieces.push_back(pieces_of(tree, weights));
  return pieces;
}

}  // namespace

WeightTransfer::WeightTransfer(Carriers carriers, const WeightsSpec& weights,
                               const std::vector<WeightTree>& trees, int store, int version, int rule,
                               Arrived on_arrival)
    : clock_(carriers.clock),
      network_(carriers.network),
      weights_(weights),
      trees_(trees),
      pieces_(all_pieces(trees, weights)),
      store_(store),
      version_(version),
      rule_(rule),
      on_arrival_(std::move(on_arrival)) {
  for (std::size_t i = 0; i < trees_.size(); ++i) {
    std::int64_t groups = 0;
    for (const std::vector<int>& next : trees_[i].next)
      for (const int host : next) groups += host != store_;
    left_ += groups * static_cast<std::int64_t>(pieces_[i].size());
  }
}

void WeightTransfer::release(int source) {
  for (std::size_t i = 0; i < trees_.size(); ++i) {
    if (trees_[i].source != source) continue;
    double built_s = weights_.build_s;
    for (const std::int64_t bytes : pieces_[i]) {
      if (weights_.build_rate) built_s += 8 * static_cast<double>(bytes) / *weights_.build_rate;
      clock_.after(built_s, [this, source, piece = Piece{i, bytes}] { has(source, piece); });
    }
  }
}

void WeightTransfer::has(int host, const Piece& piece) {
  for (const int below : trees_[piece.tree].next[as_index(host)]) {
    if (host == store_) {
      downloads_[below].open.push_back(piece);
      ask(below);
    } else if (const std::int64_t allowed = allowed_at_once(below); allowed > 0) {
      const auto pieces = static_cast<std::int64_t>(pieces_[piece.tree].size());
      Way& way = ways_
                     .try_emplace({piece.tree, host, below},
                                  Way{{}, allowed, std::max<std::int64_t>(0, pieces - allowed)})
                     .first->second;
      way.open.push_back(piece);
      send_allowed(host, below, way);
    } else {
      send(host, below, piece, [this, below, piece] { arrive(below, piece); });
    }
  }
}

// 0: as many as there are.
int WeightTransfer::allowed_at_once(int below) const {
  return below == store_ ? weights_.store.uploads : weights_.requests;
}

// The first requests of a version stand with the sender before it has anything. A group asks for the next
// piece as one comes, and a store answers an upload; either lets one more leave.
void WeightTransfer::send_allowed(int from, int to, Way& way) {
  while (way.allowed > 0 && !way.open.empty()) {
    const Piece piece = way.open.front();
    way.open.pop_front();
    --way.allowed;
    send(from, to, piece, [this, from, to, piece, &way] {
      if (way.asks > 0) {
        --way.asks;
        transmit(to, from, kRequestBytes, [this, from, to, &way] {
          ++way.allowed;
          send_allowed(from, to, way);
        });
      }
      arrive(to, piece);
    });
  }
}

void WeightTransfer::arrive(int host, const Piece& piece) {
  if (host != store_) --left_;
  has(host, piece);
  if (host != store_) on_arrival_(host, piece.bytes);
}

// As many requests of a group are open as it may have.
void WeightTransfer::ask(int group) {
  Downloads& downloads = downloads_[group];
  while (downloads.under_way < weights_.store.concurrent && !downloads.open.empty()) {
    const Piece piece = downloads.open.front();
    downloads.open.pop_front();
    ++downloads.under_way;
    transmit(group, store_, kRequestBytes, [this, group, piece] {
      clock_.after(weights_.store.request_s, [this, group, piece] {
        send(store_, group, piece, [this, group, piece] {
          --downloads_[group].under_way;
          ask(group);
          arrive(group, piece);
        });
      });
    });
  }
}

void WeightTransfer::send(int from, int to, const Piece& piece, std::function<void()> on_arrival) {
  bytes_ += piece.bytes;
  transmit(from, to, piece.bytes, std::move(on_arrival));
}

void WeightTransfer::transmit(int from, int to, std::int64_t bytes, std::function<void()> on_arrival) {
  ++transfers_;
  Transmission message;
  message.source = from;
  message.target = to;
  message.bytes = bytes;
  message.key = {version_, rule_, from, numbers_[from]++};
  network_.send(message, std::move(on_arrival));
}

std::vector<std::string> WeightTransfer::waiting() const {
  if (is_done()) return {};
  return {fmt::format("version {} of the weights: {} pieces are on their way", version_, left_)};
}

}  // namespace longhaul
