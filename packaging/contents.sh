#!/bin/sh
# Has Syft write what an archive contains, as SPDX: contents.sh ARCHIVE DOCUMENT VERSION DATE. From the environment is
# taken SYFT, the program (default: syft). Licences are those of the modules in Go's cache, where the build got them from.
set -eu
archive=$1 document=$2
sum=$(sha256sum "$archive" | cut -d' ' -f1)
SYFT_CHECK_FOR_APP_UPDATE=false SYFT_GOLANG_SEARCH_LOCAL_MOD_CACHE_LICENSES=true SYFT_FORMAT_PRETTY=true \
	"${SYFT:-syft}" scan --quiet --source-name dogwatch --source-version "$3" --output spdx-json="$document" "file:$archive"
# Syft writes when it ran, and a name that is random. With the date of the commit, and a name that only this archive has,
# the same archive has the same list.
name=https://github.com/dogwatch/dogwatch/spdx/$(basename "$archive")-$sum
sed -i "s|^\( *\"created\": \)\"[^\"]*\"|\1\"$4\"|; s|^\( *\"documentNamespace\": \)\"[^\"]*\"|\1\"$name\"|" "$document"
grep -qF "\"created\": \"$4\"" "$document" && grep -qF "\"documentNamespace\": \"$name\"" "$document" || {
	echo "dogwatch: $document has neither a date nor a name where they were expected: is it another version of Syft?" >&2
	exit 1
}
