import json
import types
import unittest

from dogwatch_plugin import CallError, test_call

import trigger
from test_service import serving

REQUEST = types.SimpleNamespace(delivery="1", title="A title", body="A text", containers=[types.SimpleNamespace(name="web")], test=True)


class Trigger(unittest.TestCase):
    def test_posts_the_message(self):
        posted = []

        def answer(method, _path, headers, body):
            posted.append((method, headers.get("Authorization"), json.loads(body)))
            return 200, ""

        with serving(answer) as url:
            trigger.run(REQUEST, test_call(trigger.TYPE, {"url": url + "/hook", "method": "PUT", "token": "abc"}))
        self.assertEqual(posted, [("PUT", "Bearer abc", {"id": "1", "title": "A title", "text": "A text", "containers": ["web"], "test": True})])

    def test_says_when_it_is_refused(self):
        with serving(lambda *_: (401, "")) as url, self.assertRaisesRegex(CallError, "answered 401"):
            trigger.run(REQUEST, test_call(trigger.TYPE, {"url": url}))

    def test_refuses_other_addresses(self):
        with self.assertRaisesRegex(CallError, "url: want"):
            trigger.validate({"url": "ftp://example.com"})
