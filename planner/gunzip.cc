#include "planner/gunzip.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "core/base/json.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

class Inflater {
 public:
  Inflater() {
    constexpr int kOnlyGzip = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kOnlyGzip) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // One member; `bytes` becomes what follows it.
  void append_member(std::string_view& bytes, std::string& text) {
    std::array<unsigned char, 65536> piece{};
    int status = Z_OK;
    while (status == Z_OK) {
      const std::size_t given = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
      // zlib's type is not const where it only reads.
      stream_.next_in = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
      stream_.avail_in = static_cast<uInt>(given);
      stream_.next_out = piece.data();
      stream_.avail_out = static_cast<uInt>(piece.size());
      status = inflate(&stream_, Z_NO_FLUSH);
      bytes.remove_prefix(given - stream_.avail_in);
      text.append(reinterpret_cast<const char*>(piece.data()), piece.size() - stream_.avail_out);
      if (text.size() > kLargestJson)
        throw InputError(
            "", fmt::format("has more than {}, decompressed", human_bytes(static_cast<double>(kLargestJson))),
            "");
    }
    if (status == Z_BUF_ERROR)
      throw InputError("", "cannot be read: was compressed with gzip, and was cut off", "");
    if (status != Z_STREAM_END)
      throw InputError("", "cannot be read: was compressed with gzip, and is damaged", "");
    inflateReset(&stream_);
  }

 private:
  z_stream stream_ = {};
};

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.substr(0, 2) == "\x1f\x8b";
}

std::string gunzip(std::string_view bytes) {
  std::string text;
  Inflater inflater;
  do {
    inflater.append_member(bytes, text);
    bytes.remove_prefix(
        std::min(bytes.find_first_not_of('\0'), bytes.size()));  // what fills a block of a tape
  } while (!bytes.empty());
  return text;
}

}  // namespace longhaul
