// Two-level averaging: every replica goes on from the mean of its site's weights, or of all.
#include "trainer/operations/update.h"

namespace longhaul {

std::unique_ptr<Update> make_hierarchical_update(const Json&) {
  return average_of_weights();
}

}  // namespace longhaul
