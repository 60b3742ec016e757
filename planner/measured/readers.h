// The formats that are read, a source of its name each. is_...() say whether a text, or a JSON object, is of
// a format; the readers make of it what it says of two sites each. Readers throw InputError for what a
// measurement cannot count for, and Damaged (text.h) for what is not as its tool wrote it.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "planner/measured/measurement.h"

namespace longhaul::measured {

using Documents = std::vector<Json>;  // objects that the format's is_document() says yes to

// `iperf3 --json` and `--json-stream`, of a client or a server, in either direction or both.
namespace iperf3 {
bool is_document(const Json& document);
std::vector<Measured> read_documents(const std::string& file, const Documents& documents, const Sites& sites);
}  // namespace iperf3

// What iperf3 prints without --json. Its rates have three figures.
namespace iperf3_text {
bool is_of(const std::string& text);
std::vector<Measured> read(const std::string& file, const std::string& text, const Sites& sites);
}  // namespace iperf3_text

// What iperf 2 prints, as text or with -y C, of a client or a server.
namespace iperf2 {
bool is_of(const std::string& text);
bool is_csv(const std::string& text);
std::vector<Measured> read(const std::string& file, const std::string& text, const Sites& sites);
std::vector<Measured> read_csv(const std::string& file, const std::string& text, const Sites& sites);
}  // namespace iperf2

// all_reduce_perf and sendrecv_perf of nccl-tests between two ranks, as text or as -J writes it.
namespace nccl_tests {
bool is_of(const std::string& text);
bool is_document(const Json& document);
std::vector<Measured> read(const std::string& file, const std::string& text, const Sites& sites);
std::vector<Measured> read_documents(const std::string& file, const Documents& documents, const Sites& sites);
}  // namespace nccl_tests

// ping (iputils, BSD, macOS, busybox, Windows) and fping, of one host or several, once or often.
namespace pings {
bool is_ping(const std::string& text);
bool is_fping(const std::string& text);
bool is_fping_document(const Json& document);
std::vector<Measured> read_ping(const std::string& file, const std::string& text, const Sites& sites);
std::vector<Measured> read_fping(const std::string& file, const std::string& text, const Sites& sites);
std::vector<Measured> read_fping_documents(const std::string& file, const Documents& documents,
                                           const Sites& sites);
}  // namespace pings

// `mtr -r`, `mtr --json` and `mtr --csv`.
namespace mtr {
bool is_report(const std::string& text);
bool is_csv(const std::string& text);
bool is_document(const Json& document);
std::vector<Measured> read(const std::string& file, const std::string& text, const Sites& sites);
std::vector<Measured> read_csv(const std::string& file, const std::string& text, const Sites& sites);
std::vector<Measured> read_documents(const std::string& file, const Documents& documents, const Sites& sites);
}  // namespace mtr

// What `irtt client` prints, or writes with -o.
namespace irtt {
bool is_of(const std::string& text);
bool is_document(const Json& document);
std::vector<Measured> read(const std::string& file, const std::string& text, const Sites& sites);
std::vector<Measured> read_documents(const std::string& file, const Documents& documents, const Sites& sites);
}  // namespace irtt

// A row for each two sites (from,to,rate_mbps,rtt_ms), or a square of round trips or rates.
namespace tables {
bool is_of(const std::string& text, const Sites& sites);
std::vector<Measured> read(const std::string& file, const std::string& text, const Sites& sites);
}  // namespace tables

}  // namespace longhaul::measured
