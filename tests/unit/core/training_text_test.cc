// What files' sizes and shards' headers say of a text, before it is read.
#include "core/scenario/training_text.h"

#include <gtest/gtest.h>

#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::training_text_test {

class TrainingText : public testing::Test {
 protected:
  TrainingText() {
    one_.folder = folder_.path;
    one_.train = TrainSpec();
    one_.train->model = {16, 1, 2, 32, /*context=*/9, /*vocabulary=*/256};
    one_.train->validation_fraction = 0.1;
  }

  void text(int bytes, const std::vector<std::string>& globs) {
    write_text(folder_.file("a.txt"), std::string(static_cast<std::size_t>(bytes), 'x'));
    one_.train->data.kind = DataSpec::Kind::kText;
    one_.train->data.globs = globs;
  }

  // A header that says `said`, and `tokens` tokens behind it.
  void shard(std::int32_t said, int tokens, std::int32_t magic = kShardMagic) {
    const std::int32_t header[kShardHeader] = {magic, kShardVersion, said};
    std::string bytes(reinterpret_cast<const char*>(header), sizeof header);
    write_text(folder_.file("a.bin"), bytes + std::string(2 * static_cast<std::size_t>(tokens), '\0'));
  }

  std::string error() const {
    return said_by([&] { check_training_text(one_); });
  }

  void file(const std::string& name, const std::string& content) { write_text(folder_.file(name), content); }

  void expect_said(const std::string& words) const { EXPECT_SAYS(error(), words); }

  const TemporaryFolder folder_;
  Case one_;
};

// 100 bytes: 90 to train on and 10 held out, each at least context + 1 = 10. Among 10 replicas the 90 are 9
// for each.
TEST_F(TrainingText, EachPartHoldsAWindow) {
  text(100, {"*.txt"});
  one_.train->shards = 10;
  expect_said("a text of 90 tokens has 10 parts");
  for (const int parts : {9, 1}) {
    one_.train->shards = parts;
    EXPECT_EQ(error(), "");
  }
  text(94, {"*.txt"});  // llround(9.4) are held out
  expect_said("train.data: the validation part of the text has 9 tokens; allowed: at least context + 1, 10");
  one_.train->data.validation = {"a.txt"};
  EXPECT_EQ(error(), "");
  text(9, {"*.txt"});
  expect_said("the training part of the text has 9 tokens");
  text(9, {"*.txt", "missing/*"});
  expect_said("train.data.text[1]: \"missing/*\" matches no file");
}

TEST_F(TrainingText, AShardIsAsLongAsItSays) {
  one_.train->data.kind = DataSpec::Kind::kShards;
  one_.train->data.globs = {"a.bin"};
  shard(100, 100);
  EXPECT_EQ(error(), "");
  EXPECT_EQ(tokens_of_shard(folder_.file("a.bin"), "p"), 100u);
  shard(100, 99);
  expect_said("train.data.shards: " + folder_.file("a.bin") + " ends after 99 of 100 tokens");
  shard(100, 101);
  expect_said("goes on after the 100 tokens");
  shard(100, 100, 1);
  expect_said("begins with 1, 1");
  shard(-1, 0);
  expect_said("says it holds -1 tokens");
  write_text(folder_.file("a.bin"), "short");
  expect_said("shorter than a shard's header of 1024 bytes");
}

TEST_F(TrainingText, ASyntheticSourceFitsItsVocabulary) {
  one_.train->data.kind = DataSpec::Kind::kSynthetic;
  one_.train->data.synthetic = {4, 1000};
  EXPECT_EQ(error(), "");
  one_.train->data.synthetic.branching = 257;
  expect_said("train.data.synthetic.branching: found 257");
  one_.train->model.vocabulary = 70000;
  expect_said("train.model.vocabulary: found 70000");
}

// By the first bytes of each format's own paper, whatever the file is called.
TEST_F(TrainingText, IsNotTrainedOnWhileItIsCompressed) {
  text(100, {"*.txt"});
  EXPECT_EQ(error(), "");
  for (const auto& [kind, head] : {std::pair("gzip", "\x1f\x8b"),
                                   {"zstd", "\x28\xb5\x2f\xfd"},
                                   {"xz", "\xfd\x37zXZ"},
                                   {"bzip2", "BZh91AY&SY"},
                                   {"parquet", "PAR1"},
                                   {"zip", "PK\x03\x04"}}) {
    file("a.txt", head + std::string(100, 'x'));
    expect_said(kind);
    expect_said("allowed: plain text");
  }
  file("a.txt", "BZh9 is how bzip2 begins" + std::string(100, 'x'));
  EXPECT_EQ(error(), "");
}

TEST_F(TrainingText, ThatIsJsonLinesIsNamed) {
  text(100, {"*.txt"});
  EXPECT_TRUE(json_lines_in(one_).empty());
  file("a.txt", "{so} it begins");
  EXPECT_TRUE(json_lines_in(one_).empty());
  file("a.txt", "{\"text\": \"it begins\"}\n{\"text\": \"it ends\"}\n");
  EXPECT_EQ(json_lines_in(one_), std::vector<std::string>{folder_.file("a.txt")});
}

// 40 tokens, the last of them 300 with a vocabulary of 256.
TEST_F(TrainingText, AShardHasTokensOfTheVocabulary) {
  const auto shard_with = [&](int token) {
    shard(40, 40);
    std::string bytes = read_text(folder_.file("a.bin"));
    bytes[bytes.size() - 2] = static_cast<char>(token % 256);
    bytes[bytes.size() - 1] = static_cast<char>(token / 256);
    file("a.bin", bytes);
    one_.train->data.kind = DataSpec::Kind::kShards;
    one_.train->data.globs = {"*.bin"};
    one_.train->validation_fraction = 0.5;
  };
  shard_with(255);
  EXPECT_EQ(error(), "");
  shard_with(300);
  expect_said("a.bin has token 300; allowed: tokens below train.model.vocabulary, 256");
}

}  // namespace longhaul::training_text_test
