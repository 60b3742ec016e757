#include "core/scenario/fault.h"

namespace longhaul {

// Each is defined in the file of its name.
FaultKind slow_fault();
FaultKind crash_fault();
FaultKind link_fault();
FaultKind site_fault();

const std::vector<FaultKind>& fault_kinds() {
  static const std::vector<FaultKind> all = {slow_fault(), crash_fault(), link_fault(), site_fault()};
  return all;
}

}  // namespace longhaul
