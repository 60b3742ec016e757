// A replica leaves in order, or joins later.
#include "core/scenario/faults/absence.h"

namespace longhaul {
namespace leave {
namespace {

void read(const FaultEntry& entry, Fault& fault) {
  read_absence(entry, fault);
  fault.absence = Fault::Absence::kLeave;
}

}  // namespace
}  // namespace leave

FaultKind leave_fault() {
  return {section("leave", absence_options())
              .means("a replica tells the others and goes behind its next step that ends with an "
                     "exchange, when that is over; at 0 s it is not there yet"),
          leave::read};
}

}  // namespace longhaul
