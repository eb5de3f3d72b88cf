#!/bin/sh
# dpkg calls with "remove" where it does not upgrade, rpm with 0.
set -e
if [ -d /run/systemd/system ] && { [ "$1" = remove ] || [ "$1" = 0 ]; }; then
	systemctl disable --now dogwatch.service
fi
