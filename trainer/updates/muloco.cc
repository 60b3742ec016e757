// MuLoCo (arXiv 2505.23725): DiLoCo's outer step; what is its own is Muon inside (Method::optimizer).
#include "trainer/updates/diloco.h"

namespace longhaul {

std::unique_ptr<Update> make_muloco_update(const Json& options) {
  return make_diloco_update(options);
}

}  // namespace longhaul
