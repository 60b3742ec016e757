#include "trainer/codecs/message.h"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "core/base/index.h"
#include "trainer/codecs/dct.h"
#include "trainer/codecs/feedback.h"
#include "trainer/codecs/low_rank.h"
#include "trainer/codecs/mask.h"
#include "trainer/codecs/quantized.h"
#include "trainer/codecs/top_k.h"
#include "trainer/codecs/wire_format.h"

namespace longhaul {
namespace {

struct Encode {
  const std::vector<float>& values;
  std::uint64_t draw;

  std::int64_t columns() const { return static_cast<std::int64_t>(values.size()); }
  std::vector<std::uint8_t> operator()(Wire wire) const { return pack_row(values.data(), columns(), wire); }
  std::vector<std::uint8_t> operator()(const Quantized& codec) const {
    return encode_quantized(codec, values.data(), columns());
  }
  std::vector<std::uint8_t> operator()(const TopK& codec) const {
    return encode_top_k(codec, values.data(), columns());
  }
  std::vector<std::uint8_t> operator()(const DctTopK& codec) const {
    return encode_dct(codec, values.data(), columns());
  }
  std::vector<std::uint8_t> operator()(const LowRank& codec) const {
    return encode_low_rank(codec, values.data());
  }
  std::vector<std::uint8_t> operator()(const RandomMask& codec) const {
    return encode_mask(codec, draw, values.data(), columns());
  }
};

// All columns of a message that is not decoded in parts; null of another.
struct DecodeAll {
  const std::vector<std::uint8_t>& message;
  std::int64_t columns;

  template <typename Format>
  std::shared_ptr<const std::vector<float>> operator()(const Format& codec) const {
    if constexpr (std::is_same_v<Format, DctTopK>)
      return std::make_shared<const std::vector<float>>(decode_dct(codec, message, columns));
    else if constexpr (std::is_same_v<Format, LowRank>)
      return std::make_shared<const std::vector<float>>(decode_low_rank(codec, message, columns));
    else
      return nullptr;
  }
};

// Places [begin, end) of a message that is decoded in parts.
struct Decode {
  const std::vector<std::uint8_t>& message;
  std::int64_t columns, begin, end;
  std::uint64_t draw;
  float* out;

  void operator()(Wire wire) const { unpack_numbers(message.data(), begin, end, wire, out); }
  void operator()(const Quantized& codec) const { decode_quantized(codec, message.data(), begin, end, out); }
  void operator()(const TopK& codec) const { decode_top_k(codec, message, columns, begin, end, out); }
  void operator()(const RandomMask& codec) const {
    decode_mask(codec, draw, message.data(), columns, begin, end, out);
  }
  template <typename Format>
  void operator()(const Format&) const {
    throw std::logic_error("this format is decoded as a whole");
  }
};

// Calls work(begin, end, place) for all columns of the format, in blocks.
template <typename Work>
void for_each_block(const MessageFormat& format, const Work& work) {
  std::int64_t place = 0;
  for (const ColumnRange& range : format.ranges)
    for (std::int64_t begin = range.begin; begin < range.end; begin += kBlock) {
      const std::int64_t end = std::min(range.end, begin + kBlock);
      work(begin, end, place);
      place += end - begin;
    }
}

}  // namespace

MessageFormat::MessageFormat(const PayloadPart& part, std::int64_t parameters, std::uint64_t draw)
    : ranges(ranges_of(part.columns, parameters)),
      columns(column_count(part.columns, parameters)),
      codec(part.codec),
      draw(draw) {}

std::int64_t MessageFormat::place_of(std::int64_t column) const {
  std::int64_t before = 0;
  for (const ColumnRange& range : ranges) {
    if (column >= range.begin && column < range.end) return before + column - range.begin;
    before += range.size();
  }
  throw std::logic_error("column " + std::to_string(column) + " is not in the payload");
}

void RowSource::read(std::int64_t begin, std::int64_t end, float* out) const {
  if (!less) std::copy(row + begin, row + end, out);
  for (std::int64_t i = begin; less && i < end; ++i) out[i - begin] = row[i] - less[i];
}

Message::Message(MessageFormat format, std::vector<std::uint8_t> encoded)
    : format_(std::move(format)),
      encoded_(std::make_shared<const std::vector<std::uint8_t>>(std::move(encoded))) {
  if (static_cast<std::int64_t>(encoded_->size()) != format_.bytes())
    throw std::logic_error("a message of " + std::to_string(encoded_->size()) +
                           " bytes where its codec has " + std::to_string(format_.bytes()));
  decoded_ = std::visit(DecodeAll{*encoded_, format_.columns}, format_.codec.format);
}

Message Message::encoded(float* feedback) const {
  if (!source_.row) return *this;
  const Codec& codec = format_.codec;
  if ((codec.feedback != Feedback::kNone) != (feedback != nullptr))
    throw std::logic_error("a codec that feeds back needs its row, and no other has one");
  const FeedbackStep step(codec);
  std::vector<float> values(as_index(format_.columns));
  for_each_block(format_, [&](std::int64_t begin, std::int64_t end, std::int64_t place) {
    float* at = values.data() + place;
    source_.read(begin, end, at);
    for (std::int64_t i = begin; feedback && i < end; ++i)
      at[i - begin] = step.encoded(at[i - begin], feedback[i]);
  });
  Message message(format_, std::visit(Encode{values, format_.draw}, codec.format));
  if (feedback)
    for_each_block(format_, [&](std::int64_t begin, std::int64_t end, std::int64_t place) {
      float sent[kBlock];
      message.read(begin, end, sent);
      for (std::int64_t i = begin; i < end; ++i)
        feedback[i] = step.next(values[as_index(place + i - begin)], feedback[i], sent[i - begin]);
    });
  return message;
}

std::int64_t Message::size() const {
  return source_.row ? format_.bytes() : static_cast<std::int64_t>(encoded_->size());
}

void Message::read(std::int64_t begin, std::int64_t end, float* out) const {
  const Wire* wire = std::get_if<Wire>(&format_.codec.format);
  if (source_.row) {
    if (!wire) throw std::logic_error("only plain numbers are read from the rows themselves");
    if (!source_.less) return round_to_wire(source_.row + begin, out, end - begin, *wire);
    source_.read(begin, end, out);
    return round_to_wire(out, out, end - begin, *wire);
  }
  const std::int64_t place = format_.place_of(begin);
  if (decoded_) {
    std::copy_n(decoded_->data() + place, end - begin, out);
    return;
  }
  std::visit(Decode{*encoded_, format_.columns, place, place + end - begin, format_.draw, out},
             format_.codec.format);
}

void Message::travelling(std::int64_t begin, std::int64_t end, bool* out) const {
  const RandomMask* mask = std::get_if<RandomMask>(&format_.codec.format);
  std::fill(out, out + (end - begin), !mask);
  const std::int64_t place = format_.place_of(begin);
  if (mask)
    for_each_drawn(*mask, format_.draw, format_.columns, place, place + end - begin,
                   [&](std::int64_t column, std::int64_t) { out[column - place] = true; });
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

void weighted_mean_of(const std::vector<const Message*>& messages, const std::vector<float>& weights,
                      std::int64_t begin, std::int64_t end, float* out) {
  float next[kBlock];
  std::fill(out, out + (end - begin), 0.F);
  for (std::size_t m = 0; m < messages.size(); ++m) {
    messages[m]->read(begin, end, next);
    for (std::int64_t i = 0; i < end - begin; ++i) out[i] += weights[m] * next[i];
  }
}

}  // namespace longhaul
