#!/bin/sh
# Builds the plugin: one file, with all that it needs but Node itself. Without an argument:
# plugins/@id@. With a version, ./build.sh 1.0.0: a release in dist/, tested and packed.
set -eu
cd "$(dirname "$0")"
umask 022
[ -d node_modules ] || npm install --no-audit --no-fund

# bundle FILE VERSION
bundle() {
	NODE_PATH=node_modules node_modules/.bin/esbuild main.js --bundle --platform=node --target=node18 --log-level=warning \
		--loader:.proto=text "--define:process.env.PLUGIN_VERSION=\"$2\"" "--outfile=$1"
	chmod 755 "$1"
}

bundle plugins/.@id@.new "${1:-dev}"
mv plugins/.@id@.new plugins/@id@ # at once, as a Dogwatch that is serving may look
echo "built plugins/@id@"
[ "$#" -eq 0 ] && exit

npm test
rm -rf dist
mkdir dist
cp plugins/@id@ dist/@id@
(cd dist && sha256sum @id@ >SHA256SUMS && cat SHA256SUMS)
"${DOGWATCH:-dogwatch}" plugin package dist/@id@ --output dist/oci
