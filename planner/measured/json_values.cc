#include "planner/measured/json_values.h"

#include <cmath>

#include "planner/measured/text.h"

namespace longhaul::measured {
namespace {

const Json kNull;

std::string shown(const Json& value) {
  return kind_of(value);
}

}  // namespace

bool has(const Json& json, const char* key) {
  return json.is_object() && json.contains(key);
}

const Json& get(const Json& json, const std::string& key) {
  if (!json.is_object()) throw Damaged(shown(json) + " where an object should have " + key);
  const auto found = json.find(key);
  return found == json.end() ? kNull : *found;
}

const Json& get(const Json& json, const char* key) {
  return get(json, std::string(key));
}

const Json& need(const Json& json, const char* key) {
  if (json.is_object() && !json.contains(key)) throw Damaged(std::string("there is no ") + key);
  return get(json, key);
}

const std::vector<Json>& elements(const Json& json) {
  static const std::vector<Json> none;
  if (!is_true(json)) return none;
  if (!json.is_array()) throw Damaged(shown(json) + " where a list should stand");
  return json.get_ref<const Json::array_t&>();
}

bool is_true(const Json& value) {
  if (value.is_null()) return false;
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return !value.empty();
}

const Json& first_true(const Json& first, const Json& second) {
  return is_true(first) ? first : second;
}

double number(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (!value.is_number()) throw Damaged(shown(value) + " where a number should stand");
  return value.get<double>();
}

double number_or_zero(const Json& value) {
  return is_true(value) ? number(value) : 0;
}

double number_in(const Json& value) {
  return value.is_string() ? number_of_text(value.get_ref<const std::string&>()) : number(value);
}

long long integer_in(const Json& value) {
  if (value.is_string()) return integer_of_text(value.get_ref<const std::string&>());
  const double whole = std::trunc(number(value));
  constexpr double kMost = 9e18;
  if (!(std::abs(whole) < kMost)) throw Damaged(plain_text(value) + " where an integer should stand");
  return static_cast<long long>(whole);
}

std::string text(const Json& value) {
  if (!is_true(value)) return "";
  if (!value.is_string()) throw Damaged(shown(value) + " where a text should stand");
  return value.get<std::string>();
}

std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace longhaul::measured
