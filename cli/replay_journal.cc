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

// What decides a replay: the case as it is resolved, the files that its network names, the rules of the
// trace, whose collectives an estimate changes, and which steps are kept. Groups are drawn from the case's
// seed.
std::string key_of(const ReplayTask& task) {
  Trace rules;
  rules.context = task.trace.context;
  rules.plan = task.trace.plan;
  rules.evaluate_every = task.trace.evaluate_every;
  std::ostringstream trace;
  write_trace(rules, trace);
  std::string text = task.config.resolved.dump() + "\n" + trace.str() + Json(task.kept).dump() + "\n";
  const Json topology = member(task.config.resolved.at("network"), "topology");
  for (const Json& options : topology)
    for (const char* name : {"file", "matrix"})
      if (const Json file = member(options, name); file.is_string())
        text += read_file((std::filesystem::path(task.config.folder) / file.get<std::string>()).string())
                    .value_or("") +
                "\n";
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Json totals_json(const ReplicaTotals& of) {
  return {of.compute_s, of.idle_s,        of.clock_s,      of.bytes_sent, of.bubble_s, of.stage_wait_s,
          of.stage,     of.inside_wait_s, of.useful_steps, of.lost_s,     of.gone_s};
}

ReplicaTotals totals_of(const Json& json) {
  return {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4), json.at(5),
          json.at(6), json.at(7), json.at(8), json.at(9), json.at(10)};
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

}  // namespace

ReplayJournal::ReplayJournal(std::string file, const Json& of_what, const std::string& before)
    : file_(std::move(file)) {
  const std::string header = of_what.dump() + "\n";
  std::string kept;
  if (!before.empty()) {
    std::istringstream lines(read_file(before).value_or(""));
    std::string line;
    if (std::getline(lines, line) && line + "\n" != header)
      throw InputError("--resume", before + " has the replays of another plan file, or of another longhaul",
                       "what this plan and this program have left", "without --resume it is made anew");
    while (std::getline(lines, line) && !lines.eof()) {
      const Json entry = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!entry.is_object()) break;
      known_[entry.at("key")] = std::make_shared<const ReplayedTimes>(times_of(entry.at("times")));
      kept += line + "\n";
    }
    taken_over_ = known_.size();
  }
  out_.open(file_, std::ios::trunc);
  out_ << header << kept << std::flush;
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
  const Json entry = {{"key", key}, {"name", task.name}, {"times", times_json(*task.times)}};
  const std::lock_guard lock(mutex_);
  known_[key] = task.times;
  out_ << entry.dump() << "\n" << std::flush;
  if (!out_) throw unwritable(file_);
}

}  // namespace longhaul
