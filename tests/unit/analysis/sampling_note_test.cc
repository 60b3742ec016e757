#include <gtest/gtest.h>

#include "analysis/table.h"

namespace longhaul::sampling_note_test {

TEST(SamplingNote, SaysHowManyWindowsAndTheRangeOfTheErrors) {
  const Json a = {{"final_loss_sampling_error", 0.0123}, {"evaluated_sequences", 64}};
  const Json b = {{"final_loss_sampling_error", 0.0456}, {"evaluated_sequences", 64}};
  const std::string note = sampling_note({a, Json::object(), b});
  EXPECT_NE(note.find("over 64 windows"), std::string::npos) << note;
  EXPECT_NE(note.find("0.012 to 0.046 nats"), std::string::npos) << note;
  EXPECT_NE(sampling_note({a}).find("sample is 0.012 nats"), std::string::npos) << sampling_note({a});
}

TEST(SamplingNote, IsEmptyWhereNothingWasSampled) {
  EXPECT_EQ(sampling_note({Json{{"final_loss", 1.5}}}), "");
}

}  // namespace longhaul::sampling_note_test
