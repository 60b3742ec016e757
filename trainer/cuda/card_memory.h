// What a training takes of a card's memory, counted by the shapes before anything is allocated: a case that
// does not fit is refused at the start, in words, instead of failing in the middle of a run.
#pragma once

#include <cstdint>
#include <string>

#include "trainer/cuda/accelerator.h"
#include "trainer/ranks/ranks.h"

namespace longhaul {

// Bytes.
struct CardMemory {
  std::int64_t tables = 0;        // the slots of the arena
  std::int64_t optimizer = 0;     // sums, bits, Muon's matrices
  std::int64_t microbatches = 0;  // composed rows and partial gradients
  std::int64_t evaluation = 0;    // its sequences, the mean row, sums
  std::int64_t exchange = 0;      // what was sent ahead
  std::int64_t step = 0;          // tokens and losses of a step
  std::int64_t activations = 0;   // of the smallest piece of a step, and of an evaluation: one sequence

  std::int64_t fixed() const { return tables + optimizer + microbatches + evaluation + exchange + step; }
};

CardMemory count_memory(const AcceleratorSpec& spec, const Arena& arena, const Ranks& ranks);

// What activations of a step and of an evaluation may take, which comes between two steps, whose memory a
// captured graph keeps.
struct ActivationMemory {
  std::int64_t step = 0, evaluation = 0;
};

// Most of what is free on the card without the rest, the same on all ranks, since the pieces that follow from
// it may change the order of sums. Called on all ranks, before anything is allocated. Throws InputError (path
// "train") where it is not enough for one sequence.
ActivationMemory share_memory(const AcceleratorSpec& spec, const Arena& arena, const CardMemory& needed,
                              Ranks& ranks);

// "21.1 GB: 17.6 GB tables of 8 replicas, …"
std::string in_words(const CardMemory& memory, const Arena& arena);

}  // namespace longhaul
