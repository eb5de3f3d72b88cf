#!/bin/sh
# Builds the plugins of the gallery that are modules of this repository for the platforms of the programs in dist, and
# makes a signed artifact of each: as the folder of an OCI layout in dist/plugins, or in a registry where PLUGINS names
# one, such as ghcr.io/dogwatch. The argument is the version. From the environment are taken MINISIGN_KEY_FILE, the key
# (default: they are not signed), GALLERY, the names of plugins, and ARCH, an architecture (default: all).
set -eu
cd "$(dirname "$0")/.."
version=$1
dogwatch=$(echo dist/linux_linux_"$(go env GOHOSTARCH)"*/dogwatch)
mkdir -p dist/plugins/built
for name in ${GALLERY:-$(cd examples && dirname -- */go.mod)}; do
	set --
	for program in dist/linux_linux_${ARCH:-*}_*/dogwatch; do
		arch=$(go version -m "$program" | sed -n 's/^.*GOARCH=//p')
		arm=$(go version -m "$program" | sed -n 's/^.*GOARM=\(.\).*/\1/p')
		file=dist/plugins/built/$name-$version-linux-$arch${arm:+v$arm}
		CGO_ENABLED=0 GOOS=linux GOARCH=$arch GOARM=$arm go build -C "examples/$name" -trimpath -tags grpcnotrace \
			-ldflags "-s -w -X main.version=$version" -o "../../$file" .
		set -- "$@" "linux/$arch${arm:+/v$arm}=$file"
	done
	set -- "$@" --name "$name" --version "$version"
	[ ! -f "${MINISIGN_KEY_FILE:-}" ] || set -- "$@" --sign "$MINISIGN_KEY_FILE"
	if [ -z "${PLUGINS:-}" ]; then
		"$dogwatch" plugin package "$@" --output "dist/plugins/$name"
		continue
	fi
	"$dogwatch" plugin package "$@" --push "$PLUGINS/$name:$version"
	case $version in
	*-*) ;; # a prerelease is for who names it
	*) "$dogwatch" plugin package "$@" --push "$PLUGINS/$name:latest" ;;
	esac
done >dist/plugins.txt
