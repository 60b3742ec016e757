#include "analysis/report/report_data.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "analysis/claims/claims.h"
#include "analysis/claims/verdict_matrix.h"
#include "analysis/comparison/decision.h"
#include "analysis/comparison/decision_words.h"
#include "analysis/learning_curve.h"
#include "analysis/record_values.h"
#include "analysis/report/network_map.h"
#include "analysis/report/outer_step.h"
#include "analysis/report/point_tables.h"
#include "analysis/report/run_in_words.h"
#include "analysis/report/sync_times.h"
#include "analysis/residual.h"
#include "analysis/run_files.h"
#include "analysis/statistics.h"
#include "analysis/table.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

using Run = RunDirectory;

constexpr std::size_t kMostKeysNamed = 12;

// How much of each case fits, so that 1500 cases stay below 10 MB.
struct Detail {
  explicit Detail(std::size_t cases)
      : curve_points(std::clamp<std::size_t>(45'000 / cases, 20, 200)),
        replicas(std::clamp<std::size_t>(16'000 / cases, 8, 64)),
        links(std::clamp<std::size_t>(9'000 / cases, 5, 400)),
        map_links(std::clamp<std::size_t>(24'000 / cases, 16, 300)) {}
  std::size_t curve_points, replicas, links, map_links;
};

Json notes_of(const Run& run) {
  const std::vector<Json>& records = run.records;
  Json notes = Json::array();
  if (!run.missing_shards.empty())
    notes.push_back(
        fmt::format("{} of {} cases are missing: this report was not given shard {}. Its claims are "
                    "undecided without them.",
                    run.missing_cases, records.size() + run.missing_cases, join(run.missing_shards)));
  for (const auto& [status, words] :
       {std::pair("interrupted", "did not finish, the run was interrupted"), std::pair("failed", "failed")}) {
    std::vector<std::string> names;
    for (const Json& record : records)
      if (record.value("status", "") == status) names.push_back(record.value("case", "?"));
    if (names.empty()) continue;
    notes.push_back(fmt::format("{} of {} cases {}: {}.", names.size(), records.size(), words,
                                named_few(names, kMostKeysNamed)));
  }
  if (const std::string text = outside_in_words(records); !text.empty()) notes.push_back(text);
  if (records.empty()) notes.push_back("This run has no cases yet.");
  return notes;
}

Json claims_json(const Json& verdicts) {
  Json claims = Json::array();
  for (const Json& verdict : verdicts)
    claims.push_back({{"verdict", verdict["verdict"]},
                      {"statement", verdict["statement"]},
                      {"grounds", verdict_grounds(verdict)},
                      {"id", verdict["id"]}});
  return claims;
}

// The claims about one number, for the pictures of that number.
Json bounds_json(const Json& claims) {
  Json bounds = Json::array();
  for (const Json& claim : claims)
    for (const auto& [key, words] : {std::pair("at_least", "at least "), std::pair("at_most", "at most "),
                                     std::pair("equals", "equals ")})
      if (claim.contains("metric") && claim.contains(key))
        bounds.push_back({{"id", claim["id"]},
                          {"metric", claim["metric"]},
                          {"threshold", claim[key]},
                          {"words", words + claim[key].dump()}});
  return bounds;
}

// The hashes of the corpora that the run trained on, each once: losses compare within one corpus only.
// Trainings stand in the order in which they ended.
Json corpora_of(const Json& manifest) {
  std::set<Json> hashes;
  for (const Json& training : manifest.value("trainings", Json::object()))
    if (training.is_object() && training.contains("corpus_hash")) hashes.insert(training["corpus_hash"]);
  return hashes;
}

// A damaged file costs the case this part of its picture, and the page says so.
template <typename Part>
Json or_null(const Part& part, Json& problems) {
  try {
    return part();
  } catch (const RunError& error) {
    // Several parts are drawn from one table.
    add_new(error.what(), problems);
    return nullptr;
  }
}

Json run_json(const Run& run, Json& problems) {
  const Json scenario = run.manifest.value("scenario", Json(nullptr));
  Json manifest = run.manifest;
  for (const char* bulky : {"scenario", "wall_times_s", "trainings"}) manifest.erase(bulky);
  return {{"folder", std::filesystem::path(run.folder).lexically_normal().string()},
          {"name", run.summary.value("scenario", "")},
          {"description", scenario.is_object() ? scenario.value("description", "") : ""},
          {"words", run_in_words(run.written, run.records)},
          {"notes", notes_of(run)},
          {"conclusions", or_null([&] { return conclusions_json(conclusions_of({run})); }, problems)},
          {"claims", claims_json(run.summary.value("claims", Json::array()))},
          {"bounds", bounds_json(run.claims())},
          {"claim_pictures", claim_pictures(run.claims(), run.records)},
          {"manifest", manifest},
          {"corpora", corpora_of(run.manifest)},
          {"byte_tokens", has_byte_tokens(scenario)},
          {"scenario", scenario}};
}

// The parts of a synchronization, as the record has them.
Json breakdown_of(const Json& record) {
  const Json parts = record.value("sync_breakdown_s", Json(nullptr));
  if (!parts.is_object()) return nullptr;
  Json shown = Json::object();
  for (const auto& [part, seconds] : parts.items())
    if (seconds.is_number()) shown[part] = six_digits(seconds);
  return shown;
}

Json chart_numbers(const Json& record) {
  Json numbers;
  for (const char* path : {"sync_time_s.mean", "sync_time_s.p95", "wait_s.mean", "compute_time_s",
                           "exchange_time_s", "wait_time_s", "simulated_time_s", "bytes_sent_per_replica"})
    numbers[path] = six_digits_or_null(value_at(record, path));
  // With stages, parallelism, rollouts.
  for (const char* path : {"bubble_time_s", "stage_wait_time_s", "inside_wait_time_s", "batch_wait_time_s"})
    if (const auto value = value_at(record, path)) numbers[path] = six_digits(*value);
  return numbers;
}

// No process writes the tables of a finished case any more: one without its last line end lost something.
void name_cut_tables(const std::string& case_folder, Json& problems) {
  for (const char* table : {"metrics.csv", "exchanges.csv", "replicas.csv", "links.csv", "network.csv"})
    if (const std::string cut = cut_off(case_folder + "/" + table); !cut.empty()) problems.push_back(cut);
}

// The sites of all cases, each once: most cases of a sweep have the same.
class Networks {
 public:
  Json number_of(const Json& sites) {
    if (sites.is_null()) return nullptr;
    const auto [entry, is_new] =
        numbers_.emplace(sites.dump(-1, ' ', false, Json::error_handler_t::replace), all_.size());
    if (is_new) all_.push_back(sites);
    return entry->second;
  }
  const Json& all() const { return all_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  Json all_ = Json::array();
};

void add_times(const std::string& folder, const Detail& detail, Json& entry, Json& problems) {
  SyncTimes times;
  entry["sync"] = or_null(
      [&] {
        times = sync_times(folder);
        return sync_distribution(times);
      },
      problems);
  entry["replicas"] = or_null([&] { return times_of_replicas(folder, times, detail.replicas); }, problems);
}

Json case_json(std::size_t run_index, const Run& run, const Json& record, const Detail& detail,
               Networks& networks, Json& problems) {
  const std::string folder = run.case_folder(record), training = run.train_folder(record);
  Json entry = {{"run", run_index},
                {"case", record.value("case", "")},
                {"status", record.value("status", "")},
                {"method", record.value("method", "")},
                {"label", record.value("label", record.value("method", ""))},
                {"variant", method_variant(record)},
                {"point", sweep_point(record)},
                {"seed", record.value("seed", Json())},
                {"swept", record.value("swept", Json::object())},
                {"numbers", chart_numbers(record)}};
  if (const auto target = value_at(record, "target_loss"))
    entry["target"] = {{"loss", six_digits(*target)},
                       {"time_s", six_digits_or_null(value_at(record, "time_to_target_s"))}};
  if (record.contains("error")) entry["error"] = record["error"];
  if (entry["status"] == "done") name_cut_tables(folder, problems);
  entry["curve"] = or_null([&] { return curve_of(folder, training, detail.curve_points); }, problems);
  entry["outer_step"] = or_null([&] { return outer_step_of(folder, detail.replicas); }, problems);
  entry["links"] = or_null([&] { return link_table(folder, detail.links); }, problems);
  entry["map"] = or_null([&] { return network_map(folder, detail.map_links); }, problems);
  entry["network"] = networks.number_of(or_null([&] { return sites_of_case(folder); }, problems));
  entry["breakdown"] = breakdown_of(record);
  add_times(folder, detail, entry, problems);
  return entry;
}

void add_cells(const std::vector<Json>& records, std::size_t first, Json& cases) {
  for (const Metric& metric : columns()) {
    const std::vector<bool> best = best_values(records, metric);
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::optional<double> value = value_at(records[i], metric.path);
      Json& entry = cases[first + i];
      entry["texts"].push_back(cell_text(metric, records[i]));
      entry["values"].push_back(six_digits_or_null(value));
      entry["best"].push_back(best[i] ? 1 : 0);
    }
  }
}

void add_points(const Run& run, std::size_t run_index, std::size_t first, Json& points, Json& problems) {
  nlohmann::ordered_map<std::string, std::vector<std::size_t>> by_label;
  for (std::size_t i = 0; i < run.records.size(); ++i) by_label[sweep_point(run.records[i])].push_back(i);
  for (const auto& [label, members] : by_label) {
    std::vector<std::size_t> indices;
    std::vector<Json> records;
    for (const std::size_t i : members) {
      indices.push_back(first + i);
      records.push_back(run.records[i]);
    }
    points.push_back({{"run", run_index},
                      {"label", label},
                      {"cases", indices},
                      {"rows", seed_means(records, indices)},
                      {"equal", or_null([&] { return equal_losses(run, records); }, problems)},
                      {"loss_note", sampling_note(records)}});
  }
}

// Half the width of a 95 % interval in standard errors, for 2, 3, … seeds.
Json t_quantiles() {
  Json quantiles = Json::array();
  for (int seeds = 2; seeds <= 50; ++seeds) {
    std::vector<double> values(as_index(seeds), 0);
    values[0] = 1;  // standard error 1 / n
    const Interval interval = t_interval(values, 0.95);
    quantiles.push_back(six_digits((interval.high - interval.low) / 2 * seeds));
  }
  return quantiles;
}

Json columns_json() {
  Json json = Json::array();
  for (const Metric& metric : columns())
    json.push_back({{"title", metric.title},
                    {"meaning", metric.meaning},
                    {"path", metric.path},
                    {"unit", metric.unit == Metric::Unit::kFraction ? "%" : unit_sign(metric.unit)}});
  return json;
}

}  // namespace

Json report_data(const RunDirectories& opened) {
  const std::vector<Run>& runs = opened.runs;
  Json problems = opened.problems;
  const std::vector<Json> records = all_records(runs);
  const Detail detail(std::max<std::size_t>(1, records.size()));

  Json data = {{"columns", columns_json()},    {"levels", quantile_levels()}, {"t95", t_quantiles()},
               {"swept", swept_keys(records)}, {"runs", Json::array()},       {"cases", Json::array()},
               {"points", Json::array()}};
  Networks networks;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t first = data["cases"].size();
    data["runs"].push_back(run_json(runs[i], problems));
    for (const Json& record : runs[i].records)
      data["cases"].push_back(case_json(i, runs[i], record, detail, networks, problems));
    add_cells(runs[i].records, first, data["cases"]);
    add_points(runs[i], i, first, data["points"], problems);
  }
  data["networks"] = networks.all();
  data["problems"] = problems;
  return data;
}

}  // namespace longhaul
