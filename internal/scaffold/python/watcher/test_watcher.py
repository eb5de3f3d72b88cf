import unittest

from dogwatch_plugin import CallError, test_call

import watcher
from test_service import serving

LIST = '[{"id": "1", "name": "web", "image": "nginx:1.25.3"}, {"id": "2", "name": "cache"}]'


class Watcher(unittest.TestCase):
    def test_lists_what_runs(self):
        with serving(lambda *_: (200, LIST)) as url:
            found = watcher.list_containers(test_call(watcher.TYPE, {"url": url}))
        self.assertEqual([(c["id"], c["name"], c["image"]) for c in found], [("1", "web", "nginx:1.25.3"), ("2", "cache", None)])

    def test_says_when_there_is_no_list(self):
        with serving(lambda *_: (200, "{}")) as url, self.assertRaisesRegex(CallError, "no list"):
            watcher.list_containers(test_call(watcher.TYPE, {"url": url}))

    def test_refuses_other_addresses(self):
        with self.assertRaisesRegex(CallError, "url: want"):
            watcher.validate({"url": "ftp://example.com"})
