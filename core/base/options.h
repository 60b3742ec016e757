// Options, declared once: a tree of nodes, each with type, unit, range, default and meaning.
//
// From one declaration come the validation of a scenario and the filling-in of defaults (resolve), and the
// JSON Schema and the help text (option_docs.h). A node describes one JSON value.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace longhaul {

enum class NodeKind {
  kBoolean,
  kInteger,
  kNumber,
  kText,
  kChoice,    // one of `choices`
  kRate,      // text with a unit, bit/s
  kDuration,  // text with a unit, s
  kBytes,     // text with a unit, bytes
  kSection,   // object; `children` are its keys: one without a name is any other, one of kFree without a meaning ours
  kOneOf,     // object with exactly one of the keys in `children`, and any of those that stand beside
  kTagged,    // object whose key `tag` says which of `children` (by their key) it is
  kList,      // array of `children[0]`
  kTable,     // object with free keys and values as `children[0]`
  kEither,    // any of `children`, told apart by their JSON type
  kFree,      // anything: checked elsewhere, where what is allowed is known
};

struct Node {
  std::string key;
  NodeKind kind = NodeKind::kFree;
  std::string meaning;
  std::string unit;  // for numbers; texts with a unit carry their own
  Json fallback;     // the default; null: none
  bool is_required = false;
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool open_minimum = false;    // minimum itself is not allowed
  bool fill_section = false;    // an absent section is filled in with its defaults
  bool is_beside = false;       // of kOneOf: an optional key beside the one that is chosen
  bool is_timing_only = false;  // leaves the numerics of a training as they are (methods/common/registry.h)
  bool is_later = false;        // came when trainings had names: at its default it is not in them
  std::size_t minimum_items = 0;
  std::vector<std::string> choices;
  std::string tag;
  std::vector<Node> children;

  // Chainable, for declarations that read as a table.
  Node& means(std::string text) { return meaning = std::move(text), *this; }
  Node& by_default(Json value) { return fallback = std::move(value), *this; }
  Node& required() { return is_required = true, *this; }
  Node& at_least(double bound) { return minimum = bound, *this; }
  Node& above(double bound) { return minimum = bound, open_minimum = true, *this; }
  Node& at_most(double bound) { return maximum = bound, *this; }
  Node& in(std::string text) { return unit = std::move(text), *this; }
  Node& filled() { return fill_section = true, *this; }
  Node& beside() { return is_beside = true, *this; }
  Node& not_empty() { return minimum_items = 1, *this; }
  Node& timing_only() { return is_timing_only = true, *this; }
  Node& later() { return is_later = true, *this; }

  const Node* child(const std::string& name) const;  // null: there is none
};

Node boolean(std::string key);
Node integer(std::string key);        // an int; without bounds of its own those of core/base/limits.h
Node large_integer(std::string key);  // of 64 bits; without bounds of its own from 0 to the largest of them
Node number(std::string key);
Node text(std::string key);
Node choice(std::string key, std::vector<std::string> choices);
Node rate(std::string key);
Node duration(std::string key);
Node bytes(std::string key);
Node section(std::string key, std::vector<Node> children);
Node one_of(std::string key, std::vector<Node> alternatives);
Node tagged(std::string key, std::string tag, std::vector<Node> alternatives);
Node list_of(std::string key, Node element);
Node table_of(std::string key, Node value);
Node either(std::string key, std::vector<Node> alternatives);
Node anything(std::string key);

// The options that may follow in a dotted path; elements of lists and tables have no name of their own.
std::vector<const Node*> named_options(const Node& node);

// The option at a dotted path from `root` ("network.tcp", "methods.diloco.inner_steps"); null: there is none.
const Node* option_on_path(const Node& root, const std::string& path);

// What the node allows, in words: "an integer of at least 1", "one of fp32, bf16".
std::string allowed(const Node& node);

// Checks `value` against `node` and returns it with every default filled in. `path` is where the value stands
// ("train.optimizer"). Throws InputError (without a file) at the first thing wrong.
Json resolve(const Node& node, const Json& value, const std::string& path);

// The same for a file that an older or newer program may have written: keys that are not declared pass, and
// nothing is filled in.
void check_declared(const Node& node, const Json& value, const std::string& path);

}  // namespace longhaul
