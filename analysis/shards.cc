#include "analysis/shards.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "analysis/claims.h"
#include "core/errors.h"

namespace longhaul {
namespace {

// Which shard of how many; 1/1 where the scenario was not split.
struct Split {
  int shard = 1, shards = 1;
};

Split split_of(const RunDirectory& run) {
  const Json options = run.manifest.value("options", Json::object());
  const std::string text = options.is_object() ? options.value("shard", "") : "";
  const std::size_t slash = text.find('/');
  Split split;
  if (slash == std::string::npos) return split;
  std::from_chars(text.data(), text.data() + slash, split.shard);
  std::from_chars(text.data() + slash + 1, text.data() + text.size(), split.shards);
  return split.shard >= 1 && split.shard <= split.shards ? split : Split();
}

struct Shards {
  std::vector<RunDirectory> parts;  // one, where the scenario was not split

  bool takes(const RunDirectory& run) const {
    const Split split = split_of(run);
    return split.shards > 1 && std::all_of(parts.begin(), parts.end(), [&](const RunDirectory& part) {
             const Split other = split_of(part);
             return split.shards == other.shards && split.shard != other.shard &&
                    run.manifest.value("scenario_hash", "") == part.manifest.value("scenario_hash", "");
           });
  }
};

std::string joined(const Shards& shards, const char* key, const std::string& separator) {
  std::vector<std::string> lines;
  for (const RunDirectory& part : shards.parts) {
    const std::string line = part.manifest.value(key, "");
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  return join(lines, separator);
}

Json joined_manifest(const Shards& shards) {
  Json manifest = shards.parts.front().manifest;
  manifest["command"] = joined(shards, "command", "\n");
  manifest["host"] = joined(shards, "host", ", ");
  double wall_s = 0;
  for (const RunDirectory& part : shards.parts) {
    wall_s += part.manifest.value("wall_s", 0.);
    manifest["started"] = std::min(manifest.value("started", ""), part.manifest.value("started", ""));
    manifest["finished"] = std::max(manifest.value("finished", ""), part.manifest.value("finished", ""));
  }
  manifest["wall_s"] = wall_s;
  return manifest;
}

std::vector<std::string> missing_shards(const Shards& shards) {
  const int all = split_of(shards.parts.front()).shards;
  std::vector<std::string> missing;
  for (int shard = 1; shard <= all; ++shard)
    if (std::none_of(shards.parts.begin(), shards.parts.end(),
                     [&](const RunDirectory& part) { return split_of(part).shard == shard; }))
      missing.push_back(std::to_string(shard) + "/" + std::to_string(all));
  return missing;
}

void add_cases(const Shards& shards, RunDirectory& run) {
  std::vector<std::string> folders;
  for (const RunDirectory& part : shards.parts) {
    folders.push_back(std::filesystem::path(part.folder).lexically_normal().string());
    for (const Json& record : part.records) {
      run.records.push_back(record);
      run.shard_folders[record["case"]] = part.folder;
    }
  }
  run.folder = join(folders, ", ");
  const auto number = [](const Json& record) { return record.value("number", std::int64_t{0}); };
  std::stable_sort(run.records.begin(), run.records.end(),
                   [&](const Json& a, const Json& b) { return number(a) < number(b); });
}

RunDirectory whole(const Shards& shards) {
  const RunDirectory& first = shards.parts.front();
  if (split_of(first).shards == 1) return first;
  RunDirectory run;
  run.manifest = joined_manifest(shards);
  run.written = first.written;
  run.summary = first.summary;
  add_cases(shards, run);
  run.missing_shards = missing_shards(shards);
  const std::size_t all = first.summary.value("scenario_cases", run.records.size());
  run.missing_cases = all > run.records.size() ? all - run.records.size() : 0;
  const Json scenario = run.manifest.value("scenario", Json::object());
  run.summary["cases"] = run.records;
  run.summary["claims"] =
      judge_claims(scenario.value("claims", Json::array()), run.records, run.missing_cases);
  return run;
}

}  // namespace

void join_shards(std::vector<RunDirectory>& runs) {
  std::vector<Shards> groups;
  for (RunDirectory& run : runs) {
    const auto known =
        std::find_if(groups.begin(), groups.end(), [&](const Shards& group) { return group.takes(run); });
    if (known == groups.end())
      groups.push_back({{std::move(run)}});
    else
      known->parts.push_back(std::move(run));
  }
  runs.clear();
  for (const Shards& group : groups) runs.push_back(whole(group));
}

}  // namespace longhaul
