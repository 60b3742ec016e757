// Journals of a plan with one operation that overlaps, one that does not, and one of merges.
#include <sstream>

#include "core/plan/journal.h"
#include "tests/fuzz/fuzz.h"

using namespace longhaul;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const OperationPlan plan = [] {
    OperationPlan made;
    made.rules.resize(3);
    made.rules[0].name = "plain";
    made.rules[1].name = "outer";
    made.rules[1].overlap_steps = 2;
    made.rules[2].name = "fragment-0";
    made.rules[2].kind = OperationKind::kMerge;
    made.rules[2].every = 2;
    made.rules[2].overlap_steps = 1;
    return made;
  }();
  const PlanContext context{1, 4, 8, 100, {}};
  return allow_errors([&] {
    std::istringstream in(text_of_input(data, size));
    const auto journal = read_journal(in, "journal.jsonl", plan, context);
    std::stringstream written;
    write_journal(*journal, plan, context, written);
    std::ostringstream again;
    write_journal(*read_journal(written, "again", plan, context), plan, context, again);
    if (again.str() != written.str()) abort();  // what is written is read as the same
  });
}
