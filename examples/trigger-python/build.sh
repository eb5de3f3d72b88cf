#!/bin/sh
# Makes plugins/trigger-python, one file that any python3 with grpc and protobuf runs.
# PYTHON is the interpreter in its first line.
set -eu
cd "$(dirname "$0")"
sdk=../../sdk
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
cp -r main.py "$sdk/python/dogwatch_plugin" "$made"
mv "$made/main.py" "$made/__main__.py"
rm -rf "$made/dogwatch_plugin/__pycache__"
mkdir -p plugins
python3 -m zipapp "$made" -p "${PYTHON:-/usr/bin/python3}" -o plugins/.trigger-python.new
chmod 755 plugins/.trigger-python.new
mv plugins/.trigger-python.new plugins/trigger-python
