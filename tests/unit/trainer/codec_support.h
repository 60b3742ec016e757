// Rows and messages as the tests of the codecs write them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/random.h"
#include "trainer/codecs/message.h"

namespace longhaul {

using Row = std::vector<float>;

// Normal deviates whose size changes along the row.
inline Row uneven_row(std::int64_t columns, std::uint32_t number) {
  RandomStream stream(9, Purpose::kInitialWeights, number);
  Row row(static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < row.size(); ++i)
    row[i] = static_cast<float>(stream.normal() * std::exp(std::sin(static_cast<double>(i) / 300)));
  return row;
}

inline Message message_of(const Codec& codec, const Row& row) {
  const auto columns = static_cast<std::int64_t>(row.size());
  return Message(MessageFormat({"row", codec, {}}, columns), RowSource{row.data(), nullptr});
}

// Read in blocks of `block` columns.
inline Row read_row(const Message& message, std::int64_t block = kBlock) {
  const std::int64_t columns = message.format().columns;
  Row row(static_cast<std::size_t>(columns));
  for (std::int64_t begin = 0; begin < columns; begin += block)
    message.read(begin, std::min(columns, begin + block), row.data() + begin);
  return row;
}

// What a row of this codec reads as; its length is the one that is known beforehand.
inline Row sent_of(const Codec& codec, const Row& row, std::int64_t block = kBlock) {
  const Message message = message_of(codec, row).encoded();
  EXPECT_EQ(static_cast<std::int64_t>(message.bytes().size()),
            encoded_bytes(codec, static_cast<std::int64_t>(row.size())));
  return read_row(message, block);
}

}  // namespace longhaul
