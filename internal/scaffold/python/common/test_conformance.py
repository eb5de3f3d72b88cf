"""The conformance kit: dogwatch plugin verify uses what is built as Dogwatch does. Run build.sh before."""

import os
import subprocess
import unittest


class Conformance(unittest.TestCase):
    def test_verify(self):
        program = os.environ.get("DOGWATCH", "dogwatch")
        try:
            verified = subprocess.run([program, "plugin", "verify", "plugins/@id@"], check=False)
        except FileNotFoundError:
            raise self.failureException(f"{program} is not here: put dogwatch into the PATH, or run DOGWATCH=/path/to/dogwatch ./test.sh") from None
        self.assertEqual(verified.returncode, 0, "a check failed: see above")
