#!/bin/sh
# In place of ssh: runs the rest of its words on the host of the world whose address comes first (10.9.0.1 is lh0), under a host name
# of its own, by which launchers tell hosts apart.
while [ "${1#-}" != "$1" ]; do shift; done
host=lh$((${1##*.} - 1))
shift
exec ip netns exec "$host" unshare --uts sh -c 'hostname "$1"; shift; exec sh -c "$*"' sh "$host" "$@"
