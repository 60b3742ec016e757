// A small run directory in a temporary folder, whose every number can be worked out by hand.
//
// Two replicas, four inner steps, an outer step after steps 2 and 4. A step takes replica 0 one second and
// replica 1 one and a half:
//
//   step 2: ready 2 and 3, both start at 3, go on at 4 and 4.5        sync 1, 1.5    wait 1, 0
//   step 4: ready 6 and 7.5, both start at 7.5, go on at 8 and 8.5    sync 0.5, 1    wait 1.5, 0
//
// Each sends 100 bytes an exchange.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/scenario/case.h"
#include "tests/support/files.h"

namespace longhaul {

// A resolved case of diloco; `train` false leaves that section out.
inline Json resolved_case(const std::string& label, const Json& swept = Json::object(), bool train = true) {
  std::string name = label;
  for (const auto& [key, value] : swept.items()) name += "," + key + "=" + value.dump();
  Json json = Json::parse(R"({"scenario": "small", "folder": ".", "replicas": 2,
    "method": {"name": "diloco", "inner_steps": 2, "all_reduce": "ring"},
    "workload": {"parameters": 50, "wire": "bf16", "steps": 4, "step_time": {"constant": "1s"}},
    "network": {"fidelity": "flow", "topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}},
      "tcp": {"window": "unlimited", "connections": 1, "congestion_control": "cubic", "queue": "host",
        "queue_size": 1, "ecn": false, "loss": 0, "loss_response": "linux", "segment": 1448}}})");
  json.update({{"case", name}, {"seed", 1}, {"swept", swept}});
  json["method"]["label"] = label;
  if (train)
    json["train"] = Json::parse(R"({"steps": 4, "batch": 1, "device": "cpu", "target_loss": 3,
      "model": {"hidden": 8, "layers": 1, "heads": 2, "ffn": 8, "context": 8, "vocabulary": 256},
      "data": {"corpus": "system-headers"}, "validation_fraction": 0.05, "evaluate_sequences": 1,
      "evaluate_every": 1, "optimizer": {"lr": 0.001, "betas": [0.9, 0.95], "weight_decay": 0, "clip": 0}})");
  return json;
}

constexpr const char* kTraceHeader =
    R"({"longhaul_trace":2,"seed":1,"replicas":2,"steps":4,"parameters":50,"evaluate_every":1,)"
    R"("rules":[{"name":"outer","collective":"ring","every":2,"grouping":"everyone","group_size":0,"payload":[{"tensor":"delta","codec":{"numbers":"bf16"}}],"overlap_steps":0},)"
    R"({"name":"presend","collective":"pair","every":2,"grouping":"everyone","group_size":0,"payload":[{"tensor":"phi","codec":{"numbers":"bf16"}}],"overlap_steps":2}]})"
    "\n";

constexpr const char* kExchanges =
    "2,0,outer,2,3,4,100,2\n2,1,outer,3,3,4.5,100,3\n4,0,outer,6,7.5,8,100,6\n4,1,outer,7.5,7.5,8.5,100,7."
    "5\n";

// The same with 100 bytes sent ahead after step 2, while steps 3 and 4 are computed.
constexpr const char* kExchangesWithPresend =
    "2,0,outer,2,3,4,100,2\n2,1,outer,3,3,4.5,100,3\n2,0,presend,4,4.5,5.5,100,8\n2,1,presend,4.5,4.5,5.5,"
    "100,8.5\n"
    "4,0,outer,6,7.5,8,100,6\n4,1,outer,7.5,7.5,8.5,100,7.5\n";

// `rows`: the lines below the header.
inline void write_exchanges(const std::string& case_folder, const std::string& rows) {
  write_text(case_folder + "/exchanges.csv",
             "step,replica,exchange,ready_s,start_s,done_s,bytes,awaited_s\n" + rows);
}

inline void write_replay(const std::string& case_folder, const char* exchanges = kExchanges) {
  write_text(case_folder + "/trace.jsonl", kTraceHeader);
  write_exchanges(case_folder, exchanges);
  write_text(case_folder + "/steps.csv",
             "step,replica,computed_s,done_s\n"
             "1,0,1,1\n1,1,1.5,1.5\n2,0,2,4\n2,1,3,4.5\n3,0,5,5\n3,1,6,6\n4,0,6,8\n4,1,7.5,8.5\n");
  write_text(case_folder + "/replicas.csv",
             "replica,compute_s,idle_s,clock_s,bytes_sent\n0,4,4,8,200\n1,6,2.5,8.5,200\n");
  write_text(case_folder + "/links.csv",
             "link,direction,bytes,busy_s\nr0-core,forward,230,0.5\nr0-core,backward,220,0.5\n");
  write_text(case_folder + "/done", "");
}

inline void write_training(const std::string& train_folder) {
  write_text(train_folder + "/metrics.csv",
             "step,phase,replica,loss,loss_of_mean,weight_spread\n"
             "1,plain,0,5,,\n1,plain,1,4,,\n1,plain,mean,4.5,4.25,0.5\n"
             "2,before,0,3.5,,\n2,before,1,3.7,,\n2,before,mean,3.6,3.5,0.75\n"
             "2,after,0,3,,\n2,after,1,3,,\n2,after,mean,3,3,0\n"
             "4,before,0,2.5,,\n4,before,1,2.25,,\n4,before,mean,2.375,2.25,0.25\n"
             "4,after,0,2.5,,\n4,after,1,2.5,,\n4,after,mean,2.5,2.5,0\n");
  write_text(
      train_folder + "/training.json",
      R"({"parameters": 640, "tokens": 64, "unigram_entropy": 3.25, "final_loss": 2.5, "final_loss_of_ensemble": 2.25, "best_loss": 2.375, "weight_spread": 0})");
  write_text(train_folder + "/done", "");
}

// Its only case with its training, in the folder of the run.
class CaseOfRun : public testing::Test {
 protected:
  CaseOfRun() {
    write_replay(case_folder);
    write_training(train_folder);
  }

  TemporaryFolder folder;
  const std::string case_folder = folder.path + "/cases/diloco", train_folder = folder.path + "/train/x";
  Case config = parse_case(resolved_case("diloco"));
};

}  // namespace longhaul
