#!/bin/sh
# Runs the program $1, which is for another architecture, by QEMU's emulator of that, $2: says its version, and serves
# the demo until its plugins run and a check has found what is newer. Needs no rights: the kernel is told of the emulator
# in a name space of users (Linux 6.7), so that Dogwatch can start itself as its plugins.
set -eu
if [ "${3:-}" != inside ]; then
	exec unshare --user --map-root-user --mount --net --pid --fork --mount-proc --kill-child sh "$0" "$1" "$2" inside
fi
cd "$(mktemp -d)"
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
# What an executable of this kind begins with: class, type and machine of ELF.
magic=$(od -An -v -tx1 -N20 "$1" | tr -d '\n' | sed 's/ /\\x/g')
echo ":foreign:M::$magic::$2:F" >/proc/sys/fs/binfmt_misc/register
ip link set lo up
"$1" version
DOGWATCH_SERVER_HOST=127.0.0.1 DOGWATCH_SERVER_PORT=3000 "$1" demo >said 2>&1 &
api() { curl --silent --max-time 60 "$@" || :; }
for _ in $(seq 120); do
	running=$(api http://127.0.0.1:3000/api/plugins | grep -o '"state":"running"' | wc -l)
	[ "$running" -lt 3 ] || break
	sleep 1
done
api -X POST http://127.0.0.1:3000/api/containers/watch >/dev/null
updates=$(api http://127.0.0.1:3000/api/containers | grep -o '"updateAvailable":true' | wc -l)
echo "runs $running plugins and finds $updates updates"
[ "$running" = 3 ] && [ "$updates" -gt 0 ] || { cat said; exit 1; }
