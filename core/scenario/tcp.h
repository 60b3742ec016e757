// The section `network.tcp`: how a transfer is carried. An option of it is a field of TcpSpec
// (network_spec.h), its declaration and its reading in tcp.cc.
#pragma once

#include "core/base/options.h"
#include "core/scenario/network_spec.h"

namespace longhaul {

Node tcp_options();
TcpSpec parse_tcp(const Json& json);  // throws InputError where values contradict each other

}  // namespace longhaul
