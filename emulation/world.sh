
#   sh world.sh COMMAND [ARGUMENT...]         runs the command on each host, with RANK, WORLD_SIZE, MASTER_ADDR and
#                                             MASTER_PORT set, as torch.distributed reads them, PET_..., torchrun's, and
#                                             LONGHAUL_CASE, the file of the resolved case
#   sh world.sh --once COMMAND [ARGUMENT...]  runs it once, beside the hosts lh0, lh1, ... (ip netns exec lh0 ...)
#
# As root, or where a user may make user namespaces. It makes namespaces of its own first: the devices of this machine
# are not touched, and nothing stays, however it ends.
set -eu
if [ $# = 0 ]; then
  echo "usage: sh $0 [--once] COMMAND [ARGUMENT...]" >&2
  exit 2
fi
for program in ip tc sysctl setpriv unshare; do
  command -v $program > /dev/null || { echo "$program is missing (Debian: iproute2 procps util-linux)" >&2; exit 1; }
done
[ -w /dev/net/tun ] || { echo "/dev/net/tun cannot be opened: run this as root" >&2; exit 1; }
if [ "${LONGHAUL_WORLD:-}" != made ]; then
  export LONGHAUL_WORLD=made
  user=
  [ "$(id -u)" = 0 ] || user=--map-root-user
  exec setpriv --pdeathsig KILL unshare $user --net --mount --pid --fork --kill-child --mount-proc sh "$0" "$@"
fi
unset LONGHAUL_WORLD
mount -t tmpfs tmpfs /run
mkdir /run/netns

make_host() {
  ip netns add "lh$1"
  ip netns exec "lh$1" sh -eu -c '
    sysctl -qw net.ipv4.tcp_rmem="4096 131072 67108864" net.ipv4.tcp_wmem="4096 65536 67108864"
    sysctl -qw net.ipv4.tcp_slow_start_after_idle="$4"
    [ ! -e /proc/sys/net/ipv4/tcp_no_metrics_save ] || sysctl -qw net.ipv4.tcp_no_metrics_save=1
    ip link set lo up
    ip tuntap add wan mode tun
    ip address add "$1/24" dev wan
    ip link set wan mtu "$6" up
    # A namespace may not have every congestion control as its default; a route may name any.
    ip route change 10.9.0.0/24 dev wan proto kernel scope link src "$1" congctl "$5" 2> /dev/null || true
    tc qdisc add dev wan root tbf rate "$2bit" burst "$3" limit 100000000 overhead "$7"' \
    make_host "$2" "$3" "$4" "$idle" "$5" "$mtu" "$overhead"
}
printf '%s\n' "$hosts" | while read -r number address rate burst control; do make_host "$number" "$address" "$rate" "$burst" "$control"; done

printf '%s\n' "$case_json" > /run/case.json
"$longhaul" relay --case /run/case.json
if [ "$1" = --once ]; then
  shift
  "$@"
  exit
fi
printf '%s\n' "$hosts" | while read -r number address rate burst control; do
  ip netns exec "lh$number" ip route show dev wan | grep -q "congctl $control" ||
    echo "host $number: the command does not use $control, which this machine gives no route" >&2
done
processes=
rank=0
while [ $rank -lt "$size" ]; do
  ip netns exec lh$rank env RANK=$rank LOCAL_RANK=0 WORLD_SIZE="$size" MASTER_ADDR="$master" MASTER_PORT=29500 \
    LONGHAUL_CASE=/run/case.json PET_NODE_RANK=$rank PET_NNODES="$size" PET_MASTER_ADDR="$master" PET_MASTER_PORT=29500 \
    GLOO_SOCKET_IFNAME=wan TP_SOCKET_IFNAME=wan "$@" &
  processes="$processes $!"
  rank=$((rank + 1))
done
status=0
for process in $processes; do wait "$process" || status=$?; done
"$longhaul" lateness "$size" >&2 || true
exit $status
