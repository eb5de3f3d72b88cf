#!/bin/sh
# Builds the plugin: one file, which any Python with grpcio and protobuf runs. Without an argument:
# plugins/@id@. With a version, ./build.sh 1.0.0: a release in dist/, tested and packed.
set -eu
cd "$(dirname "$0")"
umask 022
python=${PYTHON:-/usr/bin/python3} # stands in the first line of the file
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
cp -r ./*.py sdk/python/dogwatch_plugin "$made"
rm -rf "$made"/test_*.py "$made/dogwatch_plugin/__pycache__"
sed "s/^VERSION = \"dev\".*/VERSION = \"${1:-dev}\"/" main.py >"$made/__main__.py"
rm "$made/main.py"
mkdir -p plugins
"$python" -m compileall -q -f "$made" # says where a syntax error is
find "$made" -name __pycache__ -prune -exec rm -r {} +
"$python" -m zipapp "$made" -p "$python" -o plugins/.@id@.new
chmod 755 plugins/.@id@.new
mv plugins/.@id@.new plugins/@id@ # at once, as a Dogwatch that is serving may look
echo "built plugins/@id@"
[ "$#" -eq 0 ] && exit

./test.sh
rm -rf dist
mkdir dist
cp plugins/@id@ dist/@id@
(cd dist && sha256sum @id@ >SHA256SUMS && cat SHA256SUMS)
"${DOGWATCH:-dogwatch}" plugin package dist/@id@ --output dist/oci
