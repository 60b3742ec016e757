// Random masks: a share of the columns, drawn from the seed and the step, so that everybody knows which
// without being told (core/codecs/random_mask.h has the length of a message). A message is the row of those
// that travel, in their order, in the codec's numbers.
//
// They are drawn without replacement in each of the pieces of kMaskPiece columns that the row is cut into, so
// that a block can be read without drawing all of a row: of a piece [a, b) as many as drawn() grows
// by.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/codecs/random_mask.h"
#include "trainer/codecs/pieces.h"

namespace longhaul {

constexpr std::int64_t kMaskPiece = 1024;

// Calls visit(column, number) for the columns in [begin, end) that travel, in ascending order; `number`
// counts those of the row of `columns`.
void for_each_drawn(const RandomMask& codec, std::uint64_t draw, std::int64_t columns, std::int64_t begin,
                    std::int64_t end,
                    const std::function<void(std::int64_t column, std::int64_t number)>& visit);

std::vector<std::uint8_t> encode(const RandomMask& format, const PlainRow& row);
void decode(const RandomMask& format, const EncodedRow& message, std::int64_t begin, std::int64_t end,
            float* out);

}  // namespace longhaul
