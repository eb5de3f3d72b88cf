#!/bin/sh
# Builds the container image from this checkout, with Go and Docker and no
# network beyond the Go modules. The first argument names it (default:
# dogwatch:latest). From the environment are taken VERSION and GOARCH, or BINARY,
# a static program that was built already.
set -eu
image=${1:-dogwatch:latest}
certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
cd "$(dirname "$0")/../.."
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
root=$context/rootfs
mkdir -p "$root/bin" "$root/etc/ssl/certs" "$root/store" "$root/tmp"
if [ -n "${BINARY:-}" ]; then
	cp "$BINARY" "$root/bin/dogwatch"
else
	GOOS=linux sh cmd/dogwatch/build.sh "$root/bin/dogwatch"
fi
# The names under which health checks that were written for other images find it.
ln -s dogwatch "$root/bin/curl"
ln -s dogwatch "$root/bin/sh"
cp "$certificates" "$root/etc/ssl/certs/ca-certificates.crt"
# Any user may run it: plugins have their sockets in /tmp, the database is in /store.
chmod 755 "$context" "$root" "$root/bin" "$root/etc" "$root/etc/ssl" "$root/etc/ssl/certs"
chmod 644 "$root/etc/ssl/certs/ca-certificates.crt"
chmod 1777 "$root/store" "$root/tmp"
docker build -q -t "$image" -f cmd/dogwatch/Dockerfile "$context"
