#!/bin/sh
# Nothing is started by the first installation: who may use the socket of Docker is as good as root, which is for the
# administrator to say. dpkg calls with "configure" and the version before, rpm with the number of versions.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart dogwatch.service
fi
if [ "$1" = configure ] && [ -z "$2" ] || [ "$1" = 1 ]; then
	cat <<-'TEXT'
		To let Dogwatch see the containers of Docker, which makes it as good as root:
		    sudo usermod -aG docker dogwatch
		To start it, on http://localhost:3000 of this machine only:
		    sudo systemctl enable --now dogwatch
		Its configuration is /etc/dogwatch/dogwatch.yaml. What does not work, and why:
		    sudo -u dogwatch dogwatch doctor
	TEXT
fi
