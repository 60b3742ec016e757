// JSON with the keys in the order of writing, and reading it: no more deeply nested than people write it,
// each value only as what it is. Reading an object that may lack keys: resolved sections leave out what has
// no default, and the files of an old run what did not exist then.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/errors.h"
#include "core/base/json_library.h"

namespace longhaul {

// Throw InputError (without a path) that says what `found`, a value as JSON, may be instead.
[[noreturn]] void refuse_integer(const std::string& found, std::int64_t least, std::uint64_t most);
[[noreturn]] void refuse_value(const std::string& found, const char* allowed);

// Every get<T>() and every conversion of a Json passes here. The library's own reading narrows an integer
// without a word, takes a boolean for a number, and drops a fraction.
template <typename T, typename = void>
struct JsonReader : nlohmann::adl_serializer<T> {};

template <typename T>
struct JsonReader<T, std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>> {
  template <typename Value>
  static void to_json(Value& json, T value) {
    nlohmann::to_json(json, value);
  }

  template <typename Value>
  static void from_json(const Value& json, T& value) {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_floating_point_v<T>) {
      if (!json.is_number()) refuse_value(json.dump(), "a number");
      nlohmann::from_json(json, value);
    } else {
      if (!holds(json))
        refuse_integer(json.dump(), static_cast<std::int64_t>(Limits::min()),
                       static_cast<std::uint64_t>(Limits::max()));
      nlohmann::from_json(json, value);
    }
  }

 private:
  template <typename Value>
  static bool holds(const Value& json) {
    using Limits = std::numeric_limits<T>;
    if (json.is_number_unsigned())
      return *json.template get_ptr<const std::uint64_t*>() <= static_cast<std::uint64_t>(Limits::max());
    if (json.is_number_integer()) {
      const std::int64_t number = *json.template get_ptr<const std::int64_t*>();
      if (number < 0) return std::is_signed_v<T> && number >= static_cast<std::int64_t>(Limits::min());
      return static_cast<std::uint64_t>(number) <= static_cast<std::uint64_t>(Limits::max());
    }
    if (!json.is_number_float()) return false;
    // 4.0 is an integer too. Above 2^53 a double does not say which one.
    constexpr double kExact = 9007199254740992;
    const double number = *json.template get_ptr<const double*>();
    if (!(number >= -kExact && number <= kExact)) return false;
    const auto whole = static_cast<std::int64_t>(number);
    return static_cast<double>(whole) == number &&
           (whole >= 0 || std::is_signed_v<T>)&&(whole < 0 ? whole >= static_cast<std::int64_t>(Limits::min())
                                                           : static_cast<std::uint64_t>(whole) <=
                                                                 static_cast<std::uint64_t>(Limits::max()));
  }
};

using Json = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t,
                                  std::uint64_t, double, std::allocator, JsonReader>;

// Copying, writing and resolving a value call themselves for what is inside it.
constexpr int kDeepestJson = 100;
constexpr std::size_t kLargestJson = std::size_t{1} << 30;  // bytes; a value takes several times its text

enum class JsonComments { kNone, kAllowed };  // of both kinds that C++ has

// The value that `text` is. Throws InputError, with "line 3, column 14" for a path, for what is no JSON,
// nested more than kDeepestJson deep, or larger than kLargestJson.
Json parse_json(std::string_view text, JsonComments comments = JsonComments::kNone);

// Throws InputError at the first key that its object already has, with the path of the second: readers take
// the last one without a word, so that the line which a user has changed may be the one that does not count.
// `text` is JSON that parse_json() has read; comments are passed over.
void check_no_duplicate_keys(std::string_view text);

// What the library says of a value that is not as it was used, in our words. The key that is missing is the
// path.
InputError in_our_words(const Json::exception& error);

// What kind of value it is, in words: "a number", "an object".
std::string kind_of(const Json& value);

// The path of a value for messages: "a.b" for children of an object, "a[3]" for elements.
std::string child_path(const std::string& path, const std::string& key);
std::string element_path(const std::string& path, std::size_t index);

// null where `json` is no object or lacks the key.
Json member(const Json& json, const std::string& key);

// Texts without their quotes, everything else as JSON.
std::string plain(const Json& value);

// plain() of the member; "?" where there is none.
std::string text_of(const Json& json, const std::string& key);

// `json` is an object. Throw InputError (units.h) for a text that is no such quantity.
std::optional<double> optional_rate(const Json& json, const char* key);      // bit/s
std::optional<double> optional_duration(const Json& json, const char* key);  // s

// The error, said of a line: "FILE: line 3, rule: found 7; ...". `allowed` where it does not say.
InputError of_line(const InputError& error, const std::string& file, int line, const std::string& allowed);

// json.at(key), an integer. Throws InputError with the key.
std::int64_t number_at(const Json& json, const char* key);

// `found`, which is in this range. Throws InputError of `path`.
std::int64_t in_range(const std::string& path, std::int64_t found, std::int64_t least, std::int64_t most);

}  // namespace longhaul
