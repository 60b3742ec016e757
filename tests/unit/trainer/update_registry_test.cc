// What the registry of updates does not know.
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/unit/trainer/operation_support.h"

namespace longhaul::update_registry_test {

TEST(UpdateRegistry, AMethodThatItDoesNotKnowDoesNotStart) {
  EXPECT_THROW(make_update({"half-a-method", "", Json::object()}), std::logic_error);
}

TEST(UpdateRegistry, ATensorOfWhichTheUpdateKnowsNoRowsStopsTheTraining) {
  UpdateBench bench({"ddp", "ddp", Json::object()}, 2, 4);
  EXPECT_THROW(bench.run(rule_for({"half-a-tensor"})), std::logic_error);
}

}  // namespace longhaul::update_registry_test
