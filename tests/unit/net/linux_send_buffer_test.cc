// The send buffer of fidelity `linux` beside those of Linux 6.18 and 6.1 whose receiver stopped reading:
// results/reference/kernel/held.csv, measured by validation/kernel/held.py, with segments of 1448 and 8949
// bytes. No constant was fitted on these rows.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "net/linux/sender.h"
#include "tests/unit/net/segments.h"

namespace longhaul::linux_tcp::held {
namespace {

constexpr std::int64_t kMostBuffer = 4194304;  // net.ipv4.tcp_wmem's last number, as measured

struct Held {
  std::string path, name;
  int segment = 0, connections = 0;
  std::int64_t sender_bytes = 0, sender_buffer = 0;
};

std::vector<std::string> cells_of(const std::string& line) {
  std::istringstream row(line);
  std::vector<std::string> cells;
  for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
  return cells;
}

std::vector<Held> held_rows() {
  std::ifstream file(LONGHAUL_SOURCE_DIR "/results/reference/kernel/held.csv");
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> columns = cells_of(line);
  std::vector<Held> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = cells_of(line);
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = cells.at(i);
    rows.push_back({row["path"], line, std::stoi(row["segment_bytes"]), std::stoi(row["connections"]),
                    std::stoll(row["sender_bytes"]), std::stoll(row["sender_buffer"])});
  }
  return rows;
}

struct NoNetwork : SegmentOutput {
  void transmit(std::int32_t, int, Push, bool, Nanoseconds) override {}
};

// Memory that a new connection's buffer has for each of the ten segments of its window.
std::int64_t step_of(int segment) {
  NoNetwork output;
  SenderRules rules;
  rules.segment = segment;
  rules.buffer.first = 0;
  return Sender(rules, 50 * kMillisecond, output).buffer_bytes() / 10;
}

// What `buffer` bytes of memory take in, in bytes of payload, if each segment has a buffer of its own.
std::int64_t taken_in(int segment, std::int64_t buffer) {
  NoNetwork output;
  SenderRules rules;
  rules.segment = segment;
  rules.buffer = measured_buffer();
  rules.buffer.first = rules.buffer.most = buffer;
  Sender sender(rules, 50 * kMillisecond, output);
  sender.write(1 << 30, 0);
  return std::int64_t{sender.buffered()} * segment;
}

// tcp_sndbuf_expand: a buffer is a whole number of segments' memory, or the most that tcp_wmem allows.
TEST(LinuxSendBuffer, GrowsInTheKernelsSteps) {
  const std::vector<Held> rows = held_rows();
  ASSERT_GT(rows.size(), 100u);
  for (const Held& row : rows) {
    bool fits = false;  // with some of the connections at the most
    for (int full = 0; full <= row.connections; ++full)
      fits = fits || (row.sender_buffer - full * kMostBuffer) % step_of(row.segment) == 0;
    EXPECT_TRUE(fits) << row.name;
  }
}

// Connections differ by a segment, which is 1 % of the smallest buffers.
TEST(LinuxSendBuffer, TakesInWhatTheKernelTakesIn) {
  int compared = 0;
  for (const Held& row : held_rows()) {
    if (row.path != "relay") continue;  // elsewhere several segments share a buffer
    const auto bytes =
        static_cast<double>(row.connections * taken_in(row.segment, row.sender_buffer / row.connections));
    EXPECT_NEAR(bytes / static_cast<double>(row.sender_bytes), 1, 0.01) << row.name;
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

}  // namespace
}  // namespace longhaul::linux_tcp::held
