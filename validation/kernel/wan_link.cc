// A wide-area link for the Linux kernel's own TCP: two network namespaces, each with a TAP device, joined by
// two ns-3 routers in real time. Run by measure.py.
//
//   wan_link RATE DELAY QUEUE QUEUE_BYTES NAMESPACE NAMESPACE
//
// QUEUE is `host` (the link has room for everything; the sender's own queue is the bottleneck), `fifo` or
// `fq_codel-ecn` (the routers' queues are). Prints "ready" once packets may cross, and runs until its
// standard input ends. Ethernet's framing as in net/tcp/framing.h: the link is slowed by ns-3's shorter
// frame.
//
// The routers speak to the kernel through FdNetDevice on a TAP opened here: ns-3's TapBridge looks for its
// helper program in the folder where the package was built, and Debian's does not find it.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <ns3/boolean.h>
#include <ns3/config.h>
#include <ns3/data-rate.h>
#include <ns3/fd-net-device.h>
#include <ns3/global-value.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-static-routing-helper.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/traffic-control-helper.h>
#include <ns3/uinteger.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

constexpr double kNs3Frame = 1500 + 2, kEthernetFrame = 1538;

struct Arguments {
  std::string rate, delay, queue, queue_bytes;
  std::string namespaces[2];
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "wan_link: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

void enter_namespace(int descriptor, const std::string& name) {
  if (descriptor < 0 || setns(descriptor, CLONE_NEWNET) != 0) fail("cannot enter the namespace " + name);
  close(descriptor);
}

// A TAP device `wan` in the namespace; it goes with this process.
int open_tap(const std::string& name) {
  const int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  enter_namespace(open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC), name);
  const int descriptor = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  ifreq request{};
  std::strcpy(request.ifr_name, "wan");
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (descriptor < 0 || ioctl(descriptor, TUNSETIFF, &request) != 0) fail("cannot make a TAP device");
  enter_namespace(own, "of before");
  return descriptor;
}

// The kernel's side is 10.SIDE.0.2 and its gateway, the router, 10.SIDE.0.1.
void add_tap(ns3::Ptr<ns3::Node> router, int side, const std::string& name) {
  const auto device = ns3::CreateObject<ns3::FdNetDevice>();
  device->SetFileDescriptor(open_tap(name));
  device->SetAddress(ns3::Mac48Address::Allocate());
  router->AddDevice(device);
  ns3::Ipv4AddressHelper address(("10." + std::to_string(side) + ".0.0").c_str(), "255.255.255.0");
  address.Assign(ns3::NetDeviceContainer(device));
}

ns3::NetDeviceContainer join(const ns3::NodeContainer& routers, const Arguments& arguments) {
  const bool is_host = arguments.queue == "host";
  const double rate = static_cast<double>(ns3::DataRate(arguments.rate).GetBitRate());
  ns3::PointToPointHelper helper;
  helper.SetDeviceAttribute("DataRate", ns3::DataRateValue(ns3::DataRate(static_cast<std::uint64_t>(
                                            is_host ? 10e9 : rate * kNs3Frame / kEthernetFrame))));
  helper.SetChannelAttribute("Delay", ns3::StringValue(arguments.delay));
  helper.SetQueue("ns3::DropTailQueue", "MaxSize", ns3::StringValue(is_host ? "1000000p" : "2p"));
  const ns3::NetDeviceContainer devices = helper.Install(routers);
  if (is_host) return devices;
  ns3::TrafficControlHelper control;
  if (arguments.queue == "fifo")
    control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", ns3::StringValue(arguments.queue_bytes + "B"));
  else
    control.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "UseEcn", ns3::BooleanValue(true));
  control.Install(devices);
  return devices;
}

void run(const Arguments& arguments) {
  ns3::GlobalValue::Bind("SimulatorImplementationType", ns3::StringValue("ns3::RealtimeSimulatorImpl"));
  ns3::GlobalValue::Bind("ChecksumEnabled", ns3::BooleanValue(true));  // kernels look at them
  ns3::NodeContainer routers(2);
  ns3::InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.SetRoutingHelper(ns3::Ipv4StaticRoutingHelper());
  stack.Install(routers);
  const ns3::NetDeviceContainer devices = join(routers, arguments);
  ns3::Ipv4AddressHelper between("10.255.0.0", "255.255.255.0");
  between.Assign(devices);
  for (int side = 0; side < 2; ++side) {
    const auto router = routers.Get(static_cast<std::uint32_t>(side));
    add_tap(router, side, arguments.namespaces[side]);
    const auto routing = ns3::Ipv4StaticRoutingHelper().GetStaticRouting(router->GetObject<ns3::Ipv4>());
    routing->AddNetworkRouteTo(("10." + std::to_string(1 - side) + ".0.0").c_str(), "255.255.255.0",
                               side == 0 ? "10.255.0.2" : "10.255.0.1", 1);
  }
  ns3::Simulator::Schedule(ns3::Seconds(0.2), [] {
    std::puts("ready");
    std::fflush(stdout);
  });
  // The only way out of a real-time run from outside: the process goes when its parent closes the pipe.
  std::thread([] {
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    std::_Exit(0);
  }).detach();
  ns3::Simulator::Stop(ns3::Hours(10));
  ns3::Simulator::Run();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: wan_link RATE DELAY host|fifo|fq_codel-ecn QUEUE_BYTES NAMESPACE NAMESPACE\n");
    return 2;
  }
  run({argv[1], argv[2], argv[3], argv[4], {argv[5], argv[6]}});
}
