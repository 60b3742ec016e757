#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

#include "core/base/random.h"
#include "tests/support/said.h"
#include "tests/unit/trainer/support.h"
#include "trainer/data/corpus.h"
#include "trainer/data/dataset.h"
#include "trainer/data/token_text.h"

namespace longhaul::data_test {

std::string shard(std::int32_t magic, std::int32_t version, std::int32_t count,
                  const std::vector<Token>& tokens) {
  std::int32_t header[256] = {magic, version, count};
  std::string bytes(reinterpret_cast<const char*>(header), sizeof header);
  return bytes.append(reinterpret_cast<const char*>(tokens.data()), tokens.size() * 2);
}

void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_SAYS(message, part);
}

TEST(Text, IsTheBytesOfTheFilesInSortedOrder) {
  const TemporaryFolder folder;
  write_text(folder.file("b.txt"), "second");
  write_text(folder.file("a.txt"), "first\xff");
  const TokenText text = read_bytes(files_of({"*.txt"}, folder.path, "train.data.text"));
  EXPECT_EQ(text.hash, fnv1a("first\xffsecond"));
  EXPECT_EQ(text.tokens, (std::vector<Token>{'f', 'i', 'r', 's', 't', 255, 's', 'e', 'c', 'o', 'n', 'd'}));
  EXPECT_EQ(read_bytes({folder.file("b.txt")}, read_bytes({folder.file("a.txt")}).hash).hash, text.hash);
}

std::vector<std::string> names_of(const std::vector<CorpusFile>& files) {
  std::vector<std::string> names;
  for (const CorpusFile& file : files) names.push_back(file.name);
  return names;
}

void make_files(const TemporaryFolder& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) write_text(folder.file(name), name);
}

TEST(SystemHeaders, AreThoseOfTheCompilerLibcAndLinuxAndNoOthers) {
  const TemporaryFolder folder;
  const std::string library = "c++/" + std::to_string(__GNUC__);
  make_files(folder,
             {"stdio.h", library + "/vector", "linux/tcp.h", "asm-generic/w.h", "x86_64-linux-gnu/bits/y.h",
              "zlib.h", "sqlite3.h", "readme", "c++/3/vector", "other/x.h", "x86_64-linux-gnu/more/z.h"});
  EXPECT_EQ(names_of(system_headers(0, folder.path)),
            (std::vector<std::string>{"asm-generic/w.h", library + "/vector", "linux/tcp.h", "stdio.h",
                                      "x86_64-linux-gnu/bits/y.h"}));
}

TEST(Corpora, WithoutTheirFilesTheMessageSaysHowToGetThem) {
  const TemporaryFolder folder;
  const auto expect_said = [&](const auto& corpus, const std::vector<std::string>& parts) {
    expect_parts(said_by([&] { corpus(0.05, folder.path); }), parts);
  };
  expect_said(system_headers, {"train.data.corpus", "install g++"});
  expect_said(linux_source, {"train.data.corpus", "scripts/linux_source.sh"});
  expect_said(debian_prose, {"train.data.corpus", "debian-prose-12", "scripts/debian_prose.sh"});
}

// What decides is the name of a file, or of the folder it is in, and nothing else: one file more moves no
// other, and no folder or document is split. Files that are not text of the corpus are left out.
TEST(Corpora, HoldOutByTheNamesOfFilesOrFoldersAlone) {
  const struct {
    std::vector<CorpusFile> (*corpus)(double, const std::string&);
    std::string before;
    std::vector<std::string> after, others;
    bool by_folder;
  } all[] = {
      {system_headers, "linux/", {".h"}, {}, false},
      {linux_source, "fs/", {"/a.c", "/b.h", "/c.rst"}, {"kernel/readme.png", "drivers/net/x.c"}, true},
      {debian_prose, "manual-", {"-doc.txt"}, {"packages"}, false}};
  for (const auto& of : all) {
    const TemporaryFolder folder;
    std::vector<std::string> names;
    for (int i = 0; i < 400; ++i)
      for (const std::string& after : of.after) names.push_back(of.before + std::to_string(i) + after);
    make_files(folder, names);
    make_files(folder, of.others);
    std::sort(names.begin(), names.end());
    const std::vector<CorpusFile> files = of.corpus(0.25, folder.path);
    EXPECT_EQ(names_of(files), names);
    std::set<std::string> held_out;
    for (const CorpusFile& file : files) {
      const std::string name = of.by_folder ? file.name.substr(0, file.name.rfind('/')) : file.name;
      EXPECT_EQ(file.is_held_out, is_held_out(name, 0.25)) << file.name;
      if (file.is_held_out) held_out.insert(name);
    }
    EXPECT_NEAR(held_out.size(), 100, 35) << "a quarter; four standard deviations of 400 fair draws";
  }
}

// Every pair of places compared, and runs of equal tokens marked: the slow reference.
std::vector<bool> copied_by_comparing(const std::vector<Token>& training,
                                      const std::vector<Token>& held_out) {
  std::vector<bool> copied(held_out.size());
  for (std::size_t at = 0; at < held_out.size(); ++at)
    for (std::size_t from = 0; from < training.size(); ++from) {
      std::size_t length = 0;
      while (at + length < held_out.size() && from + length < training.size() &&
             held_out[at + length] == training[from + length])
        ++length;
      for (std::size_t i = 0; length >= kCopiedStretch && i < length; ++i) copied[at + i] = true;
    }
  return copied;
}

TEST(CopiedStretches, AreThoseThatComparingEveryPairOfPlacesFindsAndAreTakenOut) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream stream(seed, Purpose::kTrainingData);
    const auto random_text = [&](std::size_t length) {
      std::vector<Token> text(length);
      for (Token& token : text) token = static_cast<Token>(stream.below(3));
      return text;
    };
    const std::vector<Token> training = random_text(700);
    std::vector<Token> held_out = random_text(50);
    for (const std::size_t length :
         {kCopiedStretch - 1, kCopiedStretch, kCopiedStretch + 1, std::size_t{130}}) {
      const auto from = training.begin() + static_cast<std::ptrdiff_t>(stream.below(700 - length));
      held_out.insert(held_out.end(), from, from + static_cast<std::ptrdiff_t>(length));
      const std::vector<Token> between = random_text(stream.below(40));
      held_out.insert(held_out.end(), between.begin(), between.end());
    }
    const std::vector<bool> expected = copied_by_comparing(training, held_out);
    EXPECT_GE(std::count(expected.begin(), expected.end(), true), 65 + 66 + 130);
    EXPECT_EQ(copied_tokens(training, held_out), expected) << "seed " << seed;
    std::vector<Token> rest;
    for (std::size_t i = 0; i < held_out.size(); ++i)
      if (!expected[i]) rest.push_back(held_out[i]);
    EXPECT_EQ(remove_copied_stretches(training, held_out), expected.size() - rest.size());
    EXPECT_EQ(held_out, rest);
    EXPECT_EQ(remove_copied_stretches({1, 2}, held_out), 0u) << "shorter than a stretch";
    EXPECT_EQ(copied_tokens(training, {1, 2}), std::vector<bool>(2));
  }
}

TEST(Shards, ReadTheFormatOfLlmC) {
  const TemporaryFolder folder;
  write_text(folder.file("a.bin"), shard(20240520, 1, 3, {7, 8, 9}));
  write_text(folder.file("b.bin"), shard(20240520, 1, 2, {1, 2}));
  EXPECT_EQ(read_token_shards({folder.file("a.bin"), folder.file("b.bin")}, 10).tokens,
            (std::vector<Token>{7, 8, 9, 1, 2}));
}

TEST(Shards, WrongOnesAreRefusedByName) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.bin");
  const auto refused = [&](const std::string& bytes, const std::vector<std::string>& parts) {
    write_text(file, bytes);
    const std::string message = said_by([&] { read_token_shards({file}, 100); });
    expect_parts(message, {"train.data.shards", "a.bin"});
    expect_parts(message, parts);
  };
  refused(shard(20240801, 1, 1, {1}), {"20240801", "20240520"});
  refused(shard(20240520, 2, 1, {1}), {"20240520, 2"});
  refused(shard(20240520, 1, 5, {1, 2, 3}), {"3 of 5"});
  refused("short", {"1024 bytes"});
  refused(shard(20240520, 1, 2, {5, 100}), {"token 100", "at 1", "train.model.vocabulary, 100"});
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

TEST(Dataset, UnigramEntropyByHand) {
  EXPECT_NEAR(unigram_entropy({0, 0, 1, 2}), 1.5 * std::log(2.), 1e-12);  // 1/2, 1/4, 1/4: 1.5 bits
  EXPECT_EQ(unigram_entropy({9, 9}), 0);
}

TEST(Dataset, ValidationIsTheEndOfTheTextOrItsOwnFiles) {
  const TemporaryFolder folder;
  const std::string text = std::string(900, 'a') + std::string(100, 'b'), held_out(50, 'v');
  write_text(folder.file("a.txt"), text);
  write_text(folder.file("val.txt"), held_out);
  Json end = text_scenario("a.txt"), files = end;
  end["train"]["validation_fraction"] = 0.1;
  const Dataset cut = load_dataset(only_case(end, folder));
  EXPECT_EQ(cut.training, std::vector<Token>(900, 'a'));
  EXPECT_EQ(cut.validation, std::vector<Token>(100, 'b'));
  EXPECT_FALSE(cut.source_entropy);
  files["train"]["data"]["validation"] = {"val.txt"};
  const Dataset apart = load_dataset(only_case(files, folder));
  EXPECT_EQ(apart.training, std::vector<Token>(text.begin(), text.end()));
  EXPECT_EQ(apart.validation, std::vector<Token>(50, 'v'));
  EXPECT_EQ(apart.hash, fnv1a(text + held_out));
}

TEST(Dataset, WrongDataIsRefusedByName) {
  const TemporaryFolder folder;
  const auto refused = [&](const Json& data, const std::vector<std::string>& parts) {
    Json scenario = text_scenario("");
    scenario["train"]["data"] = data;
    expect_parts(said_by([&] { load_dataset(only_case(scenario, folder)); }), parts);
  };
  write_text(folder.file("a.txt"), "");
  refused({{"text", {"a.txt"}}}, {"train.data", "empty"});
  write_text(folder.file("a.txt"), std::string(50, 'x'));  // 5 % are fewer than context + 1 = 13
  refused({{"text", {"a.txt"}}}, {"train.data", "validation", "13"});
  write_text(folder.file("a.bin"), shard(20240520, 1, 50, std::vector<Token>(50, 1)));
  write_text(folder.file("val.bin"), shard(20240520, 1, 50, std::vector<Token>(50, 999)));
  refused({{"shards", {"a.bin"}}, {"validation", {"val.bin"}}},
          {"train.data.validation", "val.bin", "token 999"});
  refused({{"corpus", "system-headers"}, {"validation", {"val.txt"}}}, {"train.data.validation", "corpus"});
}

TEST(Windows, EveryReplicaAndStepDrawsItsOwn) {
  const Case config = case_of(small_scenario({{"name", "independent"}}));
  const std::vector<Token> tokens = load_dataset(config).training;
  std::set<std::vector<std::int64_t>> seen;
  for (int replica = 0; replica < 10; ++replica)
    for (int step = 1; step <= 10; ++step) {
      const Batch batch = training_batch(tokens, *config.train, config.seed, replica, step);
      EXPECT_EQ(batch.tokens.size(), 2u * 13);
      EXPECT_EQ(batch.tokens, training_batch(tokens, *config.train, config.seed, replica, step).tokens);
      seen.insert(batch.tokens);
    }
  EXPECT_EQ(seen.size(), 100u);
}

// Windows of three tokens: of five in all; and of 50 in five parts, of which replica 3 has tokens 30 to 39.
TEST(Windows, ReachBothEndsOfTheTextAndOfAReplicasPart) {
  for (const auto& [shards, count, expected] :
       {std::tuple{1, 5, std::set<std::int64_t>{0, 1, 2}},
        {5, 50, std::set<std::int64_t>{30, 31, 32, 33, 34, 35, 36, 37}}}) {
    TrainSpec train;
    train.model.context = 2;
    train.batch = 200;
    train.shards = shards;
    std::vector<Token> tokens(as_index(count));
    std::iota(tokens.begin(), tokens.end(), Token{0});
    std::set<std::int64_t> first;
    const Batch batch = training_batch(tokens, train, 1, 3, 1);
    for (std::size_t i = 0; i < batch.tokens.size(); i += 3) {
      first.insert(batch.tokens[i]);
      EXPECT_EQ(batch.tokens[i + 2], batch.tokens[i] + 2);
    }
    EXPECT_EQ(first, expected);
  }
}

// Ten places for a window of 3 in 12 tokens, two parts: their middles 2.5 and 7.5.
TEST(Windows, OfValidationAreTheMiddlesOfEqualParts) {
  EXPECT_EQ(validation_starts(12, 2, 2), (std::vector<std::size_t>{2, 7}));
  EXPECT_EQ(validation_starts(3, 2, 1), (std::vector<std::size_t>{0}));
  const std::vector<std::size_t> starts = validation_starts(1000, 9, 33);  // 991 places
  for (std::size_t i = 1; i < starts.size(); ++i) EXPECT_NEAR(starts[i] - starts[i - 1], 991. / 33, 1);
  EXPECT_LE(starts.back() + 10, 1000u);
}

// The window of `context` + 1 tokens predicts all but its first.
TEST(Windows, OfTheWholePartPredictEachTokenOnce) {
  std::vector<int> predicted(23);
  for (const std::size_t start : validation_starts(23, 4, 0))
    for (std::size_t i = 1; i <= 4; ++i) ++predicted[start + i];
  std::vector<int> expected(23, 1);
  expected[0] = expected[21] = expected[22] = 0;  // 22 to predict: five windows of four
  EXPECT_EQ(predicted, expected);
}

TEST(Dataset, ACorpusIsRealTextAndWhatItHoldsOutHasNothingInCommonWithItsTraining) {
  Json scenario = text_scenario("");
  scenario["train"]["data"] = {{"corpus", "system-headers"}};
  const Dataset data = load_dataset(case_of(scenario));
  EXPECT_GT(data.training.size() + data.validation.size() + data.copied_tokens, 10'000'000u);
  EXPECT_NEAR(unigram_entropy(data.training), 3.5, 0.4);  // English-like: about five bits a byte
  EXPECT_GT(data.validation.size(), 100'000u);
  EXPECT_GT(data.copied_tokens, 10'000u);
  // What is left meets where something was taken out, so that few new stretches may arise.
  const std::vector<bool> copied = copied_tokens(data.training, data.validation);
  EXPECT_LT(std::count(copied.begin(), copied.end(), true),
            0.002 * static_cast<double>(data.validation.size()));
}

}  // namespace longhaul::data_test
