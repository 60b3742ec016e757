#include "trainer/replicas/message.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "trainer/replicas/wire_format.h"

namespace longhaul {

Message Message::of_row(const float* row, std::int64_t columns, Wire wire) {
  return of_difference(row, nullptr, columns, wire);
}

Message Message::of_difference(const float* row, const float* less, std::int64_t columns, Wire wire) {
  Message message;
  message.row_ = row;
  message.less_ = less;
  message.columns_ = columns;
  message.wire_ = wire;
  return message;
}

Message Message::of_packed(std::vector<std::uint8_t> packed, std::int64_t columns, Wire wire) {
  assert(static_cast<std::int64_t>(packed.size()) == columns * bytes_per_parameter(wire));
  Message message;
  message.columns_ = columns;
  message.wire_ = wire;
  message.packed_ = std::move(packed);
  return message;
}

Message Message::packed() const {
  if (!row_) return *this;
  if (!less_) return of_packed(pack_row(row_, columns_, wire_), columns_, wire_);
  std::vector<std::uint8_t> bytes;
  bytes.reserve(static_cast<std::size_t>(this->bytes()));
  float block[kBlock];
  for (std::int64_t at = 0; at < columns_; at += kBlock) {
    const std::int64_t count = std::min(columns_ - at, kBlock);
    read(at, at + count, block);
    const std::vector<std::uint8_t> part = pack_row(block, count, wire_);
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return of_packed(std::move(bytes), columns_, wire_);
}

std::int64_t Message::bytes() const {
  return row_ ? columns_ * bytes_per_parameter(wire_) : static_cast<std::int64_t>(packed_.size());
}

void Message::read(std::int64_t begin, std::int64_t end, float* out) const {
  assert(end - begin <= kBlock);
  if (!row_) return unpack_row(packed_, begin, end, wire_, out);
  if (!less_) return round_to_wire(row_ + begin, out, end - begin, wire_);
  for (std::int64_t i = begin; i < end; ++i) out[i - begin] = row_[i] - less_[i];
  round_to_wire(out, out, end - begin, wire_);
}

void mean_of(const std::vector<const Message*>& messages, std::int64_t begin, std::int64_t end, float* out) {
  float next[kBlock];
  messages[0]->read(begin, end, out);
  for (std::size_t m = 1; m < messages.size(); ++m) {
    messages[m]->read(begin, end, next);
    for (std::int64_t i = 0; i < end - begin; ++i) out[i] += next[i];
  }
  const auto count = static_cast<float>(messages.size());
  for (std::int64_t i = 0; i < end - begin; ++i) out[i] /= count;
}

}  // namespace longhaul
