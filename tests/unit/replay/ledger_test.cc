// What the time of a worker comes to, by hand.
#include "replay/workers/ledger.h"

#include <gtest/gtest.h>

#include <memory>

#include "replay/output/tables.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul {
namespace {

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() {
    trace_.context.replicas = 2;
    trace_.context.steps = 10;
    outputs_ = std::make_unique<ReplayTables>(folder_.path, trace_, std::vector<NamedPart>());
    ledger_ = std::make_unique<Ledger>(trace_, *outputs_);
  }
  const ReplicaTotals& totals() const { return ledger_->totals(1); }

  Trace trace_;
  TemporaryFolder folder_;
  std::unique_ptr<ReplayOutputs> outputs_;
  std::unique_ptr<Ledger> ledger_;
};

TEST_F(LedgerTest, ComputeAndWaitingAreApart) {
  ledger_->begin_compute(1, 2, 5, 3);
  EXPECT_FALSE(ledger_->is_computed(1));
  ledger_->end_compute(1, 7);
  EXPECT_TRUE(ledger_->is_computed(1));
  ledger_->end_waits(1, 3, 11);
  ledger_->end_training(1, 11);
  ledger_->send(1, 40);
  ledger_->send(1, 2);
  EXPECT_EQ(totals().compute_s, 5);
  EXPECT_EQ(totals().idle_s, 4);
  EXPECT_EQ(totals().clock_s, 11);
  EXPECT_EQ(totals().bytes_sent, 42);
  EXPECT_EQ(ledger_->unshared(1).steps, 3);
  EXPECT_EQ(ledger_->unshared(1).seconds, 5);
  EXPECT_EQ(ledger_->totals(0).compute_s, 0);
}

TEST_F(LedgerTest, WorkIsUsefulOrLostOnce) {
  ledger_->begin_compute(1, 0, 4, 2);
  ledger_->end_compute(1, 4);
  ledger_->count_useful(1, ledger_->take_unshared(1));
  ledger_->count_lost(1, ledger_->take_unshared(1));
  EXPECT_EQ(totals().useful_steps, 2);
  EXPECT_EQ(totals().lost_s, 0);
  ledger_->begin_compute(1, 4, 6, 1);
  ledger_->end_compute(1, 10);
  ledger_->count_lost(1, ledger_->take_unshared(1));
  EXPECT_EQ(totals().useful_steps, 2);
  EXPECT_EQ(totals().lost_s, 6);
}

// A step of 7 s whose work is not shared, and the wait behind it.
void take_step(Ledger& ledger, double waited_s) {
  ledger.begin_compute(1, 0, 7, 1);
  ledger.end_compute(1, 7);
  ledger.end_waits(1, 1, 7 + waited_s);
}

// 10 s of compute, of which 4 are done; 7 s of the step before have not been shared: another's state takes
// their place, its own has them.
TEST_F(LedgerTest, ACrashInItsComputeLosesThat) {
  for (const auto then : {Ledger::AfterCrash::kGoesOn, Ledger::AfterCrash::kRepeatsStep})
    for (const bool has_own_state : {false, true}) {
      Ledger ledger(trace_, *outputs_);
      take_step(ledger, 1);
      ledger.begin_compute(1, 8, 10, 1);
      ledger.crash(1, {12, 8}, then, false, true);
      EXPECT_EQ(ledger.totals(1).compute_s, 11);
      EXPECT_EQ(ledger.totals(1).idle_s, 1);
      EXPECT_EQ(ledger.totals(1).cut_wait_s, 0);
      EXPECT_EQ(ledger.totals(1).lost_s, 4);
      EXPECT_EQ(ledger.unshared(1).steps, 1);
      ledger.come_back(1, 20, has_own_state, false);
      EXPECT_EQ(ledger.totals(1).lost_s, has_own_state ? 4 : 11);
      EXPECT_EQ(ledger.unshared(1).steps, has_own_state ? 1 : 0);
      EXPECT_EQ(ledger.unshared(1).seconds, has_own_state ? 7 : 0);
      EXPECT_EQ(ledger.computed_s(1), 20);
      ledger.stop_clock(1);
      EXPECT_EQ(ledger.totals(1).clock_s, 12);
    }
}

// It has computed for 10 s and waited for 3; where it repeats its step that is lost at once, and that of the
// step before counts still.
TEST_F(LedgerTest, ACrashWhileItWaits) {
  for (const auto then : {Ledger::AfterCrash::kGoesOn, Ledger::AfterCrash::kRepeatsStep}) {
    Ledger ledger(trace_, *outputs_);
    take_step(ledger, 0);
    ledger.begin_compute(1, 7, 10, 1);
    ledger.end_compute(1, 17);
    ledger.crash(1, {20, 17}, then, false, true);
    EXPECT_EQ(ledger.totals(1).compute_s, 17);
    EXPECT_EQ(ledger.totals(1).idle_s, 3);
    EXPECT_EQ(ledger.totals(1).cut_wait_s, 3);
    const bool repeats = then == Ledger::AfterCrash::kRepeatsStep;
    EXPECT_EQ(ledger.totals(1).lost_s, repeats ? 10 : 0);
    EXPECT_EQ(ledger.unshared(1).steps, repeats ? 1 : 2);
    EXPECT_EQ(ledger.unshared(1).seconds, repeats ? 7 : 17);
    ledger.come_back(1, 30, repeats, false);
    EXPECT_EQ(ledger.totals(1).lost_s, repeats ? 10 : 17);
    ledger.stop_clock(1);
    EXPECT_EQ(ledger.totals(1).clock_s, 20);
  }
}

// Of the steps that it had computed the last one is taken again, also where it was in the model.
TEST_F(LedgerTest, AStepThatIsTakenAgainCountsOnce) {
  for (const bool is_shared : {false, true}) {
    Ledger ledger(trace_, *outputs_);
    for (int i = 0; i < 2; ++i) take_step(ledger, 0);
    if (is_shared) ledger.count_useful(1, ledger.take_unshared(1));
    ledger.crash(1, {9, 7}, Ledger::AfterCrash::kGoesOn, false, true);
    ledger.come_back(1, 20, true, true);
    EXPECT_EQ(ledger.totals(1).lost_s, 7);
    take_step(ledger, 0);
    ledger.count_useful(1, ledger.take_unshared(1));
    EXPECT_EQ(ledger.totals(1).useful_steps, 2);
  }
}

// What is posted after two steps takes these; the third, computed meanwhile, is not in it, nor is it twice.
TEST_F(LedgerTest, AnExchangeTakesWhatHadBeenComputed) {
  for (int i = 0; i < 2; ++i) take_step(*ledger_, 0);
  const Work posted = ledger_->computed(1);
  take_step(*ledger_, 0);
  ledger_->count_useful(1, ledger_->take_unshared(1, posted));
  EXPECT_EQ(totals().useful_steps, 2);
  EXPECT_EQ(ledger_->unshared(1).steps, 1);
  EXPECT_EQ(ledger_->unshared(1).seconds, 7);
  ledger_->count_useful(1, ledger_->take_unshared(1, posted));
  EXPECT_EQ(totals().useful_steps, 2);
  ledger_->count_lost(1, ledger_->take_unshared(1));
  EXPECT_EQ(totals().lost_s, 7);
}

TEST_F(LedgerTest, PassesOfAStage) {
  ledger_->begin_passes(1, 0);
  PipelineRun::WorkerTimes times;
  times.compute_s = 6, times.bubble_s = 1, times.network_s = 2, times.bytes_sent = 30;
  ledger_->end_passes(1, 1, 0, times);
  ledger_->end_compute(1, 9);
  EXPECT_EQ(totals().compute_s, 6);
  EXPECT_EQ(totals().idle_s, 3);
  EXPECT_EQ(totals().bubble_s, 1);
  EXPECT_EQ(totals().stage_wait_s, 2);
  EXPECT_EQ(totals().bytes_sent, 30);
  EXPECT_EQ(ledger_->unshared(1).seconds, 6);
  EXPECT_EQ(ledger_->unshared(1).steps, 1);
}

// What the passes did before the crash is lost with it, once.
TEST_F(LedgerTest, ACrashInPasses) {
  ledger_->begin_passes(1, 0);
  PipelineRun::WorkerTimes times;
  times.compute_s = 6, times.network_s = 2;
  ledger_->cut_passes(1, 1, 0, times);
  ledger_->crash(1, {8, 8}, Ledger::AfterCrash::kGoesOn, true, true);
  EXPECT_EQ(totals().compute_s, 6);
  EXPECT_EQ(totals().idle_s, 2);
  EXPECT_EQ(totals().lost_s, 6);
  ledger_->stop_clock(1);
  EXPECT_EQ(totals().clock_s, 8);
}

}  // namespace
}  // namespace longhaul
