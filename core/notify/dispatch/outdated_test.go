package dispatch

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// outdated commits that a newer version of a plugin was found.
func (b *bench) outdated(to, digest string) {
	b.t.Helper()
	b.commit(nil, event.Event{Type: event.PluginOutdated, At: time.Now(), Subject: "lamp", Payload: event.Payload{
		Plugin: &event.Plugin{From: "ghcr.io/me/lamp:1.0", To: to, Digest: digest},
	}})
}

// TestOutdatedPluginIsSentOnce for each version, also over a restart and when it is found again.
func TestOutdatedPluginIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone, got := simple(t, "ntfy.phone", func(t *Trigger) { t.Plugins = true }, batch)
		other, nothing := simple(t, "http.other", always)
		acting, none := simple(t, "docker.local", func(t *Trigger) { t.Plugins, t.Operates = true, true })
		b := open(t, phone, other, acting)
		b.outdated("ghcr.io/me/lamp:1.1", "sha256:1")
		settle(time.Second)
		b.stop()
		b.start(nil) // over the same store
		defer b.stop()
		b.outdated("ghcr.io/me/lamp:1.1", "sha256:1")
		b.outdated("ghcr.io/me/lamp:1.2", "sha256:2")
		b.outdated("ghcr.io/me/lamp:1.0", "sha256:3") // the tag was moved
		settle(time.Minute)
		var messages []string
		for _, r := range got.got {
			messages = append(messages, r.Title+"|"+r.Body)
			if r.Event.Type != trigger.PluginOutdated || r.Event.Plugin != "lamp" || r.Event.Urgent() || len(r.Containers) > 0 {
				t.Errorf("%+v", r.Event)
			}
		}
		const title, end = "A newer version of plugin lamp is available|",
			".\nTo install it, run dogwatch plugin update lamp; if plugins.install names it, write it there."
		equal(t, "messages", messages, []string{
			title + "From ghcr.io/me/lamp:1.0 to ghcr.io/me/lamp:1.1" + end,
			title + "From ghcr.io/me/lamp:1.0 to ghcr.io/me/lamp:1.2" + end,
			title + "Another artifact is under ghcr.io/me/lamp:1.0 now" + end,
		})
		if len(nothing.got)+len(none.got) > 0 {
			t.Errorf("triggers that are not to be notified: %+v, %+v", nothing.got, none.got)
		}
	})
}
