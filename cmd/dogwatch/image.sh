#!/bin/sh
# Builds the container image from this checkout, with Go and Docker and no network beyond the Go modules. The first
# argument names it (default: the name of the release, so that all examples run it). From the environment are taken VERSION and GOARCH, or BINARY, a static
# program that was built already.
set -eu
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ -n "${BINARY:-}" ] || GOOS=linux sh cmd/dogwatch/build.sh "$folder/dogwatch"
GOOS='' GOARCH='' go run ./packaging/image -version "${VERSION:-dev}" -archive "${1:-ghcr.io/dogwatch/dogwatch:latest}" \
	"${BINARY:-$folder/dogwatch}" >"$folder/image.tar"
docker load -q -i "$folder/image.tar"
