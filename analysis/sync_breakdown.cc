#include "analysis/sync_breakdown.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "analysis/csv_stream.h"

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

}  // namespace

Json sync_breakdown(const std::string& case_folder, const std::set<std::string>& overlapped,
                    std::size_t syncs) {
  const std::string file = case_folder + "/breakdown.csv";
  if (syncs == 0 || !std::filesystem::exists(file)) return nullptr;
  std::vector<std::string> columns = part_columns(file);
  std::vector<double> totals_s(columns.size());
  columns.push_back("exchange");
  CsvStream rows(file, columns);
  while (rows.next()) {
    if (overlapped.count(std::string(rows.text(totals_s.size())))) continue;
    for (std::size_t i = 0; i < totals_s.size(); ++i) totals_s[i] += rows.number(i);
  }
  Json parts = Json::object();
  for (std::size_t i = 0; i < totals_s.size(); ++i)
    parts[columns[i].substr(0, columns[i].size() - 2)] = totals_s[i] / static_cast<double>(syncs);
  return parts;
}

}  // namespace longhaul
