// What a replay leaves of its rollouts (docs/reference/formats/run.md). Times are seconds since training
// began; bytes are of weights, without headers and requests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace longhaul {

// A version of the weights. Negative: not yet, when training ended.
struct VersionRow {
  int version = 0, step = 0;         // trained by that step
  double published_s = -1;           // by the last source
  double sent_s = -1;                // it begins on its way, behind the version before
  double first_s = -1, last_s = -1;  // the first group generates with it, and all do
  std::int64_t bytes = 0;            // that all hosts sent
};

struct RefitRow {
  int version = 0, group = 0;
  double arrived_s = -1, swapped_s = -1;  // all of it is there; the group generates with it
};

// The samples of one step.
struct BatchRow {
  int step = 0;
  double begun_s = -1, whole_s = -1, used_s = -1;  // the first sample; the last one; the first trainer begins
  double waited_s = 0;                             // the longest that a worker waited for it
  double longest_s = 0;                            // of a sample
  std::int64_t samples = 0, tokens = 0;
  std::int64_t staleness = 0;  // sum over samples, in versions
  int stalest = 0;
};

struct RolloutGroupRow {
  std::string host;
  std::string site;  // "" without sites
  double busy_s = 0, sample_s = 0;
  std::int64_t samples = 0, tokens = 0, bytes_received = 0;
};

// What all messages of the replay carried between sites.
struct SiteBytes {
  std::string site;
  std::int64_t out = 0, in = 0;
};

struct RolloutRows {
  std::vector<VersionRow> versions;
  std::vector<RefitRow> refits;
  std::vector<BatchRow> batches;
  std::vector<RolloutGroupRow> groups;
  std::vector<SiteBytes> sites;                    // empty: the topology has none
  std::vector<std::int64_t> samples_by_staleness;  // of batches that were used
  double end_s = 0;                                // of the training
};

}  // namespace longhaul
