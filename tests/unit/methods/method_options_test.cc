// A case.json that another program, or a hand, has changed: what is not as declared is refused in our words,
// with its path.
#include <gtest/gtest.h>

#include "tests/support/every_method.h"
#include "tests/support/said.h"
#include "tests/unit/methods/one_case.h"

namespace longhaul::method_options_test {

Case case_of(const Json& method) {
  return one_case({{"replicas", 8},
                   {"methods", {method}},
                   {"workload", {{"parameters", 1000}, {"steps", 12}, {"step_time", {{"constant", "1s"}}}}}});
}

TEST(MethodOptions, AreAsDeclaredAndAllThere) {
  int count = 0;
  for (const Json& method : every_method(4)) {
    const Case config = case_of(method);
    EXPECT_NO_THROW(check_method_options(config)) << method;
    for (const Node& option : method_named(config.method.name).options) {
      if (!config.method.options.contains(option.key)) continue;
      ++count;
      for (const Json& wrong : {Json::array({nullptr}), Json(nullptr), Json("no such word")}) {
        Case changed = config;
        changed.method.options[option.key] = wrong;
        const std::string said = said_by([&] { check_method_options(changed); });
        EXPECT_EQ(said.rfind("method." + option.key, 0), 0u) << method << said;
        EXPECT_EQ(said.find("json.exception"), std::string::npos) << said;
      }
      Case without = config;
      without.method.options.erase(option.key);
      EXPECT_EQ(refused_with([&] { check_method_options(without); }),
                "method." + option.key + ": this key is missing")
          << method;
    }
  }
  EXPECT_GT(count, 150);
}

TEST(MethodOptions, OfAMethodThatDoesNotExist) {
  Case config = case_of({{"name", "diloco"}, {"inner_steps", 4}});
  config.method.name = "dilocoo";
  EXPECT_SAYS(said_by([&] { check_method_options(config); }), "did you mean \"diloco\"?");
}

}  // namespace longhaul::method_options_test
