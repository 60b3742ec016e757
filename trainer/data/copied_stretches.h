// What the held-out part of a text has in common with the training part. A model can recite that, so a loss
// on it says little about text that it has not seen: licences, generated code, files that exist twice.
#pragma once

#include <vector>

#include "trainer/data/token_text.h"

namespace longhaul {

// The shortest stretch that counts as copied: about a line of prose or two of code.
constexpr std::size_t kCopiedStretch = 65;  // tokens

// For each token of `held_out` whether it lies in a stretch of at least kCopiedStretch tokens that stands in
// `training` word for word. Time and memory are linear in both (4 bytes a held-out token and an index of 16).
std::vector<bool> copied_tokens(const std::vector<Token>& training, const std::vector<Token>& held_out);

// Takes these tokens out of `held_out`; returns how many.
std::size_t remove_copied_stretches(const std::vector<Token>& training, std::vector<Token>& held_out);

}  // namespace longhaul
