// A training that was cut goes on to the bytes of one that was not, and so does a run after Ctrl-C or the
// death of its parent; damaged and foreign checkpoints are refused with their reason, and the one before is
// used.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "tests/integration/kills.h"
#include "tests/support/every_method.h"
#include "tests/support/said.h"

namespace longhaul::resume_test {

namespace fs = std::filesystem;

constexpr int kSteps = 40, kCheckpointEvery = 3;

class Resume : public testing::TestWithParam<Json> {
 protected:
  const WholeTraining& whole_ = whole_training(GetParam(), kSteps, kCheckpointEvery);
};

INSTANTIATE_TEST_SUITE_P(Methods, Resume, testing::ValuesIn(every_method(5)));
// Each replica at a step of its own, with contributions and merges under way; and in stages, where anchors of
// each are under way at most checkpoints.
constexpr char kOthers[] = R"([
  {"name": "decoupled-diloco", "inner_steps": 5, "fragments": 2, "overlap": 1, "quorum": 2, "grace": "0s",
   "error_feedback": "classic"},
  {"name": "noloco", "inner_steps": 5, "pattern": "presend",
   "pipeline": {"stages": 2, "microbatches": 2, "routing": "random", "activations": "int8"}},
  {"name": "diloco", "inner_steps": 5,
   "pipeline": {"stages": 2, "activations": "learned",
                "learned_bits": {"penalty": 0.05, "lr": 0.2, "gate": 0}}},
  {"name": "co2", "inner_steps": 5, "pipeline": {"stages": 2}}])";
INSTANTIATE_TEST_SUITE_P(Others, Resume, testing::ValuesIn(Json::parse(kOthers).get<std::vector<Json>>()));

// Starts or resumes it and ends it right after a checkpoint was written; its exit status.
int cut_behind(int step, int signal, const WholeTraining& whole, const std::string& out) {
  const pid_t child = start_training(whole, out, step > 12);
  const std::string checkpoint = out + "/checkpoints/step-" + std::to_string(step) + ".json";
  while (!fs::exists(checkpoint) && !fs::exists(out + "/done"))
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  kill(child, signal);
  return wait_for(child);
}

TEST_P(Resume, AfterKillsAtRandomMoments) {
  std::mt19937 random(1);
  expect_whole_after_kills(whole_, 2, random);
}

// Where anchors are sent ahead, they are in flight at each of these.
TEST_P(Resume, FromCheckpointsInTheMiddle) {
  const std::string out = fresh_folder("cut");
  for (int step : {12, 21}) cut_behind(step, SIGKILL, whole_, out);
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
    ASSERT_EQ(cut_behind(12, SIGINT, whole_, interrupted_), 130);
    for (const auto& entry : fs::directory_iterator(interrupted_ + "/checkpoints"))
      if (entry.path().extension() == ".json")
        steps_.push_back(Json::parse(read_text(entry.path().string()))["step"]);
    std::sort(steps_.rbegin(), steps_.rend());
    ASSERT_EQ(steps_.size(), 2u);
  }

  // Of the copy that is damaged.
  std::string file(int step, const std::string& extension) const {
    return out_ + "/checkpoints/step-" + std::to_string(step) + extension;
  }
  void flip(const std::string& extension, double place) const {
    std::string text = read_text(file(steps_[0], extension));
    text[static_cast<std::size_t>(place * static_cast<double>(text.size()))] ^= 4;
    write_text(file(steps_[0], extension), text);
  }

  const WholeTraining& whole_ =
      whole_training({{"name", "diloco"}, {"inner_steps", 10}}, kSteps, kCheckpointEvery);
  const std::string interrupted_ = fresh_folder("interrupted");
  std::string out_ = interrupted_;
  std::vector<int> steps_;  // newest first
};

// It is resumed to an end as undisturbed.
TEST_F(DamagedCheckpoint, IsSaidAndTheNewestThatIsWholeIsTaken) {
  const std::string newest = "step-" + std::to_string(steps_[0]),
                    from_newest = "resumes after step " + std::to_string(steps_[0]) + "\n",
                    from_older = "resumes after step " + std::to_string(steps_[1]) + "\n",
                    from_start = "resumes from the start";
  // What is damaged, and what is said of it.
  const std::pair<std::function<void()>, std::vector<std::string>> cases[] = {
      {[&] { flip(".safetensors", 0.7); }, {newest + ".safetensors", "is damaged: the hash of", from_older}},
      {[&] { flip(".json", 0.3); }, {newest + ".json", "is damaged: its hash differs", from_older}},
      {[&] {
         const std::string tensors = file(steps_[0], ".safetensors");
         fs::resize_file(tensors, fs::file_size(tensors) / 2);
       },
       {"ends beyond the end of the file", from_older}},
      {[&] {
         fs::remove(file(steps_[0], ".safetensors"));
         write_text(file(steps_[1], ".json"), "");
       },
       {"cannot be read", "is damaged", from_start}},
      {[&] {
         const std::string other = whole_training({{"name", "ddp"}}, kSteps, kCheckpointEvery).folder;
         for (const char* extension : {".json", ".safetensors"})
           fs::copy(other + "/checkpoints/step-40" + extension, file(kSteps, extension));
       },
       {"belongs to another training", from_newest}},
      {[&] { write_text(out_ + "/metrics.csv", "step,phase"); },
       {"metrics.csv is shorter than it was", from_start}}};
  for (const auto& [damage, said] : cases) {
    SCOPED_TRACE(said[0]);
    out_ = fresh_folder("damaged") + "/copy";
    fs::copy(interrupted_, out_, fs::copy_options::recursive);
    damage();
    const CommandResult result = run_command_line(
        "longhaul-train",
        {"--case", whole_.folder + "/case.json", "--out", out_, "--quiet", "--resume", "--threads", "1"});
    EXPECT_EQ(result.status, 0) << result.err;
    for (const std::string& words : said) EXPECT_SAYS(result.err, words);
    expect_same_training(out_, whole_);
  }
}

TEST_F(DamagedCheckpoint, WithoutResumeTheTrainingBeginsAnew) {
  EXPECT_EQ(wait_for(start_training(whole_, out_, false)), 0);
  expect_same_training(out_, whole_);
  EXPECT_FALSE(fs::exists(file(steps_[0], ".json")));
}

bool is_training(const std::string& run) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(run + "/train", ignored))
    if (!read_text(entry.path().string() + "/metrics.csv").empty()) return true;
  return false;
}

void expect_resumed_as_undisturbed(int signal, int expected_status, const std::string& ranks) {
  SCOPED_TRACE(ranks + " ranks, signal " + std::to_string(signal));
  const Json methods = {{{"name", "noloco"}, {"inner_steps", 5}}, {{"name", "independent"}}};
  const std::string scenario = written(small_scenario({{"methods", methods}, {"train", {{"steps", 400}}}})),
                    run = fresh_folder("run");
  static const std::string whole = run_of(scenario);  // once for all tests
  const pid_t child = start_command("longhaul", {"run", scenario, "--out", run, "--ranks", ranks});
  ASSERT_TRUE(wait_until([&] { return is_training(run); })) << "no training began";
  kill(child, signal);
  EXPECT_EQ(wait_for(child), expected_status);
  // Free again once nobody holds the lock; a child that outlives its parent would still hold it.
  ASSERT_TRUE(wait_until([&] {
    return longhaul({"run", scenario, "--out", run, "--resume", "--quiet"}).status == 0;
  }));
  expect_same_run(run, whole);
}

// Of several ranks mpirun stands between; the rest is trained, and the reference too, by one process. A
// killed parent takes its children along.
TEST(Interrupt, CtrlCExitsWith130AndItAndAKilledParentResume) {
  for (const char* ranks : {"1", "2"}) {
    expect_resumed_as_undisturbed(SIGINT, 130, ranks);
    expect_resumed_as_undisturbed(SIGKILL, 128 + SIGKILL, ranks);
  }
}

}  // namespace longhaul::resume_test
