#include "core/scenario/metrics.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace longhaul::metrics_test {

using Unit = Metric::Unit;

// Claims in scenarios that are written already name these.
TEST(Metrics, HoldEveryNameThatClaimsMayUse) {
  std::istringstream text(R"(
      final_loss final_loss_of_mean final_loss_of_ensemble best_loss perplexity time_to_target_s weight_spread
      tokens exchanges bytes_per_sync bytes_sent_per_replica bytes_per_token tokens_per_s accelerator_hours
      compute_time_s wait_time_s exchange_time_s simulated_time_s idle_fraction.mean idle_fraction.max
      sync_time_s.mean sync_time_s.p50 sync_time_s.p95 sync_time_s.max sync_time_s.last wait_s.mean wait_s.p50
      wait_s.p95 wait_s.max exposed_s.mean exposed_s.p50 exposed_s.p95 exposed_s.max bubble_fraction.mean
      inside_wait_fraction.mean inside_wait_fraction.max inside_wait_time_s
      bubble_fraction.max stage_wait_fraction.mean stage_wait_fraction.max bubble_time_s stage_wait_time_s
      stage_bytes_per_step stage_moves state_bytes_moved useful_steps_per_s goodput_tokens_per_s participation
      lost_fraction committed_fraction crashes useful_steps discarded_exchanges recovery_s.mean recovery_s.p50
      recovery_s.p95 recovery_s.max recovery_bytes
      refit_time_s.mean refit_time_s.p50 refit_time_s.p95 refit_time_s.max staleness.mean staleness.p95 staleness.max
      batch_wait_s.mean batch_wait_s.p50 batch_wait_s.p95 batch_wait_s.max batch_wait_time_s
      rollout_idle_fraction.mean rollout_idle_fraction.max rollout_slot_use samples_per_s
      rollout_accelerator_hours versions bytes_per_version egress_bytes cost boundary_bits.mean boundary_bits.last step_time_s)");
  const std::set<std::string> names(std::istream_iterator<std::string>(text), {});
  const std::vector<std::string> declared = metric_paths();
  EXPECT_EQ(std::set<std::string>(declared.begin(), declared.end()), names);
  EXPECT_EQ(declared.size(), names.size()) << "each once";
}

TEST(Metrics, AreExplainedInTheDocumentOfTheRecord) {
  std::ifstream in(LONGHAUL_SOURCE_DIR "/docs/reference/formats/summary.md");
  const std::string formats(std::istreambuf_iterator<char>(in), {});
  ASSERT_FALSE(formats.empty());
  for (const std::string& path : metric_paths())
    EXPECT_NE(formats.find("`" + path.substr(0, path.find('.')) + "`"), std::string::npos) << path;
}

// A place of its own for each, or a narrow terminal would not know which to leave out.
TEST(Metrics, WithAColumnHaveAPlaceAndWords) {
  std::set<int> places;
  for (const Metric& metric : metrics()) {
    if (metric.importance == 0) continue;
    EXPECT_TRUE(places.insert(metric.importance).second) << metric.path;
    for (const std::string& words : {metric.heading, metric.title, metric.meaning})
      EXPECT_FALSE(words.empty()) << metric.path;
  }
}

// By what is measured, not by how it is called: "bytes_sent" and "weight_spread" have an "_s" and are no
// times. Unit, whether lower is better, whether it depends on the network's time.
TEST(Metrics, SayUnitAndDirection) {
  using Better = Metric::Better;
  const std::tuple<const char*, Unit, Better, bool> known[] = {
      {"final_loss", Unit::kNats, Better::kLower, false},
      {"sync_time_s.last", Unit::kSeconds, Better::kLower, true},
      {"exposed_s.p50", Unit::kSeconds, Better::kLower, true},
      {"compute_time_s", Unit::kSeconds, Better::kNeither, false},
      {"wait_s.mean", Unit::kSeconds, Better::kLower, true},
      {"wait_time_s", Unit::kSeconds, Better::kLower, true},
      {"idle_fraction.max", Unit::kFraction, Better::kLower, true},
      {"bytes_sent_per_replica", Unit::kBytes, Better::kLower, false},
      {"tokens_per_s", Unit::kNone, Better::kHigher, true},
      {"useful_steps_per_s", Unit::kNone, Better::kHigher, true},
      {"goodput_tokens_per_s", Unit::kNone, Better::kHigher, true},
      {"committed_fraction", Unit::kFraction, Better::kHigher, false},
      {"weight_spread", Unit::kNone, Better::kNeither, false},
      {"exchanges", Unit::kCount, Better::kNeither, false}};
  for (const auto& [path, unit, better, depends_on_network_time] : known) {
    const Metric metric = metric_named(path);
    EXPECT_EQ(metric.unit, unit) << path;
    EXPECT_EQ(metric.better, better) << path;
    EXPECT_EQ(metric.depends_on_network_time, depends_on_network_time) << path;
  }
}

TEST(Metrics, OtherNumbersHaveAUnitByTheirName) {
  EXPECT_EQ(metric_named("sync_breakdown_s.latency").unit, Unit::kSeconds);
  EXPECT_EQ(metric_named("unigram_entropy").unit, Unit::kNats);
  EXPECT_EQ(metric_named("bytes_of_something").unit, Unit::kBytes);
  EXPECT_EQ(metric_named("model_parameters").unit, Unit::kNone);
  EXPECT_EQ(metric_named("model_parameters").path, "model_parameters");
  EXPECT_EQ(metric_named("sync_breakdown_s.latency").better, Metric::Better::kNeither);
}

}  // namespace longhaul::metrics_test
