#include "analysis/sync_breakdown.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "analysis/csv_stream.h"
#include "analysis/exchange_table.h"

namespace longhaul {
namespace {

// Which parts there are depends on the network: all columns that end in "_s".
std::vector<std::string> part_columns(const std::string& file) {
  std::ifstream in(file);
  std::string header;
  std::getline(in, header);
  std::vector<std::string> columns;
  std::istringstream cells(header);
  for (std::string cell; std::getline(cells, cell, ',');)
    if (cell.size() > 2 && cell.compare(cell.size() - 2, 2, "_s") == 0) columns.push_back(cell);
  return columns;
}

// Rules that overlap with compute, of a method that also blocks.
std::set<std::string> sent_ahead(const std::string& case_folder) {
  std::set<std::string> names;
  bool blocks = false;
  for (const ExchangeRuleFacts& rule : exchange_rules(case_folder))
    if (rule.overlap_steps > 0)
      names.insert(rule.name);
    else
      blocks = true;
  return blocks ? names : std::set<std::string>();
}

}  // namespace

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
