// A training that was cut goes on to the bytes of one that was not; damaged and foreign checkpoints are
// refused with their reason, and the one before is used.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <thread>

#include "tests/integration/kills.h"
#include "tests/support/every_method.h"
#include "tests/support/said.h"

namespace longhaul::resume_test {

namespace fs = std::filesystem;

constexpr int kSteps = 40, kCheckpointEvery = 3;

class Resume : public testing::TestWithParam<Json> {
 protected:
  const WholeTraining& whole_ = shared_whole_training(GetParam(), kSteps, kCheckpointEvery);
};

INSTANTIATE_TEST_SUITE_P(Methods, Resume, testing::ValuesIn(every_method(5)));
// Each replica at a step of its own, with contributions and merges under way.
INSTANTIATE_TEST_SUITE_P(Merges, Resume,
                         testing::Values(Json{{"name", "decoupled-diloco"},
                                              {"inner_steps", 5},
                                              {"fragments", 2},
                                              {"overlap", 1},
                                              {"quorum", 2},
                                              {"grace", "0s"},
                                              {"error_feedback", "classic"}}));
// In stages; anchors of each are under way at most checkpoints.
INSTANTIATE_TEST_SUITE_P(
    Stages, Resume,
    testing::Values(
        Json{{"name", "noloco"},
             {"inner_steps", 5},
             {"pattern", "presend"},
             {"pipeline",
              {{"stages", 2}, {"microbatches", 2}, {"routing", "random"}, {"activations", "int8"}}}},
        Json{{"name", "diloco"},
             {"inner_steps", 5},
             {"pipeline",
              {{"stages", 2},
               {"activations", "learned"},
               {"learned_bits", {{"penalty", 0.05}, {"lr", 0.2}, {"gate", 0}}}}}},
        Json{{"name", "co2"}, {"inner_steps", 5}, {"pipeline", {{"stages", 2}}}}));

TEST_P(Resume, AfterKillsAtRandomMoments) {
  std::mt19937 random(1);
  expect_whole_after_kills(whole_, 2, random);
}

// Cut twice right after a checkpoint was written; where anchors are sent ahead, they are in flight at each of
// these.
TEST_P(Resume, FromCheckpointsInTheMiddle) {
  const std::string out = fresh_folder("cut");
  for (int step : {12, 21}) {
    const pid_t child = start_training(whole_, out, step > 12);
    const std::string checkpoint = out + "/checkpoints/step-" + std::to_string(step) + ".json";
    while (!fs::exists(checkpoint) && !fs::exists(out + "/done"))
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    kill(child, SIGKILL);
    wait_for(child);
  }
  EXPECT_EQ(wait_for(start_training(whole_, out, true)), 0);
  expect_same_training(out, whole_);
}

TEST_P(Resume, AfterTheEndItIsTheSameEnd) {
  const std::string out = fresh_folder("ended") + "/copy";
  fs::copy(whole_.folder, out, fs::copy_options::recursive);
  fs::remove(out + "/done");
  EXPECT_EQ(wait_for(start_training(whole_, out, true)), 0);
  expect_same_training(out, whole_);
  EXPECT_TRUE(fs::exists(out + "/done"));
  EXPECT_TRUE(fs::exists(out + "/checkpoints/step-40.json"));
  EXPECT_EQ(std::distance(fs::directory_iterator(out + "/checkpoints"), fs::directory_iterator()), 2);
}

class DamagedCheckpoint : public testing::Test {
 protected:
  // A training that was interrupted: two checkpoints, the newer at the step of the interrupt.
  void SetUp() override {
    const pid_t child = start_training(whole_, out_, false);
    while (!fs::exists(file("step-12.json")) && !fs::exists(out_ + "/done"))
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    kill(child, SIGINT);
    ASSERT_EQ(wait_for(child), 130);
    for (const auto& entry : fs::directory_iterator(out_ + "/checkpoints"))
      if (entry.path().extension() == ".json")
        steps_.push_back(Json::parse(read_text(entry.path().string()))["step"]);
    std::sort(steps_.rbegin(), steps_.rend());
    ASSERT_EQ(steps_.size(), 2u);
  }

  std::string file(const std::string& name) const { return out_ + "/checkpoints/" + name; }
  std::string name(int step, const std::string& extension) const {
    return "step-" + std::to_string(step) + extension;
  }

  // Resumes, and expects what it says and an end as undisturbed.
  void expect_said(const std::vector<std::string>& said) {
    const CommandResult result = run_command_line(
        "longhaul-train",
        {"--case", whole_.folder + "/case.json", "--out", out_, "--quiet", "--resume", "--threads", "1"});
    EXPECT_EQ(result.status, 0) << result.err;
    for (const std::string& words : said) EXPECT_SAYS(result.err, words);
    expect_same_training(out_, whole_);
  }

  static void flip(const std::string& file, double place) {
    std::string text = read_text(file);
    text[static_cast<std::size_t>(place * static_cast<double>(text.size()))] ^= 4;
    write_text(file, text);
  }

  const WholeTraining& whole_ =
      shared_whole_training({{"name", "diloco"}, {"inner_steps", 10}}, kSteps, kCheckpointEvery);
  const std::string out_ = fresh_folder("damaged");
  std::vector<int> steps_;  // newest first
};

TEST_F(DamagedCheckpoint, AFlippedByteOfATensor) {
  flip(file(name(steps_[0], ".safetensors")), 0.7);
  expect_said({name(steps_[0], ".safetensors"), "is damaged: the hash of",
               "resumes after step " + std::to_string(steps_[1]) + "\n"});
}

TEST_F(DamagedCheckpoint, AFlippedByteOfTheJson) {
  flip(file(name(steps_[0], ".json")), 0.3);
  expect_said({name(steps_[0], ".json"), "is damaged: its hash differs",
               "resumes after step " + std::to_string(steps_[1]) + "\n"});
}

TEST_F(DamagedCheckpoint, AFileThatIsCutShort) {
  const std::string tensors = file(name(steps_[0], ".safetensors"));
  fs::resize_file(tensors, fs::file_size(tensors) / 2);
  expect_said({"ends beyond the end of the file", "resumes after step " + std::to_string(steps_[1]) + "\n"});
}

TEST_F(DamagedCheckpoint, BothOfThem) {
  fs::remove(file(name(steps_[0], ".safetensors")));
  write_text(file(name(steps_[1], ".json")), "");
  expect_said({"cannot be read", "is damaged", "resumes from the start"});
}

TEST_F(DamagedCheckpoint, OneOfAnotherTraining) {
  const std::string other =
      whole_training({{"name", "ddp"}}, kSteps, kCheckpointEvery).folder + "/checkpoints/";
  for (const char* extension : {".json", ".safetensors"})
    fs::copy(other + name(kSteps, extension), file(name(kSteps, extension)));
  expect_said({"belongs to another training", "resumes after step " + std::to_string(steps_[0]) + "\n"});
}

TEST_F(DamagedCheckpoint, ATableThatWasCutShort) {
  write_text(out_ + "/metrics.csv", "step,phase");
  expect_said({"metrics.csv is shorter than it was", "resumes from the start"});
}

TEST_F(DamagedCheckpoint, WithoutResumeTheTrainingBeginsAnew) {
  EXPECT_EQ(wait_for(start_training(whole_, out_, false)), 0);
  expect_same_training(out_, whole_);
  EXPECT_FALSE(fs::exists(file(name(steps_[0], ".json"))));
}

}  // namespace longhaul::resume_test
