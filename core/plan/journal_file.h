// journal.jsonl: a journal as lines of JSON, an entry each (docs/reference/formats/journal.md). The replay
// writes one where time decides what a training does; others may be written by hand.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "core/plan/journal.h"

namespace longhaul {

// A header and all entries that are left.
void write_journal(Journal& journal, const OperationPlan& plan, const PlanContext& context,
                   std::ostream& out);

// One that can be carried out: each entry finds what it needs, of rules and replicas that there are, and the
// last one saves the last step. `plan` must outlive it. Throws InputError with the line number; `file` only
// names it.
std::unique_ptr<Journal> read_journal(std::istream& in, const std::string& file, const OperationPlan& plan,
                                      const PlanContext& context);

}  // namespace longhaul
