import pathlib
import types
import unittest

from dogwatch_plugin import CallError, test_call

import registry
from test_service import serving

FEED = pathlib.Path(__file__).with_name("sample").joinpath("feed", "team", "app.json").read_text()
REPOSITORY = types.SimpleNamespace(host="images.example.com", name="team/app")
DIGEST = "sha256:" + "1" * 64


class Registry(unittest.TestCase):
    def setUp(self):
        service = serving(lambda _method, path, *_: (200, FEED) if path == "/feed/team/app.json" else (404, ""))
        url = service.__enter__()
        self.addCleanup(service.__exit__, None, None, None)
        self.call = test_call(registry.TYPE, {"host": REPOSITORY.host, "url": url + "/feed"})

    def test_lists_tags(self):
        self.assertEqual(registry.tags(REPOSITORY, self.call), ["1.25.3", "1.26.0"])

    def test_finds_digests_and_images(self):
        self.assertEqual(registry.resolve(REPOSITORY, "1.25.3", self.call), DIGEST)
        self.assertEqual(registry.manifest(REPOSITORY, DIGEST, None, self.call)["created"], "2026-01-02T03:04:05Z")

    def test_says_what_does_not_exist(self):
        with self.assertRaisesRegex(CallError, "answered 404"):
            registry.tags(types.SimpleNamespace(host="images.example.com", name="team/other"), self.call)
        with self.assertRaisesRegex(CallError, "no tag 9.9.9"):
            registry.resolve(REPOSITORY, "9.9.9", self.call)
