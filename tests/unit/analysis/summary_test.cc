#include "analysis/runs/run_directory.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul::summary_test {

TEST(Summary, ReadsWhatItWrote) {
  TemporaryFolder folder;
  write_summary(folder.path, "small", {{{"case", "a"}}, {{"case", "b"}}});
  const Json summary = read_summary(folder.path);
  EXPECT_EQ(summary["format"], 1);
  EXPECT_EQ(summary["scenario"], "small");
  EXPECT_EQ(summary["cases"].size(), 2u);
  EXPECT_EQ(summary["claims"], Json::array());
}

// Case names hold commas and are quoted; a case without a table adds no rows, a torn line none either.
TEST(Summary, JoinsTheTablesInTheOrderOfTheCases) {
  TemporaryFolder folder;
  write_text(folder.path + "/cases/b,x=1/links.csv",
             "link,direction,bytes,busy_s\nr0-core,forward,1,0.5\nr0-co");
  write_text(folder.path + "/cases/a/links.csv", "link,direction,bytes,busy_s\nr1-core,backward,2,0.25\n");
  join_tables(folder.path, {"b,x=1", "missing", "a"});
  EXPECT_EQ(read_text(folder.path + "/links.csv"),
            "case,link,direction,bytes,busy_s\n\"b,x=1\",r0-core,forward,1,0.5\na,r1-core,backward,2,0.25\n");
  EXPECT_EQ(read_text(folder.path + "/metrics.csv"),
            "case,step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent\n");
}

}  // namespace longhaul::summary_test
