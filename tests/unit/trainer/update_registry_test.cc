// The two registries of methods (methods/ and trainer/updates/) hold the same ones.
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/options.h"
#include "methods/registry.h"
#include "trainer/updates/update.h"

namespace longhaul {
namespace {

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

TEST(UpdateRegistry, AnOverlappedExchangeThatTheUpdateCannotPostStopsTheTraining) {
  MethodSpec spec;
  spec.name = "ddp";
  spec.options = {{"all_reduce", "ring"}, {"overlap_backward", 0.}, {"buckets", 1}};
  ExchangeRule rule;
  rule.name = "ahead";
  Exchange exchange;
  exchange.rule = &rule;
  Arena arena(kSlotsOfInnerOptimizer, 1, 4);
  const auto backend = make_loop_backend();
  ExchangeLog log;
  Replicas replicas{arena, *backend, Wire::kFp32, log};
  EXPECT_THROW(make_update(spec)->post(exchange, replicas), std::logic_error);
}

}  // namespace
}  // namespace longhaul
