// What the trainer's tests share: folders that clean up after themselves, and cases made from a few keys.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/scenario.h"
#include "core/scenario_options.h"
#include "methods/common/registry.h"
#include "tests/unit/core/stub_topology.h"
#include "trainer/training.h"

namespace longhaul {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "longhaul-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void write_file(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

inline Json golden(const std::string& name) {
  return Json::parse(contents(std::string(LONGHAUL_SOURCE_DIR) + "/tests/golden/" + name));
}

// A training of seconds: four replicas of a tiny model on a synthetic text.
inline Json small_scenario(const Json& method, int steps = 12) {
  return {{"name", "small"},
          {"replicas", 4},
          {"methods", {method}},
          {"train",
           {{"steps", steps},
            {"model",
             {{"hidden", 16}, {"layers", 1}, {"heads", 2}, {"ffn", 24}, {"context", 12}, {"vocabulary", 16}}},
            {"data", {{"synthetic", {{"branching", 3}, {"tokens", 20000}}}}},
            {"batch", 2},
            {"evaluate_sequences", 8},
            {"evaluate_every", 4},
            {"optimizer", {{"lr", 1e-2}}}}},
          {"network", {{"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "50ms"}}}}}}}};
}

// The only case of a scenario; its relative paths start in `folder`.
inline Case only_case(const Json& scenario, const TemporaryFolder& folder) {
  write_file(folder.file("scenario.json"), scenario.dump());
  const Scenario loaded =
      load_scenario(folder.file("scenario.json"), {}, scenario_options(method_options(), stub_topologies()));
  EXPECT_EQ(loaded.cases.size(), 1u);
  return loaded.cases.at(0);
}

struct Trained {
  Json summary;
  std::string metrics, exchanges;  // contents of the files
};

// Trains into FOLDER/out and reads what was written.
inline Trained train_with(const Case& one, const TemporaryFolder& folder, Device device,
                          std::unique_ptr<Backend> backend, bool resume = false) {
  ProgressReporter silent("test", -1, true);
  use_one_torch_thread();
  Trained trained;
  {
    TrainingFiles files(folder.file("out"));
    Training training(one, device, std::move(backend), files, silent);
    std::vector<std::string> refused;
    if (resume) training.resume(refused);
    trained.summary = training.run();
    files.finish(trained.summary);
  }
  trained.metrics = contents(folder.file("out/metrics.csv"));
  trained.exchanges = contents(folder.file("out/exchanges.jsonl"));
  return trained;
}

inline Trained train(const Case& one, const TemporaryFolder& folder, int threads = 1, bool resume = false) {
  return train_with(one, folder, Device::kCpu,
                    threads == 1 ? make_loop_backend() : make_thread_backend(threads, use_one_torch_thread),
                    resume);
}

inline Trained train(const Json& scenario, int threads = 1) {
  const TemporaryFolder folder;
  return train(only_case(scenario, folder), folder, threads);
}

}  // namespace longhaul
