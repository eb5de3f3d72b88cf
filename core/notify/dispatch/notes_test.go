package dispatch

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/sdk"
)

// noting runs a Dispatcher with release notes, and triggers whose template reads them and does not.
func noting(
	t *testing.T, notes func(ctx context.Context, c *sdk.Container) string, test func(b *bench, with, without *sink),
) {
	bubble(t, func(t *testing.T) {
		one, with := simple(t, "ntfy.main", func(tr *Trigger) { tr.Messages = messages(t, "", "${name}: ${notes}", "") })
		other, without := simple(t, "gotify.main")
		b := open(t, one, other)
		b.stop()
		b.notes, b.redact = notes, func(text string) string { return strings.ReplaceAll(text, "S3CRET", "***") }
		b.start(nil)
		test(b, with, without)
		b.stop()
	})
}

// TestNotesInMessages: they are read for the templates that want them only.
func TestNotesInMessages(t *testing.T) {
	reads := 0
	noting(t, func(_ context.Context, c *sdk.Container) string {
		reads++
		return "v1.1.0 of " + c.Name + ": S3CRET"
	}, func(b *bench, with, without *sink) {
		b.checked([]sdk.Container{minor("web")})
		settle(time.Second)
		if got := with.all()[0].Body; got != "web: v1.1.0 of web: ***" {
			t.Errorf("the body is %q", got)
		}
		if len(without.all()) != 1 || reads != 1 {
			t.Errorf("the notes were read %d times; the other trigger has %v", reads, without.all())
		}
	})
}

// TestNotesDoNotDelayForLong: a host that hangs costs a message some seconds and its notes.
func TestNotesDoNotDelayForLong(t *testing.T) {
	noting(t, func(ctx context.Context, _ *sdk.Container) string {
		<-ctx.Done()
		return ""
	}, func(b *bench, with, without *sink) {
		b.checked([]sdk.Container{minor("web")})
		settle(time.Second)
		if len(without.all()) != 1 || len(with.all()) != 0 {
			t.Errorf("after a second: %d and %d messages", len(without.all()), len(with.all()))
		}
		settle(notesTimeout)
		if len(with.all()) != 1 || with.all()[0].Body != "web: " {
			t.Errorf("after %s: %v", notesTimeout, with.all())
		}
	})
}

// TestNotesSwitchedOff leave the place in a template empty.
func TestNotesSwitchedOff(t *testing.T) {
	noting(t, nil, func(b *bench, with, _ *sink) {
		b.checked([]sdk.Container{minor("web")})
		settle(time.Second)
		if len(with.all()) != 1 || with.all()[0].Body != "web: " {
			t.Errorf("%v", with.all())
		}
	})
}

// TestSampleSaysWhereNotesStand: for a sample message no host is asked.
func TestSampleSaysWhereNotesStand(t *testing.T) {
	one, phone := simple(t, "ntfy.main", func(tr *Trigger) { tr.Messages = messages(t, "", "${notes}", "") })
	err := Send(t.Context(), one, []sdk.Container{minor("web")}, signedlink.None{}, hclog.NewNullLogger())
	if err != nil || !strings.Contains(phone.got[0].Body, "release notes of 1.1.0") {
		t.Errorf("%v, %v", phone.got, err)
	}
}

// TestVersionsInMessages of rebuilt images.
func TestVersionsInMessages(t *testing.T) {
	c := moved("web")
	m := messages(t, "${versions}", "[${versions}]", "")
	if title, _, _ := m.render([]sdk.Container{c}, false); title != "" {
		t.Errorf("while they are not known: %q", title)
	}
	c.Image.Version, c.Result.Version = "1.27.2", "1.27.3"
	if title, body, _ := m.render([]sdk.Container{c}, false); title != "1.27.2 → 1.27.3" || body != "[1.27.2 → 1.27.3]" {
		t.Errorf("%q %q", title, body)
	}
}
