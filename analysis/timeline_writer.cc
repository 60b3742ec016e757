#include "analysis/timeline_writer.h"

#include <cmath>
#include <cstdio>

#include "core/errors.h"

namespace longhaul {
namespace {

const char* category(int lane) {
  static const char* const names[] = {"", "compute", "wait", "exchange", "overlapped exchange"};
  return lane >= kReceive ? "receive" : lane >= kSend ? "send" : names[lane];
}

std::string microseconds(Nanoseconds ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(ns / 1000),
                static_cast<long long>(ns % 1000));
  return text;
}

bool ends_in_gz(const std::string& file) {
  return file.size() > 3 && file.compare(file.size() - 3, 3, ".gz") == 0;
}

}  // namespace

Nanoseconds nanoseconds(double seconds) {
  return std::llround(seconds * 1e9);
}

// "T": zlib writes the bytes as they are.
TimelineWriter::TimelineWriter(const std::string& file, const TimelineNotes& notes, std::int64_t replicas)
    : file_(file), out_(gzopen(file.c_str(), ends_in_gz(file) ? "wb" : "wbT")) {
  if (!out_) throw RunError(file_ + ": cannot be written");
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
                           Nanoseconds end, const Json& arguments) {
  if (end <= start) return;
  event({{"name", name},
         {"cat", category(lane)},
         {"ph", "X"},
         {"pid", replica},
         {"tid", lane},
         {"args", arguments}},
        ",\"ts\":" + microseconds(start) + ",\"dur\":" + microseconds(end - start));
}

void TimelineWriter::arrow(std::int64_t id, std::int64_t from, int from_lane, Nanoseconds start,
                           std::int64_t to, int to_lane, Nanoseconds end) {
  const Json common = {{"name", "message"}, {"cat", "message"}, {"id", id}};
  Json begin = common, finish = common;
  begin.update({{"ph", "s"}, {"pid", from}, {"tid", from_lane}});
  finish.update({{"ph", "f"}, {"bp", "e"}, {"pid", to}, {"tid", to_lane}});
  event(begin, ",\"ts\":" + microseconds(start));
  event(finish, ",\"ts\":" + microseconds(end));
}

void TimelineWriter::counter(std::int64_t replica, const std::string& name, Nanoseconds at, double value) {
  event({{"name", name}, {"ph", "C"}, {"pid", replica}, {"args", {{"Mb/s", value}}}},
        ",\"ts\":" + microseconds(at));
}

void TimelineWriter::name_lane(std::int64_t replica, int lane, const std::string& name) {
  event({{"name", "thread_name"}, {"ph", "M"}, {"pid", replica}, {"tid", lane}, {"args", {{"name", name}}}});
  event({{"name", "thread_sort_index"},
         {"ph", "M"},
         {"pid", replica},
         {"tid", lane},
         {"args", {{"sort_index", lane}}}});
}

void TimelineWriter::finish() {
  write("\n]}\n");
  const bool closed = gzclose(out_) == Z_OK;
  out_ = nullptr;
  if (failed_ || !closed) throw RunError(file_ + ": cannot be written (is the disk full?)");
}

void TimelineWriter::name_replica(std::int64_t replica) {
  event({{"name", "process_name"},
         {"ph", "M"},
         {"pid", replica},
         {"args", {{"name", "replica " + std::to_string(replica)}}}});
  event({{"name", "process_sort_index"}, {"ph", "M"}, {"pid", replica}, {"args", {{"sort_index", replica}}}});
  for (int lane = kCompute; lane <= kOverlapped; ++lane) name_lane(replica, lane, category(lane));
}

void TimelineWriter::event(const Json& json, const std::string& times) {
  std::string text = json.dump();
  text.pop_back();
  write((first_ ? "\n" : ",\n") + text + times + '}');
  first_ = false;
}

void TimelineWriter::write(const std::string& text) {
  failed_ = failed_ || gzwrite(out_, text.data(), static_cast<unsigned>(text.size())) <= 0;
}

}  // namespace longhaul
