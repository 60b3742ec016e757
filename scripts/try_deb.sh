#!/usr/bin/env bash
# try_deb.sh DEB ROOT: as root, the steps of Containerfile with DEB in ROOT, then its command. ROOT is made by debootstrap where
# it does not exist, from the mirror that it has as default. Says what each step took.
set -euo pipefail

deb=$(realpath "$1")
root=$(realpath -m "$2")
file=$(realpath "$(dirname "$0")/../Containerfile")
[ -d "$root" ] || debootstrap --variant=minbase bookworm "$root"
mkdir -p "$root/work"
echo force-unsafe-io > "$root/etc/dpkg/dpkg.cfg.d/unsafe-io"  # as the image debian:12 has it
cp "$deb" "$root/tmp/"
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
inside() {
  local start=$SECONDS
  echo "== $*"
  chroot "$root" sh -ec "cd /work; export HOME=/root; $*"
  echo "== $((SECONDS - start)) s, $(du -sxm --exclude="$root/proc" "$root" | cut -f1) MB"
}
sed -n 's/^RUN //p' "$file" | while read -r step; do inside "$step" </dev/null; done
inside "$(sed -n 's/^CMD //p' "$file" | tr -d '[]",')"
