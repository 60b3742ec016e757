// The library of docs/howto/add-a-library.md, which is one file: the programs list it, take it and refuse what is
// not one. Its time by hand.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/integration/command.h"
#include "tests/support/csv_table.h"

namespace longhaul::postcards_test {

// Four replicas, 16,000 bytes: a ring's chunk is 4000 bytes, four cards. A card and its headers are 1090 bytes on a
// link of 8.72 Mb/s, 1 ms; 20 ms one way. Two cards leave together, and a card follows when the one two before it
// has come, 20 + 1 ms later: a round of four cards takes 2 · 21 ms, six rounds 252 ms, the last card 1 ms more; and
// the card's writing 250 ms. At the router a card is sent once more (1 ms of every flight): 12 ms.
TEST(Postcards, AreALibraryByOneFile) {
  const CommandResult list = longhaul({"list", "libraries"});
  EXPECT_EQ(list.status, 0);
  EXPECT_NE(list.out.find("postcards  cards of 1000 bytes, two on their way (none)"), std::string::npos)
      << list.out;

  const std::string folder = fresh_folder("postcards");
  write_text(folder + "/s.json", R"({"replicas": 4, "methods": [{"name": "diloco", "inner_steps": 1}],
    "workload": {"parameters": 4000, "wire": "fp32", "steps": 1, "step_time": {"constant": "1s"}},
    "network": {"fidelity": "analytic", "library": "postcards",
                "topology": {"star": {"rate": "8.72Mbps", "rtt": "40ms"}}}})");
  const CommandResult run = longhaul({"run", folder + "/s.json", "--out", folder + "/run"});
  ASSERT_EQ(run.status, 0) << run.err;
  const Json config = parse_json(read_text(folder + "/run/cases/diloco/case.json"));
  EXPECT_EQ(config["network"]["tcp"]["connections"], 3);
  EXPECT_EQ(config["method"]["all_reduce"], "library");
  const CsvTable table = read_csv(folder + "/run/cases/diloco/exchanges.csv");
  double last_s = 0, first_s = 1e9;
  for (const auto& row : table.rows) {
    last_s = std::max(last_s, std::strtod(row[table.column("done_s")].c_str(), nullptr));
    first_s = std::min(first_s, std::strtod(row[table.column("start_s")].c_str(), nullptr));
  }
  EXPECT_NEAR(last_s - first_s, 0.25 + 0.252 + 0.001, 0.013);

  expect_refused(longhaul({"check", folder + "/s.json", "--set", "network.library=postcard"}),
                 {"s.json: network.library: found \"postcard\"", "postcards"});
}

}  // namespace longhaul::postcards_test
