#include "analysis/runs/run_directory.h"

#include <fmt/core.h>

#include <charconv>
#include <filesystem>

#include "analysis/claims/claim_checks.h"
#include "analysis/claims/claims.h"
#include "analysis/run_declarations.h"
#include "analysis/run_files.h"
#include "analysis/text.h"
#include "core/base/csv.h"
#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

void join_table(const std::string& run_folder, const std::string& name, const std::string& columns,
                const std::vector<std::string>& case_names) {
  ReplacedFile joined(run_folder + "/" + name);
  joined.stream() << "case," << columns << '\n';
  for (const std::string& text : case_names) {
    const std::string file = run_folder + "/cases/" + text + "/" + name;
    if (!fs::exists(file)) continue;
    CsvStream rows(file, {});
    if (rows.has_header() && rows.line() != columns)
      throw DamagedFile(fmt::format("{}: has the columns {}, not {}", file, rows.line(), columns));
    const std::string leading = csv_quoted(text) + ",";
    while (rows.next()) joined.stream() << leading << rows.line() << '\n';
  }
  joined.commit();
}

// A case and its training name their folders, which are in the run.
void check_folder_names(const Json& record, const std::string& path) {
  for (const char* key : {"case", "training"}) {
    const std::string name = record.value(key, "");
    const bool is_of_none = name.empty() && key == std::string("training");
    if (!is_of_none && !is_file_name(name))
      throw InputError(child_path(path, key), "found " + Json(name).dump(),
                       "the name of a folder, without '/'");
  }
}

// What is wrong with it; "" for a record.
std::string fault_of(const Json& record, std::size_t index) {
  try {
    const std::string path = element_path("cases", index);
    check_declared(record_declaration(), without_null_numbers(record_declaration(), record), path);
    check_folder_names(record, path);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

// Each that is missing is named: a manifest of somebody else's must not say how long that list is.
constexpr int kMostShards = 10'000;

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
  if (split.shards > kMostShards)
    throw DamagedFile(fmt::format("{}/manifest.json: options.shard: found \"{}\"; allowed: at most {} shards",
                                  run.folder, text, kMostShards));
  return split.shard >= 1 && split.shard <= split.shards ? split : Split();
}

RunDirectory open_run(const std::string& folder, std::vector<std::string>& problems) {
  RunDirectory run{folder,
                   read_summary(folder),
                   read_json_or_null(folder + "/manifest.json", manifest_declaration()),
                   read_json_or_null(folder + "/scenario.json", written_declaration()),
                   {}};
  if (!run.manifest.is_object()) run.manifest = Json::object();
  reading(folder + "/scenario.json", [&] { check_claim_forms(run.claims()); });
  const Json scenario = member(run.manifest, "scenario");
  if (scenario.is_object())
    reading(folder + "/manifest.json", [&] { check_claim_forms(scenario.value("claims", Json::array())); });
  std::size_t damaged = 0;
  std::string first_fault;
  const Json& cases = run.summary["cases"];
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (const std::string fault = fault_of(cases[i], i); fault.empty()) {
      run.records.push_back(cases[i]);
    } else {
      if (damaged == 0) first_fault = fault;
      ++damaged;
    }
  if (damaged)
    problems.push_back(fmt::format("{}/summary.json: {} of its cases are no records ({}); they are left out",
                                   folder, damaged, first_fault));
  else if (run.records.empty())
    problems.push_back(folder + ": has no cases yet");
  split_of(run);  // throws where it says what cannot be
  return run;
}

std::string place(const std::string& folder) {
  std::error_code ignored;
  const fs::path path = fs::weakly_canonical(folder, ignored);
  return (path.filename().empty() ? path.parent_path() : path).string();
}

using Shards = std::vector<RunDirectory>;  // one, where the scenario was not split

bool take(const Shards& shards, const RunDirectory& run) {
  const Split split = split_of(run);
  return split.shards > 1 && std::all_of(shards.begin(), shards.end(), [&](const RunDirectory& part) {
           const Split other = split_of(part);
           return split.shards == other.shards && split.shard != other.shard &&
                  run.manifest.value("scenario_hash", "") == part.manifest.value("scenario_hash", "");
         });
}

std::string joined(const Shards& shards, const char* key, const std::string& separator) {
  std::vector<std::string> lines;
  for (const RunDirectory& part : shards) add_new(part.manifest.value(key, ""), lines);
  return join(lines, separator);
}

Json joined_manifest(const Shards& shards) {
  Json manifest = shards.front().manifest;
  manifest["command"] = joined(shards, "command", "\n");
  manifest["host"] = joined(shards, "host", ", ");
  double wall_s = 0;
  for (const RunDirectory& part : shards) {
    wall_s += part.manifest.value("wall_s", 0.);
    manifest["started"] = std::min(manifest.value("started", ""), part.manifest.value("started", ""));
    manifest["finished"] = std::max(manifest.value("finished", ""), part.manifest.value("finished", ""));
  }
  manifest["wall_s"] = wall_s;
  return manifest;
}

std::vector<std::string> missing_shards(const Shards& shards) {
  const int all = split_of(shards.front()).shards;
  std::vector<std::string> missing;
  for (int shard = 1; shard <= all; ++shard)
    if (none_of(shards, [&](const RunDirectory& part) { return split_of(part).shard == shard; }))
      missing.push_back(fmt::format("{}/{}", shard, all));
  return missing;
}

void add_cases(const Shards& shards, RunDirectory& run) {
  std::vector<std::string> folders;
  for (const RunDirectory& part : shards) {
    folders.push_back(fs::path(part.folder).lexically_normal().string());
    for (const Json& record : part.records) {
      run.records.push_back(record);
      run.shard_folders[record["case"]] = part.folder;
    }
  }
  run.folder = join(folders, ", ");
  const auto number = [](const Json& record) { return record.value("number", std::int64_t{0}); };
  stable_sort(run.records, [&](const Json& a, const Json& b) { return number(a) < number(b); });
}

RunDirectory whole(const Shards& shards) {
  const RunDirectory& first = shards.front();
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

// Shards join the first of their run; a shard alone is marked as such.
void join_shards(std::vector<RunDirectory>& runs) {
  std::vector<Shards> groups;
  for (RunDirectory& run : runs) {
    const auto known = find_if(groups, [&](const Shards& group) { return take(group, run); });
    if (known == groups.end())
      groups.push_back({std::move(run)});
    else
      known->push_back(std::move(run));
  }
  runs = each_of(groups, whole);
}

}  // namespace

std::string RunDirectory::folder_of(const Json& record) const {
  const auto shard = shard_folders.find(record["case"].get<std::string>());
  return shard == shard_folders.end() ? folder : shard->second;
}

std::string RunDirectory::case_folder(const Json& record) const {
  return folder_of(record) + "/cases/" + record["case"].get<std::string>();
}

std::string RunDirectory::train_folder(const Json& record) const {
  const Json key = record.value("training", Json());
  const bool is_trained = key.is_string() && !key.get<std::string>().empty();
  return is_trained ? folder_of(record) + "/train/" + key.get<std::string>() : "";
}

Json RunDirectory::claims() const {
  return written.is_object() ? written.value("claims", Json::array()) : Json::array();
}

RunDirectories open_runs(const std::vector<std::string>& folders) {
  RunDirectories opened;
  std::vector<std::string> places;
  for (const std::string& folder : folders) {
    if (contains(places, place(folder))) {
      opened.problems.push_back(folder + ": is given twice; it is used once");
      continue;
    }
    places.push_back(place(folder));
    try {
      opened.runs.push_back(open_run(folder, opened.problems));
    } catch (const RunError& error) {
      opened.problems.push_back(error.what());
    }
  }
  join_shards(opened.runs);
  const bool any = any_of(opened.runs, [](const RunDirectory& run) { return !run.records.empty(); });
  if (!any)
    throw InputError("", opened.problems.empty() ? "no run directory was given" : join(opened.problems, "; "),
                     "folders that longhaul run has written");
  return opened;
}

std::string not_given_in_words(const RunDirectory& run) {
  return fmt::format("Not given: {}; what is said below is of the cases that are there",
                     join(run.missing_shards));
}

std::vector<std::string> not_given_notes(const std::vector<RunDirectory>& runs) {
  std::vector<std::string> notes;
  for (const RunDirectory& run : runs)
    if (!run.missing_shards.empty())
      notes.push_back((runs.size() > 1 ? run.folder + ": " : "") + not_given_in_words(run) + ".");
  return notes;
}

std::vector<Json> all_records(const std::vector<RunDirectory>& runs) {
  std::vector<Json> records;
  for (const RunDirectory& run : runs) records.insert(records.end(), run.records.begin(), run.records.end());
  return records;
}

void write_summary(const std::string& run_folder, const std::string& scenario_name,
                   const std::vector<Json>& records, const Json& claims, std::size_t scenario_cases) {
  const Json summary = {{"format", kSummaryFormat},
                        {"scenario", scenario_name},
                        {"scenario_cases", std::max(scenario_cases, records.size())},
                        {"cases", records},
                        {"claims", claims}};
  write_file(run_folder + "/summary.json", summary.dump(2) + "\n");
}

Json read_summary(const std::string& run_folder) {
  const std::string file = run_folder + "/summary.json";
  const Json summary = [&] {
    try {
      return read_json_or_null(file, summary_declaration());
    } catch (const DamagedFile& error) {
      throw DamagedFile(
          fmt::format("{} (it is damaged; longhaul run --resume writes it anew)", error.what()));
    }
  }();
  if (summary.is_null()) throw DamagedFile(run_folder + ": is no run directory (it has no summary.json)");
  const int format = summary["format"];
  if (format > kSummaryFormat)
    throw DamagedFile(fmt::format("{}: was written by a newer Longhaul (format {}, this one reads up to {})",
                                  run_folder, format, kSummaryFormat));
  return summary;
}

void join_tables(const std::string& run_folder, const std::vector<std::string>& case_names) {
  join_table(run_folder, "metrics.csv",
             "step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent", case_names);
  join_table(run_folder, "exchanges.csv", "step,replica,exchange,ready_s,start_s,done_s,bytes,awaited_s",
             case_names);
  join_table(run_folder, "links.csv", "link,direction,bytes,busy_s", case_names);
}

}  // namespace longhaul
