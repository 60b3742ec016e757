// A maker for each collective; what it does and costs stands in its file.
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_all_gather();
std::unique_ptr<Collective> make_direct();
std::unique_ptr<Collective> make_double_tree();
std::unique_ptr<Collective> make_halving_doubling();
std::unique_ptr<Collective> make_heap_tree();
std::unique_ptr<Collective> make_hierarchical();
std::unique_ptr<Collective> make_leaf_tree();
std::unique_ptr<Collective> make_pair_average();
std::unique_ptr<Collective> make_parameter_server();
std::unique_ptr<Collective> make_reduce_scatter();
std::unique_ptr<Collective> make_ring();
std::unique_ptr<Collective> make_root();
std::unique_ptr<Collective> make_serial_pair();
std::unique_ptr<Collective> make_tree();

}  // namespace longhaul
