# What the findings about Debian packages share: sourced, not run. Makes $folder, a temporary folder that goes at the end, and defines
# packages (unpacks pinned packages of a suite into it) and program (runs one with the libraries of its suite).
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# packages SUITE NAME=VERSION...: Debian packages of a suite, unpacked into $folder/SUITE.
packages() {
  local suite=$1 state=$folder/state-$1
  shift
  mkdir -p "$state"/{lists/partial,cache/archives/partial} "$folder/$suite"
  : > "$state/status"
  local options=(-o "Dir::State::lists=$state/lists" -o "Dir::State::status=$state/status" -o "Dir::Cache=$state/cache"
                 -o "Dir::Etc::sourcelist=$state/sources" -o Dir::Etc::sourceparts=- -o "APT::Sandbox::User=root")
  local archive  # where this machine gets Debian from
  archive=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -1)
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main" > "$state/sources"
  apt-get -qq "${options[@]}" update
  (cd "$state" && apt-get -qq "${options[@]}" download "$@" && for file in *.deb; do dpkg -x "$file" "$folder/$suite"; done)
}

# program SUITE NAME ARGUMENT...: runs it with the libraries of its suite.
program() {
  local root=$folder/$1 name=$2 library=$folder/$1/usr/lib/x86_64-linux-gnu
  shift 2
  if [ -e "$library/ld-linux-x86-64.so.2" ]; then
    "$library/ld-linux-x86-64.so.2" --library-path "$library" "$root/usr/bin/$name" "$@"
  else
    LD_LIBRARY_PATH=$library:$root/lib/x86_64-linux-gnu "$root/usr/bin/$name" "$@"
  fi
}
