#include "cli/live_display.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/support/said.h"

namespace longhaul::live_display_test {

std::string read_what_is_there(int descriptor) {
  std::string text;
  char chunk[4096];
  for (pollfd ready{descriptor, POLLIN, 0}; poll(&ready, 1, 50) > 0;) {
    const ssize_t count = read(descriptor, chunk, sizeof chunk);
    if (count <= 0) break;
    text.append(chunk, static_cast<std::size_t>(count));
  }
  return text;
}

// What `use` makes a display write to standard error, which is `end` meanwhile.
template <typename Use>
std::string said(int end, int other_end, const Use& use) {
  std::fflush(stderr);
  const int former = dup(STDERR_FILENO);
  dup2(end, STDERR_FILENO);
  use();
  std::fflush(stderr);
  dup2(former, STDERR_FILENO);
  close(former);
  return read_what_is_there(other_end);
}

void one_update() {
  LiveDisplay display(/*quiet=*/false);
  std::this_thread::sleep_for(std::chrono::milliseconds(120));  // an update sooner is left out
  display.update("replay", 0.5, "noloco: 40 of 80 replica-steps, 1.5 min simulated in 2 s, 3 GB sent");
  display.line("noloco: done");
}

struct Terminal {
  explicit Terminal(unsigned short columns) {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = columns;
    EXPECT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
    setenv("TERM", "xterm", 1);
  }
  ~Terminal() {
    close(master);
    close(slave);
  }
  int master = -1, slave = -1;
};

TEST(LiveDisplay, KeepsToOneLineOfANarrowTerminal) {
  const Terminal terminal(30);
  const std::string text = said(terminal.slave, terminal.master, one_update);
  const std::string begin = "\r\x1b[K", end = "\r\x1b[Knoloco: done\r\n";
  ASSERT_EQ(text.substr(0, begin.size()), begin);
  ASSERT_EQ(text.substr(text.size() - end.size()), end) << "the line is erased before the lasting one";
  const std::string line = text.substr(begin.size(), text.size() - begin.size() - end.size());
  EXPECT_EQ(line.size(), 29u) << line;
  EXPECT_EQ(line.substr(0, 17), "replay 50 %, ETA ");
}

TEST(LiveDisplay, ShowsEverythingOnAWideOneAndNothingWhenQuiet) {
  const Terminal terminal(200);
  EXPECT_SAYS(said(terminal.slave, terminal.master, one_update), "1.5 min simulated in 2 s, 3 GB sent");
  const auto quiet = [] { LiveDisplay(/*quiet=*/true).line("noloco: done"); };
  EXPECT_EQ(said(terminal.slave, terminal.master, quiet), "");
}

TEST(LiveDisplay, SendsNoControlCodesIntoAFileOrToADumbTerminal) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  EXPECT_EQ(said(pipe_ends[1], pipe_ends[0], one_update), "noloco: done\n");
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  const Terminal terminal(80);
  setenv("TERM", "dumb", 1);
  EXPECT_EQ(said(terminal.slave, terminal.master, one_update), "noloco: done\r\n");
}

TEST(CutToColumns, CountsCharactersAndNotBytes) {
  EXPECT_EQ(cut_to_columns("9 µs, φ", 7), "9 µs, φ");
  EXPECT_EQ(cut_to_columns("9 µs, φ", 3), "9 µ");
  EXPECT_EQ(cut_to_columns("abc", 0), "");
  EXPECT_EQ(cut_to_columns("", 5), "");
}

}  // namespace longhaul::live_display_test
