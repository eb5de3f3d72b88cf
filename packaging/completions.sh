#!/bin/sh
# Has the program write its completions for shells, for archives and packages.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sh cmd/dogwatch/build.sh "$folder/dogwatch"
mkdir -p packaging/completions
for shell in bash zsh fish; do
	"$folder/dogwatch" completion "$shell" >"packaging/completions/dogwatch.$shell"
done
