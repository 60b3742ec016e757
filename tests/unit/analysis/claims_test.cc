// Verdicts by hand: values and bounds are chosen so that each can be read off; alone and over two axes.
#include "analysis/claims/claims.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <regex>
#include <set>

#include "analysis/claims/verdict_matrix.h"
#include "tests/support/said.h"
#include "tests/unit/analysis/compared_runs.h"

namespace longhaul::claims_test {

Json record(const std::string& label, double sync_s, const Json& swept = Json::object(),
            const std::string& fidelity = "packet") {
  return compared_record(label, 1, swept, {{"fidelity", fidelity}, {"sync_time_s", {{"mean", sync_s}}}});
}

// One case of each method at a point of the sweep.
std::vector<Json> both(double diloco_s, double noloco_s, const Json& swept = Json::object(),
                       const std::string& fidelity = "flow") {
  return {record("diloco", diloco_s, swept, fidelity), record("noloco", noloco_s, swept, fidelity)};
}

Json judged(Json claim, const std::vector<Json>& records, const std::string& id = "c",
            std::size_t missing = 0) {
  claim["id"] = id;
  return judge_claims(Json::array({claim}), records, missing);
}

std::string verdict(const Json& claim, const std::vector<Json>& records) {
  const Json verdicts = judged(claim, records);
  return verdicts.size() == 1 ? verdicts[0]["verdict"].get<std::string>() : "not one";
}

Json ratio(double at_least, const std::string& quantifier = "all") {
  Json claim = {{"ratio", "sync_time_s.mean"}, {"of", "diloco"}, {"to", "noloco"}};
  claim.update({{"at_least", at_least}, {"quantifier", quantifier}});
  return claim;
}

// 24 s over 2 s is 12. With residual 7 % the ratio is known to (0.93 / 1.07, 1.07 / 0.93): 10.43 to 13.81.
TEST(Claims, ARatioAgainstABoundWidenedByTheResidual) {
  const std::vector<Json> records = both(24, 2);
  EXPECT_EQ(verdict(ratio(10.4), records), "holds");
  EXPECT_EQ(verdict(ratio(10.5), records), "undecided");
  EXPECT_EQ(verdict(ratio(13.8), records), "undecided");
  EXPECT_EQ(verdict(ratio(13.9), records), "fails");
}

// Numbers that are equal but for their last bits.
TEST(Claims, RoundingDecidesNothing) {
  EXPECT_EQ(verdict(ratio(1), both(0.3, 0.1 + 0.2, Json::object(), "packet")), "holds");
  EXPECT_EQ(verdict(ratio(1), both(0.3, 0.3 * (1 + 1e-8), Json::object(), "packet")), "fails");
}

// An exchange of 0.99 s that 1 s of compute hides: with the model's 7 % it may stick out by 63 ms. So of one
// that sticks out by 20 ms nothing may be left. Of a ratio both ends move.
TEST(Claims, WhatIsLeftBesideComputeIsNotOffByAFactor) {
  const auto of = [](const std::string& label, double exposed_s, double low_s, double high_s) {
    return compared_record(label, 1, Json::object(),
                           {{"residual", 0.07},
                            {"exposed_s", {{"p95", exposed_s}}},
                            {"possible", {{"exposed_s.p95", {low_s, high_s}}}}});
  };
  const Json hidden = of("a", 0, 0, 0.063), out = of("b", 0.02, 0, 0.092);
  const auto at_most = [](double bound) -> Json {
    return {{"metric", "exposed_s.p95"}, {"of", "a"}, {"at_most", bound}};
  };
  EXPECT_EQ(verdict(at_most(0.01), {hidden}), "undecided");
  EXPECT_EQ(verdict(at_most(0.07), {hidden}), "holds");
  EXPECT_EQ(judged(at_most(0.01), {hidden})[0]["possible"], (Json{0, 0.063}));
  Json to_b = {{"metric", "exposed_s.p95"}, {"of", "b"}, {"at_most", 0.01}};
  EXPECT_EQ(verdict(to_b, {out}), "undecided");
  const Json claim = {{"ratio", "exposed_s.p95"}, {"of", "a"}, {"to", "b"}, {"at_most", 0.5}};
  EXPECT_EQ(verdict(claim, {of("a", 1, 0.9, 1.1), of("b", 4, 3.9, 4.1)}), "holds");
  EXPECT_EQ(verdict(claim, {of("a", 1, 0.9, 1.1), of("b", 4, 2, 4.1)}), "undecided");
  EXPECT_EQ(verdict(claim, {of("a", 1, 0.9, 1.1), of("b", 4, 0, 4.1)}), "undecided");
}

// A union of sweeps: with a barrier 24 s over 8 s is 3, without one 60 s over 2 s is 30. Nobody compares 24 s
// with 2 s.
TEST(Claims, CasesThatDifferInAKeyOfTheirOwnPartAreNoPair) {
  const Json barrier = {{"network.barrier", true}}, ring = {{"methods.diloco.all_reduce", "ring"}};
  Json barrier_and_ring = barrier;
  barrier_and_ring.update(ring);
  const std::vector<Json> records = {record("diloco", 24, barrier_and_ring), record("noloco", 8, barrier),
                                     record("diloco", 60, ring), record("noloco", 2)};
  Json claim = ratio(10);
  EXPECT_EQ(judged(claim, records)[0]["points"], 2);
  claim["where"] = barrier;
  const Json verdict = judged(claim, records)[0];
  EXPECT_EQ(verdict["points"], 1);
  EXPECT_EQ(verdict["measured"], 3);
}

// Whatever the part that is there says, the rest may say otherwise.
TEST(Claims, AreUndecidedWhileShardsAreMissing) {
  for (const double bound : {1., 100.}) {
    const Json verdict = judged(ratio(bound), both(24, 2), "c", 7)[0];
    EXPECT_EQ(verdict["verdict"], "undecided");
    EXPECT_EQ(verdict["missing_cases"], 7);
    EXPECT_EQ(verdict["measured"], 12);
    EXPECT_SAYS(verdict_grounds(verdict), "7 cases of the scenario are in other shards");
  }
}

// Outside of what was measured any ratio is possible, also where one case of the two is.
TEST(Claims, ACaseOutsideOfWhatWasMeasuredOrNotDoneDecidesNothing) {
  std::vector<Json> outside = both(24, 2), interrupted = outside;
  outside[1]["residual"] = 1;
  interrupted[1]["status"] = "interrupted";
  EXPECT_EQ(verdict(ratio(0.01), outside), "undecided");
  EXPECT_EQ(verdict(ratio(1000), outside), "undecided");
  EXPECT_EQ(verdict(ratio(10), interrupted), "undecided");
  EXPECT_EQ(verdict(ratio(10), {}), "undecided");
}

TEST(Claims, PacketsAndLossesAreNotWidened) {
  EXPECT_EQ(verdict(ratio(12), both(24, 2, Json::object(), "packet")), "holds");
  const std::vector<Json> losses = losses_of({{"diloco", {3}}, {"noloco", {2}}});
  EXPECT_EQ(verdict({{"metric", "final_loss"}, {"of", "noloco"}, {"at_most", 2}}, losses), "holds");
  EXPECT_EQ(verdict({{"metric", "final_loss"}, {"at_most", 2}}, losses), "fails");  // diloco's is 3
  for (const auto& [within, expected] : {std::pair(0.03, "holds"), {0.01, "fails"}})
    EXPECT_EQ(verdict({{"metric", "final_loss"}, {"equals", 10}, {"within", within}},
                      losses_of({{"noloco", {10.2}}})),
              expected);
}

TEST(Claims, QuantifiersOverTheSweep) {
  std::vector<Json> records = both(40, 2, {{"n", 8}});
  for (const Json& entry : both(4, 2, {{"n", 2}})) records.push_back(entry);
  EXPECT_EQ(verdict(ratio(10, "all"), records), "fails");
  EXPECT_EQ(verdict(ratio(10, "any"), records), "holds");
  const Json verdicts = judged(ratio(10, "each"), records);
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_EQ(verdicts[0]["verdict"], "holds");
  EXPECT_EQ(verdicts[0]["measured"], 20);
  EXPECT_EQ(verdicts[1]["verdict"], "fails");
  EXPECT_EQ(verdicts[1]["point"], (Json{{"n", 2}}));
  Json where = ratio(10);
  where["where"] = {{"n", 8}};
  EXPECT_EQ(verdict(where, records), "holds");
}

// A key that sweeps one method alone: each of its cases meets the one case of the other.
TEST(Claims, AMethodsOwnKeyMeetsTheOthersOnlyCase) {
  const std::vector<Json> records = {record("diloco", 40, {{"methods.diloco.all_reduce", "tree"}}),
                                     record("diloco", 4, {{"methods.diloco.all_reduce", "ring"}}),
                                     record("noloco", 2)};
  Json claim = ratio(10);
  claim["where"] = {{"methods.diloco.all_reduce", "tree"}};
  EXPECT_EQ(verdict(claim, records), "holds");
  EXPECT_EQ(verdict(ratio(10), records), "fails");
}

// A ring with and without slices, at three losses: 4, 30, 40 and 50 s over 2 s are 2, 15, 20 and 25 times.
// The part without a slice is no point of "slice not varied" only where it names the key.
TEST(Claims, WhereNamesTheUnvariedAndTakesAnyOfAList) {
  const char* const loss = "network.tcp.loss";
  std::vector<Json> records = both(4, 2, {{loss, 0}});
  for (const Json& point : {Json{{loss, 1e-5}}, Json{{loss, 1e-3}}})
    for (const Json& entry : both(point[loss] == 1e-5 ? 30 : 40, 2, point)) records.push_back(entry);
  for (const Json& entry : both(50, 2, {{loss, 1e-3}, {"network.slice", "nccl"}})) records.push_back(entry);
  const auto points = [&](const Json& where) {
    Json claim = ratio(10);
    claim["where"] = where;
    std::set<double> measured;
    for (const JudgedPoint& point : judged_points(claim, records)) measured.insert(point.measured);
    return measured;
  };
  const Json whole = {{"network.slice", nullptr}}, few = {{loss, 1e-5}}, many = {{loss, 1e-3}};
  EXPECT_EQ(points(Json::object()), (std::set<double>{2, 15, 20, 25}));
  EXPECT_EQ(points(whole), (std::set<double>{2, 15, 20}));
  EXPECT_EQ(points(Json::array({few, many})), (std::set<double>{15, 20, 25}));
  Json whole_many = many;
  whole_many.update(whole);
  EXPECT_EQ(points(Json::array({few, whole_many, few})), (std::set<double>{15, 20}));
  Json claim = ratio(10);
  claim["id"] = "c";
  claim["where"] = Json::array({few, whole_many});
  EXPECT_SAYS(
      verdict_markdown(claim, records),
      "; either network.tcp.loss = 1e-05 or network.tcp.loss = 0.001, network.slice not varied. 2 points");
}

// A list holds pairs, not halves of them: a tree with presend is in neither object.
TEST(Claims, AnObjectOfAListHoldsForBothMethodsTogether) {
  const char *const all_reduce = "methods.diloco.all_reduce", *const pattern = "methods.noloco.pattern";
  const std::vector<Json> records = {
      record("diloco", 40, {{all_reduce, "tree"}}), record("diloco", 20, {{all_reduce, "ring"}}),
      record("noloco", 2, {{pattern, "exchange"}}), record("noloco", 1, {{pattern, "presend"}})};
  Json claim = ratio(10);
  claim["where"] = Json::array(
      {{{all_reduce, "tree"}, {pattern, "exchange"}}, {{all_reduce, "ring"}, {pattern, "presend"}}});
  const auto points = judged_points(claim, records);
  ASSERT_EQ(points.size(), 2u);
  for (const JudgedPoint& point : points) EXPECT_EQ(point.measured, 20) << point.swept;
}

// The key is of "noloco.b" alone, although it begins as one of "noloco" would.
TEST(Claims, ALabelWithAPointIsAnotherMethod) {
  const std::vector<Json> records = {record("noloco.b", 40, {{"methods.noloco.b.all_reduce", "tree"}}),
                                     record("noloco", 2)};
  Json claim = ratio(10);
  claim["of"] = "noloco.b";
  claim["to"] = "noloco";
  EXPECT_EQ(verdict(claim, records), "holds");
}

// Losses 2, 3, 4 over three seeds: mean 3, standard error 1/√3, t(0.975, 2) = 4.303: 3 ± 2.484.
TEST(Claims, TheIntervalOverSeeds) {
  const auto at_most = [](double bound) {
    return verdict({{"metric", "final_loss"}, {"at_most", bound}}, losses_of({{"noloco", {2, 3, 4}}}));
  };
  EXPECT_EQ(at_most(5.4), "undecided");
  EXPECT_EQ(at_most(5.5), "holds");
  EXPECT_EQ(at_most(0.5), "fails");
}

// 2.56 over 2 is 1.28, 18.28 over 2 is 9.14, and 0.93 / 1.07 = 0.8692, 1.07 / 0.93 = 1.1505.
TEST(Claims, TheSentenceSaysWhatWasMeasuredOrWhyItIsUndecided) {
  const auto sentence = [](const std::vector<Json>& records) {
    return verdict_sentence(judged(ratio(10), records, "ten")[0]);
  };
  EXPECT_EQ(
      sentence(both(2.56, 2, {{"n", 8}})),
      "ten fails: sync_time_s.mean of diloco over noloco is 1.28; the network model's 7 % make that 1.11 "
      "to 1.47, so at least 10 fails (at n = 8)");
  std::vector<Json> records =
      values_of("sync_time_s.mean", {{"diloco", {18.28, 18.28}}, {"noloco", {2., 2.}}});
  EXPECT_EQ(
      sentence(records),
      "ten is undecided: sync_time_s.mean of diloco over noloco is 9.14 in each of 2 seeds; the network "
      "model's 7 % make that 7.94 to 10.5, so at least 10 is undecided");
  std::vector<Json> unknown = records;
  unknown[0]["residual"] = 1;
  unknown[0]["outside"] = "2048 replicas (pair: to 1024)";
  EXPECT_SAYS(sentence(unknown),
              "; the network model's error is not known for 2048 replicas (pair: to 1024), so at least 10 is "
              "undecided");
  std::vector<Json> packets = records;
  for (Json& entry : packets) entry["fidelity"] = "packet";
  EXPECT_EQ(
      sentence(packets),
      "ten fails: sync_time_s.mean of diloco over noloco is 9.14 in each of 2 seeds, so at least 10 fails");
  std::vector<Json> failed = records;
  failed[1]["status"] = "failed";
  records[1]["sync_time_s"] = nullptr;  // it is done, and never synchronized
  for (const std::vector<Json>& lacking : {failed, records})
    EXPECT_SAYS(sentence(lacking), "not all of its cases have it, so at least 10 is undecided");
}

// What a reader can do with the sentence alone: take its last range of numbers (or its number) and its bound.
std::string judged_from_words(const std::string& grounds, const Json& claim) {
  static const std::regex range("make that (\\S+) to (\\S+), so"), number("is (\\S+), so");
  std::smatch found;
  double low = 0, high = 0;
  if (std::regex_search(grounds, found, range)) {
    low = std::stod(found[1]);
    high = std::stod(found[2]);
  } else if (std::regex_search(grounds, found, number)) {
    low = high = std::stod(found[1]);
  } else {
    return "unreadable: " + grounds;
  }
  const double endless = std::numeric_limits<double>::infinity(), equals = claim.value("equals", 0.),
               slack = claim.value("within", 0.) * equals;
  const bool is_near = claim.contains("equals");
  double least = is_near ? equals - slack : claim.value("at_least", -endless),
         most = is_near ? equals + slack : claim.value("at_most", endless);
  if (std::isfinite(least)) least -= 1e-9 * std::abs(least);  // rounding decides nothing
  if (std::isfinite(most)) most += 1e-9 * std::abs(most);
  if (low >= least && high <= most) return "holds";
  return high < least || low > most ? "fails" : "undecided";
}

// Ratios near their bounds, where rounding crosses them: no sentence contradicts its verdict.
TEST(Claims, NoPrintedNumberContradictsItsVerdict) {
  std::mt19937_64 random(1);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int i = 0; i < 20000; ++i) {
    const double bound = std::round(1000 * std::exp(uniform(-4, 7))) / 100 + 0.01;
    // Within a tenth to a millionth of the bound, or of the bound as the model's 7 % move it.
    const double near = 1 + std::exp(uniform(-14, -2)) * (i % 2 ? 1 : -1);
    const double moved[] = {1, 0.93 / 1.07, 1.07 / 0.93, 1.03, 0.97};
    const double ratio = bound * near * moved[i % 5];
    const Json bounds[] = {
        {{"at_least", bound}}, {{"at_most", bound}}, {{"equals", bound}, {"within", 0.03}}};
    Json claim = bounds[i % 3];
    claim.update({{"ratio", "sync_time_s.mean"}, {"of", "diloco"}, {"to", "noloco"}});
    const std::string fidelity = i % 7 < 3 ? "flow" : "packet";
    const Json verdict = judged(claim, both(ratio, 1, Json::object(), fidelity))[0];
    ASSERT_EQ(judged_from_words(verdict_grounds(verdict), claim), verdict["verdict"].get<std::string>())
        << verdict_grounds(verdict);
    if (fidelity == "packet") {
      const std::string alone = "is " + beside_bound(claim, ratio) + ", so";
      ASSERT_EQ(judged_from_words(alone, claim), verdict["verdict"].get<std::string>()) << alone;
    }
  }
}

TEST(Claims, NumbersHaveThreeDigitsOrTheDigitsTheyNeed) {
  EXPECT_EQ(beside_bound({{"equals", 12.4}, {"within", 0.03}}, 12.58), "12.6");
  EXPECT_EQ(beside_bound({{"at_least", 10}}, 9.9961), "9.996");
  EXPECT_EQ(beside_bound({{"at_least", 10}}, 10.0001), "10");
  EXPECT_EQ(beside_bound({{"at_most", 10}}, 10.0001), "10.0001");
  EXPECT_EQ(beside_bound({{"at_least", 10}}, 12345.6), "12346");
  EXPECT_EQ(beside_bound({{"at_least", 10}}, 0.001234), "0.00123");
}

// A tree that takes N seconds and a ring that takes 3, on a slow and on a fast link, against a pair's 1: the
// ratios are N and 3, and the link decides nothing.
std::vector<Json> made_up_sweep() {
  std::vector<Json> records;
  for (const char* rate : {"slow", "fast"})
    for (const int n : {2, 16, 64}) {
      const Json point = {{"rate", rate}, {"replicas", n}};
      Json tree = point, ring = point;
      tree["methods.diloco.all_reduce"] = "tree";
      ring["methods.diloco.all_reduce"] = "ring";
      records.push_back(record("diloco", n, tree));
      records.push_back(record("diloco", 3, ring));
      records.push_back(record("noloco", 1, point));
    }
  return records;
}

const Json kClaim = {
    {"id", "ten"}, {"ratio", "sync_time_s.mean"}, {"of", "diloco"}, {"to", "noloco"}, {"at_least", 10}};

TEST(VerdictMatrix, TakesTheAxesThatDecideAndSaysTheFrontier) {
  std::vector<Json> records = made_up_sweep();
  const VerdictMatrix matrix = verdict_matrix(kClaim, records);
  EXPECT_EQ(matrix.row_key, "methods.diloco.all_reduce");
  EXPECT_EQ(matrix.column_key, "replicas");
  EXPECT_EQ(matrix.rows, (std::vector<std::string>{"tree", "ring"}));
  EXPECT_EQ(matrix.columns, (std::vector<std::string>{"2", "16", "64"}));
  EXPECT_EQ(matrix.all.points(), 12);
  EXPECT_EQ(matrix.all.holds, 4);
  EXPECT_EQ(frontier(matrix),
            (std::vector<std::string>{"tree: holds from replicas = 16 on; at most 64 at replicas = 64",
                                      "ring: holds nowhere; at most 3 at replicas = 2"}));
  std::reverse(records.begin(), records.end());  // objects of a sweep give their numbers in any order
  EXPECT_EQ(verdict_matrix(kClaim, records).columns, matrix.columns);
}

// One key that varies makes one row; the order of its values is that of the sweep.
TEST(VerdictMatrix, OfOneKeyHasOneRow) {
  std::vector<Json> records;
  for (const int n : {2, 16, 64})
    for (const Json& entry : both(n, 1, {{"replicas", n}}, "packet")) records.push_back(entry);
  const VerdictMatrix matrix = verdict_matrix(kClaim, records);
  EXPECT_EQ(matrix.row_key, "");
  EXPECT_EQ(matrix.column_key, "replicas");
  ASSERT_EQ(matrix.cells.size(), 1u);
  EXPECT_DOUBLE_EQ(matrix.cells[0][1].low, 16);
  EXPECT_EQ(frontier(matrix),
            std::vector<std::string>{"holds from replicas = 16 on; at most 64 at replicas = 64"});
  EXPECT_SAYS(verdict_markdown(kClaim, records), "| replicas | 2 | 16 | 64 |");
}

// Another object of the sweep may lack a key of the matrix: its points are named behind it, to a dozen.
TEST(VerdictMatrix, NamesPointsBesideIt) {
  std::vector<Json> records = made_up_sweep();
  const auto add_homes = [&](const char* rate) {
    const Json point = {{"network.topology", "homes"}, {"rate", rate}};
    records.push_back(record("diloco", 11, point));
    records.push_back(record("noloco", 1, point));
  };
  add_homes("slow");
  const VerdictMatrix matrix = verdict_matrix(kClaim, records);
  EXPECT_EQ(matrix.all.points(), 13);
  ASSERT_EQ(matrix.outside, (std::vector<std::string>{"topology = homes, rate = slow: 11 holds"}));
  EXPECT_EQ(frontier(matrix).size(), 3U);
  EXPECT_SAYS(verdict_markdown(kClaim, records),
              "- beside the table, topology = homes, rate = slow: 11 holds\n");
  for (int i = 0; i < 13; ++i) add_homes(std::to_string(i).c_str());
  EXPECT_EQ(frontier(verdict_matrix(kClaim, records)).back(), "beside the table, 2 points more");
}

// Texts of users neither end a cell nor begin a tag.
TEST(VerdictMatrix, KeepsTextsOfUsersInTheirPlace) {
  std::vector<Json> records;
  for (const char* value : {"a|b", "<b>c\nd"})
    for (const Json& entry : both(12, 1, {{"replicas", value}}, "packet")) records.push_back(entry);
  Json claim = kClaim;
  claim["statement"] = "it is\n<script>alert(1)</script>";
  const std::string text = verdict_markdown(claim, records);
  EXPECT_SAYS(text, "| replicas | a\\|b | &lt;b>c d |\n|---|---|---|\n");
  EXPECT_SAYS(text, "*it is &lt;script>alert(1)&lt;/script>*\n");
  EXPECT_EQ(text.find('<'), std::string::npos) << text;
}

TEST(ClaimPictures, HoldWhatTheMatrixHolds) {
  const Json pictures = claim_pictures(Json::array({kClaim}), made_up_sweep());
  ASSERT_EQ(pictures.size(), 1u);
  EXPECT_EQ(pictures[0]["bound"], "at_least");
  EXPECT_EQ(pictures[0]["threshold"], 10);
  // Two points a cell: low, high; how many hold, are undecided, fail; low and high with the model's error.
  EXPECT_EQ(pictures[0]["cells"], Json::parse(R"([
      [[2, 2, 0, 0, 2, 2, 2, "2"], [16, 16, 2, 0, 0, 16, 16, "16"], [64, 64, 2, 0, 0, 64, 64, "64"]],
      [[3, 3, 0, 0, 2, 3, 3, "3"], [3, 3, 0, 0, 2, 3, 3, "3"], [3, 3, 0, 0, 2, 3, 3, "3"]]])"));
  EXPECT_EQ(pictures[0]["numbers"], true);
  EXPECT_TRUE(claim_pictures(Json::array({kClaim}), {record("diloco", 1)}).empty());
}

TEST(VerdictMatrix, SaysWhatWasNotRun) {
  std::vector<Json> records = made_up_sweep();
  for (Json& entry : records)
    if (entry["swept"]["replicas"] == 64) entry["status"] = "interrupted";
  const std::string text = verdict_markdown(kClaim, records);
  EXPECT_SAYS(text, "| tree | 2 fails | **16 holds** | not run |");
  EXPECT_SAYS(text, "12 points: 2 – 16, 2 hold, 4 undecided, 6 fail.");
  const std::string nothing = verdict_markdown(kClaim, {record("noloco", 1, {{"replicas", 2}})});
  EXPECT_SAYS(nothing, "Not run.");
  EXPECT_EQ(nothing.find("holds"), std::string::npos) << nothing;
}

// 12.6 is within 3 % of 12.4, 13 is not; both fidelities hold, so it holds everywhere.
TEST(VerdictMatrix, PrintsWhatItsVerdictSays) {
  std::vector<Json> records;
  for (const char* fidelity : {"analytic", "flow"})
    for (const Json& entry : both(12.58, 1, {{"fidelity", fidelity}}, "packet")) records.push_back(entry);
  Json claim = kClaim;
  claim.merge_patch({{"at_least", nullptr}, {"equals", 12.4}, {"within", 0.03}});
  const std::string text = verdict_markdown(claim, records);
  EXPECT_SAYS(text, "**12.6 holds** | **12.6 holds**");
  EXPECT_SAYS(text, "- holds at every point; at most 12.6");
  const std::string word = verdict_markdown(kClaim, both(10.7, 1, Json::object(), "packet"));
  EXPECT_SAYS(word, ". 1 point: 10.7, holds.");
}

// Times may be the same in every seed; what a training reaches is not.
TEST(Claims, TheSentenceSaysThatALossIsOfOneSeed) {
  const auto sentence = [](const std::vector<double>& losses) {
    const Json claim = {{"metric", "final_loss"}, {"of", "noloco"}, {"at_most", 2.5}};
    return verdict_sentence(judged(claim, losses_of({{"noloco", losses}}))[0]);
  };
  EXPECT_EQ(sentence({2.4}),
            "c holds: final_loss of noloco is 2.4 of one seed, without an interval, so at most 2.5 holds");
  EXPECT_SAYS(sentence({2.4, 2.4}), "is 2.4 in each of 2 seeds, so at most 2.5 holds");
}

}  // namespace longhaul::claims_test
