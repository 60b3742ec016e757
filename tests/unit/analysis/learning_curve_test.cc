#include "analysis/learning_curve.h"

#include "tests/support/said.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul::learning_curve_test {

class Join : public CaseOfRun {
 protected:
  std::string metrics() {
    write_case_metrics(config, case_folder, train_folder);
    return read_text(case_folder + "/metrics.csv");
  }
};

// Before an outer step: the clock after the compute, without the bytes of that step. After it: when the
// replica went on. The mean has the latest clock.
TEST_F(Join, PutsEachLossAtTheClockOfItsReplica) {
  EXPECT_EQ(metrics(),
            "step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent\n"
            "1,plain,0,1,5,,,0\n1,plain,1,1.5,4,,,0\n1,plain,mean,1.5,4.5,4.25,0.5,0\n"
            "2,before,0,2,3.5,,,0\n2,before,1,3,3.7,,,0\n2,before,mean,3,3.6,3.5,0.75,0\n"
            "2,after,0,4,3,,,100\n2,after,1,4.5,3,,,100\n2,after,mean,4.5,3,3,0,100\n"
            "4,before,0,6,2.5,,,100\n4,before,1,7.5,2.25,,,100\n4,before,mean,7.5,2.375,2.25,0.25,100\n"
            "4,after,0,8,2.5,,,200\n4,after,1,8.5,2.5,,,200\n4,after,mean,8.5,2.5,2.5,0,200\n");
  write_exchanges(case_folder, "2,0,outer,2,3,4,101,2\n");
  EXPECT_SAYS(metrics(), "2,after,mean,4.5,3,3,0,50.5\n");  // half a byte is kept
}

TEST_F(Join, CountsWhatIsSentAheadFromTheStepAtWhichItIsPosted) {
  write_replay(case_folder, kExchangesWithPresend);
  const std::string text = metrics();
  EXPECT_SAYS(text, "2,before,0,2,3.5,,,0\n");
  EXPECT_SAYS(text, "2,after,0,4,3,,,200\n");
  EXPECT_SAYS(text, "4,before,0,6,2.5,,,200\n");
  EXPECT_SAYS(text, "4,after,0,8,2.5,,,300\n");
}

TEST_F(Join, StartsAtZeroAndSaysWhichEvaluationWasNotReplayed) {
  write_text(train_folder + "/metrics.csv",
             "step,phase,replica,loss,loss_of_mean,weight_spread\n0,plain,0,5,,\n0,plain,1,5,,\n0,plain,mean,"
             "5,5,0\n");
  EXPECT_SAYS(metrics(), "0,plain,mean,0,5,5,0,0\n");
  write_training(train_folder);
  write_text(case_folder + "/steps.csv", "step,replica,computed_s,done_s\n1,0,1,1\n1,1,1,1\n");
  const RunError error = thrown_by<RunError>([&] { metrics(); });
  EXPECT_EQ(std::string(error.what()),
            case_folder + "/steps.csv: has no clock of every replica for the evaluation at step 2");
}

}  // namespace longhaul::learning_curve_test
