#include "analysis/report/report.h"

#include <regex>

#include "analysis/case_record.h"
#include "analysis/learning_curve.h"
#include "analysis/report/parts.h"
#include "analysis/runs/run_directory.h"
#include "core/base/errors.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul::report_test {

class Report : public testing::Test {
 protected:
  // Adds a case with the replay and the training of run_fixture.h.
  void add_case(const std::string& label, const Json& swept, bool train = true,
                const std::string& status = "done", int seed = 1) {
    const Case config = parse_case(resolved_case(label, swept, train, seed));
    const std::string case_folder = run + "/cases/" + config.name, train_folder = run + "/train/x";
    if (status == "done") {
      write_replay(case_folder);
      write_training(train_folder);
      if (train) write_case_metrics(config, case_folder, train_folder);
    }
    records.push_back(
        case_record(config, case_folder, train && status == "done" ? train_folder : "", status, "x"));
    scenario = config.resolved;
  }

  std::string page() {
    write_summary(run, "small", records);
    scenario["description"] = "one </script><b>bold</b> word";
    write_text(
        run + "/manifest.json",
        Json{{"command", "longhaul run small.json"}, {"version", "0.1.0"}, {"scenario", scenario}}.dump());
    return report_page(report_data(open_runs({run})));
  }

  // What report.js reads.
  static Json data_of(const std::string& page) {
    const std::string open = "<script id=\"data\" type=\"application/json\">";
    const std::size_t start = page.find(open) + open.size();
    return Json::parse(page.substr(start, page.find("</script>", start) - start));
  }

  TemporaryFolder folder;
  std::string run = folder.path;
  std::vector<Json> records;
  Json scenario;
};

TEST_F(Report, IsOneFileThatLoadsNothing) {
  add_case("diloco", Json::object());
  const std::string text = page();
  EXPECT_FALSE(std::regex_search(text, std::regex("(src|href)\\s*=\\s*[\"']?(https?:)?//")));
  EXPECT_EQ(text.find("@import"), std::string::npos);
  EXPECT_EQ(text.find("{{"), std::string::npos) << "a placeholder was not filled in";
  EXPECT_NE(text.find("Chart.js v3"), std::string::npos);
}

TEST_F(Report, HoldsTheDataOfTheRun) {
  add_case("diloco", {{"network.tcp.connections", 1}});
  add_case("other", {{"network.tcp.connections", 1}});
  add_case("diloco", {{"network.tcp.connections", 8}});
  const Json data = data_of(page());
  EXPECT_EQ(data["runs"][0]["name"], "small");
  EXPECT_EQ(data["runs"][0]["manifest"]["command"], "longhaul run small.json");
  EXPECT_EQ(data["cases"].size(), 3u);
  ASSERT_EQ(data["points"].size(), 2u);
  EXPECT_EQ(data["points"][0]["label"], "network.tcp.connections = 1");
  EXPECT_EQ(data["points"][0]["cases"], Json({0, 1}));
  EXPECT_EQ(data["cases"][0]["curve"]["time_s"], Json({1.5, 3, 4.5, 7.5, 8.5}));
  EXPECT_EQ(data["cases"][0]["curve"]["bytes"], Json({0, 0, 100, 100, 200}));
  EXPECT_EQ(data["cases"][0]["links"]["rows"][0][2], 230);
  EXPECT_EQ(data["cases"][0]["texts"][0], "2.500");
}

TEST_F(Report, NamesCorporaAndWhetherATokenIsAByte) {
  add_case("diloco", Json::object());
  page();
  Json manifest = Json::parse(std::ifstream(run + "/manifest.json"));
  manifest["trainings"] = {
      {"a", {{"corpus_hash", "11"}}}, {"b", {{"corpus_hash", "22"}}}, {"c", {{"corpus_hash", "11"}}}};
  write_text(run + "/manifest.json", manifest.dump());
  EXPECT_EQ(report_data(open_runs({run}))["runs"][0]["corpora"], Json({"11", "22"}));
  EXPECT_EQ(report_data(open_runs({run}))["runs"][0]["byte_tokens"], true);  // of system-headers
  manifest["scenario"]["train"]["data"] = {{"shards", {"a.bin"}}};
  write_text(run + "/manifest.json", manifest.dump());
  EXPECT_EQ(report_data(open_runs({run}))["runs"][0]["byte_tokens"], false);
}

TEST_F(Report, DataCannotEndTheScriptThatHoldsIt) {
  add_case("diloco", Json::object());
  const std::string text = page();
  EXPECT_EQ(data_of(text)["runs"][0]["description"], "one </script><b>bold</b> word");
  EXPECT_EQ(text.find("<b>bold"), std::string::npos);
}

TEST_F(Report, OfANetworkOnlyRunHasNoCurves) {
  add_case("diloco", Json::object(), false);
  const Json data = data_of(page());
  EXPECT_TRUE(data["cases"][0]["curve"].is_null());
  EXPECT_FALSE(data["cases"][0]["outer_step"].is_null());
}

TEST_F(Report, NamesTheCasesThatAreMissing) {
  add_case("diloco", Json::object());
  add_case("noloco", Json::object(), true, "interrupted");
  const Json data = data_of(page());
  EXPECT_EQ(data["runs"][0]["notes"][0], "1 of 2 cases did not finish, the run was interrupted: noloco.");
}

TEST_F(Report, NamesARunThatCannotBeReadAndShowsTheOthers) {
  add_case("diloco", Json::object());
  page();
  const Json data = report_data(open_runs({run, run + "/cases"}));
  EXPECT_EQ(data["runs"].size(), 1u);
  EXPECT_EQ(data["problems"][0], run + "/cases: is no run directory (it has no summary.json)");
  EXPECT_THROW(report_data(open_runs({run + "/cases"})), InputError);
}

TEST_F(Report, NamesADamagedTableAndShowsTheRest) {
  add_case("diloco", Json::object());
  page();
  write_text(run + "/cases/diloco/links.csv", "link,direction,bytes,busy_s\nr0-core,forward,many,0.5\n");
  const Json data = report_data(open_runs({run}));
  EXPECT_NE(data["problems"][0].get<std::string>().find("links.csv: line 2"), std::string::npos);
  EXPECT_TRUE(data["cases"][0]["links"].is_null());
  EXPECT_FALSE(data["cases"][0]["curve"].is_null());
}

TEST_F(Report, NamesATableThatIsCutOff) {
  add_case("diloco", Json::object());
  page();
  const std::string file = run + "/cases/diloco/links.csv", text = read_text(file);
  write_text(file, text.substr(0, text.size() - 3));
  const Json data = report_data(open_runs({run}));
  ASSERT_EQ(data["problems"].size(), 1u);
  EXPECT_EQ(data["problems"][0], file + ": is cut off, its last line (3) has no end");
  EXPECT_EQ(data["cases"][0]["links"]["used"], 1) << "the whole lines are still shown";
}

TEST_F(Report, WorksWithoutAManifest) {
  add_case("diloco", Json::object());
  page();
  std::filesystem::remove(run + "/manifest.json");
  EXPECT_NO_THROW(report_page(report_data(open_runs({run}))));
}

TEST_F(Report, Of1500CasesStaysBelow10Megabytes) {
  std::string metrics = "step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent\n";
  for (int step = 1; step <= 200; ++step)
    metrics += std::to_string(step) + ",plain,mean," + std::to_string(step * 1.234567) +
               ",2.3456789,2.3456789,0.00123456," + std::to_string(step * 123456789LL) + "\n";
  add_case("diloco", {{"network.tcp.connections", 0}});
  const std::string first = records[0]["case"];
  write_text(run + "/cases/" + first + "/metrics.csv", metrics);
  for (int i = 1; i < 1500; ++i) {
    Json record = records[0];
    record["case"] = "diloco,network.tcp.connections=" + std::to_string(i);
    record["swept"]["network.tcp.connections"] = i;
    std::filesystem::create_directory_symlink(first, run + "/cases/" + record["case"].get<std::string>());
    records.push_back(record);
  }
  EXPECT_LT(page().size(), 10'000'000u);
}

TEST(Curve, KeepsBothRowsOfAStepAndTheLast) {
  TemporaryFolder folder;
  std::string text = "step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent\n";
  for (int step = 1; step <= 1001; ++step)
    for (const char* phase : {"before", "after"})
      text += std::to_string(step) + "," + phase + ",mean,1,2,3,4,5\n";
  write_text(folder.path + "/metrics.csv", text);
  const Json steps = curve_of(folder.path, "", 200)["step"];
  EXPECT_EQ(steps.size(), 200u);
  EXPECT_EQ(steps[0], 1);
  EXPECT_EQ(steps[1], 1);
  EXPECT_EQ(steps[198], 1001);
  EXPECT_EQ(steps[199], 1001);
}

// A run that is interrupted while it trains: losses against steps, and no times yet.
TEST(Curve, OfACaseThatIsNotReplayedHasNoTimes) {
  TemporaryFolder folder;
  write_training(folder.path + "/train");
  const Json curve = curve_of(folder.path + "/case", folder.path + "/train", 200);
  EXPECT_EQ(curve["step"], Json({1, 2, 2, 4, 4}));
  EXPECT_EQ(curve["loss"], Json({4.5, 3.6, 3, 2.375, 2.5}));
  EXPECT_TRUE(curve["time_s"][0].is_null());
  EXPECT_TRUE(curve_of(folder.path + "/case", "", 200).is_null());
}

// The outer step in the middle is the second of two; times count from the first replica's going on at 4.
TEST(OuterStep, HasALaneAReplica) {
  TemporaryFolder folder;
  write_replay(folder.path);
  const Json outer = outer_step_of(folder.path, 10);
  EXPECT_EQ(outer["step"], 4);
  EXPECT_EQ(outer["from_step"], 2);
  EXPECT_EQ(outer["lanes"][0],
            Json({{"replica", 0}, {"group", 0}, {"from", 0}, {"ready", 2}, {"start", 3.5}, {"done", 4}}));
  EXPECT_EQ(
      outer["lanes"][1],
      Json({{"replica", 1}, {"group", 0}, {"from", 0.5}, {"ready", 3.5}, {"start", 3.5}, {"done", 4.5}}));
}

TEST(OuterStep, StandsInTheOrderOfTheGroups) {
  TemporaryFolder folder;
  write_text(folder.path + "/trace.jsonl",
             R"({"longhaul_trace":2,"rules":[{"name":"outer","overlap_steps":0}]})"
             "\n"
             R"({"rule":0,"step":2,"groups":[[2,0],[3,1]]})"
             "\n");
  write_exchanges(folder.path,
                  "2,0,outer,2,3,4,1,2\n2,1,outer,2,2,3,1,2\n2,2,outer,3,3,4,1,3\n2,3,outer,1,2,3,1,1\n");
  const Json lanes = outer_step_of(folder.path, 3)["lanes"];
  ASSERT_EQ(lanes.size(), 2u);  // whole groups only
  EXPECT_EQ(lanes[0]["replica"], 0);
  EXPECT_EQ(lanes[1]["replica"], 2);
}

// Replica 2 sits out the outer step of step 2, and replica 0 that of step 4: their clocks are in steps.csv.
TEST(OuterStep, HasALaneOfWhoSitsOut) {
  TemporaryFolder folder;
  write_text(folder.path + "/trace.jsonl",
             R"({"longhaul_trace":2,"rules":[{"name":"outer","overlap_steps":0}]})"
             "\n"
             R"({"rule":0,"step":2,"groups":[[0,1],[2]]})"
             "\n"
             R"({"rule":0,"step":4,"groups":[[2,1],[0]]})"
             "\n");
  write_exchanges(folder.path,
                  "2,0,outer,2,3,4,1,2\n2,1,outer,3,3,4,1,3\n4,1,outer,6,6,7,1,6\n4,2,outer,5,6,7,1,5\n");
  write_text(folder.path + "/steps.csv",
             "step,replica,computed_s,done_s\n2,2,2.5,2.5\n2,0,2,4\n4,0,6.5,6.5\n4,2,5,7\n");
  const Json outer = outer_step_of(folder.path, 3);
  EXPECT_EQ(outer["step"], 4);
  const Json lanes = outer["lanes"];
  ASSERT_EQ(lanes.size(), 3u);
  // The first to begin is replica 2, at 2.5 s.
  const auto lane = [](int replica, int group, double from, double ready, double start, double done) {
    return Json{{"replica", replica}, {"group", group}, {"from", from},
                {"ready", ready},     {"start", start}, {"done", done}};
  };
  EXPECT_EQ(lanes[0], lane(1, 0, 1.5, 3.5, 3.5, 4.5));
  EXPECT_EQ(lanes[1], lane(2, 0, 0, 2.5, 3.5, 4.5));
  EXPECT_EQ(lanes[2], lane(0, 1, 1.5, 4, 4, 4));
}

}  // namespace longhaul::report_test
