#include "core/progress.h"

#include <unistd.h>

#include <cstdio>

#include "core/index.h"

namespace longhaul {

ProgressReporter::ProgressReporter(std::string program, int descriptor, bool quiet)
    : program_(std::move(program)), descriptor_(descriptor), quiet_(quiet) {
  send({{"protocol", kProtocolVersion}, {"program", program_}});
}

void ProgressReporter::progress(double done, double total, const std::string& unit, const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  const auto interval = std::chrono::milliseconds(descriptor_ < 0 ? 1000 : 100);
  if (done < total && now - last_ < interval) return;
  last_ = now;
  send({{"done", done}, {"total", total}, {"unit", unit}, {"text", text}});
  if (descriptor_ < 0 && !quiet_)
    std::fprintf(stderr, "%s: %.0f of %.0f %s, %s\n", program_.c_str(), done, total, unit.c_str(),
                 text.c_str());
}

void ProgressReporter::finished(const Json& result) {
  send({{"result", result}});
}

void ProgressReporter::failed(const std::string& message, int exit_status) {
  send({{"error", message}, {"exit", exit_status}});
  if (descriptor_ < 0) std::fprintf(stderr, "%s: error: %s\n", program_.c_str(), message.c_str());
}

// A parent that is gone is no reason to stop here: death with the parent is arranged elsewhere
// (child_main.h).
void ProgressReporter::send(const Json& message) {
  if (descriptor_ < 0) return;
  const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(descriptor_, line.data() + written, line.size() - written);
    if (count <= 0) return;
    written += as_index(count);
  }
}

}  // namespace longhaul
