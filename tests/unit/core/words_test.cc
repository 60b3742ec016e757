#include "core/base/words.h"

#include <gtest/gtest.h>

#include <set>

#include "core/codecs/codec.h"
#include "core/plan/operations.h"
#include "core/scenario/case.h"
#include "core/scenario/inner_optimizer.h"
#include "core/scenario/network_spec.h"
#include "core/scenario/pipeline.h"
#include "tests/support/said.h"

namespace longhaul::words_test {

template <class Enumeration>
class WordsOf : public testing::Test {};

using Enumerations = testing::Types<PipelineSchedule, MicrobatchRouting, PipelineCut, PartialPaths, Grouping,
                                    OperationKind, InnerOptimizer, MuonScale, Precision, RankOrderSpec::Kind,
                                    Wire, Quantizer, Feedback, Reduction>;
TYPED_TEST_SUITE(WordsOf, Enumerations);

TYPED_TEST(WordsOf, ComeBackAsTheirValues) {
  std::set<std::string> words;
  std::set<TypeParam> values;
  for (const Word<TypeParam>& known : Words<TypeParam>::all) {
    EXPECT_EQ(from_word<TypeParam>(known.word, ""), known.value);
    EXPECT_STREQ(word_of(known.value), known.word);
    words.insert(known.word);
    values.insert(known.value);
  }
  EXPECT_EQ(words.size(), std::size(Words<TypeParam>::all));
  EXPECT_EQ(values.size(), words.size());
}

TYPED_TEST(WordsOf, RefuseAnUnknownWord) {
  const InputErrorParts parts = refused_parts([] { from_word<TypeParam>("perhaps", "here"); });
  EXPECT_EQ(parts.path + ": " + parts.found, "here: found \"perhaps\"");
  EXPECT_EQ(parts.allowed, join(words_of<TypeParam>()));
}

TEST(Words, SayTheirValueInOrder) {
  EXPECT_EQ(join(words_of<PipelineSchedule>()), "gpipe, 1f1b, interleaved");
  EXPECT_EQ(from_word<MicrobatchRouting>("throughput", ""), MicrobatchRouting::kThroughput);
}

}  // namespace longhaul::words_test
