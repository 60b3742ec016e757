// The journal of replicas that each are at a step of their own, because none waits for another
// (OperationKind::kMerge).
#pragma once

#include <memory>

#include "core/plan/journal.h"
#include "core/plan/schedule.h"

namespace longhaul {

std::unique_ptr<Journal> make_own_pace_journal(const JournalSpec& spec, Schedule schedule);

}  // namespace longhaul
