#include "planner/plan_request.h"

#include <gtest/gtest.h>

#include "tests/support/said.h"
#include "tests/unit/planner/in_process.h"

namespace longhaul::plan_request_test {

Json minimal() {
  return Json::parse(R"({"nodes": 4, "model": "llama-small", "tokens": 1e9, "tokens_per_step": 8192,
    "accelerator": {"name": "H100", "per_node": 8},
    "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}}})");
}

InputErrorParts error_of(const Json& json) {
  const PlanFolder folder;
  return thrown_by([&] { plan_of_json(folder, json); }).parts();
}

// 6 · 310 M parameters · 8192 tokens at 40 % of eight times 989.4 TFLOP/s.
TEST(PlanRequest, FillsInWhatIsKnown) {
  const PlanFolder folder;
  const PlanRequest plan = plan_of_json(folder, minimal());
  EXPECT_EQ(plan.name, "plan");
  EXPECT_EQ(plan.nodes, 4);
  const auto parameters = static_cast<double>(model_presets()[0].shape.parameters());
  EXPECT_DOUBLE_EQ(plan.step_s, 6 * parameters * 8192 / (8 * 989.4e12 * 0.4));
  EXPECT_EQ(plan.hardware.memory, 80e9);
  EXPECT_EQ(plan.egress.of("anywhere"), 0);
  EXPECT_EQ(plan.min_utilization, 0.8);
  EXPECT_EQ(candidate_methods(plan),
            (std::vector<std::string>{"ddp", "diloco", "streaming-diloco", "noloco"}));
}

TEST(PlanRequest, SaysWhatIsWrong) {
  const auto without = [](const char* key) {
    Json json = minimal();
    json.erase(key);
    return json;
  };
  const auto with = [](const char* key, const Json& value) {
    Json json = minimal();
    json[key] = value;
    return json;
  };
  EXPECT_NO_THROW(plan_of_json(PlanFolder(), minimal()));
  EXPECT_EQ(error_of(without("nodes")).path, "nodes");
  EXPECT_EQ(error_of(without("model")).path, "model");
  EXPECT_EQ(error_of(with("parameters", 5)).path, "parameters");
  EXPECT_EQ(error_of(without("tokens")).path, "tokens");
  EXPECT_EQ(error_of(without("tokens_per_step")).path, "tokens_per_step");
  EXPECT_EQ(error_of(without("accelerator")).path, "accelerator");
  EXPECT_EQ(error_of(without("network")).path, "network");
  EXPECT_EQ(error_of(with("sites", Json::parse(R"([{"name": "a"}])"))).path, "sites");
  EXPECT_EQ(error_of(with("accelerator", {{"name", "H1000"}})).path, "accelerator.name");
  // Another card is no slip for one of the table.
  EXPECT_EQ(error_of(with("accelerator", {{"name", "B200"}})).hint.find("did you mean"), std::string::npos);
  EXPECT_SAYS(error_of(with("accelerator", {{"name", "B200"}})).hint, "give peak");
  EXPECT_EQ(error_of(with("budget", 5)).path, "budget") << "nothing is priced";
  EXPECT_EQ(error_of(with("deadline", 5)).path, "deadline");
  EXPECT_EQ(error_of(with("accelerator", {{"name", "L40s"}})).hint, "did you mean \"L40S\"?");
  EXPECT_EQ(error_of(with("candidates", {{"methods", {"diloko"}}})).path, "candidates.methods[0]");
  EXPECT_EQ(error_of(with("token", 5)).path, "token");
  EXPECT_EQ(error_of(with("measurements", "iperf.csv")).path, "measurements");
  Json connections = minimal();
  connections["network"]["tcp"] = {{"connections", 4}};
  EXPECT_EQ(error_of(connections).path, "network.tcp.connections");
  EXPECT_SAYS(error_of({{"methods", Json::array()}, {"workload", Json::object()}}).hint, "longhaul run");
}

// Llama 3 70B as a preset and as dimensions: 70.55 B parameters, not the 79.95 B of as many heads of keys.
TEST(PlanRequest, CountsGroupedQueries) {
  const PlanFolder folder;
  Json json = minimal();
  json["model"] = "llama-3-70b";
  EXPECT_EQ(plan_of_json(folder, json).parameters, 70553706496);
  json["model"] = {{"hidden", 8192}, {"layers", 80}, {"heads", 64}, {"ffn", 28672}, {"vocabulary", 128256}};
  EXPECT_EQ(plan_of_json(folder, json).parameters, 70553706496 + 80LL * 2 * 8192 * 8192 * 7 / 8);
  json["model"]["kv_heads"] = 8;
  EXPECT_EQ(plan_of_json(folder, json).parameters, 70553706496);
  json["model"]["kv_heads"] = 7;
  EXPECT_EQ(error_of(json).path, "model.kv_heads");
  json["model"].erase("kv_heads");
  json["model"]["num_key_value_heads"] = 8;
  EXPECT_EQ(error_of(json).hint, "did you mean \"kv_heads\"?");
}

// Money decides before a deadline, where there are prices; waiting costs money, so that no utilization is
// asked for.
TEST(PlanRequest, LimitsChangeWhatCounts) {
  const PlanFolder folder;
  Json json = minimal();
  EXPECT_EQ(plan_of_json(folder, json).prefer, Preference::kTime);
  json["deadline"] = "2d";
  EXPECT_EQ(plan_of_json(folder, json).prefer, Preference::kTime) << "nothing is priced";
  json["egress"] = 0.1;
  PlanRequest plan = plan_of_json(folder, json);
  EXPECT_EQ(plan.prefer, Preference::kMoney);
  EXPECT_EQ(plan.deadline_s, 172800);
  EXPECT_EQ(plan.min_utilization, 0);
  json.erase("deadline");
  json["budget"] = 5000;
  plan = plan_of_json(folder, json);
  EXPECT_EQ(plan.prefer, Preference::kTime);
  EXPECT_EQ(plan.min_utilization, 0);
  json["min_utilization"] = 0.5;
  json["prefer"] = "bytes";
  plan = plan_of_json(folder, json);
  EXPECT_EQ(plan.prefer, Preference::kBytes);
  EXPECT_EQ(plan.min_utilization, 0.5);
}

TEST(PlanRequest, EgressMayDifferBySite) {
  const PlanFolder folder;
  Json json = minimal();
  json["egress"] = 0.1;
  EXPECT_EQ(plan_of_json(folder, json).egress.of("a"), 0.1);
  json["egress"] = {{"price", 0.1}, {"sites", {{"a", 0.2}}}};
  EXPECT_EQ(plan_of_json(folder, json).egress.of("a"), 0.2);
  EXPECT_EQ(plan_of_json(folder, json).egress.of("b"), 0.1);
}

// b is dearer and has more memory, and its steps take as long as the plan says; c reaches half of the peak of
// eight times 989.4 TFLOP/s, so that the plan's step time is not its own.
TEST(PlanRequest, PriceAndMemoryOfASiteLeaveItsStepTime) {
  const PlanFolder folder;
  Json json = minimal();
  for (const char* key : {"network", "nodes"}) json.erase(key);
  json["step_time"] = "1s";
  json["sites"] = Json::parse(R"([{"name": "a"}, {"name": "b", "accelerator": {"price": 3, "memory": "94GB"}},
                      {"name": "c", "accelerator": {"utilization": 0.5}}])");
  const PlanRequest plan = plan_of_json(folder, json);
  ASSERT_EQ(plan.sites.size(), 3u);
  EXPECT_EQ(plan.sites[0].step_s, 1);
  EXPECT_EQ(plan.sites[1].step_s, 1);
  EXPECT_EQ(price_per_hour(plan), 8 * 3);
  const auto parameters = static_cast<double>(model_presets()[0].shape.parameters());
  EXPECT_DOUBLE_EQ(plan.sites[2].step_s, 6 * parameters * 8192 / (8 * 989.4e12 * 0.5));
}

TEST(HumanAmount, HasThreeDigitsAndCommas) {
  EXPECT_EQ(human_amount(0), "0");
  EXPECT_EQ(human_amount(1.2345), "1.23");
  EXPECT_EQ(human_amount(950.4), "950");
  EXPECT_EQ(human_amount(12345), "12,300");
  EXPECT_EQ(human_amount(1234567), "1,230,000");
}

}  // namespace longhaul::plan_request_test
