#include "net/topologies/graphml_file.h"

#include <fmt/core.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <map>
#include <regex>
#include <sstream>

#include "core/base/errors.h"

namespace longhaul {
namespace {

using Element = boost::property_tree::ptree;

std::string xml_attribute(const Element& element, const char* name) {
  return element.get(Element::path_type(std::string("<xmlattr>/") + name, '/'), std::string());
}

// An attribute of nodes or edges (GraphML primer, "GraphML-Attributes"): its name, whose it is ("node",
// "edge", "graph"; "all" or nothing: of all), and the value of those that do not say one.
struct Key {
  std::string name, of;
  boost::optional<std::string> value;

  bool is_of(const char* kind) const { return of == kind || of == "all" || of.empty(); }
};

// A file's first graph, and graphs inside its nodes as if they stood beside these.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  WrittenGraph read(const Element& document) {
    const Element& root = document.get_child("graphml");
    for (const auto& [name, element] : root)
      if (name == "key")
        keys_[xml_attribute(element, "id")] = {xml_attribute(element, "attr.name"),
                                               xml_attribute(element, "for"),
                                               element.get_optional<std::string>("default")};
    if (const auto graph = root.get_child_optional("graph")) {
      read_nodes(*graph);
      read_edges(*graph);
    }
    return graph_;
  }

 private:
  Attributes attributes_of(const Element& element, const char* kind, const std::string& place) const {
    Attributes attributes;
    for (const auto& [id, key] : keys_)
      if (key.value && key.is_of(kind)) attributes[key.name] = *key.value;
    for (const auto& [name, data] : element) {
      if (name != "data") continue;
      const auto key = keys_.find(xml_attribute(data, "key"));
      if (key == keys_.end())
        throw InputError({file_, place, "has data of the key \"" + xml_attribute(data, "key") + "\"",
                          "a key that the file declares", ""});
      attributes[key->second.name] = data.data();
    }
    return attributes;
  }

  void read_nodes(const Element& graph) {
    for (const auto& [name, node] : graph) {
      if (name != "node") continue;
      const std::string id = xml_attribute(node, "id");
      if (id.empty()) throw InputError({file_, "", "a node has no id", "an id for each node", ""});
      if (!nodes_.emplace(id, graph_.nodes.size()).second)
        throw InputError({file_, "node \"" + id + "\"", "is there twice", "ids that differ", ""});
      graph_.nodes.push_back(attributes_of(node, "node", "node \"" + id + "\""));
      if (const auto inside = node.get_child_optional("graph")) read_nodes(*inside);
    }
  }

  void read_edges(const Element& graph) {
    const std::string usual = xml_attribute(graph, "edgedefault");
    for (const auto& [name, element] : graph) {
      if (name == "node") {
        if (const auto inside = element.get_child_optional("graph")) read_edges(*inside);
        continue;
      }
      if (name != "edge") continue;
      const std::string directed = xml_attribute(element, "directed");
      if (directed.empty() ? usual == "directed" : directed == "true")
        throw InputError({file_, "", "found directed edges", "edgedefault=\"undirected\"",
                          "every edge is a full-duplex link"});
      const std::size_t source = end_of(element, "source", "target"),
                        target = end_of(element, "target", "source");
      graph_.edges.push_back(
          {source, target,
           attributes_of(element, "edge",
                         fmt::format("the edge of \"{}\" and \"{}\"", xml_attribute(element, "source"),
                                     xml_attribute(element, "target")))});
    }
  }

  // A misspelt id must not become a place on the map.
  std::size_t end_of(const Element& edge, const char* end, const char* other) const {
    const std::string id = xml_attribute(edge, end);
    const auto node = nodes_.find(id);
    if (node != nodes_.end()) return node->second;
    throw InputError({file_, fmt::format("an edge of node \"{}\"", xml_attribute(edge, other)),
                      fmt::format("its {} \"{}\" is no node of the file", end, id),
                      "source and target that are ids of nodes", ""});
  }

  const std::string& file_;
  std::map<std::string, Key> keys_;
  std::map<std::string, std::size_t> nodes_;
  WrittenGraph graph_;
};

// The parser calls itself for each element inside another one; GraphML has graph, node, data and few more.
void check_depth(const std::string& text, const std::string& file) {
  constexpr int kDeepest = 100;
  int depth = 0;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const char next = at + 1 < text.size() ? text[at + 1] : ' ';
    if (next == '!' || next == '?') continue;
    const std::size_t end = text.find('>', at);
    const bool is_empty = end != std::string::npos && text[end - 1] == '/';
    if (next == '/')
      --depth;
    else if (!is_empty && ++depth > kDeepest)
      throw InputError({file, "", fmt::format("has elements nested {} deep", depth),
                        fmt::format("at most {}", kDeepest), ""});
  }
}

InputError not_graphml(const std::string& file, const std::string& reason) {
  const std::regex place(R"(^<unspecified file>\((\d+)\))");  // Boost's words for a stream
  return InputError({file, "",
                     fmt::format("is not GraphML ({})", std::regex_replace(reason, place, "line $1")),
                     "a GraphML file as in the Internet Topology Zoo", ""});
}

}  // namespace

WrittenGraph read_graphml(const std::string& text, const std::string& file) {
  check_depth(text, file);
  std::istringstream in(text);
  Element document;
  try {
    using namespace boost::property_tree;
    read_xml(in, document, xml_parser::no_comments | xml_parser::trim_whitespace);
    return Reader(file).read(document);
  } catch (const boost::property_tree::ptree_error& error) {
    throw not_graphml(file, error.what());
  }
}

}  // namespace longhaul
