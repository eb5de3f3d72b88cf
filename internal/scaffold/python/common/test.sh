#!/bin/sh
# Runs the tests, and the conformance kit on what build.sh has made.
set -eu
cd "$(dirname "$0")"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=sdk/python exec "${PYTHON:-/usr/bin/python3}" -m unittest
