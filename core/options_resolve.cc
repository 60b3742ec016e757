// Checks a JSON value against its declaration and fills in the defaults.
#include <algorithm>
#include <cmath>

#include "core/errors.h"
#include "core/options.h"
#include "core/units.h"

namespace longhaul {
namespace {

std::string shown(const Json& value) {
  std::string text = value.dump();
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

[[noreturn]] void reject(const Node& node, const Json& value, const std::string& path) {
  throw InputError(path, "found " + shown(value), allowed(node));
}

[[noreturn]] void reject_key(const std::string& key, const std::vector<std::string>& valid,
                             const std::string& path) {
  const std::string near = nearest(key, valid);
  throw InputError(path, "unknown key \"" + key + "\"", join(valid),
                   near.empty() ? "" : "did you mean \"" + near + "\"?");
}

void check_number(const Node& node, const Json& value, const std::string& path) {
  if (!value.is_number()) reject(node, value, path);
  if (node.kind == NodeKind::kInteger && !value.is_number_integer() &&
      (value.get<double>() != std::floor(value.get<double>()) || std::abs(value.get<double>()) > 9e15))
    reject(node, value, path);
  const double x = value.get<double>();
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
  if (x < node.minimum || (node.open_minimum && x <= node.minimum) || x > node.maximum)
    throw InputError(path, "found " + shown(value),
                     (node.open_minimum ? "more than " : "at least ") + format_number(node.minimum) +
                         (std::isfinite(node.maximum) ? ", at most " + format_number(node.maximum) : ""));
}

bool is_text_kind(NodeKind kind) {
  return kind == NodeKind::kText || kind == NodeKind::kChoice || kind == NodeKind::kRate ||
         kind == NodeKind::kDuration || kind == NodeKind::kBytes;
}

bool has_type_of(const Node& node, const Json& value) {
  if (is_text_kind(node.kind)) return value.is_string();
  switch (node.kind) {
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

std::vector<std::string> keys_of(const Node& node) {
  std::vector<std::string> keys;
  for (const Node& child : node.children) keys.push_back(child.key);
  return keys;
}

// The keys of `value` in the order of the declaration, with defaults.
Json resolve_section(const Node& node, const Json& value, const std::string& path) {
  if (!value.is_object()) reject(node, value, path);
  for (const auto& [key, unused] : value.items())
    if (!node.child(key)) reject_key(key, keys_of(node), child_path(path, key));
  Json result = Json::object();
  for (const Node& child : node.children) {
    const std::string where = child_path(path, child.key);
    if (value.contains(child.key))
      result[child.key] = resolve(child, value[child.key], where);
    else if (child.is_required)
      throw InputError(where, "this key is missing", allowed(child), child.meaning);
    else if (child.fill_section)
      result[child.key] = resolve(child, Json::object(), where);
    else if (!child.fallback.is_null())
      result[child.key] = resolve(child, child.fallback, where);
  }
  return result;
}

Json resolve_one_of(const Node& node, const Json& value, const std::string& path) {
  if (!value.is_object()) reject(node, value, path);
  for (const auto& [key, unused] : value.items())
    if (!node.child(key)) reject_key(key, keys_of(node), child_path(path, key));
  Json chosen = Json::object(), beside = Json::object();
  for (const auto& [key, entry] : value.items()) {
    const Node& child = *node.child(key);
    (child.is_beside ? beside : chosen)[key] = resolve(child, entry, child_path(path, key));
  }
  if (chosen.size() != 1) reject(node, value, path);
  chosen.update(beside);  // behind it: readers take the first key
  return chosen;
}

Json resolve_tagged(const Node& node, const Json& value, const std::string& path) {
  if (!value.is_object() || !value.contains(node.tag) || !value[node.tag].is_string())
    reject(node, value, path);
  const std::string name = value[node.tag].get<std::string>();
  const Node* chosen = node.child(name);
  if (!chosen) {
    const std::string near = nearest(name, keys_of(node));
    throw InputError(child_path(path, node.tag), "found \"" + name + "\"", join(keys_of(node)),
                     near.empty() ? "" : "did you mean \"" + near + "\"?");
  }
  return resolve_section(*chosen, value, path);
}

Json resolve_list(const Node& node, const Json& value, const std::string& path) {
  if (!value.is_array() || value.size() < node.minimum_items) reject(node, value, path);
  Json result = Json::array();
  for (std::size_t i = 0; i < value.size(); ++i)
    result.push_back(resolve(node.children[0], value[i], element_path(path, i)));
  return result;
}

Json resolve_table(const Node& node, const Json& value, const std::string& path) {
  if (!value.is_object() || value.size() < node.minimum_items) reject(node, value, path);
  Json result = Json::object();
  for (const auto& [key, entry] : value.items())
    result[key] = resolve(node.children[0], entry, child_path(path, key));
  return result;
}

// A fixed word ("unlimited") goes before a text that is read ("10MB").
Json resolve_either(const Node& node, const Json& value, const std::string& path) {
  const Node* chosen = nullptr;
  for (const Node& alternative : node.children) {
    if (!has_type_of(alternative, value)) continue;
    const bool word_matches =
        alternative.kind == NodeKind::kChoice && value.is_string() &&
        std::count(alternative.choices.begin(), alternative.choices.end(), value.get<std::string>());
    if (word_matches) return value;
    if (!chosen || chosen->kind == NodeKind::kChoice) chosen = &alternative;
  }
  if (!chosen) reject(node, value, path);
  return resolve(*chosen, value, path);
}

}  // namespace

Json resolve(const Node& node, const Json& value, const std::string& path) {
  switch (node.kind) {
    case NodeKind::kBoolean:
      if (!value.is_boolean()) reject(node, value, path);
      return value;
    case NodeKind::kInteger:
      check_number(node, value, path);
      return value.is_number_integer() ? value : Json(static_cast<std::int64_t>(value.get<double>()));
    case NodeKind::kNumber:
      check_number(node, value, path);
      return value;
    case NodeKind::kText:
      if (!value.is_string()) reject(node, value, path);
      return value;
    case NodeKind::kChoice: {
      if (!value.is_string()) reject(node, value, path);
      const std::string word = value.get<std::string>();
      for (const std::string& choice : node.choices)
        if (choice == word) return value;
      const std::string near = nearest(word, node.choices);
      throw InputError(path, "found " + shown(value), allowed(node),
                       near.empty() ? "" : "did you mean \"" + near + "\"?");
    }
    case NodeKind::kRate:
    case NodeKind::kDuration:
    case NodeKind::kBytes:
      check_quantity(node, value, path);
      return value;
    case NodeKind::kSection:
      return resolve_section(node, value, path);
    case NodeKind::kOneOf:
      return resolve_one_of(node, value, path);
    case NodeKind::kTagged:
      return resolve_tagged(node, value, path);
    case NodeKind::kList:
      return resolve_list(node, value, path);
    case NodeKind::kTable:
      return resolve_table(node, value, path);
    case NodeKind::kEither:
      return resolve_either(node, value, path);
    case NodeKind::kFree:
      return value;
  }
  return value;
}

}  // namespace longhaul
