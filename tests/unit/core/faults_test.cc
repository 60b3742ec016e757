// When faults strike, by hand and by the means of what is drawn.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/errors.h"
#include "core/scenario/fault.h"
#include "core/scenario/network_spec.h"

namespace longhaul::faults_test {

constexpr std::int64_t kSecond = 1000000000;

TEST(ReplicaRange, IsOneOrSeveralOrAll) {
  using Range = std::pair<int, int>;
  EXPECT_EQ(parse_replica_range("3", 8, ""), Range(3, 3));
  EXPECT_EQ(parse_replica_range("3-5", 8, ""), Range(3, 5));
  EXPECT_EQ(parse_replica_range("all", 8, ""), Range(0, 7));
  EXPECT_THROW(parse_replica_range("0-8", 8, ""), InputError);
  EXPECT_THROW(parse_replica_range("everyone", 8, ""), InputError);
}

TEST(FaultWindows, AreOnceFromATimeOnOrThoseOfAFile) {
  const FaultWindows windows({10, 0, 5}, 1, 0, "replica 0"), for_good({3}, 1, 0, "replica 0");
  for (const std::int64_t on_ns : {10 * kSecond, 15 * kSecond - 1}) EXPECT_TRUE(windows.is_on(on_ns));
  for (const std::int64_t off_ns : {10 * kSecond - 1, 15 * kSecond}) EXPECT_FALSE(windows.is_on(off_ns));
  EXPECT_EQ(windows.next_change_ns(0), 10 * kSecond);
  EXPECT_EQ(windows.next_change_ns(10 * kSecond), 15 * kSecond);
  EXPECT_EQ(windows.next_change_ns(15 * kSecond), FaultWindows::kNever);
  EXPECT_EQ(windows.end_ns(12 * kSecond), 15 * kSecond);
  EXPECT_EQ(windows.until(10 * kSecond).size(), 0u);
  EXPECT_EQ(windows.until(11 * kSecond).size(), 1u);
  EXPECT_TRUE(for_good.is_on(1000000 * kSecond));
  EXPECT_EQ(for_good.next_change_ns(4 * kSecond), FaultWindows::kNever);
  // Or when a file says.
  const FaultWindows of_file({{2 * kSecond, 5 * kSecond}, {7 * kSecond, FaultWindows::kNever}});
  for (const std::int64_t on_ns : {2 * kSecond, 1000000 * kSecond}) EXPECT_TRUE(of_file.is_on(on_ns));
  for (const std::int64_t off_ns : {2 * kSecond - 1, 5 * kSecond}) EXPECT_FALSE(of_file.is_on(off_ns));
  EXPECT_EQ(of_file.next_change_ns(0), 2 * kSecond);
  EXPECT_EQ(of_file.next_change_ns(5 * kSecond), 7 * kSecond);
  EXPECT_EQ(of_file.next_change_ns(7 * kSecond), FaultWindows::kNever);
  EXPECT_EQ(of_file.until(6 * kSecond).size(), 1u);
}

// Of N windows the sum of exponential times has a standard deviation of sqrt(N) means.
TEST(FaultWindows, DrawnTimesHaveTheirMeans) {
  for (const double sigma : {0., 0.5}) {
    const FaultWindows windows({0, 100, 25, sigma}, 7, 2, "tokyo");
    const auto all = windows.until(1250000 * kSecond);
    const auto count = static_cast<double>(all.size());
    EXPECT_NEAR(count, 10000, 4 * std::sqrt(10000.)) << "one every 125 s";
    double between_s = 0, on_s = 0;
    std::int64_t end_ns = 0;
    for (const FaultWindows::Window& window : all) {
      EXPECT_GT(window.begin_ns, end_ns);
      EXPECT_GT(window.end_ns, window.begin_ns);
      between_s += static_cast<double>(window.begin_ns - end_ns) / 1e9;
      on_s += static_cast<double>(window.end_ns - window.begin_ns) / 1e9;
      end_ns = window.end_ns;
    }
    EXPECT_NEAR(between_s / count, 100, 4 * 100 / std::sqrt(count));
    // Log-normal times of sigma 0.5 have a standard deviation of sqrt(exp(0.25) − 1) means.
    const double deviation = sigma > 0 ? 25 * std::sqrt(std::expm1(0.25)) : 25;
    EXPECT_NEAR(on_s / count, 25, 4 * deviation / std::sqrt(count));
  }
}

TEST(FaultWindows, ADrawBelongsToSeedNumberAndSubject) {
  const FaultTimes times{0, 100, 25};
  const auto first = [&](std::uint64_t seed, int number, const std::string& subject) {
    return FaultWindows(times, seed, number, subject).next_change_ns(0);
  };
  const std::int64_t draw_ns = first(1, 0, "replica 0");
  EXPECT_EQ(draw_ns, first(1, 0, "replica 0"));
  EXPECT_NE(draw_ns, first(2, 0, "replica 0"));
  EXPECT_NE(draw_ns, first(1, 1, "replica 0"));
  EXPECT_NE(draw_ns, first(1, 0, "replica 1"));
}

// Looked at late or early, often or once.
TEST(FaultWindows, ItDoesNotMatterWhenOneLooks) {
  const FaultTimes times{0, 100, 25};
  const FaultWindows late(times, 1, 0, "x"), often(times, 1, 0, "x");
  const std::int64_t end_ns = 10000 * kSecond;
  late.is_on(end_ns);
  int changes = 0;
  for (std::int64_t now_ns = 0; now_ns < end_ns; ++changes) {
    EXPECT_EQ(often.is_on(now_ns), late.is_on(now_ns));
    EXPECT_EQ(often.next_change_ns(now_ns), late.next_change_ns(now_ns));
    now_ns = often.next_change_ns(now_ns);
  }
  EXPECT_GT(changes, 100);
}

TEST(Faults, AreReadInTheirOrder) {
  const Json list = Json::parse(R"([
      {"kind": "slow", "replicas": "1-2", "factor": 10, "at": "10min", "for": "20s"},
      {"kind": "site", "site": "tokyo", "at": "1h", "for": "1h"},
      {"kind": "link", "link": "*-core", "rate": 0.5, "every": "2h", "for": "5min"},
      {"kind": "crash", "file": "spot.csv"}])");
  const std::vector<Fault> faults =
      parse_faults({{"faults", resolve(fault_options(), list, "faults")}, {"folder", "/scenarios"}}, 4);
  ASSERT_EQ(faults.size(), 4u);
  EXPECT_EQ(faults[0].replicas, std::make_pair(1, 2));
  EXPECT_EQ(faults[0].compute, 10);
  EXPECT_EQ(faults[0].times.at_s, 600);
  EXPECT_EQ(faults[0].times.for_s, 20);
  EXPECT_FALSE(faults[0].is_of_links() || faults[0].absence || faults[0].is_drawn());
  EXPECT_EQ(faults[1].number, 1);
  EXPECT_EQ(faults[1].kind, "site");
  EXPECT_EQ(faults[1].rate, 0) << "a site that is cut off";
  EXPECT_EQ(faults[2].rate, 0.5);
  EXPECT_EQ(faults[2].times.every_s, 7200);
  EXPECT_TRUE(faults[2].is_of_links() && faults[2].is_drawn());
  EXPECT_EQ(faults[3].file, "/scenarios/spot.csv");
  EXPECT_TRUE(faults[3].absence);
  EXPECT_TRUE(parse_faults(Json::object(), 4).empty());
}

}  // namespace longhaul::faults_test
