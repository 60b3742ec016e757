#include "trainer/codecs/message.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/index.h"
#include "trainer/codecs/dct.h"
#include "trainer/codecs/low_rank.h"
#include "trainer/codecs/mask.h"
#include "trainer/codecs/top_k.h"
#include "trainer/codecs/wire_format.h"

namespace longhaul {
namespace {

// Error feedback on one column, the sender's half (core/codecs/codec.h has the equations).
struct FeedbackStep {
  explicit FeedbackStep(const Codec& codec) : kind(codec.feedback), decay(static_cast<float>(codec.decay)) {}

  // What is encoded of a value; `row` is e or g.
  float encoded(float value, float row) const {
    return kind == Feedback::kEf21 ? value - row : value + decay * row;
  }
  // e or g when of `encoded` was decoded what `sent` says.
  float next(float encoded, float row, float sent) const {
    return kind == Feedback::kEf21 ? row + sent : encoded - sent;
  }

  Feedback kind;
  float decay;
};

// Of a format that is decoded in parts, or as a whole.
template <typename Format>
std::vector<float> decode_whole(const Format&, const EncodedRow&) {
  return {};
}
template <typename Format>
auto decode(const Format& format, const EncodedRow& message, std::int64_t, std::int64_t, float*)
    -> decltype(longhaul::decode_whole(format, message), void()) {
  throw std::logic_error("this format is decoded as a whole");
}

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
  std::vector<float> whole = std::visit(
      [&](const auto& codec) {
        return decode_whole(codec, EncodedRow{encoded_->data(), format_.columns, format_.draw});
      },
      format_.codec.format);
  if (!whole.empty()) decoded_ = std::make_shared<const std::vector<float>>(std::move(whole));
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
  Message message(format_,
                  std::visit(
                      [&](const auto& format) {
                        return encode(format, PlainRow{values.data(), format_.columns, format_.draw});
                      },
                      codec.format));
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
  const EncodedRow message{encoded_->data(), format_.columns, format_.draw};
  std::visit([&](const auto& codec) { decode(codec, message, place, place + end - begin, out); },
             format_.codec.format);
}

void Message::read_places(std::int64_t begin, std::int64_t end, float* out) const {
  std::int64_t before = 0;
  for (const ColumnRange& range : format_.ranges) {
    const std::int64_t last = std::min(end, before + range.size());
    for (std::int64_t at = std::max(begin, before); at < last; at += kBlock) {
      const std::int64_t column = range.begin + at - before;
      read(column, column + std::min(kBlock, last - at), out + (at - begin));
    }
    before += range.size();
  }
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

namespace {

template <typename Format>
std::vector<Kept> kept_by(const Format&, const EncodedRow&) {
  throw std::logic_error("a message of this codec has all columns");
}
template <typename Format>
std::vector<float> columns_of_kept(const Format&, const std::vector<float>&) {
  throw std::logic_error("a message of this codec has all columns");
}

}  // namespace

std::vector<Kept> kept_by(const Message& message) {
  const MessageFormat& format = message.format();
  const EncodedRow encoded{message.bytes().data(), format.columns, format.draw};
  return std::visit([&](const auto& codec) { return kept_by(codec, encoded); }, format.codec.format);
}

void add_kept(const std::vector<Kept>& kept, std::int64_t begin, std::int64_t end, SenderSum* sums) {
  auto item = std::lower_bound(kept.begin(), kept.end(), begin,
                               [](const Kept& a, std::int64_t place) { return a.place < place; });
  for (; item != kept.end() && item->place < end; ++item) {
    sums[item->place].sum += item->value;
    ++sums[item->place].senders;
  }
}

std::vector<float> mean_of_sums(const MessageFormat& format, const std::vector<SenderSum>& sums) {
  std::vector<float> mean(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i].senders > 0) mean[i] = sums[i].sum / static_cast<float>(sums[i].senders);
  return std::visit([&](const auto& codec) { return columns_of_kept(codec, mean); }, format.codec.format);
}

std::vector<float> mean_of_senders(const std::vector<const Message*>& messages) {
  const MessageFormat& format = messages.front()->format();
  std::vector<SenderSum> sums(as_index(format.columns));
  for (const Message* message : messages) add_kept(kept_by(*message), 0, format.columns, sums.data());
  return mean_of_sums(format, sums);
}

}  // namespace longhaul
