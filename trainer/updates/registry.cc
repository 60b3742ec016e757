// All updates there are; a new one is added here and its plan in methods/registry.cc.
#include <stdexcept>

#include "trainer/updates/ddp.h"
#include "trainer/updates/diloco.h"
#include "trainer/updates/fsdp.h"
#include "trainer/updates/independent.h"
#include "trainer/updates/noloco.h"
#include "trainer/updates/update.h"

namespace longhaul {

std::unique_ptr<Update> make_update(const MethodSpec& method) {
  if (method.name == "ddp") return make_ddp_update();
  if (method.name == "fsdp") return make_fsdp_update();
  if (method.name == "diloco") return make_diloco_update(method.options);
  if (method.name == "noloco") return make_noloco_update(method.options);
  if (method.name == "independent") return make_independent_update();
  throw std::logic_error("the trainer does not know method \"" + method.name +
                         "\", which has a plan: it is missing in trainer/updates/registry.cc");
}

}  // namespace longhaul
