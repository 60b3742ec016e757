// Moshpit SGD: every replica goes on from the mean of the weights along one dimension of the grid.
#include "trainer/operations/update.h"

namespace longhaul {

std::unique_ptr<Update> make_moshpit_update(const Json&) {
  return average_of_weights();
}

}  // namespace longhaul
