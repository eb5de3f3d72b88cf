#!/bin/sh
# Makes the release of the tag that is checked out, in dist: programs, archives, packages, checksums and their
# signature, and the image. Arguments are further ones of goreleaser release, such as --snapshot, or --skip=publish.
# From the environment are taken GORELEASER, the program (default: goreleaser), and IMAGE, where to push the image to
# (default: nowhere).
set -eu
cd "$(dirname "$0")/.."
"${GORELEASER:-goreleaser}" release --clean "$@"
version=$(sed -n 's/.*"version":"\([^"]*\)".*/\1/p' dist/metadata.json)
set -- -version "$version" -layout dist/image
if [ -n "${IMAGE:-}" ]; then
	set -- "$@" -push "$IMAGE:$version"
	case $version in
	*-*) ;; # a prerelease is for who names it
	*) set -- "$@" -push "$IMAGE:${version%%.*}" -push "$IMAGE:${version%.*}" -push "$IMAGE:latest" ;;
	esac
fi
go run ./packaging/image "$@" dist/linux_linux_*/dogwatch >dist/image.digest
