#include "validation/grid/grid_reference.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "core/base/csv.h"
#include "core/base/errors.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

std::vector<std::string> columns() {
  std::vector<std::string> names = grid_columns();
  for (const char* name : {"seed", "status", "cold_s", "cold_first_s", "again_s", "again_first_s"})
    names.push_back(name);
  return names;
}

std::vector<double*> times_of(GridTimes& times) {
  return {&times.cold.last_s, &times.cold.first_s, &times.again.last_s, &times.again.first_s};
}

std::string line_of(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = csv_quoted(cell);
  return join(cells, ",") + "\n";
}

ReferenceRow row_of(const std::vector<std::string>& cells) {
  ReferenceRow row;
  row.grid_case = grid_case_from(cells);
  std::size_t next = grid_columns().size();
  row.seed = std::stoi(cells[next++]);
  row.outcome.status = cells[next++];
  if (row.outcome.status == "done")
    for (double* time : times_of(row.outcome.times)) *time = std::stod(cells[next++]);
  return row;
}

}  // namespace

std::string row_key(const GridCase& grid_case, int seed) {
  return join(cells_of(grid_case), ",") + "," + std::to_string(seed);
}

std::vector<ReferenceRow> read_reference(const std::string& file) {
  if (!std::filesystem::exists(file)) return {};
  const CsvTable table = read_csv(file);
  if (table.header != columns()) throw RunError(file + ": is no reference file, or one of another version");
  std::vector<ReferenceRow> rows;
  for (const auto& cells : table.rows) rows.push_back(row_of(cells));
  return rows;
}

void append_reference(const std::string& file, const ReferenceRow& row) {
  std::vector<std::string> cells = cells_of(row.grid_case);
  cells.push_back(std::to_string(row.seed));
  cells.push_back(row.outcome.status);
  GridTimes times = row.outcome.times;
  for (const double* time : times_of(times))
    cells.push_back(row.outcome.status == "done" ? format_number(*time) : "");
  const int out = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (out < 0 || flock(out, LOCK_EX) != 0) throw RunError(file + ": cannot be written");
  std::string text = line_of(cells);
  if (lseek(out, 0, SEEK_END) == 0) text = line_of(columns()) + text;
  const bool is_written = write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(out);
  if (!is_written) throw RunError(file + ": cannot be written (is the disk full?)");
}

std::vector<ReferenceCase> reference_cases(const std::vector<ReferenceRow>& rows) {
  std::map<std::string, std::size_t> known;
  std::vector<ReferenceCase> cases;
  for (const ReferenceRow& row : rows) {
    const auto [place, is_new] = known.insert({row_key(row.grid_case, 0), cases.size()});
    if (is_new) cases.push_back({row.grid_case, row.grid_case.seeds, 0, {}, {}, {}});
    ReferenceCase& reference_case = cases[place->second];
    if (row.outcome.status != "done") {
      reference_case.failures.push_back(row.outcome.status);
      continue;
    }
    ++reference_case.done;
    reference_case.seeds.push_back(row.seed);
    GridTimes added = row.outcome.times;
    const std::vector<double*> sums = times_of(reference_case.mean), terms = times_of(added);
    for (std::size_t i = 0; i < sums.size(); ++i) *sums[i] += *terms[i];
  }
  for (ReferenceCase& reference_case : cases)
    for (double* sum : times_of(reference_case.mean)) *sum /= std::max(1, reference_case.done);
  return cases;
}

}  // namespace longhaul
