#include <cmath>

#include "core/scenario/scenario_options.h"
#include "tests/support/every_method.h"
#include "tests/support/said.h"
#include "tests/unit/trainer/support.h"
#include "trainer/commands.h"

namespace longhaul::outer_step_command_test {

StoredTensor indices(const std::vector<std::int64_t>& values, std::vector<std::int64_t> shape) {
  return {"I64", std::move(shape),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * 8)};
}

// What they wrote themselves all tests of the command read.
TEST(Safetensors, ReadWhatOthersWrite) {
  const TemporaryFolder folder;
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::uint64_t length = header.size();
  const float value = 0.5;
  write_text(folder.file("a"), std::string(reinterpret_cast<const char*>(&length), 8) + header +
                                   std::string(reinterpret_cast<const char*>(&value), 4));
  EXPECT_EQ(floats_of(read_safetensors(folder.file("a")).at("w")), std::vector<float>{0.5});
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

using Tables = std::map<std::string, std::vector<float>>;

// Of one weight.
StoredTensors column(const Tables& tables) {
  StoredTensors tensors;
  for (const auto& [name, values] : tables)
    tensors[name] = store(values, {static_cast<std::int64_t>(values.size()), 1});
  return tensors;
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
  OuterStepArguments arguments(const std::string& method, std::vector<std::string> assignments) {
    return {method, folder_.file("in"), folder_.file("out"), "fp32", std::move(assignments)};
  }
  StoredTensors run(const StoredTensors& tensors, const OuterStepArguments& arguments) {
    write_safetensors(arguments.in, tensors);
    run_outer_step(arguments);
    return read_safetensors(arguments.out);
  }
  StoredTensors run(const StoredTensors& tensors, const std::string& method = "noloco",
                    std::vector<std::string> assignments = {}) {
    return run(tensors, arguments(method, std::move(assignments)));
  }
  static std::vector<std::string> half_and(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"outer_lr=0.5", "outer_momentum=0.5"});
    return more;
  }
  // Of one weight, two replicas, lr 0.5; `after`: some of the tables that come out.
  void expect_step(const std::string& method, std::vector<std::string> options, const Tables& before,
                   const Tables& after, double within = 0, int step = 1) {
    OuterStepArguments of_step = arguments(method, std::move(options));
    of_step.step = step, of_step.lr = 0.5, of_step.first = is_first_;
    const StoredTensors out = run(column(before), of_step);
    EXPECT_EQ(out.count("posted.theta"), 0u) << method;
    for (const auto& [name, expected] : after)
      for (std::size_t r = 0; r < 2; ++r)
        EXPECT_NEAR(floats_of(out.at(name)).at(r), expected[r], within) << method << ", " << name << " " << r;
  }

  TemporaryFolder folder_;
  bool is_first_ = false;
};

// The one that is left over takes the step of a group of one, as in a training: m = 0.5 · 7 + 0.7 · (9 − 8).
TEST_F(OuterStepCommand, MakesTheHandWorkedStepAndThatOfTheOneLeftOver) {
  const StoredTensors out = run(second_step());
  const std::vector<float> expected = {1.161f, 0, 1.021f, 0, 1.049f, 0, 0.909f, 0, 12.2f, 12.2f};
  const std::vector<float> phi = floats_of(out.at("phi")), theta = floats_of(out.at("theta"));
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(phi[i], expected[i], 1e-6);
  EXPECT_EQ(theta[9], phi[9]);
  EXPECT_EQ(theta[2], phi[2]);
  EXPECT_NEAR(floats_of(out.at("momentum"))[4], 0.119, 1e-6);
  EXPECT_NEAR(floats_of(out.at("momentum"))[8], 4.2, 1e-6);
  EXPECT_EQ(out.count("groups"), 0u);
}

// The numbers of tests/golden/.
TEST_F(OuterStepCommand, TakesTheStepOfAMethod) {
  StoredTensors gossip = column({{"theta", {1, 2, 4, 9}}});
  gossip["groups"] = indices({0, 2, 1, 3}, {2, 2});
  EXPECT_EQ(floats_of(run(gossip, "gossip").at("theta")), (std::vector<float>{2.5, 5.5, 2.5, 5.5}));
  expect_step("ddp", {}, {{"theta", {0, 0}}, {"gradient", {1, 2}}}, {{"gradient", {1.5, 1.5}}});
  expect_step("streaming-diloco", half_and({"fragments=1", "mixing=0.5", "codec=wire"}),
              {{"theta", {3, 4}}, {"posted.theta", {2.5, 3.5}}, {"phi", {1.5, 1.5}}, {"momentum", {2, 2}}},
              {{"theta", {2.9375, 3.4375}}, {"momentum", {2.5, 2.5}}});
  Tables eager = {{"theta", {1.75, 3.5}}, {"phi", {0.75, 1.5}}, {"momentum", {1, 2}}};
  eager.insert({{"posted.theta", {2, 4}}, {"posted.phi", {0, 0}}});
  expect_step("eager-diloco", half_and(), eager, {{"phi", {2.75, 3.25}}});
}

TEST_F(OuterStepCommand, TakesTheStepOfMethodsWithAnOptimizerOfTheirOwn) {
  const Tables start = {{"theta", {1, 1}},        {"gradient", {3, -1}},     {"error", {0, 0}},
                        {"first_moment", {1, 1}}, {"second_moment", {4, 4}}, {"velocity", {2, 2}},
                        {"server_error", {0, 0}}};
  // 1-bit Adam at step 2, frozen at 1: m = 0.9·1 + 0.1·3 = 1.2 and 0.8, whose signs are themselves; the mean
  // is 1. m̂ = 1/(1 − 0.81), v̂ = 4/(1 − 0.95): θ = 1 − 0.5 · 5.26316 / 8.94427.
  const auto frozen = static_cast<float>(1 - 0.5 * (1 / 0.19) / std::sqrt(80.));
  expect_step("one-bit-adam", {"freeze_step=1"}, start,
              {{"theta", {frozen, frozen}}, {"first_moment", {1, 1}}}, 1e-6, 2);
  // Before that it is Adam: g = 1, m = 1, v = 0.95·4 + 0.05 = 3.85; θ = 1 − 0.5 · (1/0.1)/sqrt(3.85/0.05).
  const auto adam = static_cast<float>(1 - 0.5 * 10 / std::sqrt(77.));
  expect_step("one-bit-adam", {"freeze_step=1"}, start, {{"theta", {adam, adam}}}, 1e-6);
  // DeMo: lr · g = 1.5 and -0.5, of one column the whole transform: the sign of the mean 0.5 is 1.
  expect_step("demo", {}, start, {{"theta", {0.5, 0.5}}});
  expect_step("demo", {}, start, {{"error", {0, 0}}}, 1e-6);
  // DGC: u = 0.5·2 + g = 4 and 0, all of it sent; θ = 1 − 0.5·2. What replica 0 sent starts anew.
  expect_step("dgc", {"momentum=0.5", "warm_up=0"}, start, {{"theta", {0, 0}}, {"velocity", {0, 0}}});
  expect_step("dgc", {"momentum=0.5", "warm_up=0", "factor_masking=false"}, start, {{"velocity", {4, 0}}});
}

// By hand: in the first round no late message has arrived. Eager updates take their own part of the mean:
// Δ̃ = (θ − φ)/2 = 1 and 2, v = Δ̃, φ = 0.5 (Δ̃ + 0.5 v) = 0.75 Δ̃. The others go back to φ.
TEST_F(OuterStepCommand, TakesTheFirstRoundOfLateMethods) {
  const Tables start = {{"theta", {2, 4}}, {"phi", {0, 0}}, {"momentum", {0, 0}}},
               back = {{"theta", {0, 0}}, {"momentum", {0, 0}}};
  is_first_ = true;
  expect_step("eager-diloco", half_and(), start,
              {{"phi", {0.75, 1.5}}, {"theta", {0.75, 1.5}}, {"momentum", {1, 2}}});
  expect_step("dilocox", half_and({"codec=wire", "error_feedback=none"}), start, back);
  expect_step("co2", half_and(), start, back);
  EXPECT_THROW(expect_step("diloco", half_and(), start, {}), InputError);
}

// Groups of a method with an all-reduce are those that take part: the others stay as they are.
TEST_F(OuterStepCommand, LeavesThoseThatTakeNoPart) {
  StoredTensors tensors = column({{"theta", {1, 3, 7}}, {"phi", {0, 0, 0}}, {"momentum", {0, 0, 0}}});
  tensors["groups"] = indices({0, 1}, {1, 2});
  const StoredTensors out = run(tensors, "diloco", {"outer_lr=1", "outer_momentum=0"});
  EXPECT_EQ(floats_of(out.at("theta")), (std::vector<float>{2, 2, 7}));
}

// Differences (1, 0, 0, 0) and (0, 1, 0, 0): both are 1 long, and the mean of their directions is (1, 1)/2,
// which the merge makes 1 long again; the plain mean stays (1, 1)/2. So does that of an embedding.
TEST_F(OuterStepCommand, MergesDirectionsAsATrainingDoes) {
  const std::vector<std::string> whole = {"outer_lr=1", "outer_momentum=0", "mixing=0", "codec=wire",
                                          "fragments=1"};
  const StoredTensors before = {{"theta", store({1, 0, 0, 0, 0, 1, 0, 0}, {2, 4})},
                                {"phi", store(std::vector<float>(8), {2, 4})},
                                {"momentum", store(std::vector<float>(8), {2, 4})}};
  const double root = std::sqrt(0.5);
  for (const auto& [merge, size] :
       std::map<std::string, double>{{"radial-directional", root}, {"mean", 0.5}}) {
    std::vector<std::string> options = whole;
    options.push_back("merge=" + merge);
    const StoredTensors out = run(before, "decoupled-diloco", options);
    for (const char* table : {"phi", "theta", "momentum"})
      for (std::size_t i = 0; i < 8; ++i)
        EXPECT_NEAR(floats_of(out.at(table))[i], i % 4 < 2 ? size : 0, 1e-7) << merge << " " << table;
  }
  // Each group is a merge, in their order, into the one model of the synchronizer: replicas 1 and 2
  // contribute to the second, with (0, 1) − φ and (1, 0) − φ for φ = (1, 0), so lengths √2 and 0, and the
  // direction (−1, 1)/√2: φ = (1, 0) + √2/2 · (−1, 1)/√2.
  StoredTensors three = {{"theta", store({1, 0, 0, 1, 1, 0}, {3, 2})},
                         {"phi", store(std::vector<float>(6), {3, 2})},
                         {"momentum", store(std::vector<float>(6), {3, 2})},
                         {"groups", indices({0}, {1, 1})}};
  std::vector<float> once = floats_of(run(three, "decoupled-diloco", whole).at("phi"));
  EXPECT_EQ(once, (std::vector<float>{1, 0, 0, 0, 0, 0})) << "the others took nothing up";
  three["phi"] = store({1, 0, 1, 0, 1, 0}, {3, 2});
  three["groups"] = indices({1, 2}, {1, 2});
  once = floats_of(run(three, "decoupled-diloco", whole).at("phi"));
  for (const std::size_t at : {2, 3, 4, 5}) EXPECT_NEAR(once[at], 0.5, 1e-6);
  EXPECT_EQ(once[0], 1);
  three["phi"] = store({1, 0, 1, 0, 1, 1}, {3, 2});
  EXPECT_SAYS(said_by([&] { run(three, "decoupled-diloco", whole); }),
              "phi: has rows 0 and 2 that differ; allowed: the same in all rows: the synchronizer's model");
}

// With a model: each tensor's directions by itself, and embeddings as they are.
TEST_F(OuterStepCommand, MergesTensorByTensor) {
  const std::string model =
      R"({"hidden": 4, "layers": 1, "heads": 1, "ffn": 4, "context": 4, "vocabulary": 8})";
  const std::vector<Parameter> layout = parameter_layout(parse_model(
      resolve(*scenario_options({}, {}).child("train")->child("model"), parse_json(model), "model"),
      "model"));
  const std::int64_t parameters = layout.back().offset + layout.back().size();
  std::vector<float> theta(2 * as_index(parameters)), zeros(theta.size()), expected(theta.size());
  for (const Parameter& tensor : layout) {
    theta[as_index(tensor.offset)] = 1;
    theta[as_index(parameters + tensor.offset + 1)] = 1;
    for (const std::int64_t row : {0, 1})
      for (const std::int64_t column : {0, 1})
        expected[as_index(row * parameters + tensor.offset + column)] =
            tensor.is_embedding() ? 0.5f : static_cast<float>(std::sqrt(0.5));
  }
  OuterStepArguments of_model = arguments(
      "decoupled-diloco", {"outer_lr=1", "outer_momentum=0", "mixing=0", "codec=wire", "fragments=1"});
  of_model.model = model;
  const StoredTensors out = run({{"theta", store(theta, {2, parameters})},
                                 {"phi", store(zeros, {2, parameters})},
                                 {"momentum", store(zeros, {2, parameters})}},
                                of_model);
  const std::vector<float> phi = floats_of(out.at("phi"));
  for (std::size_t i = 0; i < phi.size(); ++i) EXPECT_NEAR(phi[i], expected[i], 1e-6) << i;
}

// Of two outer steps of 50 the second is one with momentum: B = 1/2 + 1/2, m = 1, φ = 1/2 + 1 · (1/2 + 0.5).
TEST_F(OuterStepCommand, WantsTheStepOfARoundWhereThatCounts) {
  const std::vector<std::string> options = {"momentum_every=2", "outer_lr=1", "outer_momentum=0.5"};
  const Tables before = {
      {"theta", {1.5, 1.5}}, {"phi", {0.5, 0.5}}, {"momentum", {0, 0}}, {"outer_buffer", {0.5, 0.5}}};
  expect_step("delayed-nesterov", options, before, {{"phi", {1.5, 1.5}}, {"outer_buffer", {0, 0}}}, 0, 100);
  expect_step("delayed-nesterov", options, before, {{"phi", {1, 1}}, {"outer_buffer", {1, 1}}}, 0, 50);
  EXPECT_SAYS(said_by([&] { expect_step("delayed-nesterov", options, before, {}); }),
              "--step: found 1; allowed: a multiple of 50");
}

// The targets of Epidemic Learning, and the columns of SPARTA by their seed.
TEST_F(OuterStepCommand, TakesTargetsAndDrawsColumns) {
  StoredTensors tensors;
  tensors["theta"] = store({1, 2, 4, 9}, {4, 1});
  tensors["targets"] = indices({1, 2, 3, 1}, {4, 1});  // 1 hears 0 and 3, 2 hears 1, 3 hears 2
  const StoredTensors heard = run(tensors, "epidemic", {});
  EXPECT_EQ(floats_of(heard.at("theta")), (std::vector<float>{1, 4, 3, 6.5}));
  EXPECT_EQ(heard.count("targets"), 0u);
  for (const std::vector<std::int64_t>& wrong :
       std::vector<std::vector<std::int64_t>>{{0, 2, 3, 1}, {1, 2, 3, 4}, {1, 2, 3, -1}}) {
    tensors["targets"] = indices(wrong, {4, 1});
    EXPECT_THROW(run(tensors, "epidemic", {}), InputError);
  }
  tensors.erase("targets");
  EXPECT_THROW(run(tensors, "epidemic", {}), InputError);

  std::vector<float> rows(2000, 1);
  std::fill(rows.begin() + 1000, rows.end(), 3);
  tensors = {{"theta", store(rows, {2, 1000})}};
  const auto averaged = [&](std::uint64_t seed) {
    OuterStepArguments of_seed = arguments("sparta", {"share=0.1"});
    of_seed.seed = seed;
    std::set<std::size_t> columns;
    const std::vector<float> found = floats_of(run(tensors, of_seed).at("theta"));
    for (std::size_t i = 0; i < 1000; ++i)
      if (found[i] == 2 && found[1000 + i] == 2) columns.insert(i);
    return columns;
  };
  EXPECT_EQ(averaged(1).size(), 100u);
  EXPECT_NE(averaged(1), averaged(2));
  EXPECT_EQ(averaged(2), averaged(2));
}

TEST_F(OuterStepCommand, EveryMethodButTheOneThatExchangesNothing) {
  for (const Json& method : every_method(4)) {
    const std::string name = method["name"];
    if (name == "ist") continue;  // two columns are no model
    StoredTensors tensors;
    for (const char* table :
         {"theta", "phi", "momentum", "gradient", "error", "sent_mean", "first_moment", "second_moment",
          "velocity", "late_gradient_0", "late_gradient_1", "late_gradient_2", "outer_buffer", "proposal"})
      tensors[table] = store({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
    if (name == "decoupled-diloco")  // whose synchronizer has one of each
      for (const char* table : {"phi", "momentum"}) tensors[table] = store({1, 2, 1, 2, 1, 2, 1, 2}, {4, 2});
    tensors["groups"] = indices({0, 1, 2, 3}, {2, 2});
    tensors["targets"] = indices({1, 2, 3, 0}, {4, 1});
    std::vector<std::string> options;
    for (const auto& [key, value] : method.items())
      if (key != "name" && key != "optimizer") options.push_back(key + "=" + value.dump());
    if (method.contains("codec") && method["codec"].contains("low_rank")) options.push_back("codec=wire");
    OuterStepArguments of_step = arguments(name, options);
    if (name == "delayed-nesterov") of_step.step = method.value("inner_steps", 50);
    if (name == "independent" || name == "single")
      EXPECT_THROW(run(tensors, of_step), InputError);
    else
      EXPECT_EQ(run(tensors, of_step).at("theta").shape, tensors["theta"].shape) << method;
  }
}

TEST_F(OuterStepCommand, RefusesWhatIsWrong) {
  for (const char* method : {"ddp", "nolocco", "dilocox"})  // the last: low rank of no matrix
    EXPECT_THROW(run(second_step(), method), InputError) << method;
  EXPECT_THROW(run(second_step(), "noloco", {"gama=1"}), InputError);
  // Without layers there are no fragments, unless their number is given.
  const StoredTensors flat = column({{"theta", {3, 4}}, {"phi", {1, 1}}, {"momentum", {2, 2}}});
  EXPECT_SAYS(said_by([&] { run(flat, "streaming-diloco"); }),
              "--model with the dimensions, or --set fragments=1");
  StoredTensors tensors = second_step();
  for (const StoredTensor& groups : {indices({0, 1, 1, 2}, {2, 2}), indices({0, 5}, {1, 2})}) {
    tensors["groups"] = groups;
    EXPECT_THROW(run(tensors), InputError);
  }
  tensors.erase("groups");
  EXPECT_THROW(run(tensors), InputError);
  tensors = second_step();
  tensors["phi"] = store({1, 2}, {1, 2});
  EXPECT_THROW(run(tensors), InputError);
}

}  // namespace longhaul::outer_step_command_test
