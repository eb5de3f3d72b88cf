"""The conformance kit: dogwatch plugin verify uses what is built as Dogwatch does. Run build.sh before."""

import os
import subprocess
import unittest


class Conformance(unittest.TestCase):
    def test_verify(self):
        subprocess.run([os.environ.get("DOGWATCH", "dogwatch"), "plugin", "verify", "plugins/@id@"], check=True)
