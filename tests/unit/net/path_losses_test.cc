// What the lossiest path of a network loses: by hand, and by looking at every path.
#include "net/variation/path_losses.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "net/topologies/registry.h"
#include "tests/support/said.h"
#include "tests/unit/net/cases.h"

namespace longhaul::path_losses_test {

Fault lossy(const std::string& link, double loss, double at_s = 0, double for_s = 1) {
  Fault fault;
  fault.kind = "link";
  fault.link = link;
  fault.loss = loss;
  fault.times.at_s = at_s;
  fault.times.for_s = for_s;
  return fault;
}

double worst_loss(const Case& config) {
  return lossiest_path(config.network, build_topology(config)).loss;
}

std::string refused(const Case& config) {
  return refused_path([&] { check_losses(config.network, build_topology(config)); });
}

// 1 − 0.995² = 0.009975 of a star's two links; of a mesh's one link the loss itself.
TEST(PathLosses, LossesOfLinksCombine) {
  Case star = star_case(4, 1e8, 0.05), mesh = mesh_case(4, 1e8, 0.05);
  EXPECT_EQ(worst_loss(star), 0);
  star.network.tcp.loss = mesh.network.tcp.loss = 5e-3;
  EXPECT_NEAR(worst_loss(star), 0.009975, 1e-15);
  EXPECT_NEAR(worst_loss(mesh), 5e-3, 1e-15);
  EXPECT_NEAR(most_measured_loss(star.network), 0.009975, 1e-15);
  EXPECT_EQ(refused(star), "");
  star.network.tcp.loss = 5.01e-3;
  mesh.network.tcp.loss = 9.9e-3;
  EXPECT_EQ(refused(star), "network.tcp.loss");
  EXPECT_EQ(refused(mesh), "");
  mesh.network.tcp.loss = 0.01;
  EXPECT_EQ(refused(mesh), "network.tcp.loss");
  star.network.tcp.loss = 1.1e-3;
  EXPECT_EQ(refused(star), "");
  star.network.tcp.congestion_control = "bbr";
  EXPECT_EQ(refused(star), "network.tcp.loss") << "measured to 1e-3 a link";
  star.network.tcp.loss = 1e-3;
  EXPECT_EQ(refused(star), "");
}

// results/reference/kernel/rings.csv.
TEST(PathLosses, SegmentsWereMeasuredWithMore) {
  Case star = star_case(4, 1e8, 0.05);
  star.network.fidelity = "linux";
  for (const auto& [control, most] : {std::pair("cubic", 5e-2), std::pair("bbr", 1e-2)}) {
    star.network.tcp.congestion_control = control;
    star.network.tcp.loss = most;
    EXPECT_EQ(refused(star), "") << control;
    star.network.tcp.loss = 1.01 * most;
    EXPECT_EQ(refused(star), "network.tcp.loss") << control;
  }
}

TEST(PathLosses, AFaultAddsToItsLinksWhileItLasts) {
  Case config = star_case(4, 1e8, 0.05);
  std::vector<Fault>& faults = config.network.variation.faults;
  faults = {lossy("replica1-core", 2e-3), lossy("replica3-core", 3e-3)};
  EXPECT_NEAR(worst_loss(config), 1 - 0.998 * 0.997, 1e-15);
  const LossyPath worst = lossiest_path(config.network, build_topology(config));
  EXPECT_EQ(std::max(worst.source, worst.target), 3);
  EXPECT_EQ(std::min(worst.source, worst.target), 1);
  EXPECT_EQ(worst.fault, 1);
  config.network.tcp.loss = 1e-3;
  EXPECT_NEAR(worst_loss(config), 1 - 0.998 * 0.997 * 0.999 * 0.999, 1e-15);
  faults[1].times.at_s = 1;  // when the first is over
  EXPECT_NEAR(worst_loss(config), 1 - 0.997 * 0.999 * 0.999, 1e-15);
  faults[1].times.every_s = 100;  // again and again: it may meet any other
  EXPECT_NEAR(worst_loss(config), 1 - 0.998 * 0.997 * 0.999 * 0.999, 1e-15);
  EXPECT_EQ(refused(config), "");
  faults[0].loss = 0.02;
  EXPECT_EQ(refused(config), "faults[0].loss");
  config.network.tcp.loss = 0.02;
  EXPECT_EQ(refused(config), "network.tcp.loss") << "too much without faults";
}

// One after another path, of networks of sites whose links lose differently.
TEST(PathLosses, AreThoseOfTheWorstOfAllPaths) {
  const Case corners = corners_case({{"West", 3}, {"East", 2}, {"North", 1}, {"Middle", 1}});
  Case sites = star_case(7, 1e9, 0.01);
  sites.network.topology =
      hierarchical_spec(3, access_section(1e9, 1e9, 0.001), access_section(1e8, 1e8, 0.05));
  for (Case config : {corners, sites}) {
    const Topology topology = build_topology(config);
    for (int seed = 0; seed < 40; ++seed) {
      config.network.tcp.loss = seed % 3 * 1e-3;
      config.network.variation.faults.clear();
      std::vector<double> kept(topology.links().size(), 1 - config.network.tcp.loss);
      for (std::size_t link = 0; link < kept.size(); ++link) {
        const double loss = 1e-3 * (7 * (seed + 3) * static_cast<int>(link + 1) % 11);
        if (loss == 0) continue;
        kept[link] *= 1 - loss;
        config.network.variation.faults.push_back(lossy(topology.links()[link].name, loss));
      }
      double worst = 0;
      for_pairs(config.replicas, [&](int source, int target) {
        double all = 1;
        for (const LinkDirection direction : topology.path(source, target).directions)
          all *= kept[static_cast<std::size_t>(direction / 2)];
        worst = std::max(worst, 1 - all);
      });
      EXPECT_NEAR(worst_loss(config), worst, 1e-12) << seed;
    }
  }
}

}  // namespace longhaul::path_losses_test
