// Journals of a plan with one operation that overlaps, one that does not, and one of merges.
#include "core/plan/journal_file.h"
#include "tests/fuzz/fuzz.h"

void longhaul::read_input(const std::string& input) {
  static const OperationPlan plan = [] {
    OperationPlan made{{{"plain", OperationKind::kAllReduce, ""},
                        {"outer", OperationKind::kAllReduce, ""},
                        {"fragment-0", OperationKind::kMerge, "", 2}}};
    made.rules[1].overlap_steps = 2;
    made.rules[2].overlap_steps = 1;
    return made;
  }();
  const PlanContext context{1, 4, 8, 100, {}};
  const auto rewritten = [&](const std::string& text) {
    std::istringstream in(text);
    std::ostringstream out;
    write_journal(*read_journal(in, "journal.jsonl", plan, context), plan, context, out);
    return out.str();
  };
  const std::string written = rewritten(input);
  if (rewritten(written) != written) abort();  // what is written is read as the same
}
