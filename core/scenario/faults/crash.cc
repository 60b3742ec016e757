// A replica is gone from one moment to the next.
#include "core/scenario/faults/absence.h"

namespace longhaul {
namespace crash {
namespace {

void read(const FaultEntry& entry, Fault& fault) {
  read_absence(entry, fault);
  fault.absence = Fault::Absence::kCrash;
}

}  // namespace
}  // namespace crash

FaultKind crash_fault() {
  return {section("crash", absence_options())
              .means("a replica is gone, and what it computed since its last step is lost; the "
                     "section recovery says what follows"),
          crash::read};
}

}  // namespace longhaul
