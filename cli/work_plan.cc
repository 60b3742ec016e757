#include "cli/work_plan.h"

#include <charconv>
#include <map>

#include "core/base/errors.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

bool read_number(const std::string& text, int& value) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && rest == text.data() + text.size();
}

}  // namespace

Shard parse_shard(const std::string& text) {
  Shard shard;
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || !read_number(text.substr(0, slash), shard.index) ||
      !read_number(text.substr(slash + 1), shard.count) || shard.index < 1 || shard.index > shard.count)
    throw InputError("--shard", "found \"" + text + "\"", "i/n with 1 <= i <= n, as 2/5");
  return shard;
}

WorkPlan plan_work(const Scenario& scenario, const Shard& shard) {
  WorkPlan plan;
  std::map<std::string, int> group_of;  // by training key, or the case's own name
  std::map<std::string, std::size_t> training_of;
  for (const Case& config : scenario.cases) {
    const std::string key = config.train ? training_key(config) : "";
    const int group =
        group_of.emplace(key.empty() ? config.name : key, static_cast<int>(group_of.size())).first->second;
    if (group % shard.count != shard.index - 1) continue;
    plan.cases.push_back(&config);
    if (key.empty()) continue;
    const auto [entry, is_new] = training_of.emplace(key, plan.trainings.size());
    if (is_new) plan.trainings.push_back({key, &config, {}});
    plan.trainings[entry->second].cases.push_back(&config);
  }
  return plan;
}

}  // namespace longhaul
