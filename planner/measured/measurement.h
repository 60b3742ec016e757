// What a file says of two sites, and which sites its hosts and its name stand for.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.h"

namespace longhaul::measured {

// Its name says where it stands, for messages and where it begins with two sites; nothing is opened.
struct MeasurementFile {
  std::string name, bytes;
};

using SitePair = std::array<std::string, 2>;  // in alphabetical order
SitePair pair_of(const std::string& site, const std::string& other);

// One direction of one test, or one round trip.
struct Measured {
  std::string file;
  SitePair pair;
  std::string sender = {};                  // the site that sent; "": not known
  std::optional<double> together_bps = {};  // payload of all streams
  long long streams = 1;                    // 0: not known
  std::optional<double> rtt_s = {};
  bool is_loaded = false;  // the round trip was measured beside traffic of its own
  std::string limit = {};  // why the path may carry more, where the tool itself held the test down
  bool both_ways = false;  // the other direction ran at the same time
  std::vector<std::string> notes = {};  // sentences for a reader
  std::string test = {};                // equal in the files of both ends, where the tool marks them
  bool as_sent = false;                 // the sender's figure, where the receiver's is in no line of the file
};

// Equal for equal hosts: ::ffff:10.0.0.1 is 10.0.0.1, names have no case, an address no scope.
std::string same_host(const std::string& host);
bool is_address(const std::string& host);

// The sites of a matrix by name, and their hosts. Of hosts that are asked for, "" stands for none.
class Sites {
 public:
  using Hosts = std::vector<std::pair<std::string, std::vector<std::string>>>;

  // Throws InputError for a host of two sites.
  explicit Sites(const Hosts& hosts);

  const std::vector<std::string>& names() const { return names_; }
  bool has_name(const std::string& name) const;

  // The site of the first host that one has, or "". A short name is that of a machine whose full name is
  // known.
  std::string of_host(const std::vector<std::string>& hosts) const;
  bool have_hosts(const std::pair<std::string, std::string>& sites) const;  // one of them

  // Two sites that the file's name, or that of its folder, begins with: warsaw-madrid-2.json. The longest
  // names win.
  std::optional<std::pair<std::string, std::string>> pair_in_name(const std::string& file) const;
  // The one site that the file's name begins with, as warsaw.txt; or "".
  std::string site_in_name(const std::string& file) const;
  // pair_in_name(), or an InputError that says which of the file's hosts are no site's.
  std::pair<std::string, std::string> pair_of_name(const std::string& file,
                                                   const std::vector<std::string>& hosts = {}) const;

  // The sites of the machine that wrote the file and of the other one, each of which has some names. Throws
  // InputError.
  std::pair<std::string, std::string> ends(const std::string& file, const std::vector<std::string>& local,
                                           const std::vector<std::string>& remote) const;

  // "warsaw-madrid": how a file may be named.
  std::string example_pair() const;

 private:
  std::string of_plain(const std::string& plain) const;

  std::vector<std::string> names_;
  std::map<std::string, std::string> site_of_;  // by same_host()
};

// The first of `hosts` that is not empty.
std::string first_of(const std::vector<std::string>& hosts);

// Three figures, without an exponent: 3.52, 865, 12400.
std::string megabits(double bps);

// Whether its name ends in .csv or .tsv.
bool is_named_table(const std::string& file);

// "FILE: found; allowed: allowed".
InputError of_file(const std::string& file, const std::string& found, const std::string& allowed = "");

}  // namespace longhaul::measured
