#include "core/options.h"

#include <cmath>

#include "core/errors.h"
#include "core/units.h"

namespace longhaul {
namespace {

Node make(std::string key, NodeKind kind, std::vector<Node> children = {}) {
  Node node;
  node.key = std::move(key);
  node.kind = kind;
  node.children = std::move(children);
  return node;
}

std::string range(const Node& node) {
  std::string words;
  if (std::isfinite(node.minimum))
    words += (node.open_minimum ? " above " : " of at least ") + format_number(node.minimum);
  if (std::isfinite(node.maximum))
    words += (words.empty() ? " of at most " : " and at most ") + format_number(node.maximum);
  return words;
}

std::vector<std::string> keys_of(const Node& node) {
  std::vector<std::string> keys;
  for (const Node& child : node.children) keys.push_back(child.key);
  return keys;
}

}  // namespace

const Node* Node::child(const std::string& name) const {
  for (const Node& node : children)
    if (node.key == name) return &node;
  return nullptr;
}

Node* Node::child(const std::string& name) {
  return const_cast<Node*>(std::as_const(*this).child(name));
}

Node boolean(std::string key) {
  return make(std::move(key), NodeKind::kBoolean);
}
Node integer(std::string key) {
  return make(std::move(key), NodeKind::kInteger);
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
  return make(std::move(key), NodeKind::kDuration);
}
Node bytes(std::string key) {
  return make(std::move(key), NodeKind::kBytes);
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
      return "a time with its unit, as \"50ms\"";
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

std::string child_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

std::string element_path(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

}  // namespace longhaul
