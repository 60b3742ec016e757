// Words of enumerations, what errors say of unknown words, and quantities with their units.
#include "core/base/words.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/errors.h"
#include "core/base/printable.h"
#include "core/base/units.h"
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

TYPED_TEST(WordsOf, ComeBackAsTheirValuesAndAreAllThatIsAllowed) {
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
  const InputErrorParts parts = refused_parts([] { from_word<TypeParam>("perhaps", "here"); });
  EXPECT_EQ(parts.path + ": " + parts.found, "here: found \"perhaps\"");
  EXPECT_EQ(parts.allowed, join(words_of<TypeParam>()));
}

TEST(Words, SayTheirValueInOrder) {
  EXPECT_EQ(join(words_of<PipelineSchedule>()), "gpipe, 1f1b, interleaved");
  EXPECT_EQ(from_word<MicrobatchRouting>("throughput", ""), MicrobatchRouting::kThroughput);
}

TEST(InputError, SaysFilePathFoundAllowedAndWhatToDo) {
  const InputError error({"", "replicas", "found 0", "an integer of at least 1", "add replicas"});
  EXPECT_STREQ(error.in_file("a.json").what(),
               "a.json: replicas: found 0; allowed: an integer of at least 1; add replicas");
}

TEST(DidYouMean, FindsSlips) {
  const std::vector<std::string> keys = {"inner_steps", "outer_lr", "nesterov", "rate"};
  EXPECT_EQ(did_you_mean("inner_stepz", keys), "did you mean \"inner_steps\"?");
  EXPECT_EQ(did_you_mean("nestrov", keys), "did you mean \"nesterov\"?");
  EXPECT_EQ(did_you_mean("raet", keys), "did you mean \"rate\"?");  // changed places: one slip
  EXPECT_EQ(did_you_mean("Inner-Steps", keys), "did you mean \"inner_steps\"?");
  EXPECT_EQ(did_you_mean("x", keys, "see the list"), "see the list");
}

// A wrong suggestion is worse than none: half of the letters are no slip, a word of three letters is another
// word, and what has another number is another thing.
TEST(DidYouMean, SuggestsNothingThatIsNoSlip) {
  EXPECT_EQ(did_you_mean("budget", {"target", "prefer"}), "");
  EXPECT_EQ(did_you_mean("dpp", {"ddp"}), "");
  EXPECT_EQ(did_you_mean("B200", {"H200", "H100", "A100"}), "");
  EXPECT_EQ(did_you_mean("A100-80GB", {"A100-40GB"}), "");
  EXPECT_EQ(did_you_mean("linux-source-6.2", {"linux-source-6.1"}), "");
  EXPECT_EQ(did_you_mean("replca1-core", {"replica0-core", "replica1-core"}),
            "did you mean \"replica1-core\"?");
  EXPECT_EQ(did_you_mean("h100-pci", {"H100", "H100-PCIe"}), "did you mean \"H100-PCIe\"?");
  EXPECT_EQ(did_you_mean("RTX4090", {"RTX-3090", "RTX-4090"}), "did you mean \"RTX-4090\"?");
}

// Nearer in letters would be "cpu" and "rate".
TEST(DidYouMean, WordsOfOthersAreKnown) {
  EXPECT_EQ(did_you_mean("gpu", {"auto", "cpu", "cuda"}), "did you mean \"cuda\"?");
  EXPECT_EQ(did_you_mean("rtt", {"link", "rate", "delay"}),
            "did you mean \"delay\" (one way: half of the round trip)?");
  EXPECT_EQ(did_you_mean("latency", {"rate", "rtt"}), "did you mean \"rtt\" (there and back)?");
  EXPECT_EQ(did_you_mean("World-Size", {"replicas", "methods"}), "did you mean \"replicas\"?");
  EXPECT_EQ(did_you_mean("gpu", {"cpu"}), "");
}

TEST(Units, AreReadInBitsSecondsAndBytesOrRefused) {
  EXPECT_DOUBLE_EQ(parse_rate("1Gbps"), 1e9);
  EXPECT_DOUBLE_EQ(parse_rate("100 Mbps"), 1e8);
  EXPECT_DOUBLE_EQ(parse_rate("12.5MB/s"), 1e8);
  EXPECT_DOUBLE_EQ(parse_rate("2Kib/s"), 2048);
  for (const char* rate : {"1Gbit/s", "1 Gbit/s", "1 Gbits/sec", "1Gb/s", "1Gbits/s", "0.125 GBytes/sec"})
    EXPECT_DOUBLE_EQ(parse_rate(rate), 1e9) << rate;
  EXPECT_DOUBLE_EQ(parse_duration("60 days"), 60 * 86400.);
  EXPECT_DOUBLE_EQ(parse_duration("1 week"), 604800);
  EXPECT_DOUBLE_EQ(parse_duration("36 hours"), 129600);
  EXPECT_SAYS(said_by([] { parse_duration("2 months"); }), "\"12h\", \"60d\"");
  EXPECT_DOUBLE_EQ(parse_flops("2.25 PFLOPS"), 2.25e15);
  EXPECT_DOUBLE_EQ(parse_flops("989 TFLOP/s"), 989e12);
  EXPECT_THROW(parse_flops("989"), InputError);
  EXPECT_DOUBLE_EQ(parse_duration("50ms"), 0.05);
  EXPECT_DOUBLE_EQ(parse_duration("2min"), 120);
  EXPECT_DOUBLE_EQ(parse_bytes("10MB"), 1e7);
  EXPECT_DOUBLE_EQ(parse_bytes("1GiB"), 1073741824.);
  for (const char* text : {"50", "fast", "", "50 parsecs", "1Gbps extra"})
    EXPECT_SAYS(said_by([&] { parse_duration(text); }), "50ms") << text;
  EXPECT_THROW(parse_rate("1GB"), InputError);
  for (const char* text : {"1e300Tbps", "nanGbps", "infbps"})  // not finite
    EXPECT_SAYS(thrown_by([&] { parse_rate(text); }).what(), std::string("\"") + text + "\" is not a rate");
}

TEST(Units, AreWrittenShortAndExactOrForPeople) {
  EXPECT_EQ(format_number(0.1), "0.1");
  EXPECT_EQ(format_number(1e9), "1e+09");
  EXPECT_EQ(format_number(1. / 3), "0.3333333333333333");
  EXPECT_EQ(format_number(200), "200");
  EXPECT_EQ(human_bytes(620e6), "620 MB");
  EXPECT_EQ(human_rate(9.4e8), "940 Mb/s");
  EXPECT_EQ(human_duration(0.0502), "50.2 ms");
  EXPECT_EQ(human_duration(250), "4 min 10 s");
  EXPECT_EQ(human_duration(8625.03), "2 h 24 min") << "143.75 min";
  EXPECT_EQ(human_duration(7199.6), "2 h 0 min");
  EXPECT_EQ(human_duration(729 * 86400.), "729.0 d");
  EXPECT_EQ(human_duration(3738 * 86400.), "10.2 years") << "of 365.25 days";
}

// A terminal would take these for orders: ESC and BEL of C0, DEL, and CSI of C1 in UTF-8. Letters of two
// bytes stay, lines too.
TEST(Printable, SaysControlCharactersAsNumbers) {
  EXPECT_EQ(printable("a\x1b[31m\x07\x7f\xc2\x9b"
                      "b\r"),
            "a\\x1b[31m\\x07\\x7f\\x9b"
            "b\\x0d");
  EXPECT_EQ(printable("\xc3\xbc \xc2\xb5\tx\n"), "\xc3\xbc \xc2\xb5\tx\n");
  EXPECT_EQ(printable("a\u202egpj.exe\u2066\ufeff\u200b"), "a\\u202egpj.exe\\u2066\\ufeff\\u200b");
  EXPECT_EQ(printable("\u4e2d \U0001f600 \u06a9\u200c\u0647"), "\u4e2d \U0001f600 \u06a9\u200c\u0647");
  EXPECT_EQ(printable("\x9b \xff \xe2\x80 \xc0\x9b \xed\xa0\x80"),
            "\\x9b \\xff \\xe2\\x80 \\xc0\\x9b \\xed\\xa0\\x80")
      << "no UTF-8";
  EXPECT_STREQ(InputError("a\x1b", "found \x07", "").what(), "a\\x1b: found \\x07");
}

}  // namespace longhaul::words_test
