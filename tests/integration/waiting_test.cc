// Methods whose replicas do not wait for the slow ones, or only for a time, from end to end: the replay says
// who met, took part or contributed and which steps were taken, and the training follows it.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "tests/integration/kills.h"
#include "tests/support/csv_table.h"

namespace longhaul::waiting_test {

// A step takes 0.4 s, of some replicas so many times as long; every message takes 0.3 s.
Json slow_messages(const Json& methods, const Json& factors) {
  Json json = small_scenario(Json::parse(R"({
    "network": {"topology": {"star": null, "mesh": {"rate": "1Gbps", "rtt": "0s"}},
                "message_time": {"mean": "0.3s", "std": "0s"}},
    "workload": {"step_time": {"lognormal": null, "constant": "400ms"}}})"));
  json["methods"] = methods;
  json["workload"]["step_time_factors"] = factors;
  return json;
}

class EndToEnd : public testing::Test {
 protected:
  // Into FOLDER/out, which it returns.
  std::string run_scenario(const std::string& out, const Json& scenario, int jobs = 1) {
    const std::string file = folder_ + "/" + out + ".json", folder = folder_ + "/" + out;
    write_text(file, scenario.dump());
    return run_of(file, {"--jobs", std::to_string(jobs)}, folder);
  }
  // Its first line is a header.
  static std::vector<Json> schedule(const std::string& run, const std::string& label) {
    return json_lines(case_folder(run, label) + "/schedule.jsonl");
  }
  // Who took part in the first operation that is over.
  static Json first_group(const std::string& run, const std::string& label) {
    return schedule(run, label).at(1)["group"];
  }
  // At step 5, by replica.
  static std::map<std::string, std::string> fifth_losses(const std::string& run, const std::string& label,
                                                         const std::string& phase) {
    const CsvTable all = read_csv(training(run, label) + "/metrics.csv");
    std::map<std::string, std::string> found;
    for (const auto& row : all.rows)
      if (row[0] == "5" && row[1] == phase && row[2] != "mean") found[row[2]] = row[all.column("loss")];
    return found;
  }

  const std::string folder_ = fresh_folder("waiting");
};

class Waiting : public EndToEnd {
 protected:
  // Of replica r a step takes r tenths longer.
  std::string run(const std::string& out, const Json& methods, bool has_barrier = false, int jobs = 1) {
    Json json = slow_messages(methods, {{"1", 1.1}, {"2", 1.2}, {"3", 1.3}});
    json["network"]["barrier"] = has_barrier;
    return run_scenario(out, json, jobs);
  }
};

// Whoever waits as long as it takes is the method that waits: the same losses, the same times. Around a ring
// that is the one in which nobody begins before all are there: before that it is not known who takes part.
TEST_F(Waiting, AnEndlessGraceIsTheSynchronousForm) {
  Json methods = Json::array();
  for (const std::string method : {"noloco", "gossip", "local-sgd"}) {
    methods.push_back({{"name", method}, {"inner_steps", 5}});
    methods.push_back(
        {{"name", method}, {"label", method + ", grace"}, {"inner_steps", 5}, {"grace", "1000000s"}});
  }
  methods.back()["quorum"] = 1;
  const std::string out = run("endless", methods, true);
  for (const std::string method : {"noloco", "gossip", "local-sgd"}) {
    EXPECT_EQ(losses(out, method + ", grace"), losses(out, method)) << method;
    for (const char* file : {"/exchanges.csv", "/steps.csv", "/replicas.csv", "/links.csv"})
      EXPECT_EQ(read_text(case_folder(out, method + ", grace") + file),
                read_text(case_folder(out, method) + file))
          << method << file;
  }
}

// Five steps of 0.4 to 0.52 s. Half a second after the first one three are there; the fourth gets their
// result. Its five steps are lost: 2.6 s. Behind it all have the same weights.
TEST_F(Waiting, WhoIsLateGoesOnFromTheResultOfTheOthers) {
  const Json methods = {{{"name", "diloco"}, {"inner_steps", 5}, {"quorum", 1}, {"grace", "0.5s"}}};
  const std::string out = run("fetched", methods), again = run("fetched-jobs", methods, false, 2);
  EXPECT_EQ(first_group(out, "diloco"), (std::vector<int>{0, 1, 2}));
  std::set<std::string> after;
  for (const auto& [replica, loss] : fifth_losses(out, "diloco", "after")) after.insert(loss);
  EXPECT_EQ(after.size(), 1u);
  const CsvTable totals = read_csv(case_folder(out, "diloco") + "/replicas.csv");
  EXPECT_GE(std::stod(totals.rows[3][totals.column("lost_s")]), 2.6 - 1e-9);
  EXPECT_GT(record(out, "diloco")["lost_fraction"], 0);
  expect_same_run(again, out);
}

// Replicas that never arrive together and wait for nobody never meet: they train by themselves, to the bit.
TEST_F(Waiting, WhoNeverMeetsOrIsPassedByTrainsAlone) {
  const std::string out =
      run("alone", {{{"name", "independent"}},
                    {{"name", "noloco"}, {"inner_steps", 5}, {"grace", "0s"}},
                    {{"name", "gossip"}, {"inner_steps", 5}, {"grace", "0s"}},
                    {{"name", "local-sgd"}, {"inner_steps", 5}, {"quorum", 1}, {"grace", "0.5s"}}});
  for (const char* method : {"noloco", "gossip"}) {
    EXPECT_EQ(losses(out, method), losses(out, "independent")) << method;
    EXPECT_EQ(record(out, method)["bytes_sent_per_replica"], 0) << method;
    EXPECT_EQ(record(out, method)["simulated_time_s"], record(out, "independent")["simulated_time_s"]);
  }
  // As above, half a second after the first one three are there. The fourth goes on with its own weights:
  // before the average all are as if alone, behind it the fourth one still is.
  EXPECT_EQ(first_group(out, "local-sgd"), (std::vector<int>{0, 1, 2}));
  const auto after = fifth_losses(out, "local-sgd", "after"),
             alone = fifth_losses(out, "independent", "plain");
  EXPECT_EQ(after.at("3"), alone.at("3"));
  EXPECT_NE(after.at("2"), alone.at("2"));
}

// A step of the last replica takes twice as long.
Json by_quorum(const Json& factors = {{"3", 2}}) {
  const Json method = {{"name", "local-sgd"}, {"inner_steps", 5}, {"quorum", 3}, {"grace", "0.5s"}};
  return slow_messages(Json::array({method}), factors);
}

// Three are ready after 2 s and go on alone after 0.5 s more: a ring of three, 4 · 0.3 s. So they wait 0.5 s
// and synchronize 1.2 s, four times in 22 steps; the fourth passes by.
TEST_F(EndToEnd, TheTrainingFollowsWhoTookPartAlsoInParts) {
  const std::string run = run_scenario("run", by_quorum()), of_run = training(run, "local-sgd");
  const std::vector<Json> moved = json_lines(of_run + "/exchanges.jsonl");
  ASSERT_EQ(moved.size(), 4u);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    EXPECT_EQ(moved[i]["step"], 5 * (i + 1));
    EXPECT_EQ(moved[i]["groups"], Json({{0, 1, 2}}));
  }
  const Json found = record(run, "local-sgd");
  EXPECT_NEAR(found["sync_time_s"]["mean"], 1.2, 1e-9) << "of those who meet";
  EXPECT_NEAR(found["wait_s"]["mean"], 0.5, 1e-9);
  EXPECT_NEAR(found["exposed_s"]["mean"], 1.7, 1e-9);

  const std::string equal = run_scenario("equal", by_quorum(Json::object()));
  EXPECT_NE(training(equal, "local-sgd").substr(equal.size()), of_run.substr(run.size()));
  EXPECT_EQ(first_group(equal, "local-sgd"), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_NE(record(equal, "local-sgd")["final_loss"], found["final_loss"]);

  // Replayed and trained apart, and resumed in between, it is the same run. Alone the trainer asks for the
  // journal; that it follows one shows Resume of a quorum (resume_test.cc).
  const std::string parts = folder_ + "/parts";
  const auto run_part = [&](const std::vector<std::string>& more) {
    return longhaul({"run", run + ".json", "--out", parts, "--quiet"}, more);
  };
  expect_refused(run_part({"--only", "train"}), {"--only replay before it"});
  run_part({"--only", "replay", "--resume"});
  expect_refused(
      run_command_line("longhaul-train", {"--case", of_run + "/case.json", "--out", folder_ + "/alone"}),
      {"--journal"});
  ASSERT_EQ(run_part({"--only", "train", "--resume"}).status, 0);
  ASSERT_EQ(run_part({"--resume"}).status, 0);
  expect_same_run(parts, run);
}

Json in_fragments(const char* name, const char* label, const Json& more = Json::object()) {
  Json method = {{"name", name}, {"label", label}, {"inner_steps", 8}, {"fragments", 2}, {"overlap", 3}};
  method.update(more);
  return method;
}

class Decoupled : public EndToEnd {
 protected:
  static Json scenario(const Json& methods, const Json& step_time, const char* rate = "1Gbps") {
    Json json = small_scenario({{"methods", methods},
                                {"train", {{"steps", 40}}},
                                {"network", {{"topology", {{"star", {{"rate", rate}}}}}}}});
    json["workload"]["step_time"] = step_time;
    return json;
  }
  static Json drawn(double sigma) { return {{"lognormal", {{"mean", "400ms"}, {"sigma", sigma}}}}; }

  const Json constant_ = {{"constant", "400ms"}};
};

// Three steps are longer than a fragment's way and what the replicas are apart: no replica of
// streaming-diloco waits, and merges of all contributions are its means. The same bits come out of replicas
// that are each at a step of their own.
TEST_F(Decoupled, OfAllContributionsIsStreamingWhereNobodyWaits) {
  for (const Json& step_time : {constant_, drawn(0.05)}) {
    const std::string out = run_scenario(
        step_time.dump(), scenario({in_fragments("streaming-diloco", "streaming"),
                                    in_fragments("decoupled-diloco", "all", {{"merge", "mean"}}),
                                    in_fragments("decoupled-diloco", "endless",
                                                 {{"merge", "mean"}, {"quorum", 2}, {"grace", "1000000s"}})},
                                   step_time));
    EXPECT_EQ(record(out, "streaming")["exposed_s"]["max"], 0) << "the premise";
    for (const char* label : {"all", "endless"}) {
      EXPECT_EQ(losses(out, label), losses(out, "streaming")) << label << " " << step_time;
      EXPECT_EQ(record(out, label)["simulated_time_s"], record(out, "streaming")["simulated_time_s"]);
    }
  }
}

// Where replicas of streaming-diloco do wait, those without slack do so too.
TEST_F(Decoupled, WithoutSlackIsStreamingWhateverTheTimes) {
  const std::string out = run_scenario(
      "uneven", scenario({in_fragments("streaming-diloco", "streaming"),
                          in_fragments("decoupled-diloco", "no slack", {{"merge", "mean"}, {"slack", 0}}),
                          in_fragments("decoupled-diloco", "all", {{"merge", "mean"}})},
                         drawn(0.5), "20Mbps"));
  EXPECT_GT(record(out, "streaming")["exposed_s"]["max"], 0) << "the premise";
  EXPECT_EQ(losses(out, "no slack"), losses(out, "streaming"));
  EXPECT_NE(losses(out, "all"), losses(out, "streaming"));
  EXPECT_EQ(record(out, "all")["exposed_s"]["max"], 0) << "no replica waits";
  EXPECT_EQ(record(out, "all")["idle_fraction"]["max"], 0);
}

// One replica is five times slower for a while: merges go on without it, its own contributions come later,
// and nobody waits.
TEST_F(Decoupled, ASlowReplicaIsMergedLate) {
  Json json = scenario(
      Json::array({in_fragments("decoupled-diloco", "quorum", {{"quorum", 3}, {"grace", "0s"}})}), constant_);
  json["faults"] = {{{"kind", "slow"}, {"replicas", "3"}, {"factor", 5}, {"at", "2s"}, {"for", "8s"}}};
  const std::string out = run_scenario("slow", json);
  const std::vector<Json> merges = schedule(out, "quorum");
  int without = 0, late = 0;
  for (std::size_t line = 1; line < merges.size(); ++line) {
    int slow = 0, newest = 0;
    for (const Json& entry : merges[line]["contributions"]) {
      if (entry[0] == 3) slow = entry[1];
      newest = std::max(newest, entry[1].get<int>());
    }
    without += slow == 0;
    late += slow > 0 && slow < newest;
  }
  EXPECT_GT(without, 0);
  EXPECT_GT(late, 0);
  EXPECT_EQ(record(out, "quorum")["idle_fraction"]["max"], 0);
}

class DynamicSteps : public EndToEnd {
 protected:
  // 24 steps of 100 ms in rounds of 8, of 2 sequences of 32 tokens; replica 3 is `factor` times slower.
  static Json scenario(double factor) {
    Json json = small_scenario(Json::parse(R"({
      "methods": [{"name": "delayed-nesterov", "label": "dn", "inner_steps": 8, "momentum_every": 2,
                   "dynamic_steps": true}],
      "train": {"steps": 24, "checkpoint_every": 3},
      "workload": {"step_time": {"lognormal": null, "constant": "100ms"}}})"));
    json["workload"]["step_time_factors"] = {{"3", factor}};
    return json;
  }
};

// Replica 3 takes 2 of 8 steps: 3 · 24 + 6 of all. A round computes for 0.8 s, and its ring of four takes six
// messages of 10 ms.
TEST_F(DynamicSteps, ReplayAndTrainingCountTheSame) {
  Json json = scenario(4);
  json["network"] = Json::parse(R"({
    "fidelity": "analytic", "barrier": true, "message_time": {"mean": "10ms", "std": "0s"},
    "topology": {"mesh": {"rate": "1Gbps", "rtt": "50ms"}}})");
  const Json entry = record(run_scenario("quarter", json), "dn");
  EXPECT_EQ(entry["useful_steps"], 78);
  EXPECT_EQ(entry["tokens"], 78 * 64);
  EXPECT_NEAR(entry["compute_time_s"], 2.4, 1e-9);
  const double simulated_s = 3 * (0.8 + 0.06);
  EXPECT_NEAR(entry["simulated_time_s"], simulated_s, 1e-6);
  EXPECT_NEAR(entry["goodput_tokens_per_s"], 78 * 64 / simulated_s, 1e-2);
  EXPECT_NEAR(entry["bytes_per_token"], entry["bytes_sent_per_replica"].get<double>() / (78 / 4. * 64), 1e-9);
}

// Replicas go about once a second each, and 4.3 s are simulated.
TEST_F(DynamicSteps, KilledRunsEndWithTheSameBytes) {
  for (const bool crashes : {false, true}) {
    Json json = scenario(3);
    json["train"]["steps"] = 60;
    if (crashes) {
      json["faults"] = {{{"kind", "crash"}, {"replicas", "0-3"}, {"every", "1.5s"}, {"for", "300ms"}}};
      json["recovery"] = {{"detect", "100ms"}, {"state_bytes", 4}};
    }
    const std::string whole = run_scenario(crashes ? "crashes" : "plain", json), killed = whole + " killed";
    const Json entry = record(whole, "dn");
    EXPECT_LT(entry["useful_steps"], 4 * 60);
    if (crashes) {
      EXPECT_GT(entry["crashes"], 3) << "that is what it is about";
    }
    std::mt19937 random(5);
    const CommandResult resumed =
        run_through_kills({"run", whole + ".json", "--out", killed, "--quiet"}, {150, 900}, random);
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    expect_same_run(killed, whole);
  }
}

}  // namespace longhaul::waiting_test
