// Local SGD: every replica goes on from the mean of all weights; in other methods' plans from that of its
// group, of its site, or of those that it hears. In a warm-up gradients are averaged first.
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

class LocalSgd : public Update {
 public:
  void apply(const Operation& operation, int replica, const Arrived& arrived, Arena& arena) const override {
    of(operation).apply(operation, replica, arrived, arena);
  }

  bool apply_on_device(const Operation& operation, DeviceSteps& steps) const override {
    return of(operation).apply_on_device(operation, steps);
  }

 private:
  const RowAverage& of(const Operation& operation) const {
    return operation.rule->before_optimizer ? gradients_ : weights_;
  }

  const RowAverage gradients_{"gradient", Slot::kGradient}, weights_{"weights", Slot::kWeights};
};

}  // namespace

std::unique_ptr<Update> make_local_sgd_update(const Json&) {
  return std::make_unique<LocalSgd>();
}

}  // namespace longhaul
