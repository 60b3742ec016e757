// How a child (longhaul-train, longhaul-sim) tells longhaul where it is: JSON lines on a descriptor of its
// own (docs/formats.md, "protocol"). Without a descriptor, the child was started by hand and writes to the
// terminal.
#pragma once

#include <chrono>
#include <string>

#include "core/options.h"

namespace longhaul {

constexpr int kProtocolVersion = 1;

class ProgressReporter {
 public:
  // `descriptor` < 0: a line a second on stderr, or nothing with `quiet`.
  ProgressReporter(std::string program, int descriptor, bool quiet);

  // At most ten a second get through; the last one (done == total) always does. `text` is for people.
  void progress(double done, double total, const std::string& unit, const std::string& text);
  // The last word of a child: what it made, or why it could not.
  void finished(const Json& result);
  void failed(const std::string& message, int exit_status);

 private:
  void send(const Json& message);

  std::string program_;
  int descriptor_;
  bool quiet_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace longhaul
