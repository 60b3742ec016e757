#include "analysis/case_record.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <vector>

#include "analysis/exchange_table.h"
#include "analysis/record_values.h"
#include "analysis/residual.h"
#include "analysis/rollout_record.h"
#include "analysis/run_declarations.h"
#include "analysis/run_files.h"
#include "analysis/statistics.h"
#include "core/base/csv.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/plan/trace.h"
#include "methods/common/dynamic_steps.h"
#include "methods/common/python_step.h"
#include "net/library.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace {

constexpr const char* kRecordFile = "/record.json";

// A file of its network may be missing where a case is read again: its record says nothing of it then.
void add_validity(const Case& config, Json& record) {
  try {
    check_topology_options(config);
    const Validity validity = network_validity(config);
    record["residual"] = validity.residual;
    if (!validity.outside.empty()) record["outside"] = join(validity.outside);
  } catch (const InputError&) {
  }
}

// The all-reduce that was chosen where the method runs it, or its pattern; else what its first operation
// runs.
Json collective_of(const Case& config, const std::string& case_folder) {
  const Json &options = config.method.options, all_reduce = member(options, "all_reduce"),
             pattern = member(options, "pattern");
  const std::vector<ExchangeRuleFacts> rules = exchange_rules(case_folder);
  if (rules.empty()) return all_reduce.is_null() ? pattern : all_reduce;
  const ExchangeRuleFacts& first = rules.front();
  if (first.is_merge()) return first.kind;
  if (any_of(rules, [&](const ExchangeRuleFacts& rule) { return Json(rule.collective) == all_reduce; }))
    return all_reduce;
  if (first.kind == word_of(OperationKind::kGroupAverage) && pattern.is_string()) return pattern;
  return first.collective.empty() || first.collective == kLibraryChoice ? Json() : Json(first.collective);
}

void add_identity(const Case& config, const std::string& status, Json& record) {
  Json parameters = config.method.options;
  parameters.erase("name");
  parameters.erase("label");
  const bool is_python = has_python_step(parameters);
  if (is_python) {
    const Json python = parameters["python"];
    parameters.erase("python");
    if (python.at("declares"))
      for (const std::string& option : options_of_steps()) parameters.erase(option);
    else
      parameters["like"] = config.method.name;
    parameters.update(python.at("parameters"));
    parameters["content"] = python.at("content");
  }
  record["case"] = config.name;
  record["status"] = status;
  record["method"] = is_python ? "python" : config.method.name;
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
  record["collective"] = nullptr;  // below
  record["fidelity"] = config.network.fidelity;
  if (topology_named(config.network.topology.name).has_sites)
    record["rank_order"] = to_string(config.network.rank_order.kind);
  record["queue"] = queue_setting(config.network);
  add_validity(config, record);
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
    json[name] = {{"sync_time_s", distribution_or_null(times.sync_s)},
                  {"wait_s", distribution_or_null(times.wait_s)},
                  {"exposed_s", distribution_or_null(times.exposed_s)}};
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
    const std::vector<OperationRule>& rules = trace_.plan.rules;
    const auto rule = find_if(rules, [&](const OperationRule& one) { return one.name == rule_; });
    const auto groups = trace_.groups.find({static_cast<int>(rule - rules.begin()), static_cast<int>(step_)});
    if (groups != trace_.groups.end()) {
      const int stages = trace_.plan.pipeline.stages, stage = std::max(0, rule->stage);
      for (const std::vector<int>& group : groups->second) {
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

  Trace trace_;
  std::int64_t step_ = -1;
  std::string rule_;
  std::vector<double> sync_s_;  // by worker, of the exchange at hand; negative: takes no part
  double total_s_ = 0;
  std::int64_t count_ = 0;
};

// Of the network model, of a case that has one and is inside of what was measured; else 0.
double known_residual(const Json& record) {
  const double residual = network_residual(record);
  return residual < 1 ? residual : 0;
}

// What statistics of a metric may be.
void add_possible(const std::string& metric, const Json& low, const Json& high, Json& record) {
  for (const auto& [statistic, value] : low.items())
    record["possible"][metric + "." + statistic] = {value, high.at(statistic)};
}

// Of a worker's waiting all may be wrong by the residual, or what its exchanges hide behind compute.
void add_possible_idle(const std::string& case_folder, const std::vector<Interval>& hidden_s, double residual,
                       Json& record) {
  auto of = read_numbers(case_folder + "/replicas.csv", {"idle_s", "clock_s"});
  if (of["clock_s"].size() != hidden_s.size()) return;
  const auto with_more = [&](const auto& more_s) -> Json {
    std::vector<double> shares;
    for (std::size_t i = 0; i < hidden_s.size(); ++i) {
      const double more = more_s(hidden_s[i], residual * of["idle_s"][i]), clock_s = of["clock_s"][i] + more;
      shares.push_back(clock_s > 0 ? std::max(0., of["idle_s"][i] + more) / clock_s : 0);
    }
    return {{"mean", mean(shares)}, {"max", *std::max_element(shares.begin(), shares.end())}};
  };
  add_possible("idle_fraction",
               with_more([](const Interval& hidden, double of_all) { return std::min(hidden.low, -of_all); }),
               with_more([](const Interval& hidden, double of_all) { return std::max(hidden.high, of_all); }),
               record);
}

void add_exchanges(const Case& config, const std::string& case_folder, Json& record) {
  std::map<std::string, RuleTimes> by_rule;
  bool has_overlap = false;
  GroupTimes groups(case_folder, config.workers());
  double bytes = 0;
  std::int64_t outer_steps = 0, last_step = -1;
  const double residual = known_residual(record);
  std::vector<Interval> hidden_s(as_index(config.workers()));  // by worker: what its clock may be longer
  StandStill stand_still(residual);
  const auto note = [&](const ExchangeTable& row) {
    if (!row.takes_part()) return;
    bytes += static_cast<double>(row.bytes());
    has_overlap = has_overlap || row.overlaps();
    RuleTimes& rule = by_rule[std::string(row.exchange())];
    if (row.exchanges()) rule.sync_s.push_back(row.sync_s());
    rule.wait_s.push_back(row.wait_s());
    rule.exposed_s.push_back(row.exposed_s());
    const StandStill::Times held = stand_still.add(row);
    Interval& hidden = hidden_s.at(as_index(row.replica()));
    hidden.low += held.possible_exposed_s.low - held.exposed_s;
    hidden.high += held.possible_exposed_s.high - held.exposed_s;
    if (!row.is_synchronization()) return;
    if (row.exchanges()) groups.add(row.step(), std::string(row.exchange()), row.replica(), row.sync_s());
    if (row.step() != last_step) ++outer_steps;
    last_step = row.step();
  };
  const std::vector<Synchronization> all = synchronizations(case_folder, residual, note);
  std::vector<double> sync_s;
  for (const Synchronization& one : all)
    if (one.exchanges) sync_s.push_back(one.sync_s);
  const auto times = [&](double Synchronization::*of) { return each_of(all, of); };
  const double replicas = config.replicas;
  record["exchanges"] = outer_steps;
  if (groups.sitting_out() > 0) record["sitting_out"] = groups.sitting_out();
  record["bytes_per_sync"] =
      outer_steps ? Json(bytes / replicas / static_cast<double>(outer_steps)) : Json(0);
  record["sync_time_s"] = distribution_or_null(sync_s);
  if (!sync_s.empty()) record["sync_time_s"]["last"] = groups.mean_of_last();
  if (record["status"] == "done")
    if (Json parts = sync_breakdown(case_folder, all); !parts.is_null())
      record["sync_breakdown_s"] = std::move(parts);
  record["wait_s"] = distribution_or_null(times(&Synchronization::wait_s));
  record["exposed_s"] = distribution_or_null(times(&Synchronization::exposed_s));
  if (has_overlap) record["rules"] = to_json(by_rule);
  const auto of_a_replica = [&](double Synchronization::*of) {
    const double rows = static_cast<double>(all.size()) / config.workers();
    return all.empty() ? 0 : mean(times(of)) * rows;
  };
  record["exchange_time_s"] = of_a_replica(&Synchronization::exchange_s);
  record["wait_time_s"] = of_a_replica(&Synchronization::wait_s);
  if (residual == 0 || all.empty()) return;
  std::vector<double> low_s, high_s;
  for (const Synchronization& one : all) {
    low_s.push_back(one.possible_exposed_s.low);
    high_s.push_back(one.possible_exposed_s.high);
  }
  add_possible("exposed_s", distribution_or_null(low_s), distribution_or_null(high_s), record);
  add_possible_idle(case_folder, hidden_s, residual, record);
}

bool has_column(const std::string& file, const char* column) {
  const CsvStream table(file, {});
  return std::find(table.cells().begin(), table.cells().end(), column) != table.cells().end();
}

// Of all replicas together; what they missed while they were gone is in absences.csv.
double steps_taken(const Case& config, const std::string& case_folder) {
  const DynamicSteps dynamic = dynamic_steps_of(config);
  std::int64_t steps = dynamic.taken_by_all(config.replicas, config.steps());
  if (!config.has_absences()) return static_cast<double>(steps);
  CsvStream rows(case_folder + "/absences.csv", {"replica", "left_step", "first_step"});
  while (rows.next()) {
    const auto replica = static_cast<int>(rows.integer(0, 0, config.replicas - 1));
    const auto left = static_cast<int>(rows.integer(1, 1, config.steps() + 1));
    const auto first = static_cast<int>(rows.integer(2, 0, config.steps() + 1));  // 0: it did not come back
    steps -= dynamic.taken_until(replica, first > 0 ? first - 1 : config.steps()) -
             dynamic.taken_until(replica, left - 1);
  }
  return static_cast<double>(steps);
}

// From replicas.csv, a row a worker: times, what they sent, and where replicas may be gone or late, what went
// into the model and what was lost.
void add_workers(const Case& config, const std::string& case_folder, Json& record) {
  const std::string file = case_folder + "/replicas.csv";
  const bool has_stages = config.pipeline.has_stages(), may_lose = has_column(file, "useful_steps"),
             is_done = record["status"] == "done";
  std::vector<std::string> columns = {"compute_s", "idle_s", "clock_s", "bytes_sent"};
  if (has_stages) columns.insert(columns.end(), {"bubble_s", "stage_wait_s"});
  const bool talks = config.parallelism.is_on();
  if (talks) columns.push_back("inside_wait_s");
  if (may_lose) columns.insert(columns.end(), {"useful_steps", "lost_s", "gone_s"});
  const bool says_cut_waits = may_lose && has_column(file, "cut_wait_s");  // not before November 2026
  if (says_cut_waits) columns.emplace_back("cut_wait_s");
  auto of = read_numbers(file, columns);
  const std::vector<double>& clock_s = of["clock_s"];
  if (clock_s.empty()) return;
  const double latest_s = *std::max_element(clock_s.begin(), clock_s.end());
  const auto tokens = static_cast<double>(config.workload.tokens);
  const double all_steps = steps_taken(config, case_folder);
  const auto share = [&](const char* column) -> Json {
    std::vector<double> shares = of[column];
    for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = clock_s[i] > 0 ? shares[i] / clock_s[i] : 0;
    return {{"mean", mean(shares)}, {"max", *std::max_element(shares.begin(), shares.end())}};
  };
  record["simulated_time_s"] = latest_s;
  record["compute_time_s"] = mean(of["compute_s"]);
  record["idle_fraction"] = share("idle_s");
  const double bytes = mean(of["bytes_sent"]) * config.pipeline.stages;  // a replica has so many rows
  record["bytes_sent_per_replica"] = bytes;
  if (tokens > 0) record["bytes_per_token"] = bytes / (all_steps / config.replicas * tokens);
  // A replay that was cut short has its clocks, but not all of its steps.
  const bool has_pace = is_done && latest_s > 0;
  if (has_pace && tokens > 0) record["tokens_per_s"] = all_steps * tokens / latest_s;
  if (has_pace || has_stages || talks || (may_lose && latest_s > 0))
    record["step_time_s"] = latest_s / config.steps();
  // A method that gives all batches to one machine trains on the same tokens, in N times the time of one.
  const bool is_one_machine = config.method.options.value("machine", "") == "one";
  if (is_done)
    record["accelerator_hours"] =
        latest_s / 3600 * config.workload.accelerators * (is_one_machine ? 1 : config.workers());
  if (has_stages) {
    const StageBytes stage_bytes(case_folder);
    record["bubble_fraction"] = share("bubble_s");
    record["stage_wait_fraction"] = share("stage_wait_s");
    record["bubble_time_s"] = mean(of["bubble_s"]);
    record["stage_wait_time_s"] = mean(of["stage_wait_s"]);
    record["stage_bytes_per_step"] = stage_bytes.of_step();
    if (const Json bits = stage_bytes.bits(); !bits.is_null()) record["boundary_bits"] = bits;
  }
  if (talks) {
    record["inside_wait_fraction"] = share("inside_wait_s");
    record["inside_wait_time_s"] = mean(of["inside_wait_s"]);
  }
  if (config.pipeline.rebalance_every > 0) {
    auto moves = read_numbers(case_folder + "/moves.csv", {"bytes"});
    record["stage_moves"] = moves["bytes"].size();
    record["state_bytes_moved"] = sum(moves["bytes"]);
  }
  if (may_lose) {
    // No row says how long one that crashed in an exchange had waited there.
    if (says_cut_waits) record["wait_time_s"] = record.value("wait_time_s", 0.) + mean(of["cut_wait_s"]);
    const double compute_s = sum(of["compute_s"]);
    record["lost_fraction"] = compute_s > 0 ? sum(of["lost_s"]) / compute_s : 0;
    if (config.has_absences())
      record["participation"] = latest_s > 0 ? Json(1 - mean(of["gone_s"]) / latest_s) : Json();
  }
  if (!may_lose && !dynamic_steps_of(config).is_on()) return;
  const double useful_steps = may_lose ? sum(of["useful_steps"]) / config.pipeline.stages : all_steps;
  record["useful_steps"] = useful_steps;
  if (latest_s <= 0) return;
  record["useful_steps_per_s"] = useful_steps / latest_s;
  if (tokens > 0) record["goodput_tokens_per_s"] = useful_steps * tokens / latest_s;
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
  const auto said = [&](const char* key) { return report.is_object() ? report.value(key, 0.) : 0; };
  record["crashes"] = crashes;
  record["committed_fraction"] = 1 - said("thrown_away_steps") / config.steps();
  record["discarded_exchanges"] = static_cast<std::int64_t>(said("discarded"));
  record["recovery_s"] = distribution_or_null(recovery_s);
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
  add([&] { record["collective"] = collective_of(config, case_folder); });
  if (const Json fitted = read_json_or_null(case_folder + kFitErrorFile); fitted.is_object())
    if (const Json error = member(fitted, "fit_error"); error.is_number()) record["fit_error"] = error;
  add([&] { add_exchanges(config, case_folder, record); });
  add([&] { add_workers(config, case_folder, record); });
  add([&] { add_absences(config, case_folder, record); });
  add([&] { add_rollouts(config, case_folder, record); });
  if (!config.train || train_folder.empty()) return record;
  add([&] { add_curve(config, case_folder, record); });
  add_training(train_folder, training, record);
  return record;
}

void keep_totals(const std::string& case_folder, const Json& record) {
  write_file(case_folder + kRecordFile, record.dump(2) + "\n");
  for (const char* table :
       {"exchanges.csv", "breakdown.csv", "steps.csv", "schedule.jsonl", "transfers.csv", "links.csv",
        "network.csv", "trace.jsonl", "tasks.csv", "versions.csv", "refits.csv", "batches.csv"})
    std::filesystem::remove(case_folder + "/" + table);
}

}  // namespace longhaul
