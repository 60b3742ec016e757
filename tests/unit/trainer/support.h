// What the trainer's tests share: cases made from a few keys.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "core/base/index.h"
#include "core/scenario/scenario.h"
#include "methods/common/registry.h"
#include "tests/support/csv_table.h"
#include "tests/support/files.h"
#include "tests/unit/core/stub_topology.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/model/gemm.h"
#include "trainer/training.h"

namespace longhaul {

inline Json golden(const std::string& name) {
  return Json::parse(read_text(std::string(LONGHAUL_SOURCE_DIR) + "/tests/golden/" + name));
}

inline std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

inline CsvTable table_of(const std::string& text) {
  const TemporaryFolder folder;
  write_text(folder.file("table.csv"), text);
  return read_csv(folder.file("table.csv"));
}

inline std::vector<float> floats_of(const StoredTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

// Seconds: four replicas of a tiny model on a synthetic text. `wire`: null where it does not matter.
inline Json small_scenario(const Json& method, int steps = 12, const char* wire = nullptr) {
  Json scenario = Json::parse(R"({"name": "small", "replicas": 4,
      "train": {"model": {"hidden": 16, "layers": 2, "heads": 2, "ffn": 24, "context": 12, "vocabulary": 16},
                "data": {"synthetic": {"branching": 3, "tokens": 20000}}, "batch": 2, "evaluate_sequences": 8,
                "evaluate_every": 4, "optimizer": {"lr": 1e-2}},
      "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}}})");
  scenario["methods"] = Json::array({method});
  scenario["train"]["steps"] = steps;
  if (wire) scenario["workload"] = {{"wire", wire}};
  return scenario;
}

// With these of its entries anew; null takes one away.
inline Json changed(Json json, const Json& patch) {
  json.merge_patch(patch);
  return json;
}

// The same on the bytes of files.
inline Json text_scenario(const std::string& glob) {
  const Json data = {{"synthetic", nullptr}, {"text", {glob}}}, model = {{"vocabulary", 256}};
  return changed(small_scenario({{"name", "independent"}}), {{"train", {{"data", data}, {"model", model}}}});
}

// The only case of a scenario in `folder`. Where groups are drawn by sites, replicas are at two in turn.
inline Case only_case(const Json& scenario, const TemporaryFolder& folder) {
  write_text(folder.file("scenario.json"), scenario.dump());
  const Scenario loaded =
      load_scenario(folder.file("scenario.json"), {}, scenario_options(method_options(), stub_topologies()));
  EXPECT_EQ(loaded.cases.size(), 1u);
  Case config = loaded.cases.at(0);
  if (needs_sites(trained_plan_of(config))) {
    for (int replica = 0; replica < config.replicas; ++replica) config.site_of.push_back(replica % 2);
    config.resolved["sites"] = config.site_of;
  }
  return config;
}

// Of one that needs no file, with the folder in which it trains.
struct CaseInFolder {
  explicit CaseInFolder(const Json& scenario) : config(only_case(scenario, folder)) {}

  const TemporaryFolder folder;
  const Case config;
};

inline Case case_of(const Json& scenario) {
  return CaseInFolder(scenario).config;
}

struct Trained {
  Json summary;
  std::string metrics, exchanges;           // contents of the files
  std::vector<std::vector<float>> weights;  // by replica
};

inline void expect_same(const Trained& found, const Trained& expected, const std::string& what = "") {
  EXPECT_EQ(found.metrics, expected.metrics) << what;
  EXPECT_EQ(found.exchanges, expected.exchanges) << what;
  EXPECT_EQ(found.weights, expected.weights) << what;
}

inline Training::MakeJournal scheduled(const Schedule& schedule) {
  return [schedule](const JournalSpec& spec) { return make_journal(spec, schedule); };
}

// Trains the replicas of a rank into FOLDER/out.
inline void train_rank(Trained& trained, const Case& config, const TemporaryFolder& folder, Device device,
                       std::unique_ptr<Backend> backend, bool resume, const Training::MakeJournal& journal,
                       Ranks& ranks, OuterState state = OuterState::kAuto) {
  ProgressReporter silent("test", -1, true);
  use_one_thread();
  TrainingFiles files(folder.file("out"), ranks.is_first());
  Training training(config, device, std::move(backend), files, silent, ranks, journal, state);
  std::vector<std::string> refused;
  if (resume) training.resume(refused);
  const Json summary = training.run();
  files.finish(summary);
  if (ranks.is_first()) trained.summary = summary;
  for (const int replica : training.arena().held().replicas()) {
    const float* row = training.arena().row(Slot::kWeights, replica);
    trained.weights[as_index(replica)].assign(row, row + training.arena().parameters());
  }
}

// Trains into FOLDER/out and reads what was written.
inline Trained train_with(const Case& config, const TemporaryFolder& folder, Device device,
                          std::unique_ptr<Backend> backend, bool resume = false,
                          const Training::MakeJournal& journal = {}, OuterState state = OuterState::kAuto) {
  Trained trained;
  trained.weights.resize(as_index(config.replicas));
  train_rank(trained, config, folder, device, std::move(backend), resume, journal, one_rank(), state);
  trained.metrics = read_text(folder.file("out/metrics.csv"));
  trained.exchanges = read_text(folder.file("out/exchanges.jsonl"));
  return trained;
}

inline Trained train(const Case& config, const TemporaryFolder& in, int threads = 1, bool resume = false) {
  auto backend = threads == 1 ? make_loop_backend() : make_thread_backend(threads, use_one_thread);
  return train_with(config, in, Device::kCpu, std::move(backend), resume);
}

inline Trained train(const Json& scenario, int threads = 1) {
  const TemporaryFolder folder;
  return train(only_case(scenario, folder), folder, threads);
}

}  // namespace longhaul
