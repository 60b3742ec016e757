#include "core/base/option_docs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "core/base/errors.h"
#include "core/base/option_synonyms.h"

namespace longhaul {
namespace {

// A number, an optional blank, and one of the units that core/base/units.cc reads.
const char* quantity_pattern(NodeKind kind) {
  if (kind == NodeKind::kRate) return "^[0-9.eE+-]+ ?([kMGT]|[KMG]i)?([bB]ps|[bB]/s)$";
  if (kind == NodeKind::kDuration) return "^[0-9.eE+-]+ ?(ns|us|ms|s|min|h|d)$";
  return "^[0-9.eE+-]+ ?(B|[kKMGT]B|[KMG]iB)$";
}

// The meaning and the unit: "peak learning rate [steps]".
std::string description(const Node& node) {
  if (node.unit.empty()) return node.meaning;
  return fmt::format("{}{}[{}]", node.meaning, node.meaning.empty() ? "" : " ", node.unit);
}

// A section that is filled in must still be written where one of its keys has no default.
bool must_be_given(const Node& node) {
  if (node.is_required) return true;
  return node.fill_section && std::any_of(node.children.begin(), node.children.end(), must_be_given);
}

Json object_schema(const Node& node, const std::string& tag) {
  Json schema = {{"type", "object"}, {"additionalProperties", false}};
  Json required = Json::array();
  for (const Node& child : node.children) {
    if (child.kind == NodeKind::kFree && child.meaning.empty()) {
      if (child.key.empty()) schema["additionalProperties"] = true;
      continue;
    }
    schema["properties"][child.key] = child.key == tag ? Json{{"const", node.key}} : json_schema(child);
    if (must_be_given(child) || child.key == tag) required.push_back(child.key);
  }
  if (!required.empty()) schema["required"] = required;
  if (!tag.empty()) schema["description"] = node.meaning;
  return schema;
}

Json alternatives(const Node& node) {
  Json schemas = Json::array();
  for (const Node& child : node.children) {
    if (node.kind == NodeKind::kOneOf) {
      if (child.is_beside) continue;
      Json properties = {{child.key, json_schema(child)}};
      for (const Node& other : node.children)
        if (other.is_beside) properties[other.key] = json_schema(other);
      schemas.push_back({{"type", "object"},
                         {"additionalProperties", false},
                         {"required", {child.key}},
                         {"properties", std::move(properties)}});
    } else if (node.kind == NodeKind::kTagged)
      schemas.push_back(object_schema(child, node.tag));
    else
      schemas.push_back(json_schema(child));
  }
  return schemas;
}

Json bare_schema(const Node& node) {
  switch (node.kind) {
    case NodeKind::kBoolean:
      return {{"type", "boolean"}};
    case NodeKind::kInteger:
    case NodeKind::kNumber: {
      Json schema = {{"type", node.kind == NodeKind::kInteger ? "integer" : "number"}};
      if (std::isfinite(node.minimum))
        schema[node.open_minimum ? "exclusiveMinimum" : "minimum"] = node.minimum;
      if (std::isfinite(node.maximum)) schema["maximum"] = node.maximum;
      return schema;
    }
    case NodeKind::kText:
      return {{"type", "string"}};
    case NodeKind::kChoice:
      return {{"type", "string"}, {"enum", node.choices}};
    case NodeKind::kRate:
    case NodeKind::kDuration:
    case NodeKind::kBytes:
      return {{"type", "string"}, {"pattern", quantity_pattern(node.kind)}};
    case NodeKind::kSection:
      return object_schema(node, "");
    case NodeKind::kOneOf:
    case NodeKind::kTagged:
      return {{"oneOf", alternatives(node)}};
    case NodeKind::kEither:
      return {{"anyOf", alternatives(node)}};
    case NodeKind::kList: {
      Json schema = {{"type", "array"}, {"items", json_schema(node.children[0])}};
      if (node.minimum_items) schema["minItems"] = node.minimum_items;
      return schema;
    }
    case NodeKind::kTable: {
      Json schema = {{"type", "object"}, {"additionalProperties", json_schema(node.children[0])}};
      if (node.minimum_items) schema["minProperties"] = node.minimum_items;
      return schema;
    }
    case NodeKind::kFree:
      break;
  }
  return Json::object();
}

// Parts of a schema that occur again are written once, below "$defs", and referred to.
class SharedParts {
 public:
  // A shorter part is no shorter as a reference.
  static constexpr std::size_t kShortest = 64;

  explicit SharedParts(const Json& schema) { count(schema); }

  // `schema` with references in it; without the definitions that they name.
  Json with_references(const Json& schema) {
    Json result = schema;
    for (auto& [key, value] : result.items())
      if (key == "properties")
        for (auto& [name, option] : value.items()) option = reference_to(option, name);
      else if (key == "oneOf" || key == "anyOf")
        for (Json& alternative : value) alternative = reference_to(alternative, "alternative");
      else if (is_schema(key, value))
        value = reference_to(value, "entry");
    return result;
  }

  const Json& definitions() const { return definitions_; }

 private:
  static bool is_schema(const std::string& key, const Json& value) {
    return value.is_object() && (key == "items" || key == "additionalProperties");
  }

  // What a part holds is counted once, however often the part occurs.
  void count(const Json& schema) {
    for (const auto& [key, value] : schema.items())
      if (key == "properties" || key == "oneOf" || key == "anyOf")
        for (const Json& part : value) count_part(part);
      else if (is_schema(key, value))
        count_part(value);
  }

  // A default may stand beside a reference, so that parts which differ in it alone are the same.
  static Json without_default(Json part) {
    part.erase("default");
    return part;
  }

  void count_part(const Json& part) {
    if (std::string text = without_default(part).dump();
        text.size() < kShortest || ++occurrences_[std::move(text)] == 1)
      count(part);
  }

  Json reference_to(const Json& part, const std::string& name) {
    const Json shared = without_default(part);
    const std::string text = shared.dump();
    const auto found = occurrences_.find(text);
    if (found == occurrences_.end() || found->second == 1) return with_references(part);
    std::string& reference = references_[text];
    if (reference.empty()) {
      reference = name;
      for (int i = 2; definitions_.contains(reference); ++i) reference = fmt::format("{}-{}", name, i);
      definitions_[reference] = nullptr;  // takes the name before the parts inside
      definitions_[reference] = with_references(shared);
    }
    Json result = {{"$ref", "#/$defs/" + reference}};
    if (part.contains("default")) result["default"] = part["default"];
    return result;
  }

  std::map<std::string, int> occurrences_;         // by the part's text
  std::map<std::string, std::string> references_;  // its name by the part's text
  Json definitions_ = Json::object();
};

// Keys without a meaning of their own are those of another section, which the node's meaning names.
bool is_told_elsewhere(const Node& node) {
  return node.kind == NodeKind::kSection && !node.meaning.empty() && !node.children.empty() &&
         std::all_of(node.children.begin(), node.children.end(),
                     [](const Node& child) { return child.meaning.empty(); });
}

void append_help(const Node& node, const std::string& path, std::string& text) {
  const bool is_object =
      node.kind == NodeKind::kSection || node.kind == NodeKind::kOneOf || node.kind == NodeKind::kTagged;
  if (!path.empty()) {
    std::vector<std::string> facts;
    if (!is_object) facts.push_back(allowed(node));
    if (!node.fallback.is_null()) facts.push_back("default " + node.fallback.dump());
    if (node.is_required) facts.push_back("required");
    text += path + "\n";
    if (!node.meaning.empty()) text += fmt::format("    {}\n", description(node));
    if (!facts.empty()) text += fmt::format("    {}\n", join(facts));
  }
  if (is_told_elsewhere(node)) return;
  const bool tagged = node.kind == NodeKind::kTagged;
  for (const Node& child : node.children) {
    if (child.kind == NodeKind::kFree && child.meaning.empty() && node.kind == NodeKind::kSection) continue;
    if (node.kind == NodeKind::kList || node.kind == NodeKind::kTable || node.kind == NodeKind::kEither) {
      const std::string inner = node.kind == NodeKind::kList ? path + "[]" : path;
      for (const Node& grandchild : child.children) {
        // Elements without a name: what they may be, the list or table itself has said.
        if (grandchild.key.empty() && grandchild.children.empty()) continue;
        const std::string name =
            child.kind == NodeKind::kTagged ? "<" + grandchild.key + ">" : grandchild.key;
        append_help(grandchild, name.empty() ? inner : child_path(inner, name), text);
      }
    } else {
      append_help(child, child_path(path, tagged ? "<" + child.key + ">" : child.key), text);
    }
  }
}

}  // namespace

Json json_schema(const Node& node) {
  Json schema = bare_schema(node);
  if (const std::string text = description(node); !text.empty()) schema["description"] = text;
  if (!node.fallback.is_null()) schema["default"] = node.fallback;
  return schema;
}

Json with_definitions(const Json& schema) {
  SharedParts parts(schema);
  Json shared = parts.with_references(schema);
  if (!parts.definitions().empty()) shared["$defs"] = parts.definitions();
  return shared;
}

std::string help_text(const Node& node, const std::string& path) {
  std::string text;
  append_help(node, path, text);
  return text;
}

const Node& option_at(const Node& root, const std::string& path) {
  const Node* node = &root;
  std::stringstream words(path);
  for (std::string word; std::getline(words, word, '.');) {
    word.erase(std::remove_if(word.begin(), word.end(),
                              [](char c) { return std::string("<>[]").find(c) != std::string::npos; }),
               word.end());
    const Node* const found = word.empty() ? nullptr : option_on_path(*node, word);
    if (!found) {
      std::vector<std::string> keys;
      for (const Node* child : named_options(*node)) keys.push_back(child->key);
      throw InputError(path, fmt::format("there is no option \"{}\" here", word),
                       keys.empty() ? "nothing: this one has no keys" : join(keys),
                       did_you_mean(word, keys, place_of_synonym(word, root)));
    }
    node = found;
  }
  return *node;
}

}  // namespace longhaul
