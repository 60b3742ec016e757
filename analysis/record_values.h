// Reading case records (case_record.h): their numbers, and which cases may be compared with each other, those
// at the same point of the sweep.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/scenario/metrics.h"

namespace longhaul {

// The value at a dotted path of a record; none where it is missing, null or no number.
std::optional<double> value_at(const Json& record, const std::string& path);

// Puts a value where value_at() finds it.
void put_at(Json& record, const std::string& path, const Json& value);

// Of a time: a difference below it is rounding. The replay's clock has nanoseconds; a wait is the difference
// of two moments of an exchange, and no more exact than a thousandth of its synchronization. 0 of what is no
// time.
constexpr double kLeastSeconds = 1e-9;
double rounding_of(const Json& record, const Metric& metric);

// Those of the records that have one.
std::vector<double> values_at(const std::vector<const Json*>& records, const std::string& path);

// Six significant digits: what a picture needs, so that a report of many cases stays small.
double six_digits(double value);
// The same as JSON; null without a value, or where it is not finite.
Json six_digits_or_null(const std::optional<double>& value);

// {mean, p50, p95, max}; null of an empty list: what never happened has no time, not one of 0.
Json distribution_or_null(const std::vector<double>& values);

// "methods.LABEL.key": an option of one method.
bool is_method_option(const std::string& key);

// "replicas = 64".
std::string assignment(const std::string& key, const Json& value);

// The swept values of a record that all methods share, as "network.tcp.connections = 8, replicas = 64"; ""
// where nothing is swept. An option of one method makes a variant of that method and no point.
std::string sweep_point(const Json& record);

// The label of a case and, where its method is swept by itself, what tells its variants apart: "diloco
// (all_reduce = tree)".
std::string method_variant(const Json& record);

// The swept keys of the records, in the order in which they first occur.
std::vector<std::string> swept_keys(const std::vector<Json>& records);

// Of a resolved scenario: whether a token is a byte, so that nats a token are also so many bits a byte. Texts
// and the system's headers are read as bytes; shards and synthetic sources have tokens of their own.
bool has_byte_tokens(const Json& scenario);

}  // namespace longhaul
