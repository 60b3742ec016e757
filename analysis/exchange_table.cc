#include "analysis/exchange_table.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

#include "core/index.h"

namespace longhaul {
namespace {

// Which parts there are depends on the network: all columns that end in "_s".
std::vector<std::string> part_columns(const std::string& file) {
  std::vector<std::string> columns;
  std::istringstream cells(CsvStream(file, {}).line());
  for (std::string cell; std::getline(cells, cell, ',');)
    if (cell.size() > 2 && cell.compare(cell.size() - 2, 2, "_s") == 0) columns.push_back(cell);
  return columns;
}

// Rules that overlap with compute, of a method that also blocks.
std::set<std::string> sent_ahead(const std::string& case_folder) {
  std::set<std::string> names;
  bool blocks = false;
  for (const ExchangeRuleFacts& rule : exchange_rules(case_folder)) {
    blocks = blocks || rule.overlap_steps == 0;
    if (rule.overlap_steps > 0) names.insert(rule.name);
  }
  return blocks ? names : std::set<std::string>();
}

Json trace_header(const std::string& case_folder) {
  std::ifstream in(case_folder + "/trace.jsonl");
  std::string line;
  std::getline(in, line);
  return Json::parse(line, nullptr, false);
}

}  // namespace

StageBytes::StageBytes(const std::string& case_folder) {
  const Json header = trace_header(case_folder);
  const Json pipeline = member(header, "pipeline");
  if (pipeline.is_null()) return;
  const PipelinePlan plan = pipeline_from(pipeline, header.at("parameters"));
  of_step_ = plan.bytes_of_step();
  if (!plan.by_bits) return;
  const std::string file = case_folder + "/trace.jsonl";
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

std::vector<ExchangeRuleFacts> exchange_rules(const std::string& case_folder) {
  const Json header = trace_header(case_folder);
  std::vector<ExchangeRuleFacts> rules;
  if (!header.is_object() || !header.contains("rules")) return rules;
  for (const Json& rule : header["rules"])
    rules.push_back({rule.value("name", ""), rule.value("overlap_steps", 0)});
  return rules;
}

ExchangeTable::ExchangeTable(const std::string& case_folder)
    : rules_(exchange_rules(case_folder)),
      rows_(case_folder + "/exchanges.csv",
            {"step", "replica", "exchange", "ready_s", "start_s", "done_s", "bytes", "awaited_s"}) {
  blocks_somewhere_ = std::any_of(rules_.begin(), rules_.end(),
                                  [](const ExchangeRuleFacts& rule) { return rule.overlap_steps == 0; });
}

bool ExchangeTable::next() {
  if (!rows_.next()) return false;
  if (rule_ && rule_->name == exchange()) return true;
  const auto found = std::find_if(rules_.begin(), rules_.end(),
                                  [&](const ExchangeRuleFacts& rule) { return rule.name == exchange(); });
  rule_ = found == rules_.end() ? nullptr : &*found;
  return true;
}

double ExchangeTable::wait_s() const {
  return overlaps() ? std::max(0., std::min(start_s(), done_s()) - awaited_s()) : start_s() - ready_s();
}

double ExchangeTable::exposed_s() const {
  return std::max(0., done_s() - awaited_s());
}

Json sync_breakdown(const std::string& case_folder, std::size_t syncs) {
  const std::string file = case_folder + "/breakdown.csv";
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
  Json parts = Json::object();
  for (std::size_t i = 0; i < totals_s.size(); ++i)
    parts[columns[i].substr(0, columns[i].size() - 2)] = totals_s[i] / static_cast<double>(syncs);
  return parts;
}

}  // namespace longhaul
