#include "analysis/residual.h"

#include <gtest/gtest.h>

namespace longhaul {
namespace {

double residual_of(double loss, int connections) {
  TcpSpec tcp;
  tcp.queue = "host";
  tcp.loss = loss;
  tcp.connections = connections;
  return network_residual({{"fidelity", "flow"}, {"queue", queue_setting(tcp)}});
}

// results/reference/residuals has losses up to 1e-4 over one connection. Beyond that flow was up to three
// times as slow as packets: such a time decides no claim.
TEST(Residual, IsUnknownForLossesThatWereNotMeasured) {
  EXPECT_EQ(residual_of(0, 8), 0.07);
  EXPECT_EQ(residual_of(1e-4, 1), 0.18);
  EXPECT_EQ(residual_of(2e-4, 1), 1);
  EXPECT_EQ(residual_of(1e-6, 2), 1);
}

}  // namespace
}  // namespace longhaul
