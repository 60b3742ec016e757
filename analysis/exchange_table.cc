#include "analysis/exchange_table.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

#include "analysis/run_files.h"
#include "core/base/csv.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/plan/pipeline.h"

namespace longhaul {
namespace {

// Which parts there are depends on the network: all columns that end in "_s".
std::vector<std::string> part_columns(const std::string& file) {
  const CsvStream table(file, {});
  std::vector<std::string> columns;
  for (const std::string_view cell : table.cells())
    if (cell.size() > 2 && cell.substr(cell.size() - 2) == "_s") columns.emplace_back(cell);
  return columns;
}

std::string trace_file(const std::string& case_folder) {
  return case_folder + "/trace.jsonl";
}

const Node& header_declaration() {
  static const Node declaration =
      section("", {integer("replicas").at_least(1).at_most(kMostReplicas), integer("steps").at_least(1),
                   large_integer("parameters").at_least(1).at_most(kMostParameters),
                   list_of("rules", section("", {text("name"), integer("overlap_steps").at_least(0)})),
                   section("pipeline", {integer("stages").at_least(1)})});
  return declaration;
}

// What the analysis needs of the header; as it is here without a trace.
struct TraceFacts {
  std::vector<ExchangeRuleFacts> rules;
  std::int64_t steps = kMostOfACount, workers = kMostReplicas, stage_bytes = 0;
  bool learns_bits = false;
};

TraceFacts facts_of(const Json& header) {
  check_declared(header_declaration(), header, "");
  TraceFacts facts;
  for (const Json& rule : header.value("rules", Json::array()))
    facts.rules.push_back({rule.value("name", ""), rule.value("overlap_steps", 0), rule.value("kind", ""),
                           rule.value("collective", "")});
  facts.steps = header.value("steps", facts.steps);
  facts.workers = header.value("replicas", facts.workers);
  if (const Json pipeline = member(header, "pipeline"); !pipeline.is_null()) {
    facts.workers *= pipeline.value("stages", std::int64_t{1});
    const PipelinePlan plan = pipeline_from(pipeline, header.at("parameters"));
    facts.stage_bytes = plan.bytes_of_step();
    facts.learns_bits = plan.by_bits.has_value();
  }
  return facts;
}

TraceFacts trace_facts(const std::string& case_folder) {
  std::ifstream in(trace_file(case_folder));
  std::string line;
  if (!std::getline(in, line)) return {};
  const std::string file = trace_file(case_folder);
  return reading(file, [&] {
    try {
      return facts_of(parse_json(line));
    } catch (const InputError& error) {
      throw of_line(error, file, 1, "the header of a trace (docs/formats.md)");
    }
  });
}

// Rules that overlap with compute, of a method that also blocks.
std::set<std::string> sent_ahead(const std::string& case_folder) {
  std::set<std::string> names;
  bool blocks = false;
  for (const ExchangeRuleFacts& rule : trace_facts(case_folder).rules) {
    blocks = blocks || rule.overlap_steps == 0;
    if (rule.overlap_steps > 0) names.insert(rule.name);
  }
  return blocks ? names : std::set<std::string>();
}

// Intervals that may overlap, as one length.
class TimeUnion {
 public:
  // By how much longer it is with this one.
  double add(Interval one) {
    double more = one.high - one.low;
    std::vector<Interval> apart;
    for (const Interval& other : intervals_) {
      if (other.high < one.low || other.low > one.high) {
        apart.push_back(other);
        continue;
      }
      more -= std::min(other.high, one.high) - std::max(other.low, one.low);
      one = {std::min(other.low, one.low), std::max(other.high, one.high)};
    }
    apart.push_back(one);
    intervals_ = std::move(apart);
    return more;
  }

 private:
  std::vector<Interval> intervals_;  // none touches another
};

}  // namespace

std::vector<ExchangeRuleFacts> exchange_rules(const std::string& case_folder) {
  return trace_facts(case_folder).rules;
}

StageBytes::StageBytes(const std::string& case_folder) {
  const TraceFacts facts = trace_facts(case_folder);
  of_step_ = facts.stage_bytes;
  if (!facts.learns_bits) return;
  const std::string file = trace_file(case_folder);
  std::ifstream in(file);
  learned_ = read_trace(in, file);
  const int replicas = learned_->context.replicas;
  sums_.assign(1, std::vector<std::int64_t>(as_index(replicas)));
  for (int step = 1; step <= learned_->context.steps; ++step) {
    sums_.push_back(sums_.back());
    for (int replica = 0; replica < replicas; ++replica)
      sums_.back()[as_index(replica)] += learned_->stage_bytes(step, replica);
  }
}

std::int64_t StageBytes::until(std::int64_t step, int replica) const {
  return learned_ ? sums_.at(as_index(step)).at(as_index(replica)) : step * of_step_;
}

Json StageBytes::of_step() const {
  if (!learned_) return of_step_;
  const std::vector<std::int64_t>& all = sums_.back();
  return static_cast<double>(std::accumulate(all.begin(), all.end(), std::int64_t{0})) /
         (static_cast<double>(all.size()) * static_cast<double>(sums_.size() - 1));
}

Json StageBytes::bits() const {
  if (!learned_) return nullptr;
  const auto mean_of = [](auto first, auto last) {
    double sum = 0, count = 0;
    for (; first != last; ++first)
      for (const std::vector<int>& of_replica : *first)
        for (const int bits : of_replica) sum += bits, ++count;
    return sum / count;
  };
  const auto& bits = learned_->bits;
  return {{"mean", mean_of(bits.begin(), bits.end())}, {"last", mean_of(bits.end() - 1, bits.end())}};
}

ExchangeTable::ExchangeTable(const std::string& case_folder)
    : rows_(case_folder + "/exchanges.csv",
            {"step", "replica", "exchange", "ready_s", "start_s", "done_s", "bytes", "awaited_s"}) {
  TraceFacts facts = trace_facts(case_folder);
  rules_ = std::move(facts.rules);
  steps_ = facts.steps;
  workers_ = facts.workers;
  blocks_somewhere_ = any_of(rules_, [](const ExchangeRuleFacts& rule) { return rule.overlap_steps == 0; });
}

bool ExchangeTable::next() {
  if (!rows_.next()) return false;
  step_ = rows_.integer(kStep, 0, steps_);
  replica_ = rows_.integer(kReplica, 0, workers_ - 1);
  if (rule_ && rule_->name == exchange()) return true;
  const auto found = find_if(rules_, [&](const ExchangeRuleFacts& rule) { return rule.name == exchange(); });
  rule_ = found == rules_.end() ? nullptr : &*found;
  return true;
}

double ExchangeTable::wait_s() const {
  return hides() ? std::max(0., std::min(start_s(), done_s()) - awaited_s()) : start_s() - ready_s();
}

StandStill::Times StandStill::add(const ExchangeTable& row) {
  Point& point = points_[row.replica()];
  const bool is_beside = row.hides() && row.start_s() < point.end_s &&
                         (row.awaited_s() == point.awaited_s || row.awaited_s() == point.end_s);
  if (!is_beside) {
    const double from_s = row.awaited_s();
    point = {from_s, from_s, {from_s, from_s}};
  }
  const auto later = [&](double& end_s, double error) {
    const double before_s = end_s;
    end_s = std::max(end_s, row.done_s() + error * row.sync_s());
    return end_s - before_s;
  };
  Times times;
  times.wait_s = is_beside ? 0 : row.wait_s();
  times.exposed_s = later(point.end_s, 0);
  times.possible_exposed_s.low = later(point.possible_end_s.low, -residual_);
  times.possible_exposed_s.high = later(point.possible_end_s.high, residual_);
  return times;
}

std::vector<Synchronization> synchronizations(const std::string& case_folder, double residual,
                                              const std::function<void(const ExchangeTable&)>& each) {
  struct Last {
    std::size_t number;
    TimeUnion under_way;
  };
  std::vector<Synchronization> all;
  std::map<std::int64_t, Last> last;  // by replica, in `all`
  StandStill stand_still(residual);
  for (ExchangeTable rows(case_folder); rows.next();) {
    if (each) each(rows);
    if (!rows.is_synchronization()) continue;
    Last& entry = last.emplace(rows.replica(), Last{all.size(), {}}).first->second;
    if (entry.number == all.size() || all[entry.number].step != rows.step()) {
      entry = {all.size(), {}};
      all.push_back({rows.step(), rows.replica()});
    }
    Synchronization& sync = all[entry.number];
    const StandStill::Times times = stand_still.add(rows);
    const double sync_s = entry.under_way.add({rows.start_s(), rows.done_s()});
    sync.exchanges = sync.exchanges || rows.exchanges();
    sync.wait_s += times.wait_s;
    sync.sync_s += sync_s;
    sync.of_each_s += rows.sync_s();
    sync.exposed_s += times.exposed_s;
    sync.possible_exposed_s.low += times.possible_exposed_s.low;
    sync.possible_exposed_s.high += times.possible_exposed_s.high;
    sync.exchange_s += rows.hides() ? times.exposed_s - times.wait_s : sync_s;
  }
  return all;
}

Json sync_breakdown(const std::string& case_folder, const std::vector<Synchronization>& all) {
  const std::string file = case_folder + "/breakdown.csv";
  double syncs = 0, sync_s = 0, of_each_s = 0;
  for (const Synchronization& one : all) {
    if (one.exchanges) ++syncs;
    sync_s += one.sync_s;
    of_each_s += one.of_each_s;
  }
  if (syncs == 0 || !std::filesystem::exists(file)) return nullptr;
  std::vector<std::string> columns = part_columns(file);
  std::vector<double> totals_s(columns.size());
  columns.push_back("exchange");
  const std::set<std::string> left_out = sent_ahead(case_folder);
  CsvStream rows(file, columns);
  while (rows.next()) {
    if (left_out.count(std::string(rows.text(totals_s.size())))) continue;
    for (std::size_t i = 0; i < totals_s.size(); ++i) totals_s[i] += rows.number(i);
  }
  const double share = of_each_s > sync_s ? sync_s / of_each_s : 1;
  Json parts = Json::object();
  for (std::size_t i = 0; i < totals_s.size(); ++i)
    parts[columns[i].substr(0, columns[i].size() - 2)] = totals_s[i] * share / syncs;
  return parts;
}

}  // namespace longhaul
