#include "analysis/exports/timeline_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "analysis/run_declarations.h"
#include "analysis/run_files.h"
#include "core/base/csv.h"
#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"
#include "core/base/options.h"

namespace longhaul {
namespace {

const char* category(int lane) {
  static const char* const names[] = {"", "compute", "wait", "exchange", "overlapped exchange"};
  return lane >= kReceive ? "receive" : lane >= kSend ? "send" : lane >= kFault ? "fault" : names[lane];
}

// Exact decimals, which those of a double need not be.
std::string microseconds(Nanoseconds ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

// A tree of JSON for each event took half of a replay's time.
std::string quoted(const std::string& text) {
  const bool is_plain = std::all_of(text.begin(), text.end(),
                                    [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  return is_plain ? '"' + text + '"' : Json(text).dump();
}

bool ends_in_gz(const std::string& file) {
  return file.size() > 3 && file.compare(file.size() - 3, 3, ".gz") == 0;
}

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
                     lane == 0 ? name_ : fmt::format("{} {}", name_, lane + 1));
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

void add_load(std::int64_t replica, const DrawnTransfer& drawn_transfer, Steps& steps) {
  const double rate = 8e3 * static_cast<double>(drawn_transfer.bytes) /
                      static_cast<double>(drawn_transfer.end - drawn_transfer.start);  // Mb/s
  auto& start = steps[replica][drawn_transfer.start];
  start.first += rate;
  ++start.second;
  auto& end = steps[replica][drawn_transfer.end];
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

Nanoseconds nanoseconds(double seconds) {
  return std::llround(seconds * 1e9);
}

// "T": zlib writes the bytes as they are.
TimelineWriter::TimelineWriter(const std::string& file, const TimelineNotes& notes, std::int64_t replicas)
    : file_(file), out_(gzopen(file.c_str(), ends_in_gz(file) ? "wb" : "wbT")) {
  if (!out_) throw unwritable(file_);
  Json about = {{"outer_steps", notes.outer_steps}, {"last_step", notes.last_step}};
  if (!notes.sampled.empty()) about["sampled"] = notes.sampled;
  if (!notes.transfers.empty()) about["transfers"] = notes.transfers;
  write("{\"displayTimeUnit\":\"ms\",\"otherData\":" + about.dump() + ",\n\"traceEvents\":[");
  for (std::int64_t r = 0; r < replicas; ++r) name_replica(r);
}

TimelineWriter::~TimelineWriter() {
  if (out_) gzclose(out_);
}

void TimelineWriter::slice(std::int64_t replica, int lane, const std::string& name, Nanoseconds start,
                           Nanoseconds end, const std::string& arguments) {
  if (end <= start) return;
  event(fmt::format(R"("name":{},"cat":"{}","ph":"X","pid":{},"tid":{},"args":{{{}}},"ts":{},"dur":{})",
                    quoted(name), category(lane), replica, lane, arguments, microseconds(start),
                    microseconds(end - start)));
}

void TimelineWriter::arrow(std::int64_t id, std::int64_t from, int from_lane, Nanoseconds start,
                           std::int64_t to, int to_lane, Nanoseconds end) {
  const auto half = [&](const char* phase, std::int64_t replica, int lane, Nanoseconds at) {
    event(fmt::format(R"("name":"message","cat":"message","id":{},{},"pid":{},"tid":{},"ts":{})", id, phase,
                      replica, lane, microseconds(at)));
  };
  half(R"("ph":"s")", from, from_lane, start);
  half(R"("ph":"f","bp":"e")", to, to_lane, end);
}

void TimelineWriter::counter(std::int64_t replica, const std::string& name, Nanoseconds at, double value) {
  event(fmt::format(R"("name":{},"ph":"C","pid":{},"args":{{"Mb/s":{}}},"ts":{})", quoted(name), replica,
                    Json(value).dump(), microseconds(at)));
}

void TimelineWriter::name_lane(std::int64_t replica, int lane, const std::string& name) {
  event(fmt::format(R"("name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":{}}})", replica, lane,
                    quoted(name)));
  event(fmt::format(R"("name":"thread_sort_index","ph":"M","pid":{},"tid":{},"args":{{"sort_index":{}}})",
                    replica, lane, lane));
}

void TimelineWriter::finish() {
  write("\n]}\n");
  const bool closed = gzclose(out_) == Z_OK;
  out_ = nullptr;
  if (failed_ || !closed) throw unwritable(file_);
}

void TimelineWriter::name_process(std::int64_t process, const std::string& name) {
  event(
      fmt::format(R"("name":"process_name","ph":"M","pid":{},"args":{{"name":{}}})", process, quoted(name)));
  event(fmt::format(R"("name":"process_sort_index","ph":"M","pid":{},"args":{{"sort_index":{}}})", process,
                    process));
}

void TimelineWriter::name_replica(std::int64_t replica) {
  name_process(replica, fmt::format("replica {}", replica));
  for (int lane = kCompute; lane <= kOverlapped; ++lane) name_lane(replica, lane, category(lane));
}

void TimelineWriter::event(const std::string& members) {
  write((first_ ? "\n{" : ",\n{") + members + '}');
  first_ = false;
}

void TimelineWriter::write(const std::string& text) {
  failed_ = failed_ || gzwrite(out_, text.data(), static_cast<unsigned>(text.size())) <= 0;
}

std::vector<DrawnTransfer> read_transfers(const std::string& case_folder) {
  std::vector<DrawnTransfer> transfers;
  const std::string file = case_folder + "/transfers.csv";
  if (!std::filesystem::exists(file)) return transfers;
  CsvStream rows(file, {"step", "exchange", "from", "to", "start_s", "done_s", "bytes"});
  while (rows.next())
    transfers.push_back({rows.step(0), rows.worker(2), rows.worker(3), rows.integer(6),
                         std::string(rows.text(1)), nanoseconds(rows.number(4)),
                         nanoseconds(rows.number(5))});
  return transfers;
}

std::string transfers_note(const std::string& case_folder, std::size_t read) {
  const Json replay = read_json_or_null(case_folder + "/replay.json", replay_declaration());
  const std::int64_t all = replay.is_object() ? replay.value("transfers", std::int64_t{0}) : 0;
  if (all <= static_cast<std::int64_t>(read)) return "";
  if (read == 0) return "single messages are not in it: this fidelity does not write them down";
  return fmt::format("single messages are the first {} of {}", read, all);
}

void draw_transfers(std::vector<DrawnTransfer> transfers, TimelineWriter& out) {
  std::stable_sort(transfers.begin(), transfers.end(),
                   [](const DrawnTransfer& a, const DrawnTransfer& b) { return a.start < b.start; });
  Lanes senders(kSend, "send", out), receivers(kReceive, "receive", out);
  Steps sent, received;
  std::int64_t id = 0;
  for (const DrawnTransfer& drawn_transfer : transfers) {
    if (drawn_transfer.end <= drawn_transfer.start) continue;
    const int from_lane = senders.take(drawn_transfer.from, drawn_transfer.start, drawn_transfer.end),
              to_lane = receivers.take(drawn_transfer.to, drawn_transfer.start, drawn_transfer.end);
    const std::string arguments =
        fmt::format(R"("step":{},"bytes":{})", drawn_transfer.step, drawn_transfer.bytes);
    out.slice(drawn_transfer.from, from_lane,
              fmt::format("{} to {}", drawn_transfer.exchange, drawn_transfer.to), drawn_transfer.start,
              drawn_transfer.end, arguments);
    out.slice(drawn_transfer.to, to_lane,
              fmt::format("{} from {}", drawn_transfer.exchange, drawn_transfer.from), drawn_transfer.start,
              drawn_transfer.end, arguments);
    // A nanosecond before the end is still inside of the slice.
    out.arrow(++id, drawn_transfer.from, from_lane, drawn_transfer.start, drawn_transfer.to, to_lane,
              drawn_transfer.end - 1);
    add_load(drawn_transfer.from, drawn_transfer, sent);
    add_load(drawn_transfer.to, drawn_transfer, received);
  }
  draw_loads(sent, "sending", out);
  draw_loads(received, "receiving", out);
}

}  // namespace longhaul
