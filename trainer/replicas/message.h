// A message: what one replica contributes to an exchange, in the wire format. It is either a view of rows,
// rounded as it is read (a blocking exchange needs no copy), or packed bytes (an overlapped exchange is in
// flight while the rows behind it may change). Both read as the same numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/case.h"

namespace longhaul {

// Readers work through a row in blocks of this many columns, which stay in the first cache.
constexpr std::int64_t kBlock = 1024;

class Message {
 public:
  // The rows [P] must outlive the message.
  static Message of_row(const float* row, std::int64_t columns, Wire wire);
  static Message of_difference(const float* row, const float* less, std::int64_t columns,
                               Wire wire);  // row - less

  // Bytes that were packed before.
  static Message of_packed(std::vector<std::uint8_t> packed, std::int64_t columns, Wire wire);

  // The same numbers, copied out.
  Message packed() const;
  // The bytes of a packed message.
  const std::vector<std::uint8_t>& packed_bytes() const { return packed_; }

  std::int64_t bytes() const;  // on the wire, of the whole message
  // out[0 …] = columns [begin, end); end - begin is at most kBlock.
  void read(std::int64_t begin, std::int64_t end, float* out) const;

 private:
  const float* row_ = nullptr;
  const float* less_ = nullptr;
  std::int64_t columns_ = 0;
  Wire wire_ = Wire::kFp32;
  std::vector<std::uint8_t> packed_;
};

// out = (m0 + m1 + …) / n over columns [begin, end), summed in the order given, in float32: every member of a
// group computes the same bits, in whichever process it lives.
void mean_of(const std::vector<const Message*>& messages, std::int64_t begin, std::int64_t end, float* out);

}  // namespace longhaul
