// Independent replicas, and the one of method single: nothing is ever exchanged.
#include <stdexcept>

#include "trainer/operations/update.h"

namespace longhaul {
namespace {

class IndependentUpdate : public Update {
 public:
  void apply(const Operation&, int, const Arrived&, Arena&) const override {
    throw std::logic_error("independent replicas have no operation");
  }
};

}  // namespace

std::unique_ptr<Update> make_independent_update(const Json&) {
  return std::make_unique<IndependentUpdate>();
}

}  // namespace longhaul
