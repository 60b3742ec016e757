// A message: what one replica contributes to an operation, as its codec makes it. It is either a view of
// rows, rounded as it is read (a blocking operation in plain numbers needs no copy), or encoded bytes (an
// overlapped operation is under way while the rows behind it may change). Both read as the same numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/plan/operations.h"

namespace longhaul {

struct Kept;  // top_k.h

// Readers work through a row in blocks of this many columns, which stay in the first cache.
constexpr std::int64_t kBlock = 1024;

// What travels of a row, and how.
struct MessageFormat {
  MessageFormat() = default;
  // Of the payload of an operation with this draw, over rows [parameters].
  MessageFormat(const PayloadPart& part, std::int64_t parameters, std::uint64_t draw = 0);

  std::int64_t bytes() const { return encoded_bytes(codec, columns); }
  // Where the column stands among those that travel; it must be one of them.
  std::int64_t place_of(std::int64_t column) const;

  Columns ranges;
  std::int64_t columns = 0;  // in all ranges together
  Codec codec;
  std::uint64_t draw = 0;  // of a random mask
};

// A row [P], or the difference of two; it must outlive what is made of it.
struct RowSource {
  const float* row = nullptr;
  const float* less = nullptr;  // null: nothing is subtracted

  // out [end - begin]
  void read(std::int64_t begin, std::int64_t end, float* out) const;
};

class Message {
 public:
  Message() = default;
  Message(MessageFormat format, const RowSource& source) : format_(std::move(format)), source_(source) {}
  // Bytes that were encoded before, format.bytes() of them. DCT and low rank are decoded here, once, and keep
  // 4 bytes a column while the message lives: a block of columns alone would cost as much as all of them.
  // The other formats are decoded as they are read.
  Message(MessageFormat format, std::vector<std::uint8_t> encoded);

  // The same numbers as bytes of its own. Where the codec feeds back, `feedback` is its row [P], e or g of
  // core/codecs/codec.h, and this is the sender's half of both: the row is used and brought up to date. What
  // an EF21 message reads as is c, which its receivers add up.
  Message encoded(float* feedback = nullptr) const;
  std::int64_t size() const;  // bytes on the wire
  // The bytes of an encoded message.
  const std::vector<std::uint8_t>& bytes() const { return *encoded_; }
  const MessageFormat& format() const { return format_; }

  // out[0 …] = columns [begin, end) of one of its ranges; end - begin is at most kBlock.
  void read(std::int64_t begin, std::int64_t end, float* out) const;
  // The same of places [begin, end) among the columns that travel, as many as one likes.
  void read_places(std::int64_t begin, std::int64_t end, float* out) const;
  // As read(), whether the column travels: of a random mask some do not, of other codecs all do, if only as a
  // zero.
  void travelling(std::int64_t begin, std::int64_t end, bool* out) const;

 private:
  MessageFormat format_;
  RowSource source_;  // of a view
  // Copies of a message share these.
  std::shared_ptr<const std::vector<std::uint8_t>> encoded_;
  std::shared_ptr<const std::vector<float>> decoded_;  // of DCT and low rank
};

// out = (m0 + m1 + …) / n over columns [begin, end), summed in the order given, in float32: every member of a
// group computes the same bits, in whichever process it lives.
void mean_of(const std::vector<const Message*>& messages, std::int64_t begin, std::int64_t end, float* out);

// The same with weights that add up to one: out = w0 m0 + w1 m1 + …
void weighted_mean_of(const std::vector<const Message*>& messages, const std::vector<float>& weights,
                      std::int64_t begin, std::int64_t end, float* out);

// The mean over those who sent a column: what k of the messages of a group have is their sum divided by k,
// what none has is zero. It is torch's scatter_reduce(mean, include_self=False), by which the authors' code
// of DeMo (bloc97/DeMo) and of SparseLoCo joins messages; DeMo's by coefficients, before they are transformed
// back. A column that was kept counts as sent, whatever its value.

// What an encoded message has of a codec that chooses columns (Codec::chooses_columns()); of others all
// messages of a group have the same columns, and this mean is mean_of().
std::vector<Kept> kept_by(const Message& message);

struct SenderSum {
  float sum = 0;
  std::int32_t senders = 0;
};

// sums [columns]: adds what was kept of places [begin, end). In the order of the replicas, in float32.
void add_kept(const std::vector<Kept>& kept, std::int64_t begin, std::int64_t end, SenderSum* sums);

// The columns [format.columns] of these sums.
std::vector<float> mean_of_sums(const MessageFormat& format, const std::vector<SenderSum>& sums);

// Of the messages of a group, in the order given.
std::vector<float> mean_of_senders(const std::vector<const Message*>& messages);

}  // namespace longhaul
