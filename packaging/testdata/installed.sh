# Installs the package, starts the service, saves, removes, installs, restores and purges.
dpkg -i /release/dogwatch.deb
[ "$(systemctl is-active dogwatch)" = inactive ]
[ "$(stat -c '%a %U:%G' /etc/dogwatch/dogwatch.yaml)" = '640 root:dogwatch' ]
systemd-analyze verify --man=no dogwatch.service
serves() {
	for _ in $(seq 100); do
		if dogwatch healthcheck; then return; fi
		sleep 0.2
	done
	systemctl status --no-pager --full dogwatch
	return 1
}
systemctl enable --now dogwatch
serves
process=/proc/$(systemctl show --property MainPID --value dogwatch)
[ "$(stat -c %U "$process")" = dogwatch ]
grep -E '^CapEff:\s0+$' "$process/status"
grep -E '^NoNewPrivs:\s1$' "$process/status"
[ "$(stat -c '%a %U' /var/lib/dogwatch)" = '700 dogwatch' ]
su -s /bin/sh dogwatch -c 'dogwatch doctor' | grep -E '^ok +server +serves at http://127.0.0.1:3000'
# The built-in plugins start, and are isolated, under the filters of the unit.
[ "$(dogwatch plugin list | grep -c '  running  ')" = 2 ]
systemctl reload dogwatch

dogwatch token create kept
dogwatch backup /release/saved
# An upgrade starts it again, and keeps what the administrator has changed.
echo '# changed' >>/etc/dogwatch/dogwatch.yaml
dpkg -i --force-confold /release/dogwatch.deb
serves
grep changed /etc/dogwatch/dogwatch.yaml

echo TZ=Etc/UTC >/etc/dogwatch/environment
dpkg --remove dogwatch
[ "$(systemctl is-active dogwatch)" = inactive ]
[ -f /var/lib/dogwatch/dogwatch.db ]
dpkg --purge dogwatch
[ ! -e /var/lib/dogwatch ]
[ ! -e /etc/dogwatch ]
[ ! -e /usr/bin/dogwatch ]

dpkg -i /release/dogwatch.deb
install -d -o dogwatch -g dogwatch -m 700 /var/lib/dogwatch
install -o dogwatch -m 600 /release/saved /var/lib/dogwatch/saved
su -s /bin/sh dogwatch -c 'dogwatch restore /var/lib/dogwatch/saved'
systemctl start dogwatch
serves
dogwatch token list | grep kept
