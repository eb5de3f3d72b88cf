#!/bin/sh
# Builds Syft, which lists what archives contain, as a program that knows its version. The argument names the file.
set -eu
cd "$(dirname "$0")"
syft=github.com/anchore/syft
CGO_ENABLED=0 exec go build -ldflags "-s -w -X main.version=$(go list -m -f '{{.Version}}' $syft)" -o "$1" $syft/cmd/syft
