#!/bin/sh
# The database stays, but where dpkg is told to purge. So does the user, whose number files may have.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
if [ "$1" = purge ]; then
	rm -rf /var/lib/dogwatch
fi
