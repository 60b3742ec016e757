#include "net/topologies/graphml_file.h"

#include <fmt/core.h>

#include <boost/graph/graphml.hpp>
#include <boost/property_tree/exceptions.hpp>
#include <regex>
#include <sstream>

#include "core/base/errors.h"

namespace longhaul {
namespace {

// What Boost's reader finds, with every value as its text.
class Recorder : public boost::mutate_graph {
 public:
  const WrittenGraph& graph() const { return graph_; }

  bool is_directed() const override { return false; }

  boost::any do_add_vertex() override {
    graph_.nodes.emplace_back();
    return graph_.nodes.size() - 1;
  }

  std::pair<boost::any, bool> do_add_edge(boost::any source, boost::any target) override {
    graph_.edges.push_back({boost::any_cast<std::size_t>(source), boost::any_cast<std::size_t>(target), {}});
    return {graph_.edges.size() - 1, true};
  }

  void set_graph_property(const std::string&, const std::string&, const std::string&) override {}

  void set_vertex_property(const std::string& name, boost::any vertex, const std::string& value,
                           const std::string&) override {
    graph_.nodes[boost::any_cast<std::size_t>(vertex)][name] = value;
  }

  void set_edge_property(const std::string& name, boost::any edge, const std::string& value,
                         const std::string&) override {
    graph_.edges[boost::any_cast<std::size_t>(edge)].attributes[name] = value;
  }

 private:
  WrittenGraph graph_;
};

std::string label_of(const Attributes& node) {
  const auto found = node.find("label");
  return found == node.end() ? "" : found->second;
}

// Boost makes a node of whatever an edge names. A misspelt id must not become a place on the map.
void check_ends(const WrittenGraph& graph, const std::string& text, const std::string& file) {
  std::size_t written = 0;
  for (std::size_t at = text.find("<node"); at != std::string::npos; at = text.find("<node", at + 1))
    ++written;
  if (graph.nodes.size() <= written) return;
  const auto is_nameless = [&](std::size_t node) { return graph.nodes[node].empty(); };
  for (const WrittenGraph::Edge& edge : graph.edges)
    if (is_nameless(edge.first) || is_nameless(edge.second)) {
      const std::size_t other = is_nameless(edge.first) ? edge.second : edge.first;
      throw InputError({file, "an edge of node " + label_of(graph.nodes[other]),
                        "its other end is no node of the file", "source and target that are ids of nodes",
                        ""});
    }
}

// Boost's reader calls itself for each element inside another one; GraphML has graph, node, data and few
// more.
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
  Recorder recorder;
  try {
    boost::read_graphml(in, recorder, 0);
  } catch (const boost::directed_graph_error&) {
    throw InputError(
        {file, "", "found directed edges", "edgedefault=\"undirected\"", "every edge is a full-duplex link"});
  } catch (const boost::graph_exception& error) {
    throw not_graphml(file, error.what());
  } catch (const boost::property_tree::ptree_error& error) {  // of the XML
    throw not_graphml(file, error.what());
  }
  check_ends(recorder.graph(), text, file);
  return recorder.graph();
}

}  // namespace longhaul
