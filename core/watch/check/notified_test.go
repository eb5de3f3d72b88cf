package check

import (
	"context"
	"errors"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// withNotified makes a fixture in which another program notified users of some updates.
func withNotified(t testing.TB, already ...update.Notified) *fixture {
	return open(t, func(_ *fixture, opt *options) {
		opt.Decide.AlreadyNotified = func(context.Context) ([]update.Notified, error) { return already, nil }
	})
}

// TestAlreadyNotifiedIsNoEvent: an update of which another program notified users is kept and shown.
func TestAlreadyNotifiedIsNoEvent(t *testing.T) {
	tag := update.Notified{Container: "id-web", Subject: "local/web", Tag: "1.25.0", Remote: "1.26.0"}
	moving := update.Notified{Container: "id-web", Subject: "local/web", Tag: "latest", Remote: digest("m")}
	for title, tc := range map[string]struct {
		already update.Notified
		image   string
		found   bool
	}{
		"the same tag": {tag, "nginx:1.25.0", false},
		"the container was recreated since": {update.Notified{
			Container: "other", Subject: "local/web", Tag: "1.25.0", Remote: "1.26.0",
		}, "nginx:1.25.0", false},
		"the watcher was renamed since": {update.Notified{
			Container: "id-web", Subject: "nas/web", Tag: "1.25.0", Remote: "1.26.0",
		}, "nginx:1.25.0", false},
		"an earlier tag": {update.Notified{
			Container: "id-web", Subject: "local/web", Tag: "1.25.0", Remote: "1.25.9",
		}, "nginx:1.25.0", true},
		"another tag runs now": {update.Notified{
			Container: "other", Subject: "local/web", Tag: "1.24.0", Remote: "1.26.0",
		}, "nginx:1.25.0", true},
		"another container": {update.Notified{
			Container: "other", Subject: "local/db", Tag: "1.25.0", Remote: "1.26.0",
		}, "nginx:1.25.0", true},
		"nothing was offered": {update.Notified{
			Container: "id-web", Subject: "local/web", Tag: "1.25.0",
		}, "nginx:1.25.0", true},
		"the digest of the platform": {moving, "nginx:latest", false},
		"the digest of the index": {update.Notified{
			Container: "id-web", Tag: "latest", Remote: digest("2"),
		}, "nginx:latest", false},
		"the digest of the configuration": {update.Notified{
			Container: "id-web", Tag: "latest", Remote: digest("f"),
		}, "nginx:latest", false},
		"an earlier digest": {update.Notified{
			Container: "id-web", Tag: "latest", Remote: digest("0"),
		}, "nginx:latest", true},
		"the digest of the index of another tag": {update.Notified{
			Container: "other", Subject: "local/web", Tag: "stable", Remote: digest("2"),
		}, "nginx:latest", true},
	} {
		t.Run(title, func(t *testing.T) {
			w := withNotified(t, tc.already)
			w.engine.has(container("web", tc.image))
			w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
			w.hub.digests["library/nginx:latest"] = digest("2")
			w.hub.manifests[digest("2")] = manifest("m", "f")
			report := w.run()
			if !w.get("id-web").UpdateAvailable || len(report.Updates) != 1 {
				t.Fatalf("the update is not there: %+v", w.get("id-web"))
			}
			events, _ := w.events(0)
			want := "container.changed local/web"
			if tc.found {
				want = "update.found local/web"
			}
			equal(t, "events", events, []string{"container.added local/web", want})
			if got := len(report.Found) == 1; got != tc.found {
				t.Errorf("found %v", report.Found)
			}
		})
	}
}

// TestAlreadyNotifiedLasts: neither a failed check nor a new set of rules makes an event of an old update, but a newer
// one is.
func TestAlreadyNotifiedLasts(t *testing.T) {
	w := withNotified(t, update.Notified{Container: "id-web", Subject: "local/web", Tag: "1.25.0", Remote: "1.26.0"})
	w.engine.has(container("web", "nginx:1.25.0"))
	w.hub.errs["tags library/nginx "] = errors.New("out of order")
	w.run()
	delete(w.hub.errs, "tags library/nginx ")
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.run()
	w.engine.has(container("web", "nginx:1.25.0", "wud.tag.include=^1"))
	w.run()
	events, last := w.events(0)
	for _, e := range events {
		if e == string(event.UpdateFound)+" local/web" {
			t.Errorf("notified again: %q", events)
		}
	}
	w.hub.tags["library/nginx"] = append(w.hub.tags["library/nginx"], "1.27.0")
	if report := w.run(); len(report.Found) != 1 {
		t.Errorf("found %v", report.Found)
	}
	events, _ = w.events(last)
	equal(t, "later", events, []string{"update.found local/web"})
}

// TestImportedContainers: what was imported is what a check finds again, silently.
func TestImportedContainers(t *testing.T) {
	imported := container("web", "nginx:1.25.0")
	imported.Watcher, imported.DisplayName, imported.DisplayIcon = "local", "web", "mdi:docker"
	imported.Image.Registry = sdk.Registry{Name: "hub.public", URL: "https://registry-1.docker.io/v2", Host: "docker.io"}
	imported.Image.Name, imported.Image.Tag.Semver, imported.Image.Digest = "library/nginx", true, sdk.Digest{
		Repo: digest("1"),
	}
	imported.Check.State, imported.Result = sdk.CheckOK, &sdk.Result{Tag: "1.26.0"}
	imported.UpdateAvailable = true
	imported.UpdateKind = sdk.UpdateKind{
		Kind: sdk.KindTag, LocalValue: "1.25.0", RemoteValue: "1.26.0", SemverDiff: sdk.DiffMinor,
	}
	w := open(t)
	if _, err := w.store.Import(t.Context(), "wud.json", []sdk.Container{imported}, nil); err != nil {
		t.Fatal(err)
	}
	w.engine.has(container("web", "nginx:1.25.0"))
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	w.run()
	events, _ := w.events(0)
	equal(t, "events", events, []string{"container.added local/web"})
}

// TestAlreadyNotifiedUnreadable: a check that cannot read the earlier notifications emits nothing, and the next one
// makes up for it.
func TestAlreadyNotifiedUnreadable(t *testing.T) {
	broken := errors.New("disk on fire")
	w := open(t, func(_ *fixture, opt *options) {
		opt.Decide.AlreadyNotified = func(context.Context) ([]update.Notified, error) { return nil, broken }
	})
	w.engine.has(container("web", "nginx:1.25.0"))
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	if _, err := w.Run(t.Context(), w.local()); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	broken = nil
	if report := w.run(); len(report.Found) != 1 {
		t.Errorf("found %v", report.Found)
	}
}
