#include "analysis/case_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <vector>

#include "analysis/exchange_table.h"
#include "analysis/residual.h"
#include "analysis/run_declarations.h"
#include "analysis/run_files.h"
#include "analysis/statistics.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/plan/trace.h"
#include "methods/common/dynamic_steps.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace {

constexpr const char* kRecordFile = "/record.json";

Json to_json(const std::vector<double>& values) {
  // A method that never exchanges has no synchronization time, not one of 0.
  if (values.empty()) return nullptr;
  const Distribution d = distribution(values);
  return {{"mean", d.mean}, {"p50", d.p50}, {"p95", d.p95}, {"max", d.max}};
}

Json collective_of(const Json& options) {
  if (options.contains("all_reduce")) return options["all_reduce"];
  if (options.contains("pattern")) return options["pattern"];
  return nullptr;
}

void add_identity(const Case& config, const std::string& status, Json& record) {
  Json parameters = config.method.options;
  parameters.erase("name");
  parameters.erase("label");
  record["case"] = config.name;
  record["status"] = status;
  record["method"] = config.method.name;
  record["label"] = config.method.label;
  record["seed"] = config.seed;
  const Json swept = config.swept.is_null() ? Json::object() : config.swept;
  record["swept"] = swept;
  // Not over record["swept"]: a record is a vector of its keys, and a new one may move all of them.
  for (const auto& [key, value] : swept.items()) record[key] = value;
  record["parameters"] = parameters;
  record["replicas"] = config.replicas;
  if (config.pipeline.has_stages()) {
    const Json pipeline = config.resolved.at("pipeline");
    record["workers"] = config.workers();
    for (const char* key : {"stages", "microbatches", "schedule", "routing"}) record[key] = pipeline.at(key);
  }
  record["collective"] = collective_of(config.method.options);
  record["fidelity"] = config.network.fidelity;
  if (topology_named(config.network.topology.name).has_sites)
    record["rank_order"] = to_string(config.network.rank_order.kind);
  record["queue"] = queue_setting(config.network.tcp);
  if (config.network.message_time) record["message_time_s"] = config.network.message_time->mean;
  record["model_parameters"] = config.workload.parameters;
}

// Of one rule, by row.
struct RuleTimes {
  std::vector<double> sync_s, wait_s, exposed_s;
};

// What each rule of a method with exchanges that overlap takes by itself.
Json to_json(const std::map<std::string, RuleTimes>& rules) {
  Json json = Json::object();
  for (const auto& [name, times] : rules)
    json[name] = {{"sync_time_s", to_json(times.sync_s)},
                  {"wait_s", to_json(times.wait_s)},
                  {"exposed_s", to_json(times.exposed_s)}};
  return json;
}

// How long an exchange takes until the last of its group is done: what the NoLoCo paper's latency figure
// compares, where `sync_time_s.mean` asks how long a replica is held up.
class GroupTimes {
 public:
  // Reads the groups from the trace of the case; without one everybody is one group.
  GroupTimes(const std::string& case_folder, int workers) : sync_s_(as_index(workers), -1) {
    std::ifstream in(case_folder + "/trace.jsonl");
    if (!in) return;
    const std::string file = case_folder + "/trace.jsonl";
    trace_ = reading(file, [&] { return read_trace(in, file); });  // longhaul wrote it: no user did this
    if (const int its_own = trace_.context.replicas * trace_.plan.pipeline.stages; its_own != workers)
      throw DamagedFile(fmt::format("{}: is of {} workers, the case has {}", file, its_own, workers));
  }

  // A row of exchanges.csv: the rows of one exchange stand together. `sync_s`: done − start.
  void add(std::int64_t step, const std::string& rule, std::int64_t replica, double sync_s) {
    if (step != step_ || rule != rule_) finish_exchange();
    step_ = step;
    rule_ = rule;
    sync_s_.at(as_index(replica)) = sync_s;
  }

  int sitting_out() const { return longhaul::sitting_out(trace_.plan, trace_.context.replicas); }

  // Mean over exchanges and their groups of the longest sync_s in the group; 0 without any.
  double mean_of_last() {
    finish_exchange();
    step_ = -1;
    return count_ > 0 ? total_s_ / static_cast<double>(count_) : 0;
  }

 private:
  void finish_exchange() {
    if (step_ < 0) return;
    if (const auto* groups = this->groups()) {
      const int stages = trace_.plan.pipeline.stages, stage = std::max(0, stage_of_rule());
      for (const std::vector<int>& group : *groups) {
        double last_s = -1;
        for (const int replica : group)
          last_s = std::max(last_s, sync_s_.at(as_index(worker_of(replica, stage, stages))));
        count(last_s);
      }
    } else {
      count(*std::max_element(sync_s_.begin(), sync_s_.end()));
    }
    std::fill(sync_s_.begin(), sync_s_.end(), -1);
  }

  void count(double last_s) {
    if (last_s < 0) return;
    total_s_ += last_s;
    ++count_;
  }

  int stage_of_rule() const {
    for (const OperationRule& rule : trace_.plan.rules)
      if (rule.name == rule_) return rule.stage;
    return -1;
  }

  const std::vector<std::vector<int>>* groups() const {
    for (std::size_t i = 0; i < trace_.plan.rules.size(); ++i)
      if (trace_.plan.rules[i].name == rule_) {
        const auto found = trace_.groups.find({static_cast<int>(i), static_cast<int>(step_)});
        if (found != trace_.groups.end()) return &found->second;
      }
    return nullptr;
  }

  Trace trace_;
  std::int64_t step_ = -1;
  std::string rule_;
  std::vector<double> sync_s_;  // by worker, of the exchange at hand; negative: takes no part
  double total_s_ = 0;
  std::int64_t count_ = 0;
};

// The last synchronization of a replica: its step, and where its times stand.
struct LastSync {
  std::int64_t step = -1;
  std::size_t place = 0;
};

void add_exchanges(const Case& config, const std::string& case_folder, Json& record) {
  std::vector<double> sync_s, wait_s, exposed_s, exchange_s;
  std::map<std::string, RuleTimes> by_rule;
  bool has_overlap = false;
  GroupTimes groups(case_folder, config.workers());
  std::vector<LastSync> last(as_index(config.workers()));
  double bytes = 0;
  std::int64_t outer_steps = 0, last_step = -1;
  for (ExchangeTable rows(case_folder); rows.next();) {
    bytes += static_cast<double>(rows.bytes());
    const double row_sync_s = rows.done_s() - rows.start_s();
    has_overlap = has_overlap || rows.overlaps();
    RuleTimes& rule = by_rule[std::string(rows.exchange())];
    rule.sync_s.push_back(row_sync_s);
    rule.wait_s.push_back(rows.wait_s());
    rule.exposed_s.push_back(rows.exposed_s());
    if (!rows.is_synchronization()) continue;
    // Exchanges that follow each other at a step are one synchronization.
    const std::int64_t step = rows.step();
    LastSync& sync = last.at(as_index(rows.replica()));
    if (sync.step != step) {
      sync = {step, sync_s.size()};
      for (auto* times : {&sync_s, &wait_s, &exposed_s, &exchange_s}) times->push_back(0);
    }
    wait_s[sync.place] += rows.wait_s();
    sync_s[sync.place] += row_sync_s;
    exposed_s[sync.place] += rows.exposed_s();
    exchange_s[sync.place] += rows.overlaps() ? rows.exposed_s() - rows.wait_s() : row_sync_s;
    groups.add(step, std::string(rows.exchange()), rows.replica(), row_sync_s);
    if (step != last_step) ++outer_steps;
    last_step = step;
  }
  const double replicas = config.replicas;
  record["exchanges"] = outer_steps;
  if (groups.sitting_out() > 0) record["sitting_out"] = groups.sitting_out();
  record["bytes_per_sync"] =
      outer_steps ? Json(bytes / replicas / static_cast<double>(outer_steps)) : Json(0);
  record["sync_time_s"] = to_json(sync_s);
  if (!sync_s.empty()) record["sync_time_s"]["last"] = groups.mean_of_last();
  if (record["status"] == "done")
    if (Json parts = sync_breakdown(case_folder, sync_s.size()); !parts.is_null())
      record["sync_breakdown_s"] = std::move(parts);
  record["wait_s"] = to_json(wait_s);
  record["exposed_s"] = to_json(exposed_s);
  if (has_overlap) record["rules"] = to_json(by_rule);
  const double rows_per_replica = static_cast<double>(sync_s.size()) / config.workers();
  record["exchange_time_s"] = exchange_s.empty() ? 0 : mean(exchange_s) * rows_per_replica;
  record["wait_time_s"] = wait_s.empty() ? 0 : mean(wait_s) * rows_per_replica;
}

// Mean over replicas.
double steps_of_a_replica(const Case& config) {
  return static_cast<double>(dynamic_steps_of(config).taken_by_all(config.replicas, config.steps())) /
         config.replicas;
}

// What a planner counts in. A method that gives all batches to one machine trains on the same tokens.
void add_pace(const Case& config, double simulated_s, Json& record) {
  if (config.workload.tokens == 0 && config.workload.accelerators == 1) return;
  record["accelerator_hours"] = simulated_s / 3600 * config.workload.accelerators * config.workers();
  if (config.workload.tokens == 0 || simulated_s <= 0) return;
  record["step_time_s"] = simulated_s / config.steps();
  record["tokens_per_s"] = steps_of_a_replica(config) * config.replicas *
                           static_cast<double>(config.workload.tokens) / simulated_s;
}

void add_totals(const Case& config, const std::string& case_folder, Json& record) {
  const bool has_stages = config.pipeline.has_stages();
  std::vector<std::string> columns = {"compute_s", "idle_s", "clock_s", "bytes_sent"};
  if (has_stages) columns.insert(columns.end(), {"bubble_s", "stage_wait_s"});
  CsvStream rows(case_folder + "/replicas.csv", columns);
  std::vector<double> compute_s, clock_s, idle_fraction, bytes, bubble_s, stage_wait_s, bubble_fraction,
      stage_wait_fraction;
  const auto share = [&](std::size_t column) {
    return clock_s.back() > 0 ? rows.number(column) / clock_s.back() : 0;
  };
  while (rows.next()) {
    compute_s.push_back(rows.number(0));
    clock_s.push_back(rows.number(2));
    idle_fraction.push_back(share(1));
    bytes.push_back(rows.number(3) * config.pipeline.stages);  // a replica has so many rows
    if (!has_stages) continue;
    bubble_s.push_back(rows.number(4));
    stage_wait_s.push_back(rows.number(5));
    bubble_fraction.push_back(share(4));
    stage_wait_fraction.push_back(share(5));
  }
  if (clock_s.empty()) return;
  record["bytes_sent_per_replica"] = mean(bytes);
  if (config.workload.tokens > 0)
    record["bytes_per_token"] =
        mean(bytes) / (steps_of_a_replica(config) * static_cast<double>(config.workload.tokens));
  const auto mean_and_max = [](const std::vector<double>& values) {
    return Json{{"mean", mean(values)}, {"max", *std::max_element(values.begin(), values.end())}};
  };
  record["idle_fraction"] = mean_and_max(idle_fraction);
  if (has_stages) {
    record["bubble_fraction"] = mean_and_max(bubble_fraction);
    record["stage_wait_fraction"] = mean_and_max(stage_wait_fraction);
    record["bubble_time_s"] = mean(bubble_s);
    record["stage_wait_time_s"] = mean(stage_wait_s);
    const StageBytes stage_bytes(case_folder);
    record["stage_bytes_per_step"] = stage_bytes.of_step();
    if (const Json bits = stage_bytes.bits(); !bits.is_null()) record["boundary_bits"] = bits;
    record["step_time_s"] = *std::max_element(clock_s.begin(), clock_s.end()) / config.steps();
  }
  if (config.pipeline.rebalance_every > 0) {
    int moves = 0;
    double state_bytes = 0;
    for (CsvStream row(case_folder + "/moves.csv", {"bytes"}); row.next(); ++moves)
      state_bytes += row.number(0);
    record["stage_moves"] = moves;
    record["state_bytes_moved"] = state_bytes;
  }
  const double simulated_s = *std::max_element(clock_s.begin(), clock_s.end());
  record["simulated_time_s"] = simulated_s;
  record["compute_time_s"] = mean(compute_s);
  // A replay that was cut short has its clocks, but not all of its steps.
  if (record["status"] == "done") add_pace(config, simulated_s, record);
}

void add_useful_steps(const Case& config, double useful_steps, double latest_s, Json& record) {
  record["useful_steps"] = useful_steps;
  if (latest_s <= 0) return;
  record["useful_steps_per_s"] = useful_steps / latest_s;
  if (config.workload.tokens > 0)
    record["goodput_tokens_per_s"] = useful_steps * static_cast<double>(config.workload.tokens) / latest_s;
}

bool says_what_was_lost(const std::string& replicas_csv) {
  std::ifstream in(replicas_csv);
  std::string header;
  return std::getline(in, header) && header.find(",useful_steps") != std::string::npos;
}

// Of a case in which slow replicas take fewer steps, and nothing is lost.
void add_dynamic_steps(const Case& config, Json& record) {
  const DynamicSteps steps = dynamic_steps_of(config);
  if (!steps.is_on() || record.contains("useful_steps") || !record.contains("simulated_time_s")) return;
  add_useful_steps(config, static_cast<double>(steps.taken_by_all(config.replicas, config.steps())),
                   record["simulated_time_s"], record);
}

// Where replicas may be gone, or be late: what went into the model and what was lost.
void add_lost_work(const Case& config, const std::string& case_folder, Json& record) {
  const std::string file = case_folder + "/replicas.csv";
  if (!says_what_was_lost(file)) return;
  double useful_steps = 0, lost_s = 0, gone_s = 0, compute_s = 0, latest_s = 0;
  for (CsvStream rows(file, {"compute_s", "clock_s", "useful_steps", "lost_s", "gone_s"}); rows.next();) {
    compute_s += rows.number(0);
    latest_s = std::max(latest_s, rows.number(1));
    useful_steps += rows.number(2);
    lost_s += rows.number(3);
    gone_s += rows.number(4);
  }
  record["lost_fraction"] = compute_s > 0 ? lost_s / compute_s : 0;
  add_useful_steps(config, useful_steps, latest_s, record);
  if (latest_s > 0) record["step_time_s"] = latest_s / config.steps();
  if (config.has_absences())
    record["participation"] = latest_s > 0 ? Json(1 - gone_s / (config.replicas * latest_s)) : Json();
}

// Of a case whose replicas may be gone: who was, and what coming back took.
void add_absences(const Case& config, const std::string& case_folder, Json& record) {
  if (!config.has_absences()) return;
  std::vector<double> recovery_s;
  double bytes = 0;
  int crashes = 0;
  for (CsvStream rows(case_folder + "/absences.csv", {"back_s", "bytes", "joined_s"}); rows.next();
       ++crashes) {
    bytes += rows.number(1);
    if (!rows.empty(2)) recovery_s.push_back(rows.number(2) - rows.number(0));
  }
  const Json report = read_json_or_null(case_folder + "/replay.json", replay_declaration());
  const auto said = [&](const char* key) { return report.is_object() ? report.value(key, 0) : 0; };
  record["crashes"] = crashes;
  record["committed_fraction"] = 1 - static_cast<double>(said("thrown_away_steps")) / config.steps();
  record["discarded_exchanges"] = said("discarded");
  record["recovery_s"] = to_json(recovery_s);
  record["recovery_bytes"] = bytes;
}

// From the rows `mean` of the case's metrics: the last one is the end of the training.
void add_curve(const Case& config, const std::string& case_folder, Json& record) {
  record["time_to_target_s"] = nullptr;
  if (config.train->target_loss) record["target_loss"] = *config.train->target_loss;
  CsvStream rows(case_folder + "/metrics.csv",
                 {"replica", "simulated_s", "loss", "loss_of_mean", "weight_spread"});
  double best = 0;
  bool any = false;
  while (rows.next()) {
    if (rows.text(0) != "mean") continue;
    const double loss = rows.number(2);
    best = any ? std::min(best, loss) : loss;
    any = true;
    record["final_loss"] = loss;
    if (!rows.empty(3)) record["final_loss_of_mean"] = rows.number(3);
    if (!rows.empty(4)) record["weight_spread"] = rows.number(4);
    if (config.train->target_loss && loss <= *config.train->target_loss &&
        record["time_to_target_s"].is_null())
      record["time_to_target_s"] = rows.number(1);
  }
  if (any) record["best_loss"] = best;
}

void add_training(const std::string& train_folder, const std::string& training, Json& record) {
  record["training"] = training;
  const Json said = read_json_or_null(train_folder + "/training.json", training_declaration());
  if (!said.is_object()) return;
  for (const char* key :
       {"final_loss", "final_loss_of_ensemble", "final_loss_sampling_error", "evaluated_sequences",
        "best_loss", "weight_spread", "tokens", "unigram_entropy", "source_entropy"})
    if (said.contains(key)) record[key] = said[key];
  if (record.contains("final_loss")) record["perplexity"] = std::exp(record["final_loss"].get<double>());
  if (said.contains("parameters")) record["trained_parameters"] = said["parameters"];
}

}  // namespace

Json case_record(const Case& config, const std::string& case_folder, const std::string& train_folder,
                 const std::string& status, const std::string& training) {
  Json record = read_json_or_null(case_folder + kRecordFile, record_declaration());
  if (record.is_object()) return record;
  add_identity(config, status, record);
  // A case that did not finish has some of its files, perhaps half of one: each part stands for itself.
  const auto add = [&](const std::function<void()>& part) {
    try {
      part();
    } catch (const RunError&) {
      if (status == "done") throw;
    }
  };
  add([&] { add_exchanges(config, case_folder, record); });
  add([&] { add_totals(config, case_folder, record); });
  add([&] { add_lost_work(config, case_folder, record); });
  add([&] { add_dynamic_steps(config, record); });
  add([&] { add_absences(config, case_folder, record); });
  if (!config.train || train_folder.empty()) return record;
  add([&] { add_curve(config, case_folder, record); });
  add_training(train_folder, training, record);
  return record;
}

void keep_totals(const std::string& case_folder, const Json& record) {
  write_file(case_folder + kRecordFile, record.dump(2) + "\n");
  for (const char* table : {"exchanges.csv", "breakdown.csv", "steps.csv", "schedule.jsonl", "transfers.csv",
                            "links.csv", "network.csv", "trace.jsonl", "tasks.csv"})
    std::filesystem::remove(case_folder + "/" + table);
}

}  // namespace longhaul
