#!/bin/sh
# Makes the release of the tag that is checked out, in dist: programs, archives, packages, checksums and their
# signature, lists of contents, the image, and the plugins of the gallery. Arguments are further ones of goreleaser
# release, such as --snapshot, or --skip=publish. From the environment are taken GORELEASER and SYFT, the programs (default:
# goreleaser and syft), and IMAGE, PLUGINS and CHARTS, where to push the image, the plugins and the Helm chart to (default:
# nowhere).
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
sh packaging/plugins.sh "$version"
[ -z "${CHARTS:-}" ] ||
	go run -C packaging/validate ./pushchart -version "$version" -time "$(git log -1 --format=%cI)" "$CHARTS" >dist/chart.digest
