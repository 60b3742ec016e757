// Rates and delays of links over time: the first byte says whether and how the trace repeats.
#include "net/variation/link_trace.h"
#include "tests/fuzz/fuzz.h"

void longhaul::read_input(const std::string& input) {
  if (input.empty()) return;
  const auto kind = static_cast<unsigned char>(input[0]);
  TraceSpec spec;
  spec.repeats = kind % 3 > 0;
  if (kind % 3 == 2) spec.period_s = kind * 1e6;
  const LinkTrace trace = LinkTrace::parse(input.substr(1), "trace.csv", spec, "network.variation.traces[0]");
  std::int64_t time_ns = 0;
  for (int i = 0; i < 50 && time_ns != LinkTrace::kNever; ++i) {
    trace.at(time_ns);
    const std::int64_t next_ns = trace.next_change_ns(time_ns);
    if (next_ns <= time_ns) abort();
    time_ns = next_ns;
  }
}
