// What a document of observations says, and what is said of it.
#include "fitting/observations.h"

#include <gtest/gtest.h>

#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::observations_test {

Json exchange(double seconds, const Json& more = Json::object()) {
  Json one = {{"operation", "all-reduce"}, {"bytes", 1000}, {"members", 2}, {"seconds", seconds}};
  one.update(more);
  return one;
}

Observations of(const Json& document) {
  return observations_of(document, "o.json");
}

// Three of one kind with waits, one more each with other bytes, members and operations, and one to be
// predicted.
TEST(Observations, AreGroupedByWhatWasExchanged) {
  const Observations found = of(
      {{"exchanges",
        {exchange(0.5, {{"waits_s", {0.3, 0}}, {"gap_s", 2}, {"library", "gloo"}}),
         exchange(0.6, {{"waits_s", {0.1, 0}}, {"gap_s", 4}}),
         exchange(0.7, {{"waits_s", {0.2, 0}}, {"gap_s", 3}}), exchange(1, {{"bytes", 2000}}),
         exchange(1, {{"members", 4}}), exchange(1, {{"operations", 3}}), exchange(0.5, {{"fit", false}})}}});
  ASSERT_EQ(found.exchanges.size(), 5u);
  EXPECT_EQ(found.fitted(), 6u);
  EXPECT_EQ(found.libraries, std::vector<std::string>{"gloo"});
  const ObservedExchange& first = found.exchanges[0];
  EXPECT_EQ(first.name(), "all-reduce of 1 kB among 2");
  ASSERT_EQ(first.times.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(first.times[i].seconds, (std::vector<double>{0.5, 0.6, 0.7})[i]);
  EXPECT_EQ(first.gap_s, 3);
  EXPECT_EQ(first.begins_s,
            (std::vector<double>{0, 0.2}));  // who waits longest began first; medians of 0.3, 0.1, 0.2
  EXPECT_TRUE(first.is_fitted);
  EXPECT_FALSE(found.exchanges[1].is_fitted);
  EXPECT_EQ(found.exchanges[1].gap_s, 1);
  EXPECT_EQ(found.exchanges[2].operations, 3);
}

// Where moments are known the gap is from the last end to the next beginning.
TEST(Observations, GapsFollowFromMoments) {
  const Observations found = of({{"exchanges",
                                  {exchange(0.5, {{"time_s", 100}}), exchange(0.5, {{"time_s", 103}}),
                                   exchange(0.5, {{"time_s", 110}})}}});
  EXPECT_EQ(found.exchanges[0].gap_s, 4.5);  // of 2.5 and 6.5
}

TEST(Observations, WhatCannotBeReplayedIsLeftOutAndSaid) {
  const Observations found = of({{"exchanges",
                                  {exchange(1, {{"operation", "broadcast"}}),
                                   exchange(1, {{"includes_wait", true}, {"why", "late ranks"}}),
                                   exchange(1, {{"includes_wait", true}, {"why", "late ranks"}}),
                                   Json{{"operation", "all-reduce"}, {"members", 2}, {"seconds", 1}}}}});
  EXPECT_TRUE(found.exchanges.empty());
  ASSERT_EQ(found.notes.size(), 3u);
  const std::string notes = found.notes[0] + found.notes[1] + found.notes[2];
  for (const char* words :
       {"of broadcast", "2 exchanges left out: their times may hold waits (late ranks)", "of unknown size"})
    EXPECT_SAYS(notes, words);
}

TEST(Observations, StepsAreWithoutTheirExchanges) {
  const Observations found = of({{"steps",
                                  {{{"seconds", 0.5}, {"exchanging_s", 0.2}},
                                   {{"seconds", 0.4}},
                                   {{"compute_s", 0.1}, {"count", 10}},
                                   {{"seconds", 0.5}, {"exchanging_s", 0.6}}}}});
  ASSERT_EQ(found.steps.size(), 3u);
  EXPECT_NEAR(found.steps[0].seconds, 0.3, 1e-12);
  EXPECT_EQ(found.steps[1].seconds, 0.4);
  EXPECT_EQ(found.steps[2].seconds, 0.1);
  EXPECT_EQ(found.steps[2].count, 10);
  ASSERT_EQ(found.notes.size(), 2u);
  EXPECT_EQ(found.notes[0], "1 step left out: all of it with an exchange under way");
  EXPECT_EQ(found.notes[1],
            "1 of 3 steps do not say how much of them was exchanging: all of it counts as computing");
}

// A burst of buckets is replayed with their own sizes; the waits are those of the ranks in their order.
TEST(Observations, PartsAndRanksAreTheirs) {
  const Json burst = {{"operations", 3}, {"bytes", 60}};
  const auto with = [&](const Json& parts) {
    Json one = burst;
    one["parts"] = parts;
    return exchange(1, one);
  };
  const Observations found =
      of({{"exchanges",
           {with({10, 20, 30}), with({20, 20, 20}), exchange(1, burst),
            exchange(1, {{"bytes", 5}, {"ranks", {3, 1}}, {"waits_s", {0.5, 0}}, {"count", 4}})}}});
  ASSERT_EQ(found.exchanges.size(), 3u);
  EXPECT_EQ(found.exchanges[0].begins_s, (std::vector<double>{0.5, 0}));
  EXPECT_EQ(found.exchanges[0].times.at(0).count, 4);
  EXPECT_TRUE(found.exchanges[1].parts.empty());
  EXPECT_EQ(found.exchanges[1].times.size(), 2u);
  EXPECT_EQ(found.exchanges[2].parts, (std::vector<std::int64_t>{10, 20, 30}));
}

TEST(Observations, KeysThatAreNotReadAreSaid) {
  const Observations found =
      of({{"exchanges", {exchange(1, {{"wait_s", {0, 1}}}), exchange(1, {{"wait_s", {0, 1}}})}},
          {"rows", {{{"metric", "step_time_s"}, {"value", 1}, {"sede", 2}}}},
          {"steps", {{{"compute_s", 1}, {"note", "warm"}}}}});
  ASSERT_EQ(found.notes.size(), 3u);
  EXPECT_EQ(found.notes[0], "wait_s of 2 exchanges is not read: did you mean \"waits_s\"?");
  EXPECT_EQ(found.notes[1], "sede of 1 row is not read");
  EXPECT_EQ(found.notes[2], "note of 1 step is not read");
}

TEST(Observations, SayWhatIsWrongAndWhere) {
  const auto refused = [](const Json& document, const std::vector<std::string>& words) {
    const std::string said = said_by([&] { of(document); });
    for (const std::string& word : words) EXPECT_SAYS(said, word);
  };
  refused(Json::object(), {"python -m longhaul.observed"});
  refused({{"exchanges", 7}}, {"exchanges", "a number"});
  refused({{"exchanges", {7}}}, {"exchanges[0]"});
  refused({{"exchanges", {exchange(0)}}}, {"exchanges[0].seconds", "found 0"});
  refused({{"exchanges", {exchange(1e300)}}}, {"exchanges[0].seconds", "found 1e+300"});
  refused({{"exchanges", {exchange(1, {{"members", 1}})}}}, {"exchanges[0].members", "at least 2"});
  refused({{"exchanges", {exchange(1, {{"bytes", 1.5}})}}}, {"exchanges[0].bytes", "1.5"});
  refused({{"exchanges", {exchange(1, {{"waits_s", {1}}})}}}, {"exchanges[0].waits_s", "2 numbers"});
  refused({{"exchanges", {exchange(1, {{"count", 0}})}}}, {"exchanges[0].count: found 0", "at least 1"});
  refused({{"steps", {{{"seconds", 1}, {"count", 2.5}}}}}, {"steps[0].count: found 2.5"});
  refused({{"exchanges", {exchange(1, {{"ranks", {1, 1}}})}}}, {"exchanges[0].ranks", "2 different ranks"});
  refused({{"exchanges", {exchange(1, {{"ranks", {0, 1, 2}}})}}}, {"exchanges[0].ranks: found [0,1,2]"});
  for (const Json& parts : {Json{500, 400}, Json{1000}, Json{999, 1, 0}, Json{0, 1000}, Json(7)})
    refused({{"exchanges", {exchange(1, {{"operations", 2}, {"parts", parts}})}}},
            {"exchanges[0].parts", "2 numbers of bytes that add up to 1000"});
  refused({{"exchanges", {exchange(1, {{"fit", 1}})}}}, {"exchanges[0].fit", "true or false"});
  refused({{"exchanges", {exchange(1, {{"members", 4294967298}})}}},
          {"exchanges[0].members", "4294967298", "1048576"});
  refused({{"exchanges", {exchange(1, {{"bytes", 9000000000000000000}})}}},
          {"exchanges[0].bytes", "at most"});
  refused({{"exchanges", {exchange(1, {{"operations", 1000000000}})}}}, {"exchanges[0].operations", "4096"});
  refused({{"exchanges", {exchange(1, {{"waits_s", {1e300, 0}}})}}}, {"exchanges[0].waits_s"});
  refused({{"exchanges", {exchange(1, {{"gap_s", 1e300}})}}}, {"exchanges[0].gap_s", "at most"});
  refused({{"exchanges", {exchange(1, {{"time_s", "x"}})}}}, {"exchanges[0].time_s"});
  refused({{"steps", {{{"seconds", 1}, {"exchanging_s", -5}}}}}, {"steps[0].exchanging_s", "at least 0"});
  refused({{"observed", 7}, {"exchanges", Json::array()}}, {"observed: found 7", "the version"});
  refused({{"rows", {{{"value", 1}}}}}, {"rows[0].metric", "found nothing"});
  refused({{"rows", {{{"metric", "step_time_s"}, {"value", "1"}}}}}, {"rows[0].value"});
  const TemporaryFolder folder;
  EXPECT_SAYS(said_by([&] { read_observations(folder.file("none.json")); }), "does not exist");
  write_text(folder.file("cut.json"), "{\"exchanges\": [");
  EXPECT_SAYS(said_by([&] { read_observations(folder.file("cut.json")); }), "cut.json");
}

// Where and assumed together are the place of a figure; ratios are none.
TEST(Observations, MayBeTheFiguresOfAValidation) {
  const Json scenario = {{"validation",
                          {{"figures",
                            {{{"what", "one"},
                              {"value", 2},
                              {"metric", "step_time_s"},
                              {"of", "ddp"},
                              {"where", {{"a", 1}}},
                              {"assumed", {{"b", 2}}}},
                             {{"what", "two"}, {"value", 3}, {"ratio", "step_time_s"}},
                             {{"what", "three"}, {"value", 4}, {"metric", "step_time_s"}}}}}}};
  const Observations found = observations_of_figures(scenario, {3});
  ASSERT_EQ(found.rows.size(), 2u);
  EXPECT_EQ(found.rows[0].where, (Json{{"a", 1}, {"b", 2}}));
  EXPECT_FALSE(found.rows[0].is_fitted);
  EXPECT_TRUE(found.rows[1].is_fitted);
  EXPECT_SAYS(found.notes.at(0), "two");
  EXPECT_TRUE(observations_of_figures(scenario, {}).rows[0].is_fitted);
  EXPECT_SAYS(said_by([&] { observations_of_figures(scenario, {4}); }), "1 … 3");
  EXPECT_SAYS(said_by([&] { observations_of_figures(Json::object(), {}); }), "a file of observations");
}

}  // namespace longhaul::observations_test
