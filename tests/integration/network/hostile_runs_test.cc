// Results and scenarios of somebody else's: whatever they say, a command ends by itself, with exit status 2
// and one message that names file, place and key. Each of these ended it by a signal, took all memory, or was
// answered in the JSON library's words.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "tests/integration/command.h"
#include "tests/support/said.h"

namespace longhaul::hostile_runs_test {

namespace fs = std::filesystem;

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
  std::vector<const char*> commands;  // that must refuse it; the others do not read it, or leave it out
  const char* said;
};

void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.name;
}

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
  const std::vector<const char*> all = {"report", "compare", "claims", "plot"};
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
      {"CodecOfNothing",
       "manifest.json",
       member_set("/scenario/methods", R"([{"name": "of tomorrow", "codec": {}}])"),
       {},
       ""},
      {"RecordWithoutFidelity", "summary.json", member_set("/cases/0/fidelity", "\"\""), {}, ""},
      {"KeyThatIsNoPointer", kCase, member_set("/train", R"({"optimizer": {"~x": 1}})"), {}, ""},
      {"ExchangesAndAHalf", "summary.json", member_set("/cases/0/exchanges", "1.5"), {}, ""},
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
    const auto& must = damage.commands;
    const bool must_refuse = std::find(must.begin(), must.end(), command) != must.end();
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

}  // namespace longhaul::hostile_runs_test
