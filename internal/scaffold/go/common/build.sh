#!/bin/sh
# Builds the plugin. Without an argument: plugins/@id@, for this machine. With
# a version, ./build.sh 1.0.0: a release in dist/, for several platforms, with checksums, and packed.
set -eu
cd "$(dirname "$0")"
export CGO_ENABLED=0

# compile FILE VERSION. The flags leave out what only a debugger needs. Its HTTP client
# speaks HTTP/1.1 alone; for a service that needs HTTP/2 remove nethttpomithttp2.
compile() {
	go build -trimpath -tags grpcnotrace,nethttpomithttp2 -ldflags "-s -w -X main.version=$2" -o "$1" .
	chmod 755 "$1"
}

if [ "$#" -eq 0 ]; then
	mkdir -p plugins
	chmod 755 plugins
	compile plugins/.@id@.new dev
	mv plugins/.@id@.new plugins/@id@ # at once, as a Dogwatch that is serving may look
	echo "built plugins/@id@"
	exit
fi

go vet ./...
go test ./...
rm -rf dist
mkdir dist
for platform in ${PLATFORMS:-linux/amd64 linux/arm64 linux/arm}; do
	export GOOS="${platform%/*}" GOARCH="${platform#*/}"
	compile "dist/@id@-$1-$GOOS-$GOARCH" "$1"
done
cd dist
sha256sum @id@-* >SHA256SUMS
cat SHA256SUMS
cd ..
"${DOGWATCH:-dogwatch}" plugin package dist/@id@-"$1"-* --output dist/oci
