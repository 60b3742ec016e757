#include "analysis/report/outer_step.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <vector>

#include "analysis/exchange_table.h"
#include "analysis/record_values.h"
#include "analysis/run_files.h"
#include "core/base/csv.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

struct Lane {
  double from = 0, ready = 0, start = 0, done = 0;
  int group = 0;
  std::vector<std::pair<double, double>> ahead;
};

using StepLanes = std::map<std::int64_t, Lane>;  // by replica

std::vector<std::int64_t> outer_steps(const std::string& case_folder) {
  std::vector<std::int64_t> steps;
  for (ExchangeTable rows(case_folder); rows.next();)
    if (!rows.overlaps() && (steps.empty() || steps.back() != rows.step())) steps.push_back(rows.step());
  return steps;
}

StepLanes read_lanes(const std::string& case_folder, std::int64_t former, std::int64_t step) {
  StepLanes lanes;
  for (ExchangeTable rows(case_folder); rows.next() && rows.step() <= step;) {
    if (rows.step() < former) continue;
    Lane& lane = lanes[rows.replica()];
    const double ready = rows.ready_s(), start = rows.start_s(), done = rows.done_s();
    if (rows.overlaps()) {
      if (rows.step() < step) lane.ahead.push_back({start, done});
    } else if (rows.step() == step) {
      // Of exchanges that follow each other the first is waited for; the rest counts as its exchange.
      if (lane.done == 0) {
        lane.ready = ready;
        lane.start = start;
      }
      lane.done = done;
    } else {
      lane.from = done;
    }
  }
  return lanes;
}

void read_groups(const std::string& trace_file, std::int64_t step, StepLanes& lanes) {
  std::ifstream in(trace_file);
  const std::string wanted = "\"step\":" + std::to_string(step);
  for (std::string line; std::getline(in, line);) {
    if (line.find(wanted) == std::string::npos || line.find("\"groups\"") == std::string::npos) continue;
    const auto groups = reading(trace_file, [&] {
      const Json exchange = parse_json(line);
      const bool is_wanted = exchange.at("step").get<std::int64_t>() == step;
      return is_wanted ? exchange.at("groups").get<std::vector<std::vector<std::int64_t>>>()
                       : std::vector<std::vector<std::int64_t>>();
    });
    if (groups.empty()) continue;
    for (std::size_t number = 0; number < groups.size(); ++number)
      for (const std::int64_t replica : groups[number]) {
        if (groups[number].size() == 1) lanes.try_emplace(replica);  // sits out
        if (const auto lane = lanes.find(replica); lane != lanes.end())
          lane->second.group = static_cast<int>(number);
      }
    return;  // the first rule of the step is the one that blocks
  }
}

bool is_known(const Lane& lane, std::int64_t former) {
  return lane.done > 0 && (lane.from > 0 || former == 0);
}

// Who exchanges nothing at a step has no row of it: steps.csv says when it goes on. Where that has not all
// steps the lane is left out, or begins where the first of the others does.
void complete(const std::string& case_folder, std::int64_t former, std::int64_t step, StepLanes& lanes) {
  const auto lacks = [&](const auto& entry) { return !is_known(entry.second, former); };
  if (none_of(lanes, lacks)) return;
  for (CsvStream rows(case_folder + "/steps.csv", {"step", "replica", "computed_s", "done_s"});
       rows.next();) {
    const std::int64_t at = rows.integer(0);
    if (at > step) break;
    const auto lane = lanes.find(rows.integer(1));
    if (lane == lanes.end()) continue;
    if (at == former && lane->second.from == 0) lane->second.from = rows.number(3);
    if (at == step && lane->second.done == 0)
      lane->second.ready = lane->second.start = lane->second.done = rows.number(2);
  }
  double first = std::numeric_limits<double>::infinity();
  for (const auto& [replica, lane] : lanes)
    if (is_known(lane, former)) first = std::min(first, lane.from);
  for (auto at = lanes.begin(); at != lanes.end();) {
    if (former > 0 && at->second.from == 0) at->second.from = first;
    at = at->second.done == 0 ? lanes.erase(at) : std::next(at);
  }
}

// Whole groups, so that no replica seems to wait for one that is not there.
std::vector<std::int64_t> order_of(const StepLanes& lanes, std::size_t most) {
  std::vector<std::int64_t> order;
  for (const auto& entry : lanes) order.push_back(entry.first);
  stable_sort(order, [&](auto a, auto b) { return lanes.at(a).group < lanes.at(b).group; });
  if (order.size() <= most) return order;
  std::size_t end = most;
  while (end > 0 && lanes.at(order[end - 1]).group == lanes.at(order[end]).group) --end;
  order.resize(end > 0 ? end : most);
  return order;
}

Json to_json(std::int64_t replica, const Lane& lane, double origin) {
  const auto since = [&](double time) { return six_digits(time - origin); };
  Json json = {{"replica", replica},         {"group", lane.group},        {"from", since(lane.from)},
               {"ready", since(lane.ready)}, {"start", since(lane.start)}, {"done", since(lane.done)}};
  for (const auto& [start, done] : lane.ahead) json["ahead"].push_back({since(start), since(done)});
  return json;
}

}  // namespace

Json outer_step_of(const std::string& case_folder, std::size_t most) {
  if (!std::filesystem::exists(case_folder + "/exchanges.csv")) return nullptr;
  const std::vector<std::int64_t> steps = outer_steps(case_folder);
  if (steps.empty()) return nullptr;
  const std::size_t index = steps.size() / 2;
  const std::int64_t step = steps[index], former = index > 0 ? steps[index - 1] : 0;
  StepLanes lanes = read_lanes(case_folder, former, step);
  read_groups(case_folder + "/trace.jsonl", step, lanes);
  complete(case_folder, former, step, lanes);
  double origin = std::numeric_limits<double>::infinity();
  for (const auto& entry : lanes) origin = std::min(origin, entry.second.from);
  Json json = {{"step", step},        {"index", index + 1},       {"count", steps.size()},
               {"from_step", former}, {"replicas", lanes.size()}, {"lanes", Json::array()}};
  for (const std::int64_t replica : order_of(lanes, most))
    json["lanes"].push_back(to_json(replica, lanes[replica], origin));
  return json;
}

}  // namespace longhaul
