#include "cli/replay_journal.h"

#include <fmt/core.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <filesystem>
#include <sstream>
#include <vector>

#include "core/base/errors.h"
#include "core/base/files.h"

namespace longhaul {
namespace {

std::string hash_of(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// The content of every file that a text in it names: graphs, matrices, traces of links.
void add_files(const Json& json, const std::string& folder, std::string& text) {
  if (json.is_structured())
    for (const Json& inner : json) add_files(inner, folder, text);
  if (!json.is_string()) return;
  std::error_code unknown;
  const std::filesystem::path file = std::filesystem::path(folder) / json.get<std::string>();
  if (std::filesystem::is_regular_file(file, unknown)) text += read_file(file.string()).value_or("") + "\n";
}

// What decides a replay: the case as it is resolved, the files that it names, the rules of the trace, whose
// collectives an estimate changes, and which steps are kept. Groups are drawn from the case's seed.
std::string key_of(const ReplayTask& task) {
  Trace rules;
  rules.context = task.trace.context;
  rules.plan = task.trace.plan;
  rules.evaluate_every = task.trace.evaluate_every;
  std::ostringstream trace;
  write_trace(rules, trace);
  Json resolved = task.config.resolved;
  resolved.erase("folder");  // a plan's folder may be moved
  std::string text = resolved.dump() + "\n" + trace.str() + Json(task.kept).dump() + "\n";
  add_files(resolved, task.config.folder, text);
  return hash_of(text);
}

Json totals_json(const ReplicaTotals& of) {
  return {of.compute_s,    of.idle_s,       of.clock_s,       of.bytes_sent,   of.bubble_s,
          of.stage_wait_s, of.stage,        of.inside_wait_s, of.useful_steps, of.lost_s,
          of.gone_s,       of.batch_wait_s, of.cut_wait_s};
}

ReplicaTotals totals_of(const Json& json) {
  return {json.at(0), json.at(1), json.at(2), json.at(3),  json.at(4),  json.at(5), json.at(6),
          json.at(7), json.at(8), json.at(9), json.at(10), json.at(11), json.at(12)};
}

Json times_json(const ReplayedTimes& times) {
  Json exchanges = Json::array(), totals = Json::array(), loads = Json::array();
  for (const ExchangeSpan& span : times.exchanges)
    exchanges.push_back({span.step, span.rule, span.first_ready_s, span.last_done_s});
  for (const ReplicaTotals& of : times.totals) totals.push_back(totals_json(of));
  for (const LinkLoad& load : times.loads) loads.push_back({load.bytes, load.busy_s});
  return {{"clocks", times.clocks.of_periods},
          {"end_s", times.clocks.end_s},
          {"exchanges", exchanges},
          {"totals", totals},
          {"loads", loads}};
}

ReplayedTimes times_of(const Json& json) {
  ReplayedTimes times;
  times.clocks.of_periods = json.at("clocks").get<std::vector<std::vector<double>>>();
  times.clocks.end_s = json.at("end_s");
  for (const Json& span : json.at("exchanges"))
    times.exchanges.push_back({span.at(0), span.at(1), span.at(2), span.at(3)});
  for (const Json& of : json.at("totals")) times.totals.push_back(totals_of(of));
  for (const Json& load : json.at("loads")) times.loads.push_back({load.at(0), load.at(1)});
  return times;
}

std::string header_of(const Json& of_what) {
  return Json{{"replays", 1}, {"of", of_what}}.dump();
}

void check_header(const std::string& line, const std::string& file, const Json& of_what) {
  if (line == header_of(of_what)) return;
  const Json header = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const Json found = member(header, "of");
  std::string what = "no replays that this program can read";
  if (found.is_object() && member(found, "program") != of_what.at("program"))
    what = fmt::format("replays of another longhaul ({}; this is {})", plain(member(found, "program")),
                       plain(of_what.at("program")));
  else if (found.is_object())
    what = member(found, "plan") != of_what.at("plan") ? "replays of another plan file"
                                                       : "replays of other measurements";
  throw InputError("--resume", file + " has " + what, "replays of this plan file by this longhaul",
                   "name a new --output instead");
}

}  // namespace

KnownReplays read_replays(const std::string& file, const Json& of_what) {
  KnownReplays known;
  std::istringstream lines(read_file(file).value_or(""));
  std::string line;
  if (!std::getline(lines, line)) return known;
  check_header(line, file, of_what);
  while (std::getline(lines, line) && !lines.eof()) {
    const Json entry = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const Json key = member(entry, "key"), times = member(entry, "times");
    if (!key.is_string() || member(entry, "hash") != hash_of(plain(key) + times.dump())) break;
    known.times[key] = std::make_shared<const ReplayedTimes>(times_of(times));
    known.lines += line + "\n";
  }
  return known;
}

ReplayJournal::ReplayJournal(std::string file, const Json& of_what, KnownReplays known)
    : file_(std::move(file)), known_(std::move(known.times)), taken_over_(known_.size()) {
  out_.open(file_, std::ios::trunc);
  out_ << header_of(of_what) << "\n" << known.lines << std::flush;
  if (!out_) throw unwritable(file_);
}

bool ReplayJournal::take(ReplayTask& task) const {
  const std::string key = key_of(task);
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  if (found == known_.end()) return false;
  task.times = found->second;
  return true;
}

void ReplayJournal::add(const ReplayTask& task) {
  const std::string key = key_of(task);
  const Json times = times_json(*task.times);
  const Json entry = {
      {"key", key}, {"name", task.name}, {"hash", hash_of(key + times.dump())}, {"times", times}};
  const std::lock_guard lock(mutex_);
  known_[key] = task.times;
  out_ << entry.dump() << "\n" << std::flush;
  if (!out_) throw unwritable(file_);
}

}  // namespace longhaul
