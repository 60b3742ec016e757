// What of a network changes with time (`network.variation` of a scenario), as typed values in SI units. Times
// count from the beginning of the training.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace longhaul {

// Which directions of a link are meant: forward is from the first to the second node of its name.
struct Directions {
  bool forward = true, backward = true;
};

struct TraceSpec {
  std::string link;  // a name or a glob
  std::string file;  // a path as it can be opened
  Directions directions;
  bool repeats = false;
  std::optional<double> period_s;  // of a trace that repeats; none: the time of its last row
};

// Traffic of others: on one link (`link`), or from one node to another (`from`, `to`).
struct BackgroundSpec {
  std::string link;  // a name or a glob; empty: from and to
  Directions directions;
  std::string from, to;
  // Exactly one of the three is given.
  std::optional<int> flows;     // long-lived TCP connections that take their max-min share
  std::optional<double> rate;   // bit/s on the wire, whatever others do
  std::optional<double> share;  // the same as a part of each link's own rate
  // Means of exponential times; none: always on.
  std::optional<double> on_s, off_s;
};

// Log-normal factors of mean 1, drawn anew for each link and direction every `every_s`.
struct JitterSpec {
  double rate_sigma = 0, delay_sigma = 0;  // standard deviations of the logarithm
  double every_s = 1;
};

struct VariationSpec {
  std::vector<TraceSpec> traces;
  std::vector<BackgroundSpec> background;
  JitterSpec jitter;

  bool has_jitter() const { return jitter.rate_sigma > 0 || jitter.delay_sigma > 0; }
  bool is_empty() const { return traces.empty() && background.empty() && !has_jitter(); }
};

}  // namespace longhaul
