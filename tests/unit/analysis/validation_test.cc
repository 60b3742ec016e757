#include "analysis/claims/validation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/said.h"
#include "tests/unit/analysis/compared_runs.h"

namespace longhaul::validation_test {

Json record(const std::string& label, const Json& swept, double sync_s) {
  return compared_record(label, 1, swept, {{"fidelity", "analytic"}, {"sync_time_s", {{"mean", sync_s}}}});
}

// Two rates that the source gives, and connections that it leaves open.
std::vector<Json> records() {
  return {record("ring", {{"rate", "1Gbps"}, {"connections", 1}}, 9),
          record("ring", {{"rate", "1Gbps"}, {"connections", 8}}, 12),
          record("ring", {{"rate", "5Gbps"}, {"connections", 1}}, 2),
          record("ring", {{"rate", "5Gbps"}, {"connections", 8}}, 1),
          record("pair", {{"rate", "1Gbps"}, {"connections", 1}}, 3),
          record("pair", {{"rate", "1Gbps"}, {"connections", 8}}, 3)};
}

Json figure(double value) {
  return {{"what", "at 1 Gb/s"},          {"value", value},
          {"metric", "sync_time_s.mean"}, {"of", "ring"},
          {"where", {{"rate", "1Gbps"}}}, {"assumed", {{"connections", 1}}}};
}

Json section(const std::vector<Json>& figures) {
  return {{"kind", "measurement"},  {"title", "a title"},          {"source", "a source"},
          {"licence", "a licence"}, {"date", "2026-01-02"},        {"read", "how"},
          {"setup", "a set-up"},    {"assumptions", {"one path"}}, {"figures", figures}};
}

Validation judged(const std::vector<Json>& figures, const std::vector<Json>& of = records()) {
  return judge_validation("one", section(figures), of);
}

void check(const Json& entry) {
  check_validation(section(std::vector<Json>{entry}), {"ring", "pair"}, {"rate", "connections"}, records());
}

// Of a figure that is changed; null removes.
void expect_rejected(const Json& change, const std::string& path, const std::string& said) {
  Json entry = figure(1);
  entry.merge_patch(change);
  const InputError error = thrown_by([&] { check(entry); });
  EXPECT_EQ(error.parts().path, "validation.figures[0]" + path) << error.what();
  EXPECT_SAYS(error.what(), said);
  EXPECT_FALSE(error.parts().allowed.empty());
}

TEST(Validation, PredictsAtTheAssumedPointAndShowsTheOthers) {
  check(figure(10));
  const auto figures = judged({figure(10)}).figures;
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_DOUBLE_EQ(figures[0].prediction.value, 9);
  EXPECT_DOUBLE_EQ(figures[0].prediction.ratio, 0.9);
  EXPECT_FALSE(figures[0].is_off());
  ASSERT_EQ(figures[0].others.size(), 1u);
  EXPECT_DOUBLE_EQ(figures[0].others[0].ratio, 1.2);
}

TEST(Validation, MoreThanFifteenPercentIsOffOnEitherSide) {
  const auto off = [](double published) { return judged({figure(published)}).figures[0].is_off(); };
  EXPECT_FALSE(off(9 / 1.149));
  EXPECT_TRUE(off(9 / 1.151));
  EXPECT_FALSE(off(9 / 0.851));
  EXPECT_TRUE(off(9 / 0.849));
}

TEST(Validation, ARatioIsOfPairedCasesAndSeedsAreAveraged) {
  Json entry = figure(3);
  entry.merge_patch({{"metric", nullptr}, {"ratio", "sync_time_s.mean"}, {"to", "pair"}});
  check(entry);
  EXPECT_DOUBLE_EQ(judged({entry}).figures[0].prediction.value, 9. / 3);
  std::vector<Json> seeds;
  add_values(seeds, "ring", "sync_time_s.mean", {8, 12}, {{"rate", "1Gbps"}, {"connections", 1}});
  EXPECT_DOUBLE_EQ(judged({figure(10)}, seeds).figures[0].prediction.value, 10);
}

TEST(Validation, ACaseThatFailedPredictsNothingAndIsOff) {
  std::vector<Json> failed = records();
  failed[0]["status"] = "failed";
  const Validation validation = judged({figure(9)}, failed);
  EXPECT_TRUE(std::isnan(validation.figures[0].prediction.ratio));
  EXPECT_TRUE(validation.figures[0].is_off());
  EXPECT_SAYS(validation_markdown({validation}), "not run");
}

TEST(Validation, WhatCannotBeHeldAgainstTheCasesIsAnError) {
  expect_rejected({{"of", "rnig"}}, ".of", "did you mean \"ring\"?");
  const Json misspelt = {{"rate", nullptr}, {"rates", "1Gbps"}};
  expect_rejected({{"where", misspelt}}, ".where.rates", "did you mean \"rate\"?");
  expect_rejected({{"where", {{"rate", "3Gbps"}}}}, ".where", "no case fits it");
  expect_rejected({{"assumed", {{"connections", 3}}}}, ".assumed", "none of the 2 points fits it");
  expect_rejected({{"assumed", nullptr}}, ".assumed", "they differ in connections");
  expect_rejected({{"ratio", "sync_time_s.mean"}}, "", "exactly one of them");
  expect_rejected({{"to", "pair"}}, "", "to without ratio");
}

TEST(ValidationTable, GivesTheReasonOnlyWhereThePredictionIsOff) {
  Json near = figure(10), far = figure(20);
  near["why"] = "Never said.";
  far["why"] = "The path is another one.";
  const std::string text = validation_markdown({judged({near, far})});
  EXPECT_EQ(text.find("Never said."), std::string::npos);
  EXPECT_SAYS(text, "*at 1 Gb/s*: off by -55 %. The path is another one.");
  EXPECT_SAYS(text, "| **0.45** |");
  EXPECT_SAYS(text, "2 figures, 1 predicted within 15 %.");
  EXPECT_SAYS(text, "connections = 8");
  Json farther = figure(90);  // for the same reason
  farther["why"] = far["why"];
  farther["what"] = "at night";
  EXPECT_SAYS(validation_markdown({judged({far, farther})}),
              "*at 1 Gb/s*; *at night*: off by -90 to -55 %. The path is another one.");
}

TEST(ValidationTable, MarkdownKeepsModelsApartAndEscapesBars) {
  Json model = section(std::vector<Json>{figure(9)});
  model["kind"] = "model";
  model["figures"][0]["what"] = "a | b";
  const std::string text =
      validation_markdown({judge_validation("computed", model, records()),
                           judge_validation("timed", section(std::vector<Json>{figure(10)}), records())});
  std::size_t at = 0;
  for (const char* title :
       {"## Measured on real networks", "### timed", "## Computed by publications", "### computed"})
    ASSERT_NE(at = text.find(title, at), std::string::npos) << title;
  EXPECT_SAYS(text, "| a \\| b | 9.00 s | 9.00 s | 1.00 | connections = 8: 12.0 s (1.33) |");
}

}  // namespace longhaul::validation_test
