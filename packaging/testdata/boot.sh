#!/bin/sh
# Boots systemd on a copy of this machine, in name spaces of its own and without a network, and has it run the script
# $2 in the folder $1, whose content is in /release there. Prints what that says. What it does is gone afterwards.
set -eu
if [ "${3:-}" != inside ]; then
	unshare --mount --pid --fork --kill-child --cgroup --ipc --uts --net sh "$0" "$1" "$2" inside >"$1/boot.log" 2>&1 &
	machine=$!
	for _ in $(seq 120); do
		[ ! -e "$1/done" ] || break
		sleep 1
	done
	kill -9 "$machine"
	cat "$1/said"
	exit "$(cat "$1/done")"
fi
mount --make-rprivate /
root=$(mktemp -d)
mount -t tmpfs tmpfs "$root"
mkdir "$root/upper" "$root/work" "$root/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$root/upper,workdir=$root/work" "$root/root"
root=$root/root
mkdir "$root/release"
mount --bind "$1" "$root/release"
# Nothing of this machine is started but what the package brings.
rm -rf "$root"/etc/systemd/system/*.wants "$root/etc/fstab"
for unit in udevd udev-trigger sysctl modules-load journal-flush update-utmp random-seed hwdb-update; do
	ln -sf /dev/null "$root/etc/systemd/system/systemd-$unit.service"
done
mount -t proc proc "$root/proc"
mount -t sysfs sysfs -o ro "$root/sys"
mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
for folder in run tmp dev; do mount -t tmpfs tmpfs "$root/$folder"; done
for device in null zero full random urandom tty; do
	touch "$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm" "$root/dev/pts"
ln -s /proc/self/fd "$root/dev/fd"
# The one part of the hardening that needs more of a machine than there is here.
mkdir -p "$root/etc/systemd/system/dogwatch.service.d"
printf '[Service]\nPrivateDevices=no\n' >"$root/etc/systemd/system/dogwatch.service.d/here.conf"
cat >"$root/etc/systemd/system/test.service" <<END
[Unit]
Requires=basic.target
After=basic.target
[Service]
Type=oneshot
ExecStart=sh -c 'sh -eux /release/$2 >/release/said 2>&1; echo \$? >/release/done'
END
exec env container=other chroot "$root" /lib/systemd/systemd --unit=test.service
