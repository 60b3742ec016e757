// The two registries of methods (methods/ and trainer/updates/) hold the same ones.
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/base/options.h"
#include "methods/common/registry.h"
#include "tests/unit/trainer/operation_support.h"

namespace longhaul::update_registry_test {

Json defaults_of(const Method& method) {
  Json options = Json::object();
  for (const Node& option : method.options) options[option.key] = option.fallback;
  return options;
}

TEST(UpdateRegistry, KnowsEveryMethodThatHasAPlan) {
  for (const Method& method : methods()) {
    MethodSpec spec;
    spec.name = method.name;
    spec.options = defaults_of(method);
    EXPECT_NO_THROW(EXPECT_NE(make_update(spec), nullptr)) << method.name;
  }
}

TEST(UpdateRegistry, AMethodThatItDoesNotKnowDoesNotStart) {
  MethodSpec spec;
  spec.name = "half-a-method";
  EXPECT_THROW(make_update(spec), std::logic_error);
}

TEST(UpdateRegistry, ATensorOfWhichTheUpdateKnowsNoRowsStopsTheTraining) {
  UpdateBench bench({"ddp", "ddp", Json::object()}, 2, 4);
  EXPECT_THROW(bench.run(rule_for({"half-a-tensor"})), std::logic_error);
}

}  // namespace longhaul::update_registry_test
