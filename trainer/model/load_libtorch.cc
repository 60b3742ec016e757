// LibTorch as it is linked in, or from the module beside the program.
//
// OpenBLAS starts its threads while it is loaded. Where one of them gets no memory it asks for it again
// without end, and LibTorch waits for that thread. So the address space that the shell leaves this process
// (ulimit -v) is looked at before: with LibTorch linked in (LONGHAUL_TORCH_LINKED) before any library has
// begun, as functions of the section .preinit_array run first, which only an executable may have. The C
// library alone can be called there.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/base/errors.h"
#include "trainer/model/libtorch.h"

// libtorch.cc, where it is linked in.
extern "C" __attribute__((weak)) const longhaul::LibTorch* longhaul_libtorch();

namespace longhaul {
namespace {

// Measured with OpenBLAS 0.3.21 and glibc 2.36: a thread keeps its stack and a pool of 64 MiB, which is cut
// out of twice as much.
constexpr unsigned long kMiB = 1 << 20, kPool = 64 * kMiB, kForAPool = 96 * kMiB, kMain = 64 * kMiB,
                        kUsualStack = 8 * kMiB;
// Of Debian 12's LibTorch with what it is linked with.
constexpr unsigned long kLibraries = 512 * kMiB;

// What is mapped by now: the program and its libraries.
unsigned long mapped_bytes() {
  char text[64] = "";
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  return count > 0 ? std::strtoul(text, nullptr, 10) * static_cast<unsigned long>(sysconf(_SC_PAGESIZE)) : 0;
}

// That OpenBLAS starts.
unsigned long threads(char** environment) {
  cpu_set_t processors;
  const int here = sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
  for (const char* name : {"OPENBLAS_NUM_THREADS=", "OMP_NUM_THREADS="})
    for (char** variable = environment; *variable; ++variable)
      if (std::strncmp(*variable, name, std::strlen(name)) == 0)
        if (const int wanted = std::atoi(*variable + std::strlen(name)); wanted > 0)
          return static_cast<unsigned long>(std::min(wanted, here));
  return static_cast<unsigned long>(here);
}

unsigned long stack_bytes() {
  rlimit limit{};
  const bool is_known = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_known ? limit.rlim_cur : kUsualStack;
}

// What is wrong, in `text`; the number of its characters, 0 where nothing is.
template <unsigned long kSize>
int look(char** environment, unsigned long libraries, char (&text)[kSize]) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  const unsigned long count = threads(environment);
  unsigned long needed = mapped_bytes() + libraries + kMain;
  if (count > 1) needed += kForAPool + (count - 1) * (kPool + stack_bytes());
  if (limit.rlim_cur >= needed) return 0;
  return std::snprintf(text, kSize,
                       "the address space of a process is limited to %.0f MB here (ulimit -v), and the "
                       "libraries of LibTorch with %lu threads need %.0f MB; allowed: that and what the "
                       "training takes; raise the limit, or set OPENBLAS_NUM_THREADS=1",
                       static_cast<double>(limit.rlim_cur) / 1e6, count, static_cast<double>(needed) / 1e6);
}

#ifdef LONGHAUL_TORCH_LINKED
void look_first(int, char**, char** environment) {
  char text[400];
  if (look(environment, 0, text) == 0) return;
  dprintf(STDERR_FILENO, "longhaul-train: error: %s\n", text);
  _exit(1);
}
__attribute__((section(".preinit_array"), used)) void (*const kFirst)(int, char**, char**) = look_first;
#endif

void check_address_space() {
  char text[400];
  if (look(environ, kLibraries, text) > 0) throw RunError(text);
}

std::atomic<bool> computes{false};

// By the RUNPATH of the program: beside it, or in lib/longhaul of where it is installed.
const LibTorch* load() {
  constexpr const char* kModule = "liblonghaul_torch.so";
  check_address_space();
  void* module = dlopen(kModule, RTLD_NOW);
  void* parts = module ? dlsym(module, "longhaul_libtorch") : nullptr;
  if (!parts) throw RunError(fmt::format("LibTorch could not be loaded: {}", dlerror()));
  return reinterpret_cast<decltype(&longhaul_libtorch)>(parts)();
}

const LibTorch& first() {
  const LibTorch& parts = longhaul_libtorch ? *longhaul_libtorch() : *load();
  parts.use_one_thread();
  computes = true;
  return parts;
}

}  // namespace

const LibTorch& libtorch() {
  static const LibTorch& parts = first();
  return parts;
}

bool computes_with_libtorch() {
  return computes;
}

void use_one_thread_of_libtorch() {
  if (longhaul_libtorch)
    longhaul_libtorch()->use_one_thread();
  else if (computes)
    libtorch().use_one_thread();
}

}  // namespace longhaul
