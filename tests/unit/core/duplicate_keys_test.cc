// A key that stands twice is an error with the path of the second; the same key in other objects is not.

#include <gtest/gtest.h>

#include "core/base/json.h"
#include "tests/support/said.h"

namespace longhaul::duplicate_keys_test {

std::string path_of_duplicate(const std::string& text) {
  return refused_path([&] { check_no_duplicate_keys(text); });
}

TEST(DuplicateKeys, AreFoundWithTheirPath) {
  EXPECT_EQ(path_of_duplicate(R"({"a": 1, "b": 2, "a": 3})"), "a");
  EXPECT_EQ(path_of_duplicate(R"({"a": {"b": 1, "b": 1}})"), "a.b");
  EXPECT_EQ(path_of_duplicate(R"({"list": [1, {"x": 1}, {"x": 1, "y": [], "x": {}}]})"), "list[2].x");
  EXPECT_EQ(path_of_duplicate(R"([[{"k": null}, {"k": 0, "k": 0}]])"), "[0][1].k");
}

TEST(DuplicateKeys, OfOtherObjectsAndInTextsAndCommentsAreNone) {
  EXPECT_EQ(path_of_duplicate(R"({"a": {"a": {"a": 1}}, "b": {"a": "\"a\": 1, \"a\": 2"}})"), "");
  EXPECT_EQ(path_of_duplicate("{\"a\": 1, // \"a\": 2\n /* \"a\": 3 */ \"b\": [1.5, true, -2]}"), "");
  EXPECT_EQ(path_of_duplicate("[]"), "");
}

}  // namespace longhaul::duplicate_keys_test
