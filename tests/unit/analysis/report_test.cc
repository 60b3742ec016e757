#include "analysis/report/report.h"

#include <regex>

#include "analysis/case_record.h"
#include "analysis/learning_curve.h"
#include "analysis/report/outer_step.h"
#include "analysis/report/report_data.h"
#include "analysis/runs/run_directory.h"
#include "core/base/errors.h"
#include "tests/support/said.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul::report_test {

class Report : public testing::Test {
 protected:
  // Adds a case with the replay and the training of run_fixture.h.
  void add_case(const std::string& label, const Json& swept, const std::string& status = "done") {
    const Case config = parse_case(resolved_case(label, swept));
    const std::string case_folder = run + "/cases/" + config.name, train_folder = run + "/train/x";
    if (status == "done") {
      write_replay(case_folder);
      write_training(train_folder);
      write_case_metrics(config, case_folder, train_folder);
    }
    records.push_back(case_record(config, case_folder, status == "done" ? train_folder : "", status, "x"));
    scenario = config.resolved;
  }

  std::string page() { return report_page(data()); }

  // After a change of files that a test makes: what_is_there().
  Json data() {
    write_summary(run, "small", records);
    scenario["description"] = "one </script><b>bold</b> word";
    manifest = {{"command", "longhaul run small.json"}, {"version", "0.1.0"}, {"scenario", scenario}};
    write_text(run + "/manifest.json", manifest.dump());
    return what_is_there();
  }
  Json what_is_there() const { return report_data(open_runs({run})); }

  // What report.js reads.
  static Json data_of(const std::string& page) {
    const std::string open = "<script id=\"data\" type=\"application/json\">";
    const std::size_t start = page.find(open) + open.size();
    return Json::parse(page.substr(start, page.find("</script>", start) - start));
  }

  TemporaryFolder folder;
  std::string run = folder.path;
  std::vector<Json> records;
  Json scenario, manifest;
};

TEST_F(Report, IsOneFileThatLoadsNothing) {
  add_case("diloco", Json::object());
  const std::string text = page();
  EXPECT_FALSE(std::regex_search(text, std::regex("(src|href)\\s*=\\s*[\"']?(https?:)?//")));
  EXPECT_EQ(text.find("@import"), std::string::npos);
  EXPECT_EQ(text.find("{{"), std::string::npos) << "a placeholder was not filled in";
  EXPECT_SAYS(text, "Chart.js v3");
  // Data cannot end the script that holds it.
  EXPECT_EQ(data_of(text)["runs"][0]["description"], "one </script><b>bold</b> word");
  EXPECT_EQ(text.find("<b>bold"), std::string::npos);
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
  EXPECT_EQ(data["cases"][0]["outer_step"]["step"], 4);
  EXPECT_EQ(data["cases"][0]["links"]["rows"][0][2], 230);
  EXPECT_EQ(data["cases"][0]["texts"][0], "2.500");
}

TEST_F(Report, NamesCorporaAndWhetherATokenIsAByte) {
  add_case("diloco", Json::object());
  data();
  manifest["trainings"] = {
      {"a", {{"corpus_hash", "11"}}}, {"b", {{"corpus_hash", "22"}}}, {"c", {{"corpus_hash", "11"}}}};
  write_text(run + "/manifest.json", manifest.dump());
  const Json of_bytes = what_is_there()["runs"][0];  // of system-headers
  EXPECT_EQ(of_bytes["corpora"], Json({"11", "22"}));
  EXPECT_EQ(of_bytes["byte_tokens"], true);
  manifest["scenario"]["train"]["data"] = {{"shards", {"a.bin"}}};
  write_text(run + "/manifest.json", manifest.dump());
  EXPECT_EQ(what_is_there()["runs"][0]["byte_tokens"], false);
  std::filesystem::remove(run + "/manifest.json");
  EXPECT_NO_THROW(report_page(what_is_there()));
}

TEST_F(Report, NamesWhatCannotBeReadAndShowsTheRest) {
  add_case("diloco", Json::object());
  data();
  const Json of_two = report_data(open_runs({run, run + "/cases"}));
  EXPECT_EQ(of_two["runs"].size(), 1u);
  EXPECT_EQ(of_two["problems"][0], run + "/cases: is no run directory (it has no summary.json)");
  EXPECT_THROW(report_data(open_runs({run + "/cases"})), InputError);
  const std::string file = run + "/cases/diloco/links.csv", text = read_text(file);
  write_text(file, text.substr(0, text.size() - 3));
  const Json cut_off = what_is_there();
  ASSERT_EQ(cut_off["problems"].size(), 1u);
  EXPECT_EQ(cut_off["problems"][0], file + ": is cut off, its last line (3) has no end");
  EXPECT_EQ(cut_off["cases"][0]["links"]["used"], 1) << "the whole lines are still shown";
  write_text(file, "link,direction,bytes,busy_s\nr0-core,forward,many,0.5\n");
  const Json damaged = what_is_there();
  EXPECT_SAYS(damaged["problems"][0].get<std::string>(), "links.csv: line 2");
  EXPECT_TRUE(damaged["cases"][0]["links"].is_null());
  EXPECT_FALSE(damaged["cases"][0]["curve"].is_null());
  add_case("noloco", Json::object(), "interrupted");
  EXPECT_EQ(data()["runs"][0]["notes"][0], "1 of 2 cases did not finish, the run was interrupted: noloco.");
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
  EXPECT_EQ(Json({steps[0], steps[1], steps[198], steps[199]}), Json({1, 1, 1001, 1001}));
}

// A run that is interrupted while it trains: losses against steps, and no times yet.
TEST(Curve, OfACaseThatIsNotReplayedHasNoTimes) {
  TemporaryFolder folder;
  write_training(folder.file("train"));
  const Json curve = curve_of(folder.file("case"), folder.file("train"), 200);
  EXPECT_EQ(curve["step"], Json({1, 2, 2, 4, 4}));
  EXPECT_EQ(curve["loss"], Json({4.5, 3.6, 3, 2.375, 2.5}));
  EXPECT_TRUE(curve["time_s"][0].is_null());
  EXPECT_TRUE(curve_of(folder.path + "/case", "", 200).is_null());
}

Json lane(int replica, int group, double from, double ready, double start, double done) {
  return {{"replica", replica}, {"group", group}, {"from", from},
          {"ready", ready},     {"start", start}, {"done", done}};
}

void write_groups(const TemporaryFolder& folder, const std::string& lines) {
  write_text(folder.file("trace.jsonl"),
             R"({"longhaul_trace":2,"rules":[{"name":"outer","overlap_steps":0}]})" + ("\n" + lines));
}

// The outer step in the middle is the second of two; times count from the first replica's going on at 4.
TEST(OuterStep, HasALaneAReplica) {
  TemporaryFolder folder;
  write_replay(folder.path);
  const Json outer = outer_step_of(folder.path, 10);
  EXPECT_EQ(outer["step"], 4);
  EXPECT_EQ(outer["from_step"], 2);
  EXPECT_EQ(outer["lanes"], Json::array({lane(0, 0, 0, 2, 3.5, 4), lane(1, 0, 0.5, 3.5, 3.5, 4.5)}));
}

TEST(OuterStep, StandsInTheOrderOfTheGroups) {
  TemporaryFolder folder;
  write_groups(folder, "{\"rule\":0,\"step\":2,\"groups\":[[2,0],[3,1]]}\n");
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
  write_groups(
      folder,
      "{\"rule\":0,\"step\":2,\"groups\":[[0,1],[2]]}\n{\"rule\":0,\"step\":4,\"groups\":[[2,1],[0]]}\n");
  write_exchanges(folder.path,
                  "2,0,outer,2,3,4,1,2\n2,1,outer,3,3,4,1,3\n4,1,outer,6,6,7,1,6\n4,2,outer,5,6,7,1,5\n");
  write_text(folder.path + "/steps.csv",
             "step,replica,computed_s,done_s\n2,2,2.5,2.5\n2,0,2,4\n4,0,6.5,6.5\n4,2,5,7\n");
  const Json outer = outer_step_of(folder.path, 3);
  EXPECT_EQ(outer["step"], 4);
  // The first to begin is replica 2, at 2.5 s.
  EXPECT_EQ(outer["lanes"], Json::array({lane(1, 0, 1.5, 3.5, 3.5, 4.5), lane(2, 0, 0, 2.5, 3.5, 4.5),
                                         lane(0, 1, 1.5, 4, 4, 4)}));
}

}  // namespace longhaul::report_test
