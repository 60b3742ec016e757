#include "tests/fuzz/mutations.h"

#include <algorithm>
#include <iterator>
#include <random>

#include "core/base/json.h"
#include "tests/fuzz/fuzz.h"

namespace longhaul {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t count) {
  return static_cast<std::size_t>(random() % count);
}

template <typename Items>
const auto& any_of(const Items& items, Random& random) {
  return items[below(random, std::size(items))];
}

const Json kValues = Json::parse(R"([
    0, 1, 2, 3, 7, -1, 4294967296, 2147483647, -2147483648, 1000000000, 1048576, 100000, 1e300, 1e-300, 0.5, -0.5, 4.5,
    true, false, null, "", "x", "0s", "1e300s", "-1s", "1Gbps", "0bps", "1e18B", "random", "all", 9223372036854775807,
    18446744073709551615, [], {}, [0], [-1, 100000], {"name": "x"}])");

void collect(Json& value, std::vector<Json*>& all) {
  all.push_back(&value);
  if (value.is_structured())
    for (auto& child : value) collect(child, all);
}

void change(Json& whole, Random& random) {
  std::vector<Json*> all;
  collect(whole, all);
  Json& entry = *any_of(all, random);
  switch (below(random, 6)) {
    case 0: {  // a number near to what it was
      if (!entry.is_number_integer()) break;
      const std::int64_t number = entry.is_number_unsigned()
                                      ? static_cast<std::int64_t>(entry.get<std::uint64_t>() >> 1)
                                      : entry.get<std::int64_t>();
      entry = number / 2 + static_cast<std::int64_t>(below(random, 5)) - 2;
      return;
    }
    case 1:  // another value of the same text
      entry = Json(*any_of(all, random));
      return;
    case 2:  // one key or element less
      if (!entry.is_structured() || entry.empty()) break;
      if (entry.is_object())
        entry.erase(std::next(entry.begin(), static_cast<std::ptrdiff_t>(below(random, entry.size()))).key());
      else
        entry.erase(below(random, entry.size()));
      return;
    case 3:  // one element twice
      if (!entry.is_array() || entry.empty()) break;
      entry.push_back(Json(entry[below(random, entry.size())]));
      return;
    case 4:  // deeper by one
      entry = Json::array({entry});
      return;
    default:
      break;
  }
  entry = any_of(kValues, random);
}

// A line of JSON, or of a table.
std::string changed_line(const std::string& line, Random& random) {
  try {
    Json json = parse_json(line);
    change(json, random);
    return json.dump();
  } catch (const InputError&) {
  }
  static const char* const cells[] = {
      "-1", "0", "1e300", "nan", "", "x", "100000", "4294967296", "-0.5", "\"", "9223372036854775807"};
  std::vector<std::size_t> begins = {0};
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == ',') begins.push_back(i + 1);
  const std::size_t begin = any_of(begins, random), end = std::min(line.find(',', begin), line.size());
  return line.substr(0, begin) + any_of(cells, random) + line.substr(end);
}

std::string changed_text(const std::string& text, Random& random) {
  if (text.empty()) return "{}\n";
  try {
    Json json = parse_json(text, JsonComments::kAllowed);
    for (std::size_t count = 1 + below(random, 2); count > 0; --count) change(json, random);
    return json.dump() + "\n";
  } catch (const InputError&) {
  }
  std::vector<std::size_t> begins = {0};
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    if (text[i] == '\n') begins.push_back(i + 1);
  const std::size_t begin = any_of(begins, random), end = std::min(text.find('\n', begin), text.size());
  const std::string line = text.substr(begin, end - begin);
  switch (below(random, 8)) {
    case 0:
      return text.substr(0, begin) + text.substr(std::min(end + 1, text.size()));
    case 1:
      return text.substr(0, end) + "\n" + line + text.substr(end);
    case 2:
      return text.substr(0, below(random, text.size()));
    case 3: {
      std::string other = text;
      other[below(random, other.size())] = static_cast<char>(random());
      return other;
    }
    default:
      return text.substr(0, begin) + changed_line(line, random) + text.substr(end);
  }
}

}  // namespace

std::string mutated(const std::string& input, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::pair<std::string, std::string>> files = files_in(input);
  if (files.empty()) return changed_text(input, random);
  for (std::size_t count = 1 + below(random, 3); count > 0; --count) {
    std::string& text = files[below(random, files.size())].second;
    text = changed_text(text, random);
  }
  std::string all;
  for (const auto& [name, text] : files) {
    all += "=== " + name + "\n" + text;
    if (all.back() != '\n') all += '\n';
  }
  return all;
}

}  // namespace longhaul
