#include <gtest/gtest.h>

#include "analysis/report/parts.h"

namespace longhaul::run_in_words_test {

TEST(RunInWords, AreTheSectionsAsTheyWereWritten) {
  const Json written = {{"name", "a"},
                        {"methods", {{{"name", "ddp"}}, {{"name", "diloco"}, {"inner_steps", 20}}}},
                        {"train", {{"data", {{"text", {"a.txt", "b.txt"}}}}}},
                        {"network", {{"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "50ms"}}}}}}}};
  const std::vector<Json> records = {
      {{"replicas", 8}, {"seed", 1}, {"swept", {{"replicas", 8}}}, {"label", "noloco"}, {"sitting_out", 1}},
      {{"replicas", 16}, {"seed", 2}, {"swept", {{"replicas", 16}}}, {"label", "ddp"}}};
  const Json expected = {
      {"Replicas", "8, 16; with noloco some sit out each outer step, drawn anew: 1 of 8"},
      {"Methods", "name ddp; name diloco, inner_steps 20"},
      {"Model trained", "data (text (a.txt; b.txt))"},
      {"Network", "topology (star (rate 1Gbps, rtt 50ms))"},
      {"Swept", "replicas: 8, 16"},
      {"Seeds", "1, 2"}};
  Json said = Json::object();
  for (const Json& entry : run_in_words(written, records)) said[entry["term"]] = entry["text"];
  EXPECT_EQ(said, expected);
}

}  // namespace longhaul::run_in_words_test
