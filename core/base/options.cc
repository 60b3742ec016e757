#include "core/base/options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/base/errors.h"
#include "core/base/limits.h"
#include "core/base/option_synonyms.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

Node make(std::string key, NodeKind kind, std::vector<Node> children = {}) {
  Node node;
  node.key = std::move(key);
  node.kind = kind;
  node.children = std::move(children);
  return node;
}

// The upper bound as a double is 2^64: what is above it is no integer of a Json.
constexpr double kLargest = static_cast<double>(std::numeric_limits<std::uint64_t>::max());

// A bound that every integer has says nothing to people, until one is beyond it.
bool is_declared(const Node& node, double bound) {
  const bool is_of_all =
      node.kind == NodeKind::kInteger && (std::abs(bound) == kMostOfACount || bound == kLargest);
  return std::isfinite(bound) && !is_of_all;
}

std::string range(const Node& node) {
  std::string words;
  if (is_declared(node, node.minimum))
    words += (node.open_minimum ? " above " : " of at least ") + format_number(node.minimum);
  if (is_declared(node, node.maximum))
    words += (words.empty() ? " of at most " : " and at most ") + format_number(node.maximum);
  return words;
}

// Those that a user may write.
std::vector<std::string> keys_of(const Node& node) {
  std::vector<std::string> keys;
  for (const Node& child : node.children)
    if (child.kind != NodeKind::kFree || !child.meaning.empty()) keys.push_back(child.key);
  return keys;
}

std::string shown(const Json& value) {
  std::string text = value.dump();
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

bool has_type_of(const Node& node, const Json& value) {
  switch (node.kind) {
    case NodeKind::kText:
    case NodeKind::kChoice:
    case NodeKind::kRate:
    case NodeKind::kDuration:
    case NodeKind::kBytes:
      return value.is_string();
    case NodeKind::kBoolean:
      return value.is_boolean();
    case NodeKind::kInteger:
    case NodeKind::kNumber:
      return value.is_number();
    case NodeKind::kList:
      return value.is_array();
    case NodeKind::kFree:
      return true;
    default:
      return value.is_object();
  }
}

// An error about a word that is none of those allowed; what it is called elsewhere, the root knows.
class UnknownWord : public InputError {
 public:
  UnknownWord(std::string path, std::string found, std::string allowed, std::string word,
              const std::vector<std::string>& known)
      : InputError(std::move(path), std::move(found), std::move(allowed), did_you_mean(word, known)),
        word_(std::move(word)) {}

  InputError within(const Node& root) const {
    InputErrorParts known = parts();
    if (known.hint.empty()) known.hint = place_of_synonym(word_, root);
    return InputError(known);
  }

 private:
  std::string word_;
};

// "2T", "70 B", "1e6", "€400k", "1%": a number as people write it in words. "" if it is none.
std::string number_in_quotes(std::string text) {
  for (const std::string currency : {"€", "$", "£", "EUR", "USD", " "})
    for (std::size_t place; (place = text.find(currency)) != std::string::npos;)
      text.erase(place, currency.size());
  const char* suffixes = "kMBGT";
  char* end = nullptr;
  const double digits = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(digits)) return "";
  std::string rest(end);
  if (rest.empty()) return format_number(digits);
  if (rest == "%") return format_number(digits / 100);
  const char* suffix = std::strchr(suffixes, rest[0]);
  if (rest.size() != 1 || !suffix) return "";
  constexpr int kPowers[] = {3, 6, 9, 9, 12};
  return fmt::format("{}e{}", format_number(digits), kPowers[suffix - suffixes]);
}

// What to do about a value of the wrong type, where it is plain what was meant.
std::string meant(const Node& node, const Json& value) {
  const bool is_numeric = node.kind == NodeKind::kInteger || node.kind == NodeKind::kNumber;
  if (is_numeric && value.is_string()) {
    const std::string number = number_in_quotes(value.get<std::string>());
    return number.empty() ? "" : fmt::format("write {}, without quotes", number);
  }
  if (node.kind != NodeKind::kList || !has_type_of(node.children[0], value)) return "";
  if (node.children[0].kind != NodeKind::kInteger) return fmt::format("for one write [{}]", shown(value));
  return fmt::format("for one write [{}], for three [1, 2, 3]", shown(value));
}

[[noreturn]] void reject(const Node& node, const Json& value, const std::string& path) {
  throw InputError(path, "found " + shown(value), allowed(node), meant(node, value));
}

// Mistakes so far; behind one the others are looked for.
struct Mistakes {
  const Node* root;  // null: what is resolved is a part of it
  std::vector<InputError> all = {};

  template <typename Call>
  void of(const Call& call) {
    try {
      call();
    } catch (const UnknownWord& error) {
      all.push_back(root ? error.within(*root) : InputError(error));
    } catch (const InputError& error) {
      all.push_back(error);
    }
  }
};

// Whether `value`, which is to be an object, has declared keys alone.
bool has_declared_keys(const Node& node, const Json& value, const std::string& path, Mistakes& mistakes) {
  if (!value.is_object()) reject(node, value, path);
  const std::size_t before = mistakes.all.size();
  for (const auto& entry : value.items()) {
    const std::string& key = entry.key();
    if (!node.child(key) && !node.child(""))
      mistakes.of([&] {
        throw UnknownWord(child_path(path, key), fmt::format("unknown key \"{}\"", key), join(keys_of(node)),
                          key, keys_of(node));
      });
  }
  return mistakes.all.size() == before;
}

void check_number(const Node& node, const Json& value, const std::string& path) {
  if (!value.is_number()) reject(node, value, path);
  if (node.kind == NodeKind::kInteger && !value.is_number_integer() &&
      (value.get<double>() != std::floor(value.get<double>()) || std::abs(value.get<double>()) > 9e15))
    reject(node, value, path);
  const double x = value.get<double>();
  if (std::abs(x) > kMostOfACount && (x > node.maximum || x < node.minimum) &&
      !is_declared(node, node.maximum))
    throw InputError(path, "found " + shown(value),
                     fmt::format("an integer from {:.0f} to {:.0f}", node.minimum, node.maximum));
  if (!std::isfinite(x) || x > node.maximum || x < node.minimum || (node.open_minimum && x == node.minimum))
    reject(node, value, path);
}

void check_quantity(const Node& node, const Json& value, const std::string& path) {
  if (!value.is_string())
    throw InputError(path, "found " + shown(value), allowed(node),
                     value.is_number() ? "write the number with its unit, in quotes" : "");
  const std::string text = value.get<std::string>();
  double x = 0;
  try {
    x = node.kind == NodeKind::kRate       ? parse_rate(text)
        : node.kind == NodeKind::kDuration ? parse_duration(text)
                                           : parse_bytes(text);
  } catch (const InputError& error) {
    throw InputError(path, error.parts().found, error.parts().allowed);
  }
  if (x < node.minimum || (node.open_minimum && x <= node.minimum) || x > node.maximum) {
    std::vector<std::string> bounds;
    if (std::isfinite(node.minimum))
      bounds.push_back((node.open_minimum ? "more than " : "at least ") + format_number(node.minimum));
    if (std::isfinite(node.maximum)) bounds.push_back("at most " + format_number(node.maximum));
    throw InputError(path, "found " + shown(value), join(bounds));
  }
}

Json resolve_value(const Node& node, const Json& value, const std::string& path, Mistakes& mistakes);

// The keys of `value` in the order of the declaration, with defaults.
Json resolve_section(const Node& node, const Json& value, const std::string& path, Mistakes& mistakes) {
  const bool are_keys_known = has_declared_keys(node, value, path, mistakes);
  Json result = Json::object();
  for (const Node& child : node.children) {
    const std::string where = child_path(path, child.key);
    const auto fill = [&](const Json& entry) {
      mistakes.of([&] { result[child.key] = resolve_value(child, entry, where, mistakes); });
    };
    if (value.contains(child.key))
      fill(value[child.key]);
    else if (child.is_required && are_keys_known)  // else one of those may be meant
      mistakes.of([&] { throw InputError(where, "this key is missing", allowed(child), child.meaning); });
    else if (child.fill_section)
      fill(Json::object());
    else if (!child.fallback.is_null())
      fill(child.fallback);
  }
  if (node.child(""))
    for (const auto& [key, entry] : value.items())
      if (!node.child(key)) result[key] = entry;
  return result;
}

Json resolve_one_of(const Node& node, const Json& value, const std::string& path, Mistakes& mistakes) {
  Json chosen = Json::object(), beside = Json::object();
  if (!has_declared_keys(node, value, path, mistakes)) return chosen;
  for (const auto& [key, entry] : value.items()) {
    const Node& child = *node.child(key);
    (child.is_beside ? beside : chosen)[key] = resolve_value(child, entry, child_path(path, key), mistakes);
  }
  if (chosen.size() != 1) reject(node, value, path);
  chosen.update(beside);  // behind it: readers take the first key
  return chosen;
}

Json resolve_tagged(const Node& node, const Json& value, const std::string& path, Mistakes& mistakes) {
  if (!value.is_object() || !value.contains(node.tag) || !value[node.tag].is_string())
    reject(node, value, path);
  const std::string name = value[node.tag].get<std::string>();
  const Node* chosen = node.child(name);
  if (!chosen)
    throw InputError(child_path(path, node.tag), fmt::format("found \"{}\"", name), join(keys_of(node)),
                     did_you_mean(name, keys_of(node)));
  return resolve_section(*chosen, value, path, mistakes);
}

// Of a list or a table.
std::string entry_path(const Node& node, const std::string& path, const std::string& key) {
  return node.kind == NodeKind::kList ? path + "[" + key + "]" : child_path(path, key);
}

Json resolve_entries(const Node& node, Json value, const std::string& path, Mistakes& mistakes) {
  if (!has_type_of(node, value) || value.size() < node.minimum_items) reject(node, value, path);
  for (auto& item : value.items())
    mistakes.of([&] {
      item.value() =
          resolve_value(node.children[0], item.value(), entry_path(node, path, item.key()), mistakes);
    });
  return value;
}

// A fixed word ("unlimited") goes before a text that is read ("10MB").
const Node& alternative_for(const Node& node, const Json& value, const std::string& path) {
  const Node* chosen = nullptr;
  for (const Node& alternative : node.children) {
    if (!has_type_of(alternative, value)) continue;
    const bool word_matches =
        alternative.kind == NodeKind::kChoice && value.is_string() &&
        std::count(alternative.choices.begin(), alternative.choices.end(), value.get<std::string>());
    if (word_matches) return alternative;
    if (!chosen || chosen->kind == NodeKind::kChoice) chosen = &alternative;
  }
  if (!chosen) reject(node, value, path);
  return *chosen;
}

Json resolve_value(const Node& node, const Json& value, const std::string& path, Mistakes& mistakes) {
  switch (node.kind) {
    case NodeKind::kBoolean:
    case NodeKind::kText:
      if (!has_type_of(node, value)) reject(node, value, path);
      return value;
    case NodeKind::kInteger:
      check_number(node, value, path);
      return value.is_number_integer() ? value : Json(static_cast<std::int64_t>(value.get<double>()));
    case NodeKind::kNumber:
      check_number(node, value, path);
      return value;
    case NodeKind::kChoice: {
      if (!value.is_string()) reject(node, value, path);
      const std::string word = value.get<std::string>();
      for (const std::string& choice : node.choices)
        if (choice == word) return value;
      throw UnknownWord(path, "found " + shown(value), allowed(node), word, node.choices);
    }
    case NodeKind::kRate:
    case NodeKind::kDuration:
    case NodeKind::kBytes:
      check_quantity(node, value, path);
      return value;
    case NodeKind::kSection:
      return resolve_section(node, value, path, mistakes);
    case NodeKind::kOneOf:
      return resolve_one_of(node, value, path, mistakes);
    case NodeKind::kTagged:
      return resolve_tagged(node, value, path, mistakes);
    case NodeKind::kList:
    case NodeKind::kTable:
      return resolve_entries(node, value, path, mistakes);
    case NodeKind::kEither:
      return resolve_value(alternative_for(node, value, path), value, path, mistakes);
    case NodeKind::kFree:
      return value;
  }
  return value;
}

}  // namespace

const Node* Node::child(const std::string& name) const {
  for (const Node& node : children)
    if (node.key == name) return &node;
  return nullptr;
}

std::vector<const Node*> named_options(const Node& node) {
  std::vector<const Node*> inside;
  const bool is_unnamed =
      node.kind == NodeKind::kList || node.kind == NodeKind::kTable || node.kind == NodeKind::kEither;
  for (const Node& child : node.children) {
    if (!is_unnamed) {
      inside.push_back(&child);
      continue;
    }
    for (const Node* below : named_options(child)) inside.push_back(below);
  }
  return inside;
}

const Node* option_on_path(const Node& root, const std::string& path) {
  const Node* node = &root;
  std::istringstream words(path);
  for (std::string word; node && std::getline(words, word, '.');) {
    const std::vector<const Node*> inside = named_options(*node);
    const auto found =
        std::find_if(inside.begin(), inside.end(), [&](const Node* child) { return child->key == word; });
    node = found == inside.end() ? nullptr : *found;
  }
  return node;
}

Node boolean(std::string key) {
  return make(std::move(key), NodeKind::kBoolean);
}
Node integer(std::string key) {
  return make(std::move(key), NodeKind::kInteger).at_least(-kMostOfACount).at_most(kMostOfACount);
}
Node large_integer(std::string key) {
  return make(std::move(key), NodeKind::kInteger).at_least(0).at_most(kLargest);
}
Node number(std::string key) {
  return make(std::move(key), NodeKind::kNumber);
}
Node text(std::string key) {
  return make(std::move(key), NodeKind::kText);
}
Node rate(std::string key) {
  return make(std::move(key), NodeKind::kRate);
}
Node duration(std::string key) {
  return make(std::move(key), NodeKind::kDuration).at_most(kLongestDuration_s);
}
Node bytes(std::string key) {
  return make(std::move(key), NodeKind::kBytes).at_least(0).at_most(kLargestSize_bytes);
}
Node anything(std::string key) {
  return make(std::move(key), NodeKind::kFree);
}

Node choice(std::string key, std::vector<std::string> choices) {
  Node node = make(std::move(key), NodeKind::kChoice);
  node.choices = std::move(choices);
  return node;
}

Node section(std::string key, std::vector<Node> children) {
  return make(std::move(key), NodeKind::kSection, std::move(children));
}

Node one_of(std::string key, std::vector<Node> alternatives) {
  return make(std::move(key), NodeKind::kOneOf, std::move(alternatives));
}

Node tagged(std::string key, std::string tag, std::vector<Node> alternatives) {
  Node node = make(std::move(key), NodeKind::kTagged, std::move(alternatives));
  node.tag = std::move(tag);
  return node;
}

Node list_of(std::string key, Node element) {
  return make(std::move(key), NodeKind::kList, {std::move(element)});
}
Node table_of(std::string key, Node value) {
  return make(std::move(key), NodeKind::kTable, {std::move(value)});
}

Node either(std::string key, std::vector<Node> alternatives) {
  return make(std::move(key), NodeKind::kEither, std::move(alternatives));
}

std::string allowed(const Node& node) {
  switch (node.kind) {
    case NodeKind::kBoolean:
      return "true or false";
    case NodeKind::kInteger:
      return "an integer" + range(node);
    case NodeKind::kNumber:
      return "a number" + range(node);
    case NodeKind::kText:
      return "a text";
    case NodeKind::kChoice:
      return "one of " + join(node.choices);
    case NodeKind::kRate:
      return "a rate with its unit, as \"1Gbps\"";
    case NodeKind::kDuration:
      return "a time with its unit, as \"50ms\", \"12h\" or \"60d\"";
    case NodeKind::kBytes:
      return "a size with its unit, as \"10MB\"";
    case NodeKind::kSection:
      return "an object with the keys " + join(keys_of(node));
    case NodeKind::kOneOf: {
      std::vector<std::string> chosen, beside;
      for (const Node& child : node.children) (child.is_beside ? beside : chosen).push_back(child.key);
      return "an object with exactly one of the keys " + join(chosen) +
             (beside.empty() ? "" : ", and perhaps " + join(beside));
    }
    case NodeKind::kTagged:
      return "an object whose \"" + node.tag + "\" is one of " + join(keys_of(node));
    case NodeKind::kList:
      return std::string(node.minimum_items ? "a list, not empty" : "a list") + ", each " +
             allowed(node.children[0]);
    case NodeKind::kTable:
      return "an object whose values are each " + allowed(node.children[0]);
    case NodeKind::kEither: {
      std::vector<std::string> words;
      for (const Node& child : node.children) words.push_back(allowed(child));
      return join(words, ", or ");
    }
    case NodeKind::kFree:
      return "anything";
  }
  return "";
}

Json resolve(const Node& node, const Json& value, const std::string& path) {
  Mistakes mistakes{path.empty() ? &node : nullptr};
  Json result;
  mistakes.of([&] { result = resolve_value(node, value, path, mistakes); });
  if (!mistakes.all.empty()) throw together(mistakes.all);
  return result;
}

void check_declared(const Node& node, const Json& value, const std::string& path) {
  switch (node.kind) {
    case NodeKind::kSection:
    case NodeKind::kOneOf:
      if (!value.is_object() || (node.kind == NodeKind::kOneOf && value.empty())) reject(node, value, path);
      for (const Node& child : node.children)
        if (const Json::const_iterator found = value.find(child.key); found != value.end())
          check_declared(child, *found, child_path(path, child.key));
        else if (node.kind == NodeKind::kSection && child.is_required)
          throw InputError(child_path(path, child.key), "this key is missing", allowed(child));
      return;
    case NodeKind::kList:
    case NodeKind::kTable:
      if (!has_type_of(node, value) || value.size() < node.minimum_items) reject(node, value, path);
      for (const auto& [key, entry] : value.items())
        check_declared(node.children[0], entry, entry_path(node, path, key));
      return;
    case NodeKind::kEither:
      return check_declared(alternative_for(node, value, path), value, path);
    case NodeKind::kTagged: {
      if (!value.is_object()) reject(node, value, path);
      const Json tag = member(value, node.tag);
      if (!tag.is_string()) throw InputError(child_path(path, node.tag), "found " + shown(tag), "a text");
      const Node* chosen = node.child(tag.get<std::string>());
      if (!chosen) return;  // of a program that knows more
      Node section = *chosen;
      section.kind = NodeKind::kSection;
      return check_declared(section, value, path);
    }
    default:
      resolve(node, value, path);
  }
}

}  // namespace longhaul
