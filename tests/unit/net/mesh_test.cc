#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "net/topologies/registry.h"
#include "net/topology.h"
#include "tests/unit/net/cases.h"

namespace longhaul::mesh_test {

// The same topology with its links written out, as the packet fidelity has it.
TEST(Mesh, WithoutStoringItsLinksIsTheMeshOfAllOfThem) {
  Case stored = mesh_case(9, 1e8, 0.05);
  stored.network.fidelity = "packet";
  const Topology whole = build_topology(stored), compact = build_topology(mesh_case(9, 1e8, 0.05));
  EXPECT_TRUE(compact.is_mesh());
  EXPECT_FALSE(whole.is_mesh());
  ASSERT_EQ(compact.link_count(), 36);
  for (int i = 0; i < 36; ++i) {
    EXPECT_EQ(compact.link(i).name, whole.link(i).name);
    EXPECT_EQ(compact.rate(2 * i), 1e8);
    EXPECT_EQ(compact.from(2 * i), whole.from(2 * i));
    EXPECT_EQ(compact.to(2 * i), whole.to(2 * i));
  }
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j)
      if (i != j) {
        EXPECT_EQ(compact.path(i, j).directions, whole.path(i, j).directions);
        EXPECT_DOUBLE_EQ(compact.rtt_s(i, j), 0.05);
      }
}

TEST(Mesh, LinksOfAThousandReplicasKnowTheirEnds) {
  const Topology topology = build_topology(mesh_case(1024, 1e9, 0.1));
  EXPECT_EQ(topology.link_count(), 1024 * 1023 / 2);
  for (int second = 1; second < 1024; ++second)
    for (const int first : {0, second / 2, second - 1}) {
      const int number = topology.path(first, second).directions.front() / 2;
      EXPECT_EQ(topology.link(number).first, first);
      EXPECT_EQ(topology.link(number).second, second);
    }
}

}  // namespace longhaul::mesh_test
