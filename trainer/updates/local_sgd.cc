// Local SGD: every replica goes on from the mean of all weights; in other methods' plans from that of its
// group, of its site, or of those that it hears.
#include "trainer/operations/update.h"

namespace longhaul {

std::unique_ptr<Update> make_local_sgd_update(const Json&) {
  return std::make_unique<RowAverage>("weights", Slot::kWeights);
}

}  // namespace longhaul
