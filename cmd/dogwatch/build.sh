#!/bin/sh
# Builds the program as it is shipped, from this checkout. The first argument names
# the file; others are flags of go build. From the environment are taken VERSION, GOOS and GOARCH.
set -eu
case $1 in
/*) program=$1 ;;
*) program=$PWD/$1 ;;
esac
shift
cd "$(dirname "$0")/../.."
# Without gRPC's debug pages, which nothing serves. The clients of AWS and Kafka are
# large, wait for the network most of the time, and are 1.2 MB smaller if they are not inlined.
# Plugins of a release have to be signed by the key of releases, where there is one.
key=$(sed -n 2p packaging/dogwatch.pub 2>/dev/null || :)
CGO_ENABLED=0 exec go build -trimpath -tags grpcnotrace \
	-ldflags "-s -w -X main.version=${VERSION:-dev} -X main.releaseKey=$key" \
	-gcflags='github.com/aws/...=-l' -gcflags='github.com/twmb/...=-l' -o "$program" "$@" ./cmd/dogwatch
