#include "core/commented_json.h"

#include <sstream>

namespace longhaul {
namespace {

constexpr std::size_t kWidth = 110, kShort = 70;

std::string comment(const Node* node, const std::string& indent) {
  if (!node || node->meaning.empty()) return "";
  std::stringstream words(node->meaning + (node->unit.empty() ? "" : " [" + node->unit + "]"));
  std::string text, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && indent.size() + 3 + line.size() + 1 + word.size() > kWidth) {
      text += indent + "//" + line + "\n";
      line.clear();
    }
    line += " " + word;
  }
  return text + indent + "//" + line + "\n";
}

// {"name": "ddp"}: with a blank behind colons and commas, as people write it.
std::string on_one_line(const Json& value) {
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, child] : value.items())
    text +=
        (text.empty() ? "" : ", ") + (value.is_object() ? Json(key).dump() + ": " : "") + on_one_line(child);
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// The declaration of one element of a list: that of its tag where elements are tagged.
const Node* element_of(const Node* list, const Json& element) {
  if (!list || list->kind != NodeKind::kList) return nullptr;
  const Node& node = list->children[0];
  if (node.kind != NodeKind::kTagged) return &node;
  return element.is_object() && element.contains(node.tag) ? node.child(element[node.tag]) : nullptr;
}

bool has_children(const Node* node) {
  return node && (node->kind == NodeKind::kSection || node->kind == NodeKind::kOneOf);
}

bool is_short(const Json& value) {
  return on_one_line(value).size() <= kShort;
}

std::string lines_of(const Node* node, const Json& value, const std::string& indent);

std::string member_lines(const Node* node, const Json& value, const std::string& indent) {
  std::string text;
  std::size_t left = value.size();
  for (const auto& [key, child] : value.items()) {
    const Node* declared =
        value.is_object() ? (has_children(node) ? node->child(key) : nullptr) : element_of(node, child);
    text += comment(declared, indent) + indent + (value.is_object() ? Json(key).dump() + ": " : "") +
            (value.is_array() && is_short(child) ? on_one_line(child) : lines_of(declared, child, indent)) +
            (--left ? "," : "") + "\n";
  }
  return text;
}

// Spread over lines where the parts have something to be said about, or are long.
std::string lines_of(const Node* node, const Json& value, const std::string& indent) {
  const bool is_tagged_list =
      node && node->kind == NodeKind::kList && node->children[0].kind == NodeKind::kTagged;
  const bool spread =
      value.is_structured() && !value.empty() && (has_children(node) || is_tagged_list || !is_short(value));
  if (!spread) return on_one_line(value);
  const std::string inner = indent + "  ";
  return (value.is_object() ? "{\n" : "[\n") + member_lines(node, value, inner) + indent +
         (value.is_object() ? "}" : "]");
}

}  // namespace

std::string commented_json(const Node& declaration, const Json& value) {
  return lines_of(&declaration, value, "") + "\n";
}

}  // namespace longhaul
