#include <gtest/gtest.h>

#include <cstring>

#include "core/errors.h"
#include "tests/unit/trainer/support.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/commands.h"

namespace longhaul {
namespace {

StoredTensor indices(const std::vector<std::int64_t>& values, std::vector<std::int64_t> shape) {
  return {"I64", std::move(shape),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * 8)};
}

std::vector<float> floats(const StoredTensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

TEST(Safetensors, ReadsWhatItWroteAndWhatOthersWrite) {
  const TemporaryFolder folder;
  write_safetensors(folder.file("a"), {{"x", store({1, 2, 3, 4, 5, 6}, {2, 3})}, {"y", indices({7}, {1})}});
  const StoredTensors read = read_safetensors(folder.file("a"));
  EXPECT_EQ(read.at("x").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(floats(read.at("x")), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read.at("y").dtype, "I64");
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::uint64_t length = header.size();
  const float value = 0.5;
  write_text(folder.file("b"), std::string(reinterpret_cast<const char*>(&length), 8) + header +
                                   std::string(reinterpret_cast<const char*>(&value), 4));
  EXPECT_EQ(floats(read_safetensors(folder.file("b")).at("w")), std::vector<float>{0.5});
}

TEST(Safetensors, DamagedFilesAreRefused) {
  const TemporaryFolder folder;
  write_safetensors(folder.file("a"), {{"x", store({1, 2}, {2})}});
  const std::string whole = read_text(folder.file("a"));
  for (std::size_t length : {std::size_t{0}, std::size_t{5}, std::size_t{20}, whole.size() - 1}) {
    write_text(folder.file("b"), whole.substr(0, length));
    EXPECT_THROW(read_safetensors(folder.file("b")), InputError) << length;
  }
  write_text(folder.file("b"), std::string("\2\0\0\0\0\0\0\0[}", 10));
  EXPECT_THROW(read_safetensors(folder.file("b")), InputError);
}

class OuterStepCommand : public testing::Test {
 protected:
  // The second step of tests/golden/noloco_pairs.json, in two columns.
  StoredTensors second_step() {
    return {{"theta", store({1.27f, 0, 1.17f, 0, 1.03f, 0, 0.73f, 0, 9, 9}, {5, 2})},
            {"phi", store({1.07f, 0, 1.07f, 0, 0.93f, 0, 0.93f, 0, 8, 8}, {5, 2})},
            {"momentum", store({0.07f, 0, 0.07f, 0, -0.07f, 0, -0.07f, 0, 7, 7}, {5, 2})},
            {"groups", indices({2, 0, 1, 3}, {2, 2})}};
  }
  StoredTensors run(const StoredTensors& tensors, const std::string& method = "noloco",
                    std::vector<std::string> assignments = {}) {
    write_safetensors(folder_.file("in"), tensors);
    run_outer_step({method, folder_.file("in"), folder_.file("out"), "fp32", std::move(assignments)});
    return read_safetensors(folder_.file("out"));
  }

  TemporaryFolder folder_;
};

TEST_F(OuterStepCommand, MakesTheHandWorkedStepAndLeavesTheOthers) {
  const StoredTensors out = run(second_step());
  const std::vector<float> expected = {1.161f, 0, 1.021f, 0, 1.049f, 0, 0.909f, 0, 8, 8};
  const std::vector<float> phi = floats(out.at("phi")), theta = floats(out.at("theta"));
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(phi[i], expected[i], 1e-6);
  EXPECT_EQ(theta[9], 9);  // in no group
  EXPECT_EQ(theta[2], phi[2]);
  EXPECT_NEAR(floats(out.at("momentum"))[4], 0.119, 1e-6);
  EXPECT_EQ(out.count("groups"), 0u);
}

TEST_F(OuterStepCommand, TakesTheMethodsOptions) {
  const float with_gamma = floats(run(second_step()).at("phi"))[0];
  const float without = floats(run(second_step(), "noloco", {"gamma=0"}).at("phi"))[0];
  EXPECT_NEAR(without - with_gamma, 0.7 * 0.07, 1e-6);
  StoredTensors everyone = second_step();
  everyone["groups"] = indices({0, 1, 2, 3, 4}, {1, 5});
  EXPECT_NE(run(everyone, "diloco").at("phi").bytes,
            run(everyone, "diloco", {"nesterov=false"}).at("phi").bytes);
}

TEST_F(OuterStepCommand, RefusesWhatIsWrong) {
  StoredTensors tensors = second_step();
  EXPECT_THROW(run(tensors, "ddp"), InputError);
  EXPECT_THROW(run(tensors, "nolocco"), InputError);
  EXPECT_THROW(run(tensors, "noloco", {"gama=1"}), InputError);
  tensors["groups"] = indices({0, 1, 1, 2}, {2, 2});
  EXPECT_THROW(run(tensors), InputError);
  tensors["groups"] = indices({0, 5}, {1, 2});
  EXPECT_THROW(run(tensors), InputError);
  tensors.erase("groups");
  EXPECT_THROW(run(tensors), InputError);
  tensors = second_step();
  tensors["phi"] = store({1, 2}, {1, 2});
  EXPECT_THROW(run(tensors), InputError);
}

}  // namespace
}  // namespace longhaul
