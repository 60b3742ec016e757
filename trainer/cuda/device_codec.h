// A codec on the GPU: messages of rows that lie in its memory, with the very bytes of codecs/message.h.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/codecs/codec.h"
#include "trainer/codecs/message.h"
#include "trainer/cuda/codec_rows.h"
#include "trainer/cuda/device_table.h"
#include "trainer/device/cuda_device.h"

namespace longhaul {

// Tables are row-major [R, P] in device memory. Besides the messages it keeps two tables [R, columns], with
// DCT four, with a random mask two smaller ones. Each call's work is put on the stream and not waited for.
class DeviceCodec {
 public:
  DeviceCodec(const MessageFormat& format, std::int64_t rows, std::int64_t parameters);

  // The messages of row, or of row - less, of all rows at once. `feedback` is e or g where the codec feeds
  // back, and is brought up to date; null where it does not.
  void encode(const float* row, const float* less, float* feedback, CudaStream stream);

  const std::uint8_t* messages() const { return messages_.get(); }  // [R, format.bytes()]
  const float* sent() const { return sent_.get(); }                 // [R, format.columns], decoded
  std::vector<std::uint8_t> read_messages() const { return messages_.read(); }
  std::vector<float> read_sent() const { return sent_.read(); }

 private:
  struct Basis {
    DeviceTable<float> forward, inverse;
  };

  template <typename Format>
  void encode_values(const Format& format, CudaStream stream);  // of pieces (codecs/pieces.h)
  void encode_values(const DctTopK& codec, CudaStream stream);
  void encode_values(const LowRank& codec, CudaStream stream);
  void encode_values(const RandomMask& codec, CudaStream stream);
  void encode_matrix(const LowRank& codec, const MatrixRows& matrix, std::int64_t message, CudaStream stream);
  void encode_part(const RowNumbers& numbers, std::int64_t columns, std::int64_t first, std::int64_t size,
                   std::int64_t message, const float* values, float* sent, CudaStream stream);
  template <typename Code>
  void encode_pieces(const Pieces& pieces, const Code& code, const float* values, float* sent,
                     CudaStream stream);

  MessageFormat format_;
  std::int64_t rows_, parameters_;
  DeviceTable<float> values_, sent_;
  DeviceTable<std::uint8_t> messages_;
  DeviceTable<float> coefficients_, half_;  // of DCT
  std::map<std::int64_t, Basis> bases_;     // of DCT, by side
  DeviceTable<std::int64_t> drawn_;         // of a random mask: the columns that travel
  DeviceTable<float> row_, sent_row_;       // [R, drawn], of a random mask
  // Of low rank, with room for the largest matrix: P and Q [R, rank, length], as they are decoded, and the
  // start by the matrices' rows.
  DeviceTable<float> left_, right_, sent_left_, sent_right_;
  std::map<std::int64_t, DeviceTable<float>> starts_;
};

}  // namespace longhaul
