// A replay for other programs: timeline.json for chrome://tracing and Perfetto, Chakra traces for ASTRA-sim.
// Nothing of ours reads them back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/options.h"

namespace longhaul {

constexpr std::int64_t kMaximumSlices = 100'000;

enum class TimelineFormat { kJson, kGzip, kNone };

struct TimelineOptions {
  TimelineFormat format = TimelineFormat::kJson;
  std::int64_t maximum = kMaximumSlices;
};

// Writes CASE_FOLDER/timeline.json (timeline.json.gz with kGzip) from its steps.csv, exchanges.csv and
// transfers.csv, and removes the one of an earlier replay: a process a replica, with lanes for compute, wait
// (for the others), exchange, exchanges that overlap with compute, and single messages sent and received with
// arrows between them. With more slices than `maximum` only the first outer steps (at least one) are written;
// `otherData.sampled` and the case's log.txt say so. Throws RunError.
void write_timeline(const std::string& case_folder, const TimelineOptions& options = {});

// The schedule of a case as Chakra execution traces, in the JSON form that ASTRA-sim's feeder reads
// (mlcommons/chakra, src/feeder/json_node.cpp; node and collective types of schema/protobuf/et_def.proto).
// One graph a replica: {"workload_graph": [node, ...]}, nodes in an order in which every dependency comes
// first.
//   every node: Id, Name, NodeType, is_cpu_op, data_deps
//   COMP_NODE (4): runtime, µs: the compute between two exchanges, as the replay had it
//   COMM_COLL_NODE (7): comm_type, comm_size (bytes that each participant contributes)
//   COMM_SEND_NODE (5), COMM_RECV_NODE (6): comm_src, comm_dst, comm_tag, comm_size
// Collectives are one node, since ASTRA-sim chooses their algorithm itself; averages of a group (pair, root,
// serial) are single messages. An exchange that overlaps with compute depends on the step that posts it, and
// the step that needs it depends on it. From trace.jsonl, exchanges.csv, steps.csv and replicas.csv of the
// case. Throws RunError where one is missing, and where compute cannot be told from waiting: a step that only
// posts overlapped exchanges and is not in steps.csv.
std::vector<Json> chakra_graphs(const std::string& case_folder);

}  // namespace longhaul
