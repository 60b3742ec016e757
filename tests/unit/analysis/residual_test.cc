#include "analysis/residual.h"

#include <gtest/gtest.h>

#include "core/base/units.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul::residual_test {

// Of DiLoCo's ring of two on a star of 50 ms, changed; "outside: what, what" of an unknown one.
std::string validity(const Json& change) {
  Json json = resolved_case("diloco");
  json.merge_patch(change);
  const Validity found = network_validity(parse_case(json));
  EXPECT_EQ(found.residual == 1, !found.outside.empty());
  return found.outside.empty() ? format_number(found.residual) : join(found.outside);
}

std::string with_tcp(const Json& tcp) {
  return validity({{"network", {{"tcp", tcp}}}});
}

std::string with_rtt(const std::string& rtt) {
  return validity({{"network", {{"topology", {{"star", {{"rtt", rtt}}}}}}}});
}

std::string with_bbr(const Json& star, Json change = Json::object()) {
  change["network"]["tcp"]["congestion_control"] = "bbr";
  change["network"]["topology"]["star"] = star;
  return validity(change);
}

const Json k50Mbps = {{"rate", "50Mbps"}};

std::string with_method(int replicas, const Json& method) {
  return validity({{"replicas", replicas}, {"method", method}});
}

// 95 % of Gloo's measured cold calls (results/reference/libraries) and the worst of NCCL's 24 published figures
// (results/reference/validation/tables.md: 0.90 to 1.04). A network that is less known decides.
TEST(Residual, OfALibraryIsItsOwn) {
  EXPECT_EQ(validity({{"network", {{"library", "gloo"}}}}), "0.07");
  EXPECT_EQ(validity({{"network", {{"library", "nccl"}}}}), "0.1");
  EXPECT_EQ(validity({{"network", {{"library", "nccl"}, {"tcp", {{"loss", 1e-5}}}}}}), "0.2");
}

// The rows of results/reference/residuals.
TEST(Residual, IsThatOfTheClassThatWasMeasured) {
  EXPECT_EQ(with_tcp({{"connections", 64}}), "0.07");
  EXPECT_EQ(with_tcp({{"loss", 5e-3}, {"connections", 8}}), "0.2");
  EXPECT_EQ(with_tcp({{"queue", "fq_codel"}, {"ecn", true}}), "0.15");
  EXPECT_EQ(with_rtt("5ms"), "0.07");
  EXPECT_EQ(with_rtt("350ms"), "0.07");
  EXPECT_EQ(with_method(1024, Json::object()), "0.07");
  const Json buckets = {{"all_reduce", "halving-doubling"}, {"overlap_backward", 0.5}, {"buckets", 24}};
  EXPECT_EQ(with_method(8, buckets), "0.07");
}

// The rows of results/reference/residuals/changes.md, with the 7 % of links that stay as they are: √(0.07² +
// 0.23²) = 0.2404, and 0.0990 with 0.07 of a jitter of 0.2.
TEST(Residual, GrowsWhereLinksChange) {
  const auto changing = [](const char* fidelity, const Json& variation) {
    return validity({{"network", {{"fidelity", fidelity}, {"variation", variation}}}});
  };
  const auto jitter = [](const char* key, double sigma) {
    Json variation = {{"jitter", {{"rate_sigma", 0}, {"delay_sigma", 0}, {"every", "1s"}}}};
    variation["jitter"][key] = sigma;
    return variation;
  };
  EXPECT_EQ(changing("flow", jitter("rate_sigma", 0.5)).substr(0, 6), "0.2404");
  EXPECT_EQ(changing("flow", jitter("rate_sigma", 0.2)).substr(0, 6), "0.0989");
  EXPECT_EQ(changing("flow", jitter("rate_sigma", 0.6)), "rate_sigma 0.6 (to 0.5)");
  EXPECT_EQ(changing("linux", jitter("rate_sigma", 0.5)), "0.07");
  const Json others = {{"link", "replica1-core"}, {"direction", "both"}, {"flows", 1}};
  EXPECT_EQ(changing("flow", {{"background", {others}}}).substr(0, 6), "0.0728");
  EXPECT_EQ(changing("linux", {{"background", {others}}}), "0.07");
}

// The rows of results/reference/kernel/bbr.md.
TEST(Residual, OfBbrIsThatBesideTheKernel) {
  const auto with = [](const Json& tcp) { return with_bbr(k50Mbps, {{"network", {{"tcp", tcp}}}}); };
  EXPECT_EQ(with({{"connections", 4}}), "0.1");
  EXPECT_EQ(with({{"loss", 1e-3}}), "0.1");
  EXPECT_EQ(with({{"loss", 2e-3}, {"connections", 5}}),
            "5 connections (to 4), paths that lose 0.4 % (to 0.2 %)");
  const std::string said = "BBR but in rings and pairs of up to 8 on a star";
  EXPECT_EQ(with_bbr(k50Mbps, {{"replicas", 8}}), "0.1");
  EXPECT_EQ(with_bbr(k50Mbps, {{"replicas", 9}}), said);
  EXPECT_EQ(with_bbr(k50Mbps, {{"method", {{"all_reduce", "tree"}}}}), said);
  EXPECT_EQ(with_bbr({{"rate", "50Mbps"}, {"rtt", "220ms"}}), "a round trip of 220 ms (10 to 200)");
}

// 10 to 50 Mb/s on equal links that stay as they are: half and twice that is near.
TEST(Residual, OfBbrIsUnknownAtOtherRatesAndOnUnequalLinks) {
  const auto at_rate = [](const char* rate) { return with_bbr({{"rate", rate}}); };
  EXPECT_EQ(at_rate("5Mbps"), "0.1");
  EXPECT_EQ(at_rate("4Mbps"), "BBR at 4 Mb/s (5 to 100 Mb/s)");
  EXPECT_EQ(at_rate("100Mbps"), "0.1");
  EXPECT_EQ(at_rate("101Mbps"), "BBR at 101 Mb/s (5 to 100 Mb/s)");
  const std::string unequal = "BBR on unequal links", changing = "BBR on links that change";
  EXPECT_EQ(with_bbr({{"rate", nullptr}, {"up", "10Mbps"}, {"down", "50Mbps"}}), unequal);
  const auto overridden = [](const char* what, const char* value) {
    const Json list = {{{"link", "replica0-core"}, {what, value}}};
    return with_bbr(k50Mbps, {{"network", {{"overrides", list}}}});
  };
  EXPECT_EQ(overridden("delay", "30ms"), unequal);
  EXPECT_EQ(overridden("up", "10Mbps"), unequal);
  const Json jitter = {{"rate_sigma", 0.1}, {"delay_sigma", 0}, {"every", "10s"}};
  EXPECT_EQ(with_bbr(k50Mbps, {{"network", {{"variation", {{"jitter", jitter}}}}}}), changing);
  const Json fault = {{"kind", "link"}, {"link", "*"}, {"every", "1h"}, {"for", "10s"}, {"rate", 0.5}};
  EXPECT_EQ(with_bbr(k50Mbps, {{"faults", {fault}}}), changing);
}

// Packets that are not lost are the reference; what is lost ns-3 repairs later than the kernel
// (results/reference/packets.md).
TEST(Residual, OfPacketsIsWhatTheyDifferFromTheKernelWhereSomeAreLost) {
  const auto packets = [](Json tcp) {
    tcp["loss_response"] = "ns3-3.37";
    return validity({{"network", {{"fidelity", "packet"}, {"tcp", tcp}}}});
  };
  EXPECT_EQ(packets(Json::object()), "0");
  EXPECT_EQ(packets({{"queue", "fq_codel"}, {"ecn", true}}), "0");
  EXPECT_EQ(packets({{"queue", "fifo"}, {"queue_size", 0.25}}), "0.5");
  EXPECT_EQ(packets({{"trunk_queue", "fifo"}}), "0.5");
  EXPECT_EQ(packets({{"queue", "fifo"}, {"connections", 2}}), "2 connections behind a FIFO (1)");
  EXPECT_EQ(packets({{"trunk_queue", "fifo"}, {"connections", 8}}), "8 connections behind a FIFO (1)");
  EXPECT_EQ(packets({{"loss", 1e-3}, {"connections", 8}}), "0.55");
  EXPECT_EQ(packets({{"congestion_control", "bbr"}}), "queue host+bbr in packets");
}

// docs/reference/linux.md.
TEST(Residual, OfLinuxIsThatBesideTheKernel) {
  const auto linux_validity = [](const Json& tcp) {
    return validity({{"network", {{"fidelity", "linux"}, {"tcp", tcp}}}});
  };
  EXPECT_EQ(linux_validity(Json::object()), "0.07");
  EXPECT_EQ(linux_validity({{"queue", "fifo"}, {"queue_size", 0.25}}), "0.25");
  EXPECT_EQ(linux_validity({{"queue", "fifo"}, {"connections", 8}}), "0.25");
  EXPECT_EQ(linux_validity({{"queue", "fq_codel"}, {"ecn", true}}), "0.15");
  EXPECT_EQ(linux_validity({{"queue", "fq_codel"}}), "queue fq_codel in fidelity linux");
  EXPECT_EQ(linux_validity({{"trunk_queue", "fifo"}}), "queue host+trunk-fifo in fidelity linux");
  EXPECT_EQ(linux_validity({{"loss", 1e-3}}), "0.25");
  EXPECT_EQ(linux_validity({{"congestion_control", "bbr"}}), "0.07");
  EXPECT_EQ(linux_validity({{"qdisc", "fq"}}), "queue host+fq in fidelity linux");
  EXPECT_EQ(linux_validity({{"congestion_control", "bbr"}, {"queue", "fifo"}}), "0.55");
  EXPECT_EQ(linux_validity({{"congestion_control", "bbr"}, {"loss", 1e-3}}),
            "queue host+bbr+loss in fidelity linux");
}

// Faults that lose packets are losses; beyond the ranges of connections, round trips and rates nothing was
// held against it.
TEST(Residual, OfLinuxEndsWhereItWasMeasured) {
  const auto on_a_star = [](const char* rate, const char* rtt, const Json& tcp = Json::object()) {
    return validity(
        {{"network",
          {{"fidelity", "linux"}, {"tcp", tcp}, {"topology", {{"star", {{"rate", rate}, {"rtt", rtt}}}}}}}});
  };
  EXPECT_EQ(on_a_star("1Gbps", "100ms"), "0.07");
  EXPECT_EQ(on_a_star("1Gbps", "900ms"), "a round trip of 900 ms (5 to 350)");
  EXPECT_EQ(on_a_star("100kbps", "100ms"), "a rate of 100 kb/s (500 kb/s to 10 Gb/s)");
  EXPECT_EQ(on_a_star("100Gbps", "100ms"), "a rate of 100 Gb/s (500 kb/s to 10 Gb/s)");
  EXPECT_EQ(on_a_star("1Gbps", "100ms", {{"connections", 65}}), "65 connections (to 64)");
  const Json fault = {{"kind", "link"}, {"link", "*"}, {"every", "1h"}, {"for", "10s"}, {"loss", 1e-3}};
  EXPECT_EQ(validity({{"network", {{"fidelity", "linux"}}}, {"faults", {fault}}}), "0.25");
}

TEST(Residual, IsUnknownOutsideOfWhatWasMeasuredAndSaysWhy) {
  const Json fault = {{"kind", "link"}, {"link", "*"}, {"every", "1h"}, {"for", "10s"}, {"loss", 1e-3}};
  EXPECT_EQ(validity({{"faults", {fault}}}), "faults that lose packets");
  EXPECT_EQ(with_tcp({{"loss", 6e-3}}), "paths that lose 1.2 % (to 0.997 %)");
  EXPECT_EQ(with_tcp({{"connections", 65}}), "65 connections (to 64)");
  EXPECT_EQ(with_tcp({{"loss", 1e-4}, {"connections", 9}}), "9 connections (to 8)");
  EXPECT_EQ(with_tcp({{"queue", "fq_codel"}}), "queue fq_codel");
  EXPECT_EQ(with_rtt("4ms"), "a round trip of 4 ms (5 to 350)");
  EXPECT_EQ(with_rtt("400ms"), "a round trip of 400 ms (5 to 350)");
  EXPECT_EQ(with_method(2048, Json::object()), "2048 replicas (ring: to 1024)");
  const auto direct = [](int replicas, int parameters, const char* all_reduce = "direct") {
    return validity({{"replicas", replicas},
                     {"method", {{"all_reduce", all_reduce}}},
                     {"workload", {{"parameters", parameters}, {"wire", "bf16"}}}});
  };
  EXPECT_EQ(direct(128, 400000), "0.07");
  EXPECT_EQ(direct(129, 400000), "129 replicas (direct: to 128)");
  EXPECT_EQ(direct(128, 200000, "recursive-doubling"), "0.07");
  EXPECT_EQ(direct(129, 400000, "recursive-doubling"), "129 replicas (recursive-doubling: to 128)");
  EXPECT_EQ(direct(100, 200000), "direct messages of 4000 bytes (from 5000)");
  EXPECT_EQ(with_method(8, {{"overlap_backward", 0.5}, {"buckets", 25}}), "25 buckets (to 24)");
  EXPECT_EQ(with_method(8, {{"tensors", "flat"}}), "0.07");
  EXPECT_EQ(with_method(8, {{"tensors", "each"}}), "tensors \"each\" (flat)");
}

// Rates that packets were held against (results/reference/residuals/scale.md): of the slowest link, since it
// decides.
TEST(Residual, IsUnknownAtRatesThatWereNotMeasured) {
  const auto at_rate = [](const Json& star) {
    return validity({{"network", {{"topology", {{"star", star}}}}}});
  };
  EXPECT_EQ(at_rate({{"rate", "500kbps"}}), "0.07");
  EXPECT_EQ(at_rate({{"rate", "499kbps"}}), "a rate of 499 kb/s (500 kb/s to 10 Gb/s)");
  EXPECT_EQ(at_rate({{"rate", "10Gbps"}}), "0.07");
  EXPECT_EQ(at_rate({{"rate", "10.1Gbps"}}), "a rate of 10.1 Gb/s (500 kb/s to 10 Gb/s)");
  EXPECT_EQ(at_rate({{"rate", nullptr}, {"up", "100Gbps"}, {"down", "1Gbps"}}), "0.07");
  EXPECT_EQ(at_rate({{"rate", nullptr}, {"up", "100Gbps"}, {"down", "100kbps"}}),
            "a rate of 100 kb/s (500 kb/s to 10 Gb/s)");
  const Json list = {{{"link", "replica1-core"}, {"rate", "10kbps"}}};
  EXPECT_EQ(validity({{"network", {{"overrides", list}}}}), "a rate of 10 kb/s (500 kb/s to 10 Gb/s)");
  const Json fault = {{"kind", "link"}, {"link", "*"}, {"every", "1h"}, {"for", "10s"}, {"rate", 1e-4}},
             outage = {{"kind", "link"}, {"link", "*"}, {"every", "1h"}, {"for", "10s"}, {"rate", 0}};
  EXPECT_EQ(validity({{"faults", {fault}}}), "a rate of 100 kb/s (500 kb/s to 10 Gb/s)");
  EXPECT_EQ(validity({{"faults", {outage}}}).substr(0, 6), "0.1931") << "an outage is none: 0.07 and 0.18";
  const TemporaryFolder folder;
  const auto with_trace = [&](const std::string& rows) {
    write_text(folder.file("trace.csv"), "time_s,rate_bps\n" + rows);
    const Json trace = {{"link", "replica0-core"},
                        {"file", folder.file("trace.csv")},
                        {"direction", "both"},
                        {"repeat", false}};
    return validity({{"network", {{"variation", {{"traces", {trace}}}}}}});
  };
  EXPECT_EQ(with_trace("0,1e9\n10,2e5\n20,1e9\n"), "a rate of 200 kb/s (500 kb/s to 10 Gb/s)");
  EXPECT_EQ(with_trace("0,1e9\n10,0\n20,5e5\n").substr(0, 6), "0.2130") << "0.07, 0.09 and 0.18";
}

TEST(Residual, OfARecordIsWhatItSaysAndInWordsWhichCasesAreOutside) {
  const Json host = {{"fidelity", "flow"}},
             outside = {{"fidelity", "flow"}, {"residual", 1}, {"outside", "x"}};
  EXPECT_EQ(network_residual({{"fidelity", "flow"}, {"residual", 0.2}}), 0.2);
  EXPECT_EQ(network_residual(host), 0.07);
  EXPECT_EQ(network_residual({{"fidelity", "flow"}, {"queue", "host+loss"}}), 1) << "of an earlier version";
  EXPECT_EQ(network_residual({{"fidelity", "packet"}, {"residual", 0}}), 0);
  EXPECT_EQ(outside_in_words({host}), "");
  EXPECT_EQ(outside_in_words({host, outside, outside}),
            "2 of 3 cases are outside of what the network model was measured for: x. Claims on "
            "their times stay undecided.");
}

}  // namespace longhaul::residual_test
