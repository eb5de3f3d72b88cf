#!/bin/sh
# Makes the user that the service runs as.
set -e
if ! id dogwatch >/dev/null 2>&1; then
	if command -v useradd >/dev/null; then
		useradd --system --user-group --no-create-home --home-dir /var/lib/dogwatch --shell /usr/sbin/nologin dogwatch
	else # BusyBox
		addgroup -S dogwatch
		adduser -S -D -H -h /var/lib/dogwatch -s /sbin/nologin -G dogwatch dogwatch
	fi
fi
