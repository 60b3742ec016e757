#include "cli/live_display.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/base/printable.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

using SteadyClock = std::chrono::steady_clock;

bool live_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) && term && std::strcmp(term, "dumb") != 0;
}

double seconds_since(SteadyClock::time_point then) {
  return std::chrono::duration<double>(SteadyClock::now() - then).count();
}

}  // namespace

int terminal_columns(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string cut_to_columns(const std::string& text, int columns) {
  int used = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    const bool begins_character = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    if (begins_character && ++used > columns) break;
  }
  return text.substr(0, end);
}

LiveDisplay::LiveDisplay(bool quiet) : quiet_(quiet), terminal_(live_terminal()) {
  start_phase();
}

LiveDisplay::~LiveDisplay() {
  erase();
}

void LiveDisplay::start_phase() {
  phase_start_ = last_ = SteadyClock::now();
}

void LiveDisplay::update(const std::string& phase, double fraction, const std::string& now) {
  if (quiet_ || seconds_since(last_) < (terminal_ ? 0.1 : 10)) return;
  last_ = SteadyClock::now();
  const double elapsed = seconds_since(phase_start_);
  std::string text = fmt::format("{} {} %", phase, static_cast<int>(100 * fraction));
  if (fraction > 0.01) text += ", ETA " + human_duration(elapsed * (1 - fraction) / fraction);
  text = printable(text + ": " + now);
  if (!terminal_) {
    std::fprintf(stderr, "%s\n", text.c_str());
    return;
  }
  // One column stays free: a terminal may go to the next line after the last one, and that cannot be erased.
  text = cut_to_columns(text, terminal_columns(STDERR_FILENO) - 1);
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void LiveDisplay::line(const std::string& text) {
  if (quiet_) return;
  erase();
  say(stderr, text + "\n");
}

void LiveDisplay::erase() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace longhaul
