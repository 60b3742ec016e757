#include "analysis/timeline_transfers.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "analysis/csv_stream.h"
#include "analysis/replay_files.h"
#include "core/index.h"

namespace longhaul {
namespace {

// Gives each message the first lane that is free when it starts.
class Lanes {
 public:
  Lanes(int first, const char* name, TimelineWriter& out) : first_(first), name_(name), out_(out) {}

  int take(std::int64_t replica, Nanoseconds start, Nanoseconds end) {
    std::vector<Nanoseconds>& free_from = free_from_[replica];
    const auto free =
        std::find_if(free_from.begin(), free_from.end(), [&](Nanoseconds time) { return time <= start; });
    const auto lane = as_index(free - free_from.begin());
    if (free == free_from.end()) {
      free_from.push_back(end);
      out_.name_lane(replica, first_ + static_cast<int>(lane),
                     lane == 0 ? name_ : name_ + " " + std::to_string(lane + 1));
    }
    free_from[lane] = end;
    return first_ + static_cast<int>(lane);
  }

 private:
  int first_;
  std::string name_;
  TimelineWriter& out_;
  std::map<std::int64_t, std::vector<Nanoseconds>> free_from_;
};

// Steps of the load of each replica's link: +rate where a message starts, −rate where it ends.
using Steps = std::map<std::int64_t, std::map<Nanoseconds, std::pair<double, int>>>;

void add_load(std::int64_t replica, const DrawnTransfer& one, Steps& steps) {
  const double rate =
      8e3 * static_cast<double>(one.bytes) / static_cast<double>(one.end - one.start);  // Mb/s
  auto& start = steps[replica][one.start];
  start.first += rate;
  ++start.second;
  auto& end = steps[replica][one.end];
  end.first -= rate;
  --end.second;
}

void draw_loads(const Steps& steps, const std::string& name, TimelineWriter& out) {
  for (const auto& [replica, changes] : steps) {
    double load = 0;
    int under_way = 0;
    for (const auto& [at, change] : changes) {
      load += change.first;
      under_way += change.second;
      if (under_way == 0) load = 0;  // and not the rounding of a sum
      out.counter(replica, name, at, std::round(load * 1e3) / 1e3);
    }
  }
}

}  // namespace

std::vector<DrawnTransfer> read_transfers(const std::string& case_folder) {
  std::vector<DrawnTransfer> transfers;
  const std::string file = case_folder + "/transfers.csv";
  if (!std::filesystem::exists(file)) return transfers;
  CsvStream rows(file, {"step", "exchange", "from", "to", "start_s", "done_s", "bytes"});
  while (rows.next())
    transfers.push_back({rows.integer(0), rows.integer(2), rows.integer(3), rows.integer(6),
                         std::string(rows.text(1)), nanoseconds(rows.number(4)),
                         nanoseconds(rows.number(5))});
  return transfers;
}

std::string transfers_note(const std::string& case_folder, std::size_t read) {
  const Json replay = read_json_or_null(case_folder + "/replay.json");
  const std::int64_t all = replay.is_object() ? replay.value("transfers", std::int64_t{0}) : 0;
  if (all <= static_cast<std::int64_t>(read)) return "";
  if (read == 0) return "single messages are not in it: this fidelity does not write them down";
  return "single messages are the first " + std::to_string(read) + " of " + std::to_string(all);
}

void draw_transfers(std::vector<DrawnTransfer> transfers, TimelineWriter& out) {
  std::stable_sort(transfers.begin(), transfers.end(),
                   [](const DrawnTransfer& a, const DrawnTransfer& b) { return a.start < b.start; });
  Lanes senders(kSend, "send", out), receivers(kReceive, "receive", out);
  Steps sent, received;
  std::int64_t id = 0;
  for (const DrawnTransfer& one : transfers) {
    if (one.end <= one.start) continue;
    const int from_lane = senders.take(one.from, one.start, one.end),
              to_lane = receivers.take(one.to, one.start, one.end);
    const Json arguments = {{"step", one.step}, {"bytes", one.bytes}};
    out.slice(one.from, from_lane, one.exchange + " to " + std::to_string(one.to), one.start, one.end,
              arguments);
    out.slice(one.to, to_lane, one.exchange + " from " + std::to_string(one.from), one.start, one.end,
              arguments);
    // A nanosecond before the end is still inside of the slice.
    out.arrow(++id, one.from, from_lane, one.start, one.to, to_lane, one.end - 1);
    add_load(one.from, one, sent);
    add_load(one.to, one, received);
  }
  draw_loads(sent, "sending", out);
  draw_loads(received, "receiving", out);
}

}  // namespace longhaul
