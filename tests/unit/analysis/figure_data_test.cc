// The numbers of figures, from the run of run_fixture.h, whose every number can be worked out, and from
// records with known sweeps. How they are drawn: tests/python/figures_test.py.
#include "analysis/figures/figure_data.h"

#include "analysis/case_record.h"
#include "analysis/learning_curve.h"
#include "analysis/runs/run_directory.h"
#include "tests/unit/analysis/compared_runs.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul::figure_data_test {

class FigureDataOfRun : public CaseOfRun {
 protected:
  FigureDataOfRun() {
    write_case_metrics(config, case_folder, train_folder);
    write_summary(folder.path, "small", {case_record(config, case_folder, train_folder, "done", "x")});
  }

  Json point() const { return data()["points"][0]; }
  Json data() const { return figure_data(open_runs({folder.path}).runs, {}); }
};

// The rows `mean` of the fixture's metrics; one seed, whose interval is its value. The four sync times are
// 0.5, 1, 1 and 1.5. Clocks 8 and 8.5, compute 4 and 6: of 8.25 a replica computes 5, exchanges 2 and
// waits 1.25, on average.
TEST_F(FigureDataOfRun, HasTheCurveTheSyncTimesAndThePartsOfTheClock) {
  const Json group = point()["groups"][0], curve = group["curve"], parts = group["parts"];
  EXPECT_EQ(curve["time_s"], (Json{1.5, 3., 4.5, 7.5, 8.5}));
  for (const char* key : {"loss", "low", "high"})
    EXPECT_EQ(curve[key], (Json{4.5, 3.6, 3., 2.375, 2.5})) << key;
  EXPECT_EQ(curve["step"], (Json{1., 2., 2., 4., 4.}));
  EXPECT_EQ(curve["bytes"], (Json{0., 0., 100., 100., 200.}));
  EXPECT_EQ(
      group["times"],
      Json::parse(R"({"count": 4, "steps": [[0.5, 0], [0.5, 0.25], [1.0, 0.5], [1.0, 0.75], [1.5, 1.0]]})"));
  EXPECT_EQ(parts.size(), 3u);
  EXPECT_DOUBLE_EQ(parts["compute_time_s"], 5);
  EXPECT_DOUBLE_EQ(parts["exchange_time_s"], 2);
  EXPECT_DOUBLE_EQ(parts["wait_time_s"], 1.25);
}

// A token of system-headers is a byte; without a manifest nothing says what one is.
TEST_F(FigureDataOfRun, KnowsWhereATokenIsAByte) {
  EXPECT_EQ(point()["bits"], false);
  write_text(folder.path + "/manifest.json",
             Json{{"scenario", {{"train", {{"data", {{"corpus", "system-headers"}}}}}}}}.dump());
  EXPECT_EQ(point()["bits"], true);
}

TEST_F(FigureDataOfRun, NamesATableThatIsCutOffAndKeepsTheRest) {
  write_exchanges(case_folder, std::string(kExchanges).substr(0, std::string(kExchanges).size() - 7));
  const Json all = data();
  EXPECT_TRUE(all["points"][0]["groups"][0]["times"].is_null());
  EXPECT_TRUE(all["points"][0]["groups"][0]["curve"].is_object());
  ASSERT_EQ(all["notes"].size(), 1u);
  EXPECT_NE(all["notes"][0].get<std::string>().find("exchanges.csv: is cut off"), std::string::npos);
}

// Losses 2 and 3 after a step: mean 2.5, half the interval t(0.975, 1) = 12.7062 times 0.5.
TEST(FigureData, HasTheIntervalOverTheSeedsAndWhatTheyHave) {
  const TemporaryFolder folder;
  std::vector<Json> records;
  for (const int seed : {1, 2}) {
    records.push_back(compared_record("m", seed, {{"final_loss", 2.}}));
    const std::string row = "1,plain,mean,1," + std::to_string(seed + 1) + ",3,0,0\n";
    write_text(run_of({}, folder.path).case_folder(records.back()) + "/metrics.csv",
               "step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent\n" + row);
  }
  const Json curve = figure_data({run_of(records, folder.path)}, {})["points"][0]["groups"][0]["curve"];
  EXPECT_EQ(curve["seeds"], 2);
  EXPECT_DOUBLE_EQ(curve["loss"][0], 2.5);
  EXPECT_NEAR(curve["low"][0], 2.5 - 12.7062 / 2, 1e-4);
  EXPECT_NEAR(curve["high"][0], 2.5 + 12.7062 / 2, 1e-4);
  EXPECT_EQ(curve["least"][0], 2.);
  EXPECT_EQ(curve["greatest"][0], 3.);
}

std::vector<Json> swept_records() {
  std::vector<Json> records;
  for (const int replicas : {4, 16, 64}) {
    const Json point = {{"replicas", replicas}};
    add_values(records, "diloco", "sync_time_s.mean", {1. * replicas, 1. * replicas}, point, point);
    add_values(records, "noloco", "sync_time_s.mean", {1.5, 2.5}, point, point);
  }
  return records;
}

// diloco: 4, 16, 64 s without scatter. noloco: 1.5 and 2.5, mean 2, t(0.975, 1) = 12.7062 times 0.5.
TEST(FigureData, OfASweepHasMeansWithIntervals) {
  const Json data = figure_data({run_of(swept_records())}, {{"sync_time_s.mean"}, {}});
  EXPECT_EQ(data["colors"], (Json{{"diloco", "#0072B2"}, {"noloco", "#D55E00"}}));
  ASSERT_EQ(data["sweeps"].size(), 1u);
  EXPECT_EQ(data["sweeps"][0]["unit"], "s");
  int seen = 0;
  for (const Json& entry : data["sweeps"][0]["entries"]) {
    const double y = entry["label"] == "diloco" ? entry["point"]["replicas"].get<double>() : 2,
                 half = entry["label"] == "diloco" ? 0 : 12.7062 / 2;
    EXPECT_DOUBLE_EQ(entry["y"], y);
    EXPECT_NEAR(entry["low"], y - half, 1e-4);
    EXPECT_NEAR(entry["high"], y + half, 1e-4);
    ++seen;
  }
  EXPECT_EQ(seen, 6);
}

// diloco over noloco at seeds 1 and 2 and 4 replicas: 4/1.5 and 4/2.5, mean 2.1333; 16 times that at 64. A
// claim on one of its points is on the same quantity.
TEST(FigureData, OfClaimsHasWhatWasMeasuredAtEachPointAndTheVerdicts) {
  RunDirectory run = run_of(swept_records());
  const Json claim = {{"id", "ten"}, {"ratio", "sync_time_s.mean"}, {"of", "diloco"}, {"to", "noloco"}};
  Json everywhere = claim, at_64 = claim;
  everywhere["at_least"] = 10;
  at_64.update({{"id", "forty"}, {"equals", 40}, {"within", 0.1}, {"where", {{"replicas", 64}}}});
  run.written = {{"claims", {everywhere, at_64}}};
  const Json data = figure_data({run}, {{"sync_time_s.mean"}, {}});
  ASSERT_EQ(data["claims"].size(), 1u);
  const Json drawn = data["claims"][0];
  EXPECT_EQ(drawn["claims"], run.written["claims"]);
  EXPECT_EQ(drawn["verdicts"].size(), 2u);
  ASSERT_EQ(drawn["points"].size(), 3u);
  for (const Json& point : drawn["points"])
    EXPECT_NEAR(point["measured"], point["swept"]["replicas"].get<double>() * (1 / 1.5 + 1 / 2.5) / 2, 1e-9);
  const Json matrix = data["matrices"][0];
  EXPECT_EQ(matrix["columns"], (Json{"4", "16", "64"}));
  EXPECT_EQ(matrix["cells"][0][0][7], "2.13");
  EXPECT_EQ(data["matrices"].size(), 1u) << "a claim on one point has none";
}

TEST(FigureData, ReadsSweptTextsThatAreQuantities) {
  std::vector<Json> records;
  for (const char* text : {"500ms", "1Gbps", "10MB", "ring"})
    records.push_back(compared_record("ddp", 1, {{"x", text}}, {{"simulated_time_s", 1}}));
  EXPECT_EQ(figure_data({run_of(records)}, {})["quantities"],
            Json::parse(R"({"500ms": [0.5, "s"], "1Gbps": [1e9, "bit/s"], "10MB": [1e7, "B"]})"));
}

}  // namespace longhaul::figure_data_test
