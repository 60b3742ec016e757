// Runs that cannot be finished: each ends with a clear word, and what there was is still there.
#include "tests/support/said.h"
#include "tests/support/small_disk.h"
#include "tests/unit/trainer/support.h"

namespace longhaul::bad_run_test {

namespace fs = std::filesystem;

class BadRun : public testing::Test {
 protected:
  // The message of the error with which training `scenario` ends.
  std::string failure(const Json& scenario) {
    return said_by([&] { train(only_case(scenario, folder_), folder_); });
  }

  static void expect_said(const std::string& message, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_SAYS(message, part);
  }

  // The step of the newest checkpoint that is whole, -1 where there is none.
  int newest_checkpoint(const Json& scenario) {
    std::vector<std::string> refused;
    const auto newest =
        CheckpointFolder(folder_.file("out"), training_key(only_case(scenario, folder_))).newest(refused);
    EXPECT_TRUE(refused.empty());
    return newest ? newest->step : -1;
  }

  TemporaryFolder folder_;
};

TEST_F(BadRun, ALossThatIsNotFiniteLeavesACheckpointBeforeIt) {
  Json scenario = small_scenario({{"name", "independent"}}, 200);
  scenario["train"]["optimizer"] = {{"lr", 1e30}, {"warmup", 100}};
  for (int every : {1, 1000}) {
    scenario["train"]["checkpoint_every"] = every;
    const std::string message = failure(scenario);
    expect_said(message, {"replica 0", "not finite"});
    const int step = std::stoi(message.substr(message.find("step ") + 5));
    expect_said(message,
                {"the checkpoint before it is of step " + std::to_string(newest_checkpoint(scenario))});
    EXPECT_LT(newest_checkpoint(scenario), step);
    EXPECT_GE(newest_checkpoint(scenario), every == 1 ? step - 2 : 0);
  }
}

TEST_F(BadRun, ATableOnAFullDisk) {
  for (const char* table : {"metrics.csv", "step_times.csv", "exchanges.jsonl"}) {
    fs::create_directories(folder_.file("out"));
    fs::create_symlink("/dev/full", folder_.file("out/") + table);
    expect_said(failure(small_scenario({{"name", "ddp"}})), {table, "cannot be written"});
    fs::remove_all(folder_.file("out"));
  }
}

TEST_F(BadRun, ADiskThatFillsUpLosesNoCheckpointAndTheTrainingGoesOnOnceThereIsSpace) {
  const std::string out = folder_.file("out");
  fs::create_directories(out);
  const SmallDisk disk(out, 8 << 20);
  if (!disk.mounted()) GTEST_SKIP() << "only root mounts";
  Json scenario = small_scenario({{"name", "noloco"}, {"inner_steps", 4}});
  scenario["train"]["checkpoint_every"] = 4;
  scenario["train"]["model"]["layers"] = 1;
  scenario["train"]["model"]["hidden"] = 64;  // 1.9 MB a checkpoint, two and a temporary one
  const Case config = only_case(scenario, folder_);
  write_text(out + "/filler", std::string(5 << 20, 'x'));
  expect_said(failure(scenario), {"step-", ".safetensors: cannot be written: No space left on device"});
  EXPECT_EQ(newest_checkpoint(scenario), 4);
  fs::remove(out + "/filler");
  expect_same(train(config, folder_, 1, true), train(scenario));
}

TEST_F(BadRun, WrongOrChangedDataTouchesNothingOfAnEarlierTraining) {
  const Json scenario = text_scenario("a.txt");
  write_text(folder_.file("a.txt"), std::string(2000, 'a'));
  const Case config = only_case(scenario, folder_);
  const std::string metrics = train(config, folder_).metrics;
  write_text(folder_.file("a.txt"), "");
  EXPECT_THROW(train(config, folder_), InputError);
  EXPECT_EQ(read_text(folder_.file("out/metrics.csv")), metrics);
  EXPECT_TRUE(fs::exists(folder_.file("out/done")));
  EXPECT_EQ(newest_checkpoint(scenario), 12);
  write_text(folder_.file("a.txt"), std::string(2000, 'b'));
  const InputError error = thrown_by([&] { train(config, folder_, 1, true); });
  expect_said(error.what(), {"train.data", "not the one of the checkpoint", "remove"});
  EXPECT_EQ(newest_checkpoint(scenario), 12);
}

TEST_F(BadRun, ACheckpointOfOtherLibrariesOrArithmeticIsNotResumedFrom) {
  const Case config = only_case(small_scenario({{"name", "ddp"}}), folder_);
  train(config, folder_);
  train(config, folder_, 2, /*resume=*/true);  // one thread and two make the same bits
  CheckpointFolder checkpoints(folder_.file("out"), training_key(config));
  std::vector<std::string> refused;
  const Checkpoint last = *checkpoints.newest(refused);
  const auto expect_refused = [&](const Json& change, const std::vector<std::string>& parts) {
    Json state = last.state;
    state.merge_patch(change);
    checkpoints.write(last.step + 1, state, {});
    const InputError error = thrown_by([&] { train(config, folder_, 1, /*resume=*/true); });
    expect_said(error.what(), parts);
    expect_said(error.what(), {"other bits", "to begin anew"});
  };
  expect_refused({{"libraries", {{"libtorch", "0.4.1"}}}}, {"0.4.1"});
  expect_refused({{"arithmetic", "stacked on 2 ranks"}},
                 {"--backend", "works replica by replica", "stacked on 2 ranks", "number of ranks"});
}

}  // namespace longhaul::bad_run_test
