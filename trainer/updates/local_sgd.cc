// Local SGD: every replica goes on from the mean of all weights.
#include "trainer/operations/update.h"

namespace longhaul {

std::unique_ptr<Update> make_local_sgd_update(const Json&) {
  return average_of_weights();
}

}  // namespace longhaul
