// When packets have left a link that changes while they wait (net/linux/link_schedule.h), by hand.
#include "net/linux/link_schedule.h"

#include <gtest/gtest.h>

#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::linux_tcp {

// One link of 8 Mb/s, a byte a microsecond, and 10 ms, with a trace of its first direction.
LinkSchedule schedule_with(const std::string& rows) {
  static Topology topology = [] {
    Topology made(1);
    made.add_link({"a-b", 0, made.add_router("b"), 8e6, 8e6, 0.01});
    return made;
  }();
  static const TemporaryFolder folder;
  const std::string file = folder.file("schedule.csv");
  write_text(file, rows);
  VariationSpec spec;
  spec.traces = {{"a-b", file, {true, false}, false, {}}};
  return LinkSchedule(std::make_unique<Variation>(spec, topology, 1));
}

// 500 bytes until 1 s, 500 more at half of the rate; 250 until 2 s, nothing until 3 s, then 750.
TEST(LinkSchedule, APacketLeavesAsItsLinkChanges) {
  LinkSchedule schedule = schedule_with("time_s,rate_bps\n1,4e6\n2,0\n3,8e6\n");
  EXPECT_DOUBLE_EQ(schedule.finish(0, 0, 1000), 1e6);
  EXPECT_DOUBLE_EQ(schedule.finish(0, 999.5e6, 1000), 1001e6);
  EXPECT_DOUBLE_EQ(schedule.finish(0, 1999.5e6, 1000), 3000.75e6);
  EXPECT_DOUBLE_EQ(schedule.finish(0, 2500e6, 1000), 3001e6);
  EXPECT_DOUBLE_EQ(schedule.finish(1, 999.5e6, 1000), 1000.5e6) << "the other direction has no trace";
}

TEST(LinkSchedule, DelaysHoldFromTheirTimeOn) {
  LinkSchedule schedule = schedule_with("time_s,delay_s\n1,0.03\n2,0.002\n3,0\n");
  EXPECT_EQ(schedule.at(0, 999 * kMillisecond).delay, 10 * kMillisecond);
  EXPECT_EQ(schedule.at(0, 1000 * kMillisecond).delay, 30 * kMillisecond);
  EXPECT_EQ(schedule.least_delay(0, 1500 * kMillisecond, 1900 * kMillisecond), 30 * kMillisecond);
  EXPECT_EQ(schedule.least_delay(0, 1500 * kMillisecond, 2100 * kMillisecond), 2 * kMillisecond);
  EXPECT_GT(schedule.least_delay(0, 2500 * kMillisecond, 3500 * kMillisecond), 0)
      << "hosts are run one after the other for as long";
  EXPECT_EQ(schedule.least_delay(1, 0, 4000 * kMillisecond), 10 * kMillisecond);
}

TEST(LinkSchedule, ALinkThatNeverCarriesAnythingAgainIsAnError) {
  LinkSchedule schedule = schedule_with("time_s,rate_bps\n1,0\n");
  EXPECT_DOUBLE_EQ(schedule.finish(0, 0, 1000), 1e6);
  const auto error = thrown_by<RunError>([&] { schedule.finish(0, 999.5e6, 1000); });
  EXPECT_SAYS(error.what(), "link a-b carries nothing from 1.000 s on");
}

}  // namespace longhaul::linux_tcp
