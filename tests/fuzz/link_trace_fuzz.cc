// Rates and delays of links over time: the first byte says whether and how the trace repeats.
#include "net/variation/variation.h"
#include "tests/fuzz/fuzz.h"

using namespace longhaul;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  TraceSpec spec;
  spec.repeats = data[0] % 3 > 0;
  if (data[0] % 3 == 2) spec.period_s = data[0] * 1e6;
  return allow_errors([&] {
    const LinkTrace trace =
        LinkTrace::parse(text_of_input(data + 1, size - 1), "trace.csv", spec, "network.variation.traces[0]");
    std::int64_t time_ns = 0;
    for (int i = 0; i < 50 && time_ns != LinkTrace::kNever; ++i) {
      trace.at(time_ns);
      const std::int64_t next_ns = trace.next_change_ns(time_ns);
      if (next_ns <= time_ns) abort();
      time_ns = next_ns;
    }
  });
}
