// A measured matrix: round-trip time and single-connection throughput between sites.
//
// A data file (scenarios/networks/*.json) says where its numbers come from and keeps them as published: a
// pair gives `rtt` or `one_way`, and only the reader doubles. Two matrices are built in; a user's file has
// the same form.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace longhaul {

struct SitePair {
  double rtt = 0;                       // s
  double throughput = 0;                // bit/s of payload, of one connection
  std::map<int, double> together = {};  // by number of several connections, where measured: of all of them

  // Bit/s of each of `connections` of a pair. Together they carry at most `gain` times one, and what as many
  // or more were measured to carry, or what the most did.
  double each(int connections, double gain) const;
};

class Matrix {
 public:
  // From the text of a matrix file; `file` names it in errors. Throws InputError.
  static Matrix parse(const std::string& text, const std::string& file);

  const std::string& about() const { return about_; }
  const std::string& source() const { return source_; }
  const std::vector<std::string>& sites() const { return sites_; }
  const SitePair& inside() const { return inside_; }
  // Of two different sites; every pair is there once the file was read.
  const SitePair& between(const std::string& word, const std::string& other) const;

 private:
  std::string about_, source_;
  std::vector<std::string> sites_;
  SitePair inside_;
  std::map<std::pair<std::string, std::string>, SitePair> pairs_;  // names in alphabetical order
};

// `name`: a built-in matrix, or a file (relative to `folder`). Throws InputError at
// network.topology.regions.matrix.
Matrix load_matrix(const std::string& name, const std::string& folder);

// Names, in alphabetical order.
std::vector<std::string> built_in_matrices();

}  // namespace longhaul
