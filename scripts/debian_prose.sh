#!/usr/bin/env bash
# Puts the corpus debian-prose-12 where trainings look for it: the English prose of the documentation packages of
# Debian 12 (main) that debian_prose.packages lists, 66 MB in /usr/local/share/debian-prose-12. As root. It fetches
# 560 MB and installs nothing but the reader of HTML, python3-lxml.
#
# The packages have no updates in Debian 12, so that these versions stay. One list gives one text: its hash is in the
# manifest of every run.
set -euo pipefail

list=$(dirname "$(realpath "$0")")/debian_prose.packages
folder=/usr/local/share/debian-prose-12

if [ "$(id -u)" != 0 ]; then
  echo "run this as root: it fetches packages with apt and writes $folder" >&2
  exit 1
fi
/usr/bin/python3 -c 'import lxml' 2> /dev/null ||
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3-lxml

# Into a folder beside it first: half a corpus must not be taken for a whole one.
packages=$(mktemp -d --tmpdir=/var/tmp)
trap 'rm -rf "$packages" "$folder.part"' EXIT
chmod 755 "$packages"
chown _apt "$packages"
if ! (cd "$packages" && xargs apt-get download -q < "$list"); then
  echo "the versions in $list are those of Debian 12 (main): is it among apt's sources?" >&2
  exit 1
fi
rm -rf "$folder.part" "$folder"
mkdir -p "$folder.part"
/usr/bin/python3 "$(dirname "$list")/prose_of_packages.py" "$folder.part" "$packages"/*.deb
cp "$list" "$folder.part/packages"
mv "$folder.part" "$folder"
echo "$folder: $(cat "$folder"/*.txt | wc -c) bytes of prose from $(ls "$folder"/*.txt | wc -l) packages"
