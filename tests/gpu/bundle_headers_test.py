#!/usr/bin/env python3
"""On a GPU machine there are a compiler, a PyTorch, nvcc and what `make gpu-bundle` packs: nothing that is built there may include
another package's header, such as Boost's. Reads ninja's log of what was included by what this build compiled.

    bundle_headers_test.py BUILD
"""
import pathlib
import re
import subprocess
import sys

BUNDLE = ["nlohmann", "CLI", "fmt", "xxhash.h", "xxh3.h", "gtest", "gmock"]
TORCH = ["torch", "ATen", "c10", "caffe2"]
# With Debian's LibTorch alone; and what ranks over MPI include, which is left out where there is none.
OPTIONAL = ["dnnl", "oneapi", "glog", "gflags", "mpi", "openmpi"]
COMPILER = ["libc6-dev", "linux-libc-dev", "libstdc++-12-dev", "libgcc-12-dev"]
OURS = re.compile(r"(core|methods|trainer|tests)/CMakeFiles/(longhaul_(core|methods|exact|training|train_main|cuda_kernels)|trainer_test)\.dir")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    allowed = {line for package in COMPILER
               for line in subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False).stdout.splitlines()}
    wrong, objects, of_ours = {}, 0, False
    for line in subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout.splitlines():
        if not line.startswith(" "):
            of_ours = bool(OURS.search(line))
            objects += of_ours
            user = line.split(":")[0]
        elif of_ours and line.strip().startswith("/usr/include/") and line.strip() not in allowed:
            name = re.sub(r"^(x86_64-linux-gnu|aarch64-linux-gnu)/", "", line.strip()[len("/usr/include/"):])
            if not name.startswith(tuple(BUNDLE + TORCH + OPTIONAL)):
                wrong.setdefault(line.strip(), user)
    print(f"{objects} objects of the trainer include {len(wrong)} headers that a GPU machine has not")
    for header, user in sorted(wrong.items())[:20]:
        print(f"  {header}, by {user}")
    return 1 if wrong or objects < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
