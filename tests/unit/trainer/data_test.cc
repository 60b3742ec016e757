#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "core/errors.h"
#include "core/hash.h"
#include "tests/unit/trainer/support.h"
#include "trainer/data/dataset.h"
#include "trainer/data/markov_source.h"
#include "trainer/data/system_headers.h"
#include "trainer/data/text_files.h"
#include "trainer/data/token_shards.h"
#include "trainer/data/windows.h"

namespace longhaul {
namespace {

std::string shard(std::int32_t magic, std::int32_t version, std::int32_t count,
                  const std::vector<Token>& tokens) {
  std::int32_t header[256] = {magic, version, count};
  std::string bytes(reinterpret_cast<const char*>(header), sizeof header);
  return bytes.append(reinterpret_cast<const char*>(tokens.data()), tokens.size() * 2);
}

// The message of the InputError that `body` throws.
template <typename Body>
std::string input_error(Body body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return "";
}

void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
}

TEST(Text, IsTheBytesOfTheFilesInSortedOrder) {
  const TemporaryFolder folder;
  write_file(folder.file("b.txt"), "second");
  write_file(folder.file("a.txt"), "first\xff");
  const TokenText text = read_bytes(files_of({"*.txt"}, folder.path(), "train.data.text"));
  EXPECT_EQ(text.hash, fnv1a("first\xffsecond"));
  ASSERT_EQ(text.tokens.size(), 12u);
  EXPECT_EQ(text.tokens[5], 255);
  EXPECT_EQ(text.tokens[6], 's');
  EXPECT_EQ(read_bytes({folder.file("a.txt"), folder.file("b.txt")}, 8).tokens.size(), 8u);
}

TEST(Text, APatternThatMatchesNothingIsNamedByItsPath) {
  const TemporaryFolder folder;
  write_file(folder.file("a.txt"), "text");
  expect_parts(input_error([&] {
                 files_of({"*.txt", "missing/*.md"}, folder.path(), "train.data.text");
               }),
               {"train.data.text[1]", "missing/*.md"});
}

TEST(SystemHeaders, AreRealTextReadTheSameTwiceAndCapped) {
  const TokenText text = read_system_headers();
  EXPECT_GT(text.tokens.size(), 1'000'000u);
  EXPECT_LE(text.tokens.size(), kSystemHeadersLargest);
  EXPECT_EQ(text.hash, read_system_headers().hash);
  EXPECT_NEAR(unigram_entropy(text.tokens), 3.5, 0.4);  // English-like: about five bits a byte
}

TEST(SystemHeaders, TakesOnlyThePartsItNames) {
  const TemporaryFolder folder;
  for (const char* file : {"stdio.h", "readme", "c++/12/vector", "linux/tcp.h", "other/x.h",
                           "x86_64-linux-gnu/bits/y.h", "x86_64-linux-gnu/more/z.h", "asm-generic/w.h"}) {
    std::filesystem::create_directories(std::filesystem::path(folder.file(file)).parent_path());
    write_file(folder.file(file),
               file[0] == 'o' || std::string(file) == "readme" || std::strstr(file, "more") ? "bad" : "A");
  }
  EXPECT_EQ(read_system_headers(folder.path()).tokens, (std::vector<Token>(5, 'A')));
}

TEST(Shards, ReadTheFormatOfLlmC) {
  const TemporaryFolder folder;
  write_file(folder.file("a.bin"), shard(20240520, 1, 3, {7, 8, 9}));
  write_file(folder.file("b.bin"), shard(20240520, 1, 2, {1, 2}));
  EXPECT_EQ(read_token_shards({folder.file("a.bin"), folder.file("b.bin")}, 10).tokens,
            (std::vector<Token>{7, 8, 9, 1, 2}));
}

TEST(Shards, WrongOnesAreRefusedByName) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.bin");
  const auto refused = [&](const std::string& bytes, const std::vector<std::string>& parts) {
    write_file(file, bytes);
    const std::string message = input_error([&] { read_token_shards({file}, 100); });
    expect_parts(message, {"train.data.shards", "a.bin"});
    expect_parts(message, parts);
  };
  refused(shard(20240801, 1, 1, {1}), {"20240801", "20240520"});
  refused(shard(20240520, 2, 1, {1}), {"20240520, 2"});
  refused(shard(20240520, 1, 5, {1, 2, 3}), {"3 of 5"});
  refused("short", {"1024 bytes"});
  refused(shard(20240520, 1, 2, {5, 100}), {"token 100", "at 1"});
}

TEST(MarkovSource, EntropyRateIsThatOfALongText) {
  const MarkovSource source(20, 4, 3);
  const std::vector<Token> tokens = source.text(400'000).tokens;
  // The conditional entropy of the counted pairs.
  std::vector<double> pairs(400), firsts(20);
  for (std::size_t i = 1; i < tokens.size(); ++i)
    ++pairs[tokens[i - 1] * 20u + tokens[i]], ++firsts[tokens[i - 1]];
  double entropy = 0;
  std::size_t successors = 0;
  for (std::size_t i = 0; i < 400; ++i)
    if (pairs[i] > 0) {
      ++successors;
      entropy -= pairs[i] / 399'999 * std::log(pairs[i] / firsts[i / 20]);
    }
  EXPECT_NEAR(source.entropy_rate(), entropy, 0.005);
  EXPECT_LE(successors, 80u);  // four a token
  EXPECT_GE(successors, 70u);
}

TEST(MarkovSource, OneSuccessorIsACycleWithoutEntropy) {
  const MarkovSource source(7, 1, 1);
  EXPECT_EQ(source.entropy_rate(), 0);
  const std::vector<Token> tokens = source.text(15).tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) EXPECT_EQ(tokens[i], i % 7);
}

TEST(MarkovSource, TwoTokensWithTwoSuccessorsByTheClosedForm) {
  // Each token goes to the other with p or q and stays otherwise: π = (q, p)/(p + q). p and q from a long
  // text.
  const MarkovSource source(2, 2, 5);
  const std::vector<Token> tokens = source.text(500'000).tokens;
  double left[2] = {}, seen[2] = {};
  for (std::size_t i = 1; i < tokens.size(); ++i)
    ++seen[tokens[i - 1]], left[tokens[i - 1]] += tokens[i] != tokens[i - 1];
  const double p = left[0] / seen[0], q = left[1] / seen[1];
  const auto h = [](double x) { return -x * std::log(x) - (1 - x) * std::log(1 - x); };
  EXPECT_NEAR(source.entropy_rate(), (q * h(p) + p * h(q)) / (p + q), 0.003);
}

TEST(Dataset, UnigramEntropyByHand) {
  EXPECT_NEAR(unigram_entropy({0, 0, 1, 2}), 1.5 * std::log(2.), 1e-12);  // 1/2, 1/4, 1/4: 1.5 bits
  EXPECT_EQ(unigram_entropy({9, 9}), 0);
}

Json text_scenario(const std::string& glob) {
  Json scenario = small_scenario({{"name", "independent"}});
  scenario["train"]["data"] = {{"text", {glob}}};
  scenario["train"]["model"]["vocabulary"] = 256;
  return scenario;
}

TEST(Dataset, ValidationIsTheEndOfTheText) {
  const TemporaryFolder folder;
  write_file(folder.file("a.txt"), std::string(900, 'a') + std::string(100, 'b'));
  Json scenario = text_scenario("a.txt");
  scenario["train"]["validation_fraction"] = 0.1;
  const Dataset data = load_dataset(only_case(scenario, folder));
  EXPECT_EQ(data.training, std::vector<Token>(900, 'a'));
  EXPECT_EQ(data.validation, std::vector<Token>(100, 'b'));
  EXPECT_FALSE(data.source_entropy);
}

TEST(Dataset, EmptyAndShortTextsAreRefused) {
  const TemporaryFolder folder;
  write_file(folder.file("a.txt"), "");
  const Case one = only_case(text_scenario("a.txt"), folder);
  expect_parts(input_error([&] { load_dataset(one); }), {"train.data", "empty"});
  write_file(folder.file("a.txt"), std::string(50, 'x'));  // 5 % are fewer than context + 1 = 13
  expect_parts(input_error([&] { load_dataset(one); }), {"train.data", "validation", "13"});
}

TEST(Windows, EveryReplicaAndStepDrawsItsOwn) {
  const TemporaryFolder folder;
  const Case one = only_case(small_scenario({{"name", "independent"}}), folder);
  const std::vector<Token> tokens = load_dataset(one).training;
  std::set<std::vector<std::int64_t>> seen;
  for (int replica = 0; replica < 10; ++replica)
    for (int step = 1; step <= 10; ++step) {
      const Batch batch = training_batch(tokens, *one.train, one.seed, replica, step);
      EXPECT_EQ(batch.tokens.size(), 2u * 13);
      EXPECT_EQ(batch.tokens, training_batch(tokens, *one.train, one.seed, replica, step).tokens);
      seen.insert(batch.tokens);
    }
  EXPECT_EQ(seen.size(), 100u);
}

TEST(Windows, ReachBothEndsOfTheText) {
  TrainSpec train;
  train.model.context = 2;
  train.batch = 200;
  std::set<std::int64_t> first;
  const Batch batch = training_batch({0, 1, 2, 3, 4}, train, 1, 0, 1);
  for (std::size_t i = 0; i < batch.tokens.size(); i += 3) {
    first.insert(batch.tokens[i]);
    EXPECT_EQ(batch.tokens[i + 2], batch.tokens[i] + 2);
  }
  EXPECT_EQ(first, (std::set<std::int64_t>{0, 1, 2}));
}

TEST(Windows, ValidationIsTheSameForEveryMethod) {
  const TemporaryFolder folder;
  std::vector<std::vector<std::int64_t>> seen;
  for (const Json& method : {Json{{"name", "ddp"}}, Json{{"name", "noloco"}, {"inner_steps", 3}}}) {
    const Case one = only_case(small_scenario(method), folder);
    const std::vector<Batch> batches = validation_batches(load_dataset(one).validation, *one.train, one.seed);
    ASSERT_EQ(batches.size(), 1u);
    seen.push_back(batches[0].tokens);
  }
  EXPECT_EQ(seen[0], seen[1]);
}

}  // namespace
}  // namespace longhaul
