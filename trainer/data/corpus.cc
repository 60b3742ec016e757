#include "trainer/data/corpus.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "core/base/errors.h"
#include "core/base/hash.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

// What glibc 2.36 installs directly in the include folder. Other packages put their headers there as well.
constexpr const char* kLibcHeaders =
    "aio.h aliases.h alloca.h ar.h argp.h argz.h assert.h byteswap.h complex.h cpio.h ctype.h dirent.h "
    "dlfcn.h elf.h endian.h envz.h err.h errno.h error.h execinfo.h fcntl.h features.h features-time64.h "
    "fenv.h fmtmsg.h fnmatch.h fstab.h fts.h ftw.h gconv.h getopt.h glob.h gnu-versions.h grp.h gshadow.h "
    "iconv.h ifaddrs.h inttypes.h langinfo.h lastlog.h libgen.h libintl.h limits.h link.h locale.h "
    "malloc.h math.h mcheck.h memory.h mntent.h monetary.h mqueue.h netdb.h nl_types.h nss.h obstack.h "
    "paths.h poll.h printf.h proc_service.h pthread.h pty.h pwd.h re_comp.h regex.h regexp.h resolv.h "
    "sched.h search.h semaphore.h setjmp.h sgtty.h shadow.h signal.h spawn.h stab.h stdc-predef.h "
    "stdint.h stdio.h stdio_ext.h stdlib.h string.h strings.h syscall.h sysexits.h syslog.h tar.h "
    "termio.h termios.h tgmath.h thread_db.h threads.h time.h ttyent.h uchar.h ucontext.h ulimit.h "
    "unistd.h utime.h utmp.h utmpx.h values.h wait.h wchar.h wctype.h wordexp.h";

// Links are left out: what they point to is read where it lies.
bool is_plain_file(const fs::directory_entry& entry) {
  return entry.symlink_status().type() == fs::file_type::regular;
}

class Collector {
 public:
  explicit Collector(const fs::path& root) : root_(root) {}

  void add(const fs::path& file) {
    files_.push_back({file.string(), file.lexically_relative(root_).generic_string(), false});
  }

  void add_file(const std::string& name) {
    const fs::directory_entry entry(root_ / name);
    if (is_plain_file(entry)) add(entry.path());
  }

  // Every file below `folder`, or with one of `kinds` (".c").
  void add_tree(const fs::path& folder, const std::set<std::string>& kinds = {}) {
    std::error_code missing;
    for (fs::recursive_directory_iterator at(root_ / folder, missing), end; at != end; at.increment(missing))
      if (is_plain_file(*at) && (kinds.empty() || kinds.count(at->path().extension().string()) > 0))
        add(at->path());
  }

  std::vector<CorpusFile> sorted() && {
    std::sort(files_.begin(), files_.end(),
              [](const CorpusFile& a, const CorpusFile& b) { return a.name < b.name; });
    return std::move(files_);
  }

 private:
  fs::path root_;
  std::vector<CorpusFile> files_;
};

}  // namespace

// FNV-1a leaves the high bits of names that differ in their last letters alike; MurmurHash3's finalizer
// (Appleby, 2011) spreads every bit over all.
bool is_held_out(const std::string& name, double fraction) {
  constexpr double kOne = 18446744073709551616.;  // 2^64
  std::uint64_t hash = fnv1a(name);
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
  hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
  return static_cast<double>(hash ^ hash >> 33) < fraction * kOne;
}

std::vector<CorpusFile> system_headers(double fraction, const std::string& include) {
  const std::string library = "c++/" + std::to_string(__GNUC__);
  Collector collector(include);
  std::istringstream names(kLibcHeaders);
  for (std::string name; names >> name;) collector.add_file(name);
  for (const std::string& folder : {library, std::string("linux"), std::string("asm-generic")})
    collector.add_tree(folder);
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(include, missing)) {
    const fs::path machine = entry.path().filename();  // x86_64-linux-gnu
    if (machine.string().find("-linux-") == std::string::npos) continue;
    for (const std::string& folder :
         {library, std::string("bits"), std::string("sys"), std::string("gnu"), std::string("asm")})
      collector.add_tree(machine / folder);
  }
  std::vector<CorpusFile> files = std::move(collector).sorted();
  if (files.empty())
    throw InputError("train.data.corpus", "no header was found in " + include,
                     "a machine with a C++ compiler",
                     "install g++ (Debian: build-essential), or name files with train.data.text");
  for (CorpusFile& file : files) file.is_held_out = is_held_out(file.name, fraction);
  return files;
}

std::vector<CorpusFile> linux_source(double fraction, const std::string& folder) {
  Collector collector(folder);
  for (const char* part : {"Documentation", "fs", "include", "kernel", "mm", "net"})
    collector.add_tree(part, {".c", ".h", ".rst", ".txt", ".yaml"});
  std::vector<CorpusFile> files = std::move(collector).sorted();
  if (files.empty()) throw missing_corpus(kLinuxSource, folder);
  for (CorpusFile& file : files)
    file.is_held_out = is_held_out(fs::path(file.name).parent_path().generic_string(), fraction);
  return files;
}

std::vector<CorpusFile> debian_prose(double fraction, const std::string& folder) {
  Collector collector(folder);
  collector.add_tree("", {".txt"});
  std::vector<CorpusFile> files = std::move(collector).sorted();
  if (files.empty()) throw missing_corpus(kDebianProse, folder);
  for (CorpusFile& file : files) file.is_held_out = is_held_out(file.name, fraction);
  return files;
}

}  // namespace longhaul
