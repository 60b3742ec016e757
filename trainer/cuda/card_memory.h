// What a training takes of a card's memory, counted by the shapes before anything is allocated: a case that
// does not fit is refused at the start, in words, instead of failing in the middle of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trainer/cuda/accelerator.h"
#include "trainer/ranks/ranks.h"

namespace longhaul {

// Bytes.
struct CardMemory {
  int table_count = 0;  // of the slots of the arena
  std::int64_t tables = 0;
  int host_table_count = 0;  // that lie in host memory (OuterState)
  std::int64_t host_tables = 0;
  std::int64_t optimizer = 0;     // sums, bits, Muon's matrices
  std::int64_t microbatches = 0;  // composed rows and partial gradients
  std::int64_t evaluation = 0;    // its sequences, the mean row, sums
  std::int64_t exchange = 0;      // what was sent ahead; of several ranks, rows and means under way
  std::int64_t products = 0;      // what cuBLASLt works in
  std::int64_t step = 0;          // tokens and losses of a step
  std::int64_t activations = 0;   // of the smallest piece of a step, and of an evaluation: one sequence

  std::int64_t fixed() const {
    return tables + optimizer + microbatches + evaluation + exchange + products + step;
  }
};

// What activations of a step and of an evaluation may take, which comes between two steps, whose memory a
// captured graph keeps.
struct ActivationMemory {
  std::int64_t step = 0, evaluation = 0;
};

struct MemoryPlan {
  std::vector<Slot> on_host;  // of the arena's slots
  CardMemory needed;
  ActivationMemory activations;
  std::string words;  // "21.1 GB at least: 17.6 GB for 4 tables of 8 replicas of ..., ..."
};

// Activations get most of what is free on the card without the rest, the same on all ranks, since the pieces
// that follow from it may change the order of sums. `product`: the table that is evaluated (Update). Called
// on all ranks, before anything is allocated. Throws InputError (path "train") where memory is not enough for
// one sequence.
MemoryPlan plan_memory(const AcceleratorSpec& spec, const Arena& arena, Slot product, Ranks& ranks);

// Does work() on the card. Where its memory is full all the same the RunError says what took it, which
// LibTorch's own does not.
void with_memory(const MemoryPlan& plan, const std::function<void()>& work);

}  // namespace longhaul
