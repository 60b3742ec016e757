// Figures from the run of run_fixture.h, whose every number can be worked out, and from records with known
// sweeps.
#include "analysis/figures/figures.h"

#include <filesystem>

#include "analysis/case_record.h"
#include "analysis/figures/figure.h"
#include "analysis/learning_curve.h"
#include "analysis/palette.h"
#include "analysis/runs/summary.h"
#include "core/base/errors.h"
#include "tests/unit/analysis/compared_runs.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul {
namespace {

const Figure* figure_named(const Figures& made, const std::string& name) {
  for (const Figure& figure : made.figures)
    if (figure.name == name) return &figure;
  return nullptr;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class FiguresOfRun : public testing::Test {
 protected:
  FiguresOfRun() {
    const Case config = parse_case(resolved_case("diloco", Json::object()));
    case_folder_ = folder_.path + "/cases/" + config.name;
    const std::string train_folder = folder_.path + "/train/x";
    write_replay(case_folder_);
    write_training(train_folder);
    write_case_metrics(config, case_folder_, train_folder);
    write_summary(folder_.path, "small", {case_record(config, case_folder_, train_folder, "done", "x")});
  }

  Figures made(const FigureStyle& style = {}) {
    return figures_of(open_runs({folder_.path}).runs, {{}, {}, style});
  }

  TemporaryFolder folder_;
  std::string case_folder_;
};

// The rows `mean` of the fixture's metrics; one seed, whose interval is its value.
TEST_F(FiguresOfRun, LossAgainstTimeIsTheCurve) {
  const Figures all = made();
  const Figure* figure = figure_named(all, "loss-time");
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(has(figure->dat,
                  "# index 0: diloco, seeds: 1\n# time_s mean low high\n"
                  "1.5 4.5 4.5 4.5\n3 3.6 3.6 3.6\n4.5 3 3 3\n7.5 2.375 2.375 2.375\n8.5 2.5 2.5 2.5\n"))
      << figure->dat;
  EXPECT_TRUE(has(figure->gp, "set xlabel 'simulated time (s)'"));
  EXPECT_NE(figure_named(all, "loss-steps"), nullptr);
  EXPECT_TRUE(has(figure_named(all, "loss-bytes")->gp, "payload sent per replica (B)"));
}

// A token of system-headers is a byte: 2.5 and 4.5 nats are 3.6 and 6.5 bits.
TEST_F(FiguresOfRun, LossesOfBytesAreAlsoInBits) {
  EXPECT_FALSE(
      has(figure_named(made(), "loss-time")->gp, "bits a byte"));  // no manifest says what a token is
  write_text(folder_.path + "/manifest.json",
             Json{{"scenario", {{"train", {{"data", {{"corpus", "system-headers"}}}}}}}}.dump());
  const Figures all = made();
  const std::string script = figure_named(all, "loss-time")->gp;
  EXPECT_TRUE(has(script, "set link y2 via y/log(2) inverse y*log(2)"));
  EXPECT_TRUE(has(script, "set y2tics nomirror out scale 0.5 (4, 5, 6)")) << script;
}

// Losses 2 and 3 after a step: mean 2.5, half the interval t(0.975, 1) = 12.706 times 0.5. The axis goes by
// the seeds, with 4 % of room: from 1.96 to 3.04.
TEST(LossFigures, HaveTheIntervalOfTheReportAsBand) {
  const TemporaryFolder folder;
  std::vector<Json> records;
  for (const int seed : {1, 2}) {
    records.push_back(compared_record("m", seed, Json::object(), {{"final_loss", 2.}}));
    records.back()["case"] = "c" + std::to_string(seed);
    const std::string case_folder = folder.file("cases/c" + std::to_string(seed));
    std::filesystem::create_directories(case_folder);
    write_text(case_folder + "/metrics.csv",
               "step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent\n"
               "1,plain,mean,1," +
                   std::to_string(seed + 1) + ",3,0,0\n");
  }
  const Figures all = figures_of({run_of(records, folder.path)}, {{}, {}, {}});
  const Figure* figure = figure_named(all, "loss-time");
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(has(figure->dat, "\n1 2.5 -3.85")) << figure->dat;
  EXPECT_TRUE(has(figure->gp, "set yrange [1.96:3.04]")) << figure->gp;
}

TEST_F(FiguresOfRun, LogXIsForThoseWhoAskForIt) {
  FigureStyle style;
  style.log_x = true;
  const std::string script = figure_named(made(style), "loss-time")->gp;
  EXPECT_TRUE(has(script, "set logscale x")) << script;
  EXPECT_TRUE(has(script, "set xtics (2, 5)")) << script;  // from 1.5/1.15 to 8.5 · 1.15
}

TEST_F(FiguresOfRun, OnlyTheNamedOnesAreMade) {
  const auto names = [&](const std::vector<std::string>& only) {
    std::vector<std::string> found;
    for (const Figure& figure : figures_of(open_runs({folder_.path}).runs, {{}, {}, {}, only}).figures)
      found.push_back(figure.name);
    return found;
  };
  EXPECT_EQ(names({"shares"}), (std::vector<std::string>{"shares"}));
  EXPECT_EQ(names({"loss-*s", "shar*"}), (std::vector<std::string>{"loss-steps", "loss-bytes", "shares"}));
  EXPECT_EQ(names({"*"}), names({}));
  try {
    names({"share"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_TRUE(has(error.what(), "did you mean \"shares\"?")) << error.what();
  }
}

TEST(FigureMarks, AreAtOneTwoAndFive) {
  using Marks = std::vector<double>;
  EXPECT_EQ(log_marks(0.9, 60, 8), (Marks{1, 2, 5, 10, 20, 50}));
  EXPECT_EQ(log_marks(0.9, 60, 5), (Marks{1, 10}));
  EXPECT_EQ(log_marks(1, 1e6, 4), (Marks{1, 100, 1e4, 1e6}));
  EXPECT_EQ(log_marks(3, 4, 8), Marks{});
  EXPECT_EQ(linear_marks(0, 10, 5), (Marks{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(linear_marks(3.6, 6.5, 5), (Marks{4, 5, 6}));
  EXPECT_EQ(linear_marks(-0.05, 0.12, 4), (Marks{-0.05, 0, 0.05, 0.1}));
}

TEST(FigureTexts, AreBrokenWhereTheyAreLongerThanTheirAxis) {
  EXPECT_EQ(axis_text("loss", 1.6), "'loss'");
  EXPECT_EQ(axis_text("sync time, mean: diloco / noloco", 1.6),
            "'sync time, mean:'.\"\\n\".'diloco / noloco'");
  EXPECT_EQ(axis_text("onewordthatislongerthanitsaxiscouldbe", 1.6),
            "'onewordthatislongerthanitsaxiscouldbe'");
}

// Thirteen methods of which one sends 1 MB and nothing at first, one nothing at all, the others 13 times as
// much or more: a logarithmic axis without what is at 0, and a key beside the graph.
TEST(LossFigures, ThatSpanDecadesAreLogarithmicAndManyLinesHaveTheirKeyBeside) {
  const TemporaryFolder folder;
  const auto made = [&](int methods, int factor) {
    std::vector<Json> records;
    for (int i = 0; i < methods; ++i) {
      Json record = compared_record("m" + std::to_string(i), 1, Json::object(), {{"final_loss", 2.}});
      record["case"] = "c" + std::to_string(i);
      const std::string case_folder = folder.file("cases/c" + std::to_string(i));
      std::filesystem::create_directories(case_folder);
      const std::string bytes = std::to_string(i == 0 ? 0 : i == 1 ? 1000000 : factor * 1000000);
      write_text(case_folder + "/metrics.csv",
                 "step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent\n"
                 "1,plain,mean,1,3,3,0,0\n2,plain,mean,2,2,2,0," +
                     bytes + "\n");
      records.push_back(record);
    }
    return figures_of({run_of(records, folder.path)}, {{}, {}, {true, {"svg"}}});
  };
  const Figures many = made(14, 20);
  const Figure* bytes = figure_named(many, "loss-bytes");
  ASSERT_NE(bytes, nullptr);
  EXPECT_TRUE(has(bytes->gp, "set logscale x"));
  EXPECT_TRUE(has(bytes->gp, "set key outside right"));
  EXPECT_TRUE(has(bytes->dat, "# index 0: m1, seeds: 1\n# bytes mean low high\n1e+06 2 2 2\n")) << bytes->dat;
  EXPECT_TRUE(has(figure_named(many, "loss-time")->gp, "set xrange [0:*]"));
  bool is_told = false;
  for (const std::string& note : many.notes) is_told = is_told || has(note, "m0: is at 0");
  EXPECT_TRUE(is_told);
  const Figures few = made(3, 19);
  EXPECT_TRUE(has(figure_named(few, "loss-bytes")->gp, "set xrange [0:*]"));
  EXPECT_TRUE(has(figure_named(few, "loss-bytes")->gp, "set key above"));
}

// The four sync times are 0.5, 1, 1 and 1.5.
TEST_F(FiguresOfRun, SyncTimesAreADistributionFunction) {
  const Figures all = made();
  EXPECT_TRUE(has(figure_named(all, "sync-time")->dat, "0.5 0\n0.5 0.25\n1 0.5\n1 0.75\n1.5 1\n"));
}

// Clocks 8 and 8.5, compute 4 and 6: of 8.25 a replica computes 5, exchanges 2 and waits 1.25, on average.
TEST_F(FiguresOfRun, SharesAreOfTheClock) {
  const Figures all = made();
  const std::string compute = "0 0 " + std::to_string(5 / 8.25).substr(0, 6),
                    data = figure_named(all, "shares")->dat;
  EXPECT_TRUE(has(data, compute)) << data;
  EXPECT_TRUE(has(data, " 1 0x0072B2\n")) << data;
}

// Waits from 7 / 8.25 = 0.848 on: its slanted lines stay inside the bar and have its colour.
TEST_F(FiguresOfRun, HatchesAreLinesInsideTheirBars) {
  const std::string data = figure_named(made(), "shares")->dat;
  std::istringstream rows(data.substr(data.find("wait, hatched")));
  std::string line;
  std::getline(rows, line);
  std::getline(rows, line);
  int count = 0;
  while (std::getline(rows, line)) {
    double x = 0, y = 0, dx = 0, dy = 0;
    std::string color;
    std::istringstream(line) >> x >> y >> dx >> dy >> color;
    EXPECT_EQ(color, "0x0072B2");
    EXPECT_GE(x, 7 / 8.25 - 1e-5);
    EXPECT_LE(x + dx, 1 + 1e-5);
    EXPECT_GE(y, -0.35 - 1e-5);
    EXPECT_LE(y + dy, 0.35 + 1e-5);
    EXPECT_NEAR(dx / dy, 0.05 / 0.7, 1e-4);
    ++count;
  }
  EXPECT_EQ(count, 10);  // from 0.80 to 1.00 by 0.02, less the one that only touches the corner
}

TEST_F(FiguresOfRun, AScriptNeedsOnlyItsDataAndSaysItsSize) {
  const Figures narrow = made(), wide = made({true, {"pdf"}});
  EXPECT_TRUE(has(figure_named(narrow, "loss-time")->gp, "width = 3.5;"));
  EXPECT_TRUE(has(figure_named(narrow, "loss-time")->gp, "formats = 'svg pdf'"));
  EXPECT_TRUE(has(figure_named(wide, "loss-time")->gp, "width = 7.2;"));
  EXPECT_TRUE(has(figure_named(wide, "loss-time")->gp, "formats = 'pdf'"));
  EXPECT_FALSE(has(figure_named(narrow, "loss-time")->gp, folder_.path)) << "a figure can be moved";
}

TEST_F(FiguresOfRun, NamesATableThatIsCutOffAndDrawsTheRest) {
  write_text(case_folder_ + "/exchanges.csv",
             std::string(kExchanges).substr(0, std::string(kExchanges).size() - 7));
  const Figures all = made();
  EXPECT_EQ(figure_named(all, "sync-time"), nullptr);
  EXPECT_NE(figure_named(all, "loss-time"), nullptr);
  ASSERT_EQ(all.notes.size(), 1u);
  EXPECT_TRUE(has(all.notes[0], "exchanges.csv: is cut off")) << all.notes[0];
}

std::vector<Json> swept_records() {
  std::vector<Json> records;
  for (const int replicas : {4, 16, 64})
    for (const int seed : {1, 2})
      for (const char* label : {"diloco", "noloco"})
        records.push_back(compared_record(
            label, seed, {{"replicas", replicas}},
            {{"replicas", replicas},
             {"sync_time_s",
              {{"mean", label[0] == 'd' ? 1.0 * replicas : 2.0 + (seed == 1 ? -0.5 : 0.5)}}}}));
  return records;
}

// diloco: 4, 16, 64 s without scatter. noloco: 1.5 and 2.5, mean 2, t(0.975, 1) = 12.706 times 0.5.
TEST(SweepFigures, HaveALineAMethodWithIntervals) {
  const Figures all = figures_of({run_of(swept_records())}, {{"sync_time_s.mean"}, {}, {}});
  const Figure* figure = figure_named(all, "sweep-sync_time_s_mean-replicas");
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(has(figure->dat, "4 4 4 4\n16 16 16 16\n64 64 64 64\n")) << figure->dat;
  EXPECT_TRUE(has(figure->dat, "4 2 -4.35")) << figure->dat;
  EXPECT_TRUE(has(figure->gp, "set logscale x"));  // evenly spaced by ratio
  EXPECT_TRUE(has(figure->gp, "lc rgb '" + method_palette()[1] + "' title 'noloco'"));
}

// sync_time of diloco over noloco at seeds 1 and 2: 4/1.5 and 4/2.5, mean 2.1333; 16 times that at 64.
// diloco over noloco at 4 replicas is 4/1.5 and 4/2.5, far from 20.
TEST(MatrixFigures, ShowEveryPointWithItsVerdict) {
  RunDirectory run = run_of(swept_records());
  run.written["claims"] = Json::array({{{"id", "fast"},
                                        {"ratio", "sync_time_s.mean"},
                                        {"of", "diloco"},
                                        {"to", "noloco"},
                                        {"at_least", 20}}});
  const Figures all = figures_of({run}, {{"sync_time_s.mean"}, {}, {}});
  const Figure* figure = figure_named(all, "matrix-fast");
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(has(figure->dat, "0 0 0x")) << figure->dat;
  EXPECT_TRUE(has(figure->gp, "set xtics scale 0 ('4' 0, '16' 1, '64' 2)")) << figure->gp;
  EXPECT_TRUE(has(figure->gp, "set label 'fails' at 0,0.18")) << figure->gp;
}

TEST(ClaimFigures, DrawTheRatioAndWhatIsClaimed) {
  RunDirectory run = run_of(swept_records());
  const Json claim = {{"id", "ten"}, {"ratio", "sync_time_s.mean"}, {"of", "diloco"}, {"to", "noloco"}};
  Json everywhere = claim, at_64 = claim;
  everywhere["at_least"] = 10;
  at_64["id"] = "forty";
  at_64["equals"] = 40;
  at_64["within"] = 0.1;
  at_64["where"] = {{"replicas", 64}};
  run.written = {{"claims", {everywhere, at_64}}};
  const Figures all = figures_of({run}, {{"sync_time_s.mean"}, {}, {}});
  const Figure* figure = figure_named(all, "claim-ten");
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(has(figure->dat, "\n4 2.13333")) << figure->dat;
  EXPECT_TRUE(has(figure->dat, "\n64 34.13333")) << figure->dat;
  EXPECT_TRUE(has(figure->gp, "10 with lines dt 2 lw 1.2 lc rgb '#000000' title 'claimed: at least 10'"))
      << figure->gp;
  EXPECT_TRUE(has(figure->gp, "'+' using (64):(40) every ::0::0 with points")) << figure->gp;
}

// 3 MB of 4 replicas, 12 MB of 16: the axis is of bytes, although "bytes_sent" has an "_s".
TEST(ClaimFigures, HaveTheUnitOfTheMetric) {
  std::vector<Json> records;
  for (const int replicas : {4, 16})
    records.push_back(
        compared_record("noloco", 1, {{"replicas", replicas}},
                        {{"replicas", replicas}, {"bytes_sent_per_replica", 750'000 * replicas}}));
  RunDirectory run = run_of(records);
  run.written = {
      {"claims",
       {{{"id", "few"}, {"metric", "bytes_sent_per_replica"}, {"of", "noloco"}, {"at_most", 2e7}}}}};
  const Figures all = figures_of({run}, {{"bytes_sent_per_replica"}, {}, {}});
  for (const char* name : {"claim-few", "sweep-bytes_sent_per_replica-replicas"}) {
    const Figure* figure = figure_named(all, name);
    ASSERT_NE(figure, nullptr) << name;
    EXPECT_TRUE(has(figure->gp, "(MB)")) << figure->gp;
  }
}

TEST(FigureText, StandsInSingleQuotes) {
  EXPECT_EQ(figure_text("noloco"), "'noloco'");
  EXPECT_EQ(figure_text("it's"), "'it''s'");
}

TEST(FigureAxis, ReadsSweptValuesWithTheirUnits) {
  EXPECT_EQ(axis_value(Json(8))->number, 8);
  EXPECT_EQ(axis_value(Json("500ms"))->number, 0.5);
  EXPECT_EQ(axis_value(Json("500ms"))->unit, "s");
  EXPECT_EQ(axis_value(Json("1Gbps"))->unit, "bit/s");
  EXPECT_EQ(axis_value(Json("10MB"))->number, 1e7);
  EXPECT_FALSE(axis_value(Json("ring")).has_value());
  EXPECT_EQ(axis_scale("s", 7200).unit, "h");
  EXPECT_EQ(axis_scale("s", 100).unit, "s");
  EXPECT_EQ(axis_scale("s", 0.25).unit, "ms");
  EXPECT_TRUE(spans_decades({1, 100}));
  EXPECT_FALSE(spans_decades({0, 100}));
  EXPECT_EQ(axis_words("sync_time_s.mean"), "sync time, mean");
  EXPECT_EQ(axis_words("final_loss"), "final loss");
  EXPECT_TRUE(is_geometric({4, 8, 16}));
  EXPECT_FALSE(is_geometric({1, 2, 3}));
  EXPECT_FALSE(is_geometric({0, 1, 10}));
}

}  // namespace
}  // namespace longhaul
