// The JSON Schema and the help text of a declaration.
#include <algorithm>
#include <cmath>

#include "core/errors.h"
#include "core/options.h"
#include "core/units.h"

namespace longhaul {
namespace {

// A number, an optional blank, and one of the units that core/units.cc reads.
const char* quantity_pattern(NodeKind kind) {
  if (kind == NodeKind::kRate) return "^[0-9.eE+-]+ ?([kMGT]|[KMG]i)?([bB]ps|[bB]/s)$";
  if (kind == NodeKind::kDuration) return "^[0-9.eE+-]+ ?(ns|us|ms|s|min|h|d)$";
  return "^[0-9.eE+-]+ ?(B|[kKMGT]B|[KMG]iB)$";
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

void append_help(const Node& node, const std::string& path, std::string& text) {
  const bool is_object =
      node.kind == NodeKind::kSection || node.kind == NodeKind::kOneOf || node.kind == NodeKind::kTagged;
  if (!path.empty()) {
    std::vector<std::string> facts;
    if (!is_object) facts.push_back(allowed(node));
    if (!node.fallback.is_null()) facts.push_back("default " + node.fallback.dump());
    if (node.is_required) facts.push_back("required");
    text += path + "\n";
    if (!node.meaning.empty())
      text += "    " + node.meaning + (node.unit.empty() ? "" : " [" + node.unit + "]") + "\n";
    if (!facts.empty()) text += "    " + join(facts) + "\n";
  }
  const bool tagged = node.kind == NodeKind::kTagged;
  for (const Node& child : node.children) {
    if (node.kind == NodeKind::kList || node.kind == NodeKind::kTable || node.kind == NodeKind::kEither) {
      const std::string inner = node.kind == NodeKind::kList ? path + "[]" : path;
      for (const Node& grandchild : child.children)
        append_help(
            grandchild,
            child_path(inner, child.kind == NodeKind::kTagged ? "<" + grandchild.key + ">" : grandchild.key),
            text);
    } else {
      append_help(child, child_path(path, tagged ? "<" + child.key + ">" : child.key), text);
    }
  }
}

}  // namespace

Json json_schema(const Node& node) {
  Json schema = bare_schema(node);
  std::string description = node.meaning;
  if (!node.unit.empty()) description += (description.empty() ? "[" : " [") + node.unit + "]";
  if (!description.empty()) schema["description"] = description;
  if (!node.fallback.is_null()) schema["default"] = node.fallback;
  return schema;
}

std::string help_text(const Node& node) {
  std::string text;
  append_help(node, "", text);
  return text;
}

}  // namespace longhaul
