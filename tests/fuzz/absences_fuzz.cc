// Who was gone: evictions from a file, and the table that a replay leaves and a training follows.
#include "core/plan/absences.h"
#include "replay/absence_trace.h"
#include "tests/fuzz/fuzz.h"

using namespace longhaul;

namespace {

void follow(const std::string& file) {
  OperationRule rule;
  rule.payload = whole({"delta"}, Wire::kBf16);
  const PlanContext context{1, 4, 8, 100, {}};
  const Absences absences = read_absences(file, {{rule}}, context);
  for (int replica = 0; replica < context.replicas; ++replica)
    for (int step = 1; step <= context.steps; ++step) {
      if (absences.ends(replica, step) && !absences.computes(replica, step)) abort();
      for (int post = 1; post <= step; ++post) {
        const int contributor = absences.contributor(replica, post, step);
        if (contributor < -1 || contributor >= context.replicas) abort();
      }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = text_of_input(data, size), file = file_with("absences.csv", text);
  allow_errors([&] {
    for (const auto& [replica, windows] : parse_absences(text, "evictions.csv", 4)) {
      if (replica < 0 || replica >= 4) abort();
      std::int64_t last_ns = 0;
      for (const FaultWindows::Window& window : windows) {
        if (window.begin_ns < last_ns || window.end_ns <= window.begin_ns) abort();
        last_ns = window.end_ns;
      }
    }
  });
  return allow_errors([&] { follow(file); });
}
