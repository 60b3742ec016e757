#include "net/collectives/registry.h"

#include "core/errors.h"
#include "net/collectives/all.h"

namespace longhaul {

const std::vector<std::unique_ptr<Collective>>& collectives() {
  static const std::vector<std::unique_ptr<Collective>> all = [] {
    std::vector<std::unique_ptr<Collective>> list;
    list.push_back(make_ring());
    list.push_back(make_tree());
    list.push_back(make_leaf_tree());
    list.push_back(make_heap_tree());
    list.push_back(make_double_tree());
    list.push_back(make_halving_doubling());
    list.push_back(make_direct());
    list.push_back(make_parameter_server());
    list.push_back(make_hierarchical());
    list.push_back(make_pair_average());
    list.push_back(make_root());
    list.push_back(make_serial_pair());
    list.push_back(make_all_gather());
    list.push_back(make_reduce_scatter());
    return list;
  }();
  return all;
}

const Collective& find_collective(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& collective : collectives()) {
    if (collective->name() == name) return *collective;
    names.push_back(collective->name());
  }
  const std::string near = nearest(name, names);
  throw InputError("collective", "found \"" + name + "\"", join(names),
                   near.empty() ? "see longhaul list collectives" : "did you mean \"" + near + "\"?");
}

}  // namespace longhaul
