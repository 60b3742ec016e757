#include "analysis/exchange_table.h"

#include <algorithm>
#include <fstream>

#include "core/options.h"

namespace longhaul {

std::vector<ExchangeRuleFacts> exchange_rules(const std::string& case_folder) {
  std::ifstream in(case_folder + "/trace.jsonl");
  std::string line;
  std::getline(in, line);
  const Json header = Json::parse(line, nullptr, false);
  std::vector<ExchangeRuleFacts> rules;
  if (!header.is_object() || !header.contains("rules")) return rules;
  for (const Json& rule : header["rules"])
    rules.push_back({rule.value("name", ""), rule.value("every", 1), rule.value("overlap_steps", 0)});
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

}  // namespace longhaul
