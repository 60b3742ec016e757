#include "trainer/operations/registry.h"

#include <stdexcept>

namespace longhaul {

std::unique_ptr<Update> make_update(const MethodSpec& method) {
  for (const UpdateMaker& maker : update_makers())
    if (maker.method == method.name) return maker.make(method.options);
  throw std::logic_error("the trainer does not know method \"" + method.name +
                         "\", which has a plan: it has no file in trainer/updates/");
}

}  // namespace longhaul
