#!/bin/sh
# The database stays, but where dpkg is told to purge. So does the user, whose number files may have.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
if [ "$1" = purge ]; then
	# Variables of the service are in no package, and may hold passwords.
	rm -rf /var/lib/dogwatch /etc/dogwatch/environment
	rmdir /etc/dogwatch 2>/dev/null || :
fi
