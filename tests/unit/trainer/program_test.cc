// longhaul-train as a program: exit statuses and messages.
#include "tests/unit/trainer/rank_processes.h"

namespace longhaul::program_test {

const Json kDdp = {{"name", "ddp"}};

class Program : public testing::Test {
 protected:
  // The programs that are started see no GPU, on a machine that has one too.
  static void SetUpTestSuite() { setenv("CUDA_VISIBLE_DEVICES", "", 1); }
  static void TearDownTestSuite() { unsetenv("CUDA_VISIBLE_DEVICES"); }

  RanksEnded run(const std::string& arguments) {
    const std::string command = std::string(LONGHAUL_BIN_DIR) + "/longhaul-train " + arguments + " > " +
                                folder_.file("output") + " 2>&1";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(folder_.file("output"))};
  }

  // The options that name a case and the folder of its training.
  std::string into(const std::string& out, const std::string& file = "case.json") const {
    return "--case " + folder_.file(file) + " --out " + out + " ";
  }
  RanksEnded run_case(const Json& scenario, const std::string& arguments = "") {
    write_text(folder_.file("case.json"), only_case(scenario, folder_).resolved.dump());
    return run(into(folder_.file("out")) + arguments);
  }

  TemporaryFolder folder_;
};

TEST_F(Program, SaysItsVersionAndItsOptions) {
  EXPECT_EQ(run("--version").output.rfind("longhaul-train ", 0), 0u);
  EXPECT_EQ(run("--help").status, 0);
  expect_said(run("--no-such-option"), 2, {"--no-such-option"});
  expect_said(run(""), 2, {"--case"});
}

// Both multiply to what the other does but for rounding, and the manifest's line says which one did.
TEST_F(Program, ProductsByTensorsWhereTheEnvironmentSaysSo) {
  const Json scenario = small_scenario({{"name", "noloco"}, {"inner_steps", 4}});
  std::vector<double> losses;
  for (const std::string products : {"tensors", "onednn"}) {
    if (products == "onednn" && !has_onednn()) continue;
    ASSERT_EQ(setenv("LONGHAUL_PRODUCTS", products.c_str(), 1), 0);
    expect_said(run_case(scenario), 0, {});
    const Json training = Json::parse(read_text(folder_.file("out/training.json")));
    EXPECT_EQ(training["blas"].get<std::string>().rfind("oneDNN", 0) == 0, products == "onednn");
    losses.push_back(training["final_loss"]);
    std::filesystem::remove_all(folder_.file("out"));
  }
  EXPECT_NEAR(losses.front(), losses.back(), 1e-3);
  ASSERT_EQ(setenv("LONGHAUL_PRODUCTS", "mkl", 1), 0);
  expect_said(run_case(scenario), 2, {"LONGHAUL_PRODUCTS", "found \"mkl\"", "onednn or tensors"});
  unsetenv("LONGHAUL_PRODUCTS");
}

TEST_F(Program, TellsItsProgressInTheProtocol) {
  expect_said(run_case(small_scenario(kDdp), "--progress-fd 3 3> " + folder_.file("progress")), 0, {});
  std::vector<Json> said = lines_of(read_text(folder_.file("progress")));
  ASSERT_GE(said.size(), 3u);
  EXPECT_EQ(said.front()["program"], "longhaul-train");
  EXPECT_EQ(said[said.size() - 2]["done"], 12);
  EXPECT_TRUE(said.back()["result"].contains("final_loss"));
}

TEST_F(Program, CudaWithoutAGpuOrACaseThatIsNoneIsWrongInput) {
  const Json scenario = small_scenario(kDdp);
  expect_said(run_case(scenario, "--device cuda"), 2, {"--device", "GPU"});
  expect_said(run_case(changed(scenario, {{"train", {{"device", "cuda"}}}})), 2, {"train.device", "GPU"});
  write_text(folder_.file("damaged.json"), "{");
  for (const char* file : {"missing.json", "damaged.json"})
    expect_said(run(into(folder_.file("out"), file)), 2, {file});
}

// What a hand has changed in case.json.
TEST_F(Program, ACaseThatIsChangedIsAnsweredInOurWords) {
  const Json scenario = small_scenario({{"name", "diloco"}, {"inner_steps", 4}});
  Json written = only_case(scenario, folder_).resolved;
  const auto refused = [&](const Json& patch, const std::vector<std::string>& parts) {
    Json changed = written;
    changed.merge_patch(patch);
    write_text(folder_.file("case.json"), changed.dump());
    const RanksEnded ended = run(into(folder_.file("out")));
    expect_said(ended, 2, parts);
    EXPECT_EQ(ended.output.find("json.exception"), std::string::npos) << ended.output;
  };
  refused({{"method", {{"inner_steps", "4"}}}}, {"case.json: method.inner_steps: found \"4\"", "integer"});
  refused({{"method", {{"outer_lr", nullptr}}}}, {"case.json: method.outer_lr: this key is missing"});
  refused({{"method", {{"nesterov", 1}}}}, {"case.json: method.nesterov: found 1", "true or false"});
  refused({{"method", {{"codec", 7}}}}, {"case.json: method.codec: found 7"});
  refused({{"method", {{"python", {{"file", 1}}}}}}, {"case.json: method.python.file: found 1"});
}

TEST_F(Program, AFolderThatCannotBeWrittenFailsTheRun) {
  write_text(folder_.file("out"), "a file where the folder should be");
  expect_said(run_case(small_scenario(kDdp)), 1, {});
  expect_said(run(into("/proc/longhaul")), 1, {"/proc/longhaul: cannot be made"});
}

// Replicas are ahead of each other then: all of them end with the same step, and go on from it.
TEST_F(Program, AnInterruptBetweenMeetingsIsResumedToTheBytesOfAnUndisturbedTraining) {
  constexpr int kSteps = 16000;
  const Json rare = {{"evaluate_every", kSteps}, {"checkpoint_every", kSteps}};
  const Json scenario = changed(small_scenario({{"name", "independent"}}, kSteps), {{"train", rare}});
  ASSERT_EQ(run_case(scenario, "--quiet --threads 3").status, 0);
  const std::string cut = folder_.file("cut"), whole = folder_.file("out"),
                    progress = folder_.file("progress"), arguments = into(cut) + "--quiet --threads 3";
  // Once it has told of two steps, a tenth of a second apart.
  const std::string interrupted = LONGHAUL_BIN_DIR "/longhaul-train --progress-fd 3 " + arguments + " 3> " +
                                  progress + " 2> /dev/null & child=$!; until [ \"0$(grep -c '\"done\"' " +
                                  progress +
                                  " 2> /dev/null)\" -ge 2 ]; do kill -0 $child || exit 1; sleep 0.01; done; "
                                  "kill -INT $child; wait $child";
  ASSERT_EQ(WEXITSTATUS(std::system(interrupted.c_str())), 130);
  ASSERT_FALSE(std::filesystem::exists(cut + "/done"));
  expect_said(run(arguments + " --resume"), 0, {"resumes after step "});
  const std::string tensors = "/checkpoints/step-" + std::to_string(kSteps) + ".safetensors";
  for (const std::string& file : {std::string("/metrics.csv"), std::string("/training.json"), tensors})
    EXPECT_EQ(read_text(cut + file), read_text(whole + file)) << file;
  EXPECT_EQ(read_csv(cut + "/step_times.csv").rows.size(), std::size_t{4 * kSteps});
}

}  // namespace longhaul::program_test
