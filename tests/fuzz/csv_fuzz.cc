// The two readers of CSV: whole tables (core) and rows one by one (analysis).
#include "tests/fuzz/fuzz.h"
#include "tests/support/csv_table.h"

void longhaul::read_input(const std::string& input) {
  const std::string file = file_with("table.csv", input);
  std::size_t rows = 0;
  allow_errors([&] { rows = read_csv(file).rows.size(); });
  CsvStream stream(file, {"step", "replica", "ready_s"});
  std::size_t streamed = 0;
  for (; stream.next(); ++streamed) {
    stream.step(0), stream.worker(1), stream.number(2);
  }
  if (streamed != rows) abort();
}
