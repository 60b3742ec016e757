#!/bin/sh
# Runs held.py on another kernel than the machine's: Debian's user-mode Linux, a kernel that is a process and sees this
# machine's files. Arguments are held.py's:
#   validation/kernel/uml.sh --path netem --grids dt-fm --runs 3 --out FILE
# As root. Packages of Debian: user-mode-linux, kmod, iproute2, python3.
set -e
init=$(mktemp)
trap 'rm -f "$init"' EXIT
cat > "$init" <<END
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
for module in drivers/net/veth net/sched/sch_netem; do insmod /usr/lib/uml/modules/*/kernel/\$module.ko; done
cd "$PWD"
python3 validation/kernel/held.py $*
echo o > /proc/sysrq-trigger
sleep 10
END
chmod +x "$init"
# With less memory tcp_mem would be the limit.
linux.uml mem=6144M rootfstype=hostfs rootflags=/ rw "init=$init" con=null con0=fd:0,fd:1 quiet < /dev/null
