// The parts of the page that report_data puts together, each the JSON that its script reads.
#pragma once

#include <string>
#include <vector>

#include "analysis/runs/run_directory.h"
#include "core/base/options.h"

namespace longhaul {

// What was run, for the top of the report: the sections of the scenario as written, what was swept, and the
// seeds.
// [{"term": "Network", "text": "..."}]
Json run_in_words(const Json& written, const std::vector<Json>& records);

// The first table: methods in rows, means over seeds with their intervals.
// One row a method (and variant) of the records, which are those of one point of a sweep; `indices` are the
// numbers of their cases on the page.
//   {"cases": [indices], "seeds": how many are done,
//    "texts" (mean_cell), "values" (means), "best"}
// The last three go with columns() and are there only where more than one seed is done. A number that some
// seeds lack (a target that was not reached) is no mean: its text says how many have it, its value is null.
// `best`: the lowest mean of those that every done seed has.
Json seed_means(const std::vector<Json>& records, const std::vector<std::size_t>& indices);

// How far methods were after the same time and the same bytes, as tables: "first" ends at the last column.
// [{"kind": "time" | "bytes", "first", "columns": [texts], "rows": [{"name", "label", "cells": [texts]}]}]
// Of the records of one point of a sweep; empty where nothing is trained. Throws DamagedFile.
Json equal_losses(const RunDirectory& run, const std::vector<Json>& records);

// One outer step of one case as lanes, one a replica: the picture that tells an all-reduce from pairs.
// The outer step in the middle of the run:
//   {"step", "index" (1 …), "count", "from_step", "replicas", "lanes": [lane, ...]}
//   lane: {"replica", "group", "from", "ready", "start", "done", "ahead": [[start, done], ...]}
// Times are seconds since the first replica of the run went on from the outer step before. `group` numbers
// the groups of this exchange (0 for all where everybody is in one), lanes stand in the order of the groups,
// and at most `lanes` of them (whole groups, at least one) are given. `ahead`: exchanges that overlapped with
// this compute. Null where the case never exchanges or was not replayed.
Json outer_step_of(const std::string& case_folder, std::size_t lanes);

// How long each synchronization of one case took, for the distribution and for the shares of each replica.
struct SyncTimes {
  std::vector<double> sync_s;           // done − start, of each outer step and replica, as in a case record
  std::vector<double> wait_of_replica;  // waited for others, summed over the outer steps
};

// From exchanges.csv, what counts as synchronization (exchange_table.h). Throws RunError for a damaged file.
SyncTimes sync_times(const std::string& case_folder);

// The cumulative shares (0 … 1) at which a distribution is drawn.
const std::vector<double>& quantile_levels();

// The quantiles of sync_s at these levels; one number where all are the same, null without any.
Json sync_distribution(const SyncTimes& times);

// {"replicas": count, "shown": [numbers], "compute", "exchange", "wait": [seconds]} from replicas.csv: what
// adds up to the clock of each replica. With more than `most` replicas those at evenly spaced ranks of idle
// time are shown, the least and the most idle among them, in the order of their numbers. Null without
// replicas.csv.
Json times_of_replicas(const std::string& case_folder, const SyncTimes& times, std::size_t most);

// The map of the network of one case: who is joined to whom, and what each link carried.
// From network.csv and links.csv:
//   {"nodes": [names], "replicas": [node numbers that are replicas],
//    "links": [[from, to, forward, backward], ...], "left_out": count}
//   a direction: null if it carried nothing, or [bytes on the wire, busy seconds, bit/s; null: no limit]
// At most `most` links, the busiest; trunks (between two nodes that are no replicas) go before access links.
// Null without the two files.
Json network_map(const std::string& case_folder, std::size_t most);

// What links carried, one direction a row, busiest first:
//   {"total_bytes", "used": how many carried anything, "alike",
//    "rows": [[link, direction, bytes on the wire, busy seconds, bit/s or null], ...]}
// At most `count` rows. The first is the bottleneck: the direction that was busy longest; of those within 1 %
// of it (a transfer keeps every link of its path busy) the one that was fullest meanwhile. `alike` counts the
// others, null where nothing was busy. Where the bottleneck is a trunk all trunks follow it before access
// links. Null without links.csv.
Json link_table(const std::string& case_folder, std::size_t count);

// The sites of one case, and at which of them each replica stands, from network.csv:
//   {"sites": [names], "site_of": [number of the site by replica; −1: at none]}
// Null where replicas stand at less than two routers, or each at one of its own.
Json sites_of_case(const std::string& case_folder);

}  // namespace longhaul
