// The matrix of sites (docs/reference/formats/inputs.md) that files of measurements make: of all that they
// say of a pair, what counts.
//
// `throughput` of a pair is what one connection carries, as its receiver counted it. Of repeats in one
// direction the median counts, of the two directions the slower one, since a matrix has one value a pair. A
// single stream comes before parallel ones, whose sum is divided by their number; nccl-tests come next, then
// tests that iperf3 held down (-b, --fq-rate). `rtt` is the shortest that ping and its like saw; else a known
// one; else the shortest that iperf3 saw under its own load, which has its queues in it.
//
// `measured` of a pair has the medians behind `throughput`, one for each direction and number of streams:
// {"from": "warsaw", "connections": 8, "throughput": "865Mbps"}, where `throughput` is that of all of them
// together and `from` is absent where the file does not say it. Where it has entries of 1 and of k
// connections from one site, their ratio is what k connections gain.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "planner/measured/measurement.h"

namespace longhaul::measured {

struct Known {
  Sites::Hosts sites;
  Json inside;  // of two machines of a site: {"rtt": "0.5ms", "throughput": "940Mbps"}
  std::map<SitePair, std::string> rtts;     // count where no ping, nor a table, has a round trip
  std::map<SitePair, std::string> guesses;  // of coordinates: count where nothing was measured at all
  std::string throughput = {};           // of one connection, where no test ran; "": not known
};

// Of what read() (formats.h) has found in all files. `warnings` get a sentence for each thing that a reader
// should know. Throws InputError, which names the pair, where one lacks a measurement.
Json matrix_of(const std::vector<Measured>& found, const Known& known, std::vector<std::string>& warnings);

// The same of files, one after the other. Throws InputError also for a file that is no measurement.
Json matrix_of(const std::vector<MeasurementFile>& files, const Known& known,
               std::vector<std::string>& warnings);

}  // namespace longhaul::measured
