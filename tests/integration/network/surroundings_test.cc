// What a shell does to a command: outputs that cannot be written, readers that go, limits, paths that cannot
// be. And what results and scenarios of somebody else's do.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <set>

#include "tests/integration/command.h"
#include "tests/integration/network/suite.h"
#include "tests/support/said.h"

namespace longhaul::surroundings_test {

namespace fs = std::filesystem;

TEST(Surroundings, AnOutputThatCannotBeWrittenIsAFailure) {
  for (const std::string command : {"longhaul list options", "longhaul --help", "longhaul-sim --version"}) {
    const CommandResult said = shell("$B/" + command + " > /dev/full");
    EXPECT_EQ(said.status, 1) << command;
    EXPECT_SAYS(said.err, "standard output: cannot be written") << command;
  }
}

// What is said is lost; the run is not.
TEST(Surroundings, ARunOutlivesItsReader) {
  const std::string folder = fresh_folder("pipe"), run = folder + "/run";
  const CommandResult said = shell("{ $B/longhaul run '" + write_suite(folder) + "' --out '" + run +
                                   "'; echo $? > '" + folder + "/status'; } 2>&1 | head -n 1 > /dev/null");
  EXPECT_EQ(said.status, 0);
  EXPECT_EQ(read_text(folder + "/status"), "0\n");
  EXPECT_EQ(Json::parse(read_text(run + "/manifest.json"))["status"], "done");
}

TEST(Surroundings, LimitsAreNamed) {
  const auto run_under = [](const std::string& limit) {
    const std::string folder = fresh_folder("limited");
    const CommandResult said =
        shell(limit + "; $B/longhaul run '" + write_suite(folder) + "' --out '" + folder + "/run' --quiet");
    EXPECT_EQ(said.status, 1);
    return said.err;
  };
  const std::string too_large = run_under("ulimit -f 8");
  EXPECT_SAYS(too_large, "cannot be written: File too large");
  EXPECT_EQ(too_large.find("without a word"), std::string::npos) << too_large;
  // What the caller has left open would count too.
  EXPECT_SAYS(run_under("exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 4"), "Too many open files");
}

TEST(Surroundings, AFolderThatCannotBe) {
  const std::string folder = fresh_folder("folders"), suite = write_suite(folder);
  expect_refused(longhaul({"run", suite, "--out", folder + "/" + std::string(300, 'x')}),
                 {"File name too long; allowed: a new or an empty folder"});
  expect_refused(longhaul({"run", suite, "--out", suite + "/run"}),
                 {"--out: ", "cannot be made (Not a directory); allowed: a folder that can be written to"});
}

// Of every command: wrong input, before the work; and the folders above are made.
TEST(Surroundings, AnOutputThatNoCommandCanWrite) {
  const std::string folder = fresh_folder("outputs"), suite = write_suite(folder), run = folder + "/run";
  ASSERT_EQ(run_suite(suite, run), 0);
  const std::string
      no_file =
          "cannot be written (No such file or directory); allowed: a file in a folder that can be "
          "written to",
      no_folder = "cannot be made (No such file or directory); allowed: a folder that can be written to";
  for (const std::string command : {"report", "compare", "claims"}) {
    expect_refused(longhaul({command, run, "-o", "/proc/none/out.md"}), {"--output: ", no_file});
    EXPECT_EQ(longhaul({command, run, "-o", folder + "/new/" + command + "/out.md"}).status, 0) << command;
    EXPECT_TRUE(fs::exists(folder + "/new/" + command + "/out.md"));
  }
  expect_refused(longhaul({"new", "-o", "/proc/none/out.jsonc"}), {"--output: ", no_file});
  expect_refused(longhaul({"validate", "--page", "/proc/none/page.html"}), {"--page: ", no_file});
  expect_refused(longhaul({"plan", scenario_file("plans/sites.json"), "-o", "/proc/none"}),
                 {"--output: ", no_folder});
  expect_refused(longhaul({"run", suite, "--out", "/proc/none"}), {"--out: ", no_folder});
}

// A case.json that somebody has changed: longhaul-sim says the key and ends.
TEST(Surroundings, TheSimulatorChecksItsCase) {
  const std::string folder = fresh_folder("case"), run = folder + "/run";
  ASSERT_EQ(run_suite(write_suite(folder), run), 0);
  const fs::path file = *fs::directory_iterator(run + "/cases");
  const Json whole = Json::parse(read_text(file / "case.json"));
  const auto replay = [&](const Json& change) {
    const Json changed = whole.patch(Json::array({change}));
    write_text(folder + "/case.json", changed.dump());
    return run_command_line("longhaul-sim", {"--case", folder + "/case.json", "--trace", file / "trace.jsonl",
                                             "--out", folder + "/out", "--quiet"});
  };
  const auto set = [](const char* pointer, const Json& value) {
    return Json{{"op", "add"}, {"path", pointer}, {"value", value}};
  };
  const auto removed = [](const char* pointer) { return Json{{"op", "remove"}, {"path", pointer}}; };
  ASSERT_EQ(replay(set("/seed", whole["seed"])).status, 0);
  const std::pair<Json, std::string> changes[] = {
      {set("/network/tcp/segment", -1448), "network.tcp.segment: found -1448"},
      {set("/network/tcp/connections", 0), "network.tcp.connections: found 0"},
      {set("/network/tcp/queue", "x"), "network.tcp.queue: found \"x\""},
      {removed("/network/topology/star/rtt"), "network.topology.star.rtt: this key is missing"},
      {set("/network/topology/star/rtt", nullptr), "network.topology.star.rtt: found null"},
      {set("/network/fidelity", nullptr), "network.fidelity: found null"},
      {removed("/network"), "network: this key is missing"},
      {removed("/replicas"), "replicas: this key is missing"}};
  for (const auto& [change, said] : changes) expect_refused(replay(change), {"case.json: " + said});
}

// It leaves its folder as it is; the same command begins anew there.
TEST(Surroundings, APlanThatWasKilledCanBeMadeAgain) {
  const std::string folder = fresh_folder("plan"), plan = scenario_file("plans/sites.json"),
                    out = folder + "/out", replays = out + "/work";
  const pid_t child = start_command("longhaul", {"plan", plan, "--output", out, "--quiet"});
  EXPECT_TRUE(wait_until([&] { return fs::exists(replays + "/.lock"); }));
  kill(child, SIGKILL);
  ASSERT_EQ(wait_for(child), 128 + SIGKILL) << "it was too fast";
  ASSERT_TRUE(fs::exists(replays + "/.lock"));
  const CommandResult again = longhaul({"plan", plan, "--output", out, "--quiet"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_FALSE(fs::exists(replays));
  EXPECT_TRUE(fs::exists(out + "/plan.html"));
  // A plan that is whole is not written over.
  expect_refused(longhaul({"plan", plan, "--output", out, "--quiet"}), {"exists and is not empty"});
  write_text(folder + "/mine/work/thesis.tex", "");
  EXPECT_EQ(longhaul({"plan", plan, "--output", folder + "/mine"}).status, 2);
  write_text(folder + "/other/work/.lock", "");
  write_text(folder + "/other/thesis.tex", "");
  EXPECT_EQ(longhaul({"plan", plan, "--output", folder + "/other"}).status, 2);
  EXPECT_TRUE(fs::exists(folder + "/other/thesis.tex"));
}

constexpr char kScenario[] =
    R"({"replicas": 4, "methods": [{"name": "noloco", "inner_steps": 2, "pattern": "presend"}],
  "workload": {"parameters": 100000, "steps": 8, "tokens": 64, "step_time": {"constant": "1s"}},
  "network": {"fidelity": "analytic", "topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}},
  "claims": [{"id": "short", "metric": "sync_time_s.mean", "of": "noloco", "at_most": 1}]})";

const std::string& good_run() {
  static const std::string run = run_of(written(Json::parse(kScenario)));
  return run;
}

struct Damage {
  const char* name;
  const char* file;  // in the run
  std::function<std::string(const std::string&)> change;
  std::set<std::string> commands;  // that must refuse it; the others do not read it, or leave it out
  const char* said;
};

std::string deep(const std::string&) {
  return std::string(100000, '[') + std::string(100000, ']');
}

std::function<std::string(const std::string&)> member_set(const char* pointer, const char* value) {
  return [=](const std::string& text) {
    Json json = Json::parse(text);
    json[Json::json_pointer(pointer)] = Json::parse(value);
    return json.dump(2);
  };
}

std::vector<Damage> damages() {
  const std::set<std::string> all = {"report", "compare", "claims", "plot"}, none;
  const char* kCase = "cases/noloco/case.json";
  const char* kDeep = "line 1, column 101: found JSON nested 101 deep";
  return {
      {"DeepManifest", "manifest.json", deep, all, kDeep},
      {"DeepScenario", "scenario.json", deep, all, kDeep},
      {"DeepSummary", "summary.json", deep, all, kDeep},
      {"DeepCase", kCase, deep, {"compare", "plot"}, kDeep},
      {"EmptyVerdict", "summary.json", member_set("/claims", "[{}]"), all,
       "summary.json: claims[0].id: this key"},
      {"EmptyClaim", "scenario.json", member_set("/claims", "[{}]"), all,
       "scenario.json: claims[0].id: this key"},
      {"ClaimWithoutABound", "scenario.json",
       member_set("/claims", R"([{"id": "a", "metric": "final_loss"}])"), all,
       "scenario.json: claims[0]: found 0 of at_least, at_most, equals"},
      {"RecordOfNothing", "summary.json", member_set("/cases/0", R"({"case": 3})"), all,
       "summary.json: 1 of its cases are no records (cases[0].case: found 3"},
      // Found by changing single values (tests/fuzz/mutations.h).
      {"StatusIsNull", "summary.json", member_set("/cases/0/status", "null"), all,
       "cases[0].status: found null"},
      {"CodecOfNothing", "manifest.json",
       member_set("/scenario/methods", R"([{"name": "of tomorrow", "codec": {}}])"), none, ""},
      {"RecordWithoutFidelity", "summary.json", member_set("/cases/0/fidelity", "\"\""), none, ""},
      {"KeyThatIsNoPointer", kCase, member_set("/train", R"({"optimizer": {"~x": 1}})"), none, ""},
      {"ExchangesAndAHalf", "summary.json", member_set("/cases/0/exchanges", "1.5"), none, ""},
      {"ShardOfTwoBillion", "manifest.json", member_set("/options/shard", "\"1/2000000000\""), all,
       "manifest.json: options.shard: found \"1/2000000000\""},
      {"ReplicasAreAWord", "manifest.json", member_set("/scenario/replicas", "\"x\""), all,
       "manifest.json: scenario.replicas: found \"x\""},
  };
}

class HostileRun : public testing::TestWithParam<Damage> {};

TEST_P(HostileRun, IsRefusedWithFilePlaceAndKey) {
  const Damage& damage = GetParam();
  const std::string folder = fresh_folder(std::string("hostile_") + damage.name), run = folder + "/run";
  fs::copy(good_run(), run, fs::copy_options::recursive);
  const std::string file = run + "/" + damage.file;
  write_text(file, damage.change(read_text(file)));
  for (const std::string command : {"report", "compare", "claims", "plot"}) {
    const CommandResult result = longhaul({command, run, "-o", folder + "/" + command});
    const bool must_refuse = damage.commands.count(command) > 0;
    if (command == "plot" && result.err.find("matplotlib was not found") != std::string::npos) continue;
    EXPECT_TRUE(result.status == 2 || (!must_refuse && result.status == 0))
        << command << " ended with " << result.status << ": " << result.err;
    EXPECT_EQ(result.err.find("json.exception"), std::string::npos) << result.err;
    if (must_refuse) {
      EXPECT_SAYS(result.err, damage.said) << command;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, HostileRun, testing::ValuesIn(damages()),
                         [](const auto& info) { return info.param.name; });

TEST(HostileRunDirectory, TheOneThatIsDamagedIsRead) {
  const std::string folder = fresh_folder("hostile_none");
  for (const std::string command : {"report", "compare", "claims"})
    EXPECT_EQ(longhaul({command, good_run(), "-o", folder + "/" + command}).status, 0) << command;
}

}  // namespace longhaul::surroundings_test
