#!/usr/bin/env bash
# Puts the corpus linux-source-6.1 where trainings look for it: Debian's package of that name, and of its archive the
# six folders that the corpus is made of (270 MB in /usr/src/linux-source-6.1). As root.
#
# One version of the package gives one text: its hash is in the manifest of every run. Losses of another version are
# of another text.
set -euo pipefail

package=linux-source-6.1
archive=/usr/src/$package.tar.xz
folder=/usr/src/$package

if [ ! -e "$archive" ]; then
  if [ "$(id -u)" != 0 ]; then
    echo "as root, run: apt-get install --no-install-recommends $package; then start this again" >&2
    exit 1
  fi
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$package"
fi

# Into a folder beside it first: half a corpus must not be taken for a whole one.
rm -rf "$folder.part" "$folder"
mkdir "$folder.part"
tar -xJf "$archive" -C "$folder.part" --strip-components 1 \
  $package/Documentation $package/fs $package/include $package/kernel $package/mm $package/net
mv "$folder.part" "$folder"
echo "$folder: $(dpkg-query -W -f '${Version}' "$package")"
