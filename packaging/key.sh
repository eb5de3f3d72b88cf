#!/bin/sh
# Refuses to begin a release without the key that signs it: its public half is in the repository, for everybody to
# check with. A snapshot needs none.
set -eu
[ "${1:-}" != snapshot ] || exit 0
cd "$(dirname "$0")/.."
public=packaging/dogwatch.pub
refuse() {
	echo "dogwatch: $1" >&2
	exit 1
}
[ -f "$public" ] || refuse "$public is missing: make the key with 'minisign -G -W -p $public -s FILE', and keep FILE secret"
[ -f "${MINISIGN_KEY_FILE:-}" ] || refuse "MINISIGN_KEY_FILE does not name the secret key of $public"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
minisign() { go run aead.dev/minisign/cmd/minisign "$@" >/dev/null; }
minisign -S -s "$MINISIGN_KEY_FILE" -x "$folder/signature" -m LICENSE || refuse "$MINISIGN_KEY_FILE signs nothing: it must be a key without a password, as minisign -G -W makes it"
minisign -V -p "$public" -x "$folder/signature" -m LICENSE || refuse "$MINISIGN_KEY_FILE is not the key of $public"
