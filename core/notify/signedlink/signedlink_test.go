package signedlink_test

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/store/storetest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

var start = time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC)

// choice is what Choose was called with.
type chosen struct {
	actor string
	key   update.Key
	kind  choice.Kind
	until time.Time
}

// fixture is Links over a real store, with one container and a recorder of choices.
type fixture struct {
	*signedlink.Links
	t     *testing.T
	store *store.Store
	opt   signedlink.Options
	now   atomic.Int64

	mu        sync.Mutex
	container sdk.Container
	choices   []chosen
	err       error
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, container: nginx("1.26.0")}
	f.now.Store(start.UnixNano())
	s := storetest.Open(t, filepath.Join(t.TempDir(), "x.db"), store.Options{Now: f.clock})
	t.Cleanup(func() { s.Close() })
	f.store = s
	f.opt = signedlink.Options{
		URL: &url.URL{Scheme: "https", Host: "dog.example.org", Path: "/watch/"}, Expiry: 7 * 24 * time.Hour,
		Store: s, Containers: f, Choices: f, Now: f.clock,
	}
	f.restart()
	return f
}

// restart makes Links again, as a new process does.
func (f *fixture) restart() {
	f.t.Helper()
	var err error
	if f.Links, err = signedlink.New(f.t.Context(), f.opt); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) clock() time.Time           { return time.Unix(0, f.now.Load()).UTC() }
func (f *fixture) advance(by time.Duration)   { f.now.Add(int64(by)) }
func (f *fixture) change(to ...sdk.Container) { f.mu.Lock(); defer f.mu.Unlock(); f.container = to[0] }

func (f *fixture) ByName(watcher, name string) (sdk.Container, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.container, watcher == f.container.Watcher && name == f.container.Name
}

func (f *fixture) ChooseWith(
	ctx context.Context, use signedlink.Use, actor, subject string, key update.Key, kind choice.Kind, until time.Time,
) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = f.store.PutChoice(ctx, choice.Choice{
			Subject: subject, Update: key, Kind: kind, Actor: actor, At: sdk.TimeOf(f.clock()),
		}, &use)
	}
	if f.err != nil {
		return f.err
	}
	if subject != key.Subject {
		f.t.Errorf("subject %q of the update of %q", subject, key.Subject)
	}
	f.choices = append(f.choices, chosen{actor, key, kind, until})
	return nil
}

// token returns the token of the link of a kind for the container, in a message of a trigger.
func (f *fixture) token(triggerID, kind string) string {
	f.t.Helper()
	for _, a := range f.For(triggerID, &f.container) {
		if a.Kind == kind {
			return a.URL[strings.LastIndex(a.URL, "/")+1:]
		}
	}
	f.t.Fatalf("there is no link to %s", kind)
	return ""
}

func nginx(to string) sdk.Container {
	return sdk.Container{
		ID: "1", Name: "nginx", Watcher: "local",
		Image:  sdk.Image{Name: "library/nginx", Tag: sdk.Tag{Value: "1.25.0", Semver: true}},
		Result: &sdk.Result{Tag: to}, UpdateAvailable: true,
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.25.0", RemoteValue: to, SemverDiff: sdk.DiffMinor},
	}
}

func TestForReturnsOneLinkForEachAction(t *testing.T) {
	f := newFixture(t)
	actions := f.For("ntfy.main", &f.container)
	var kinds []string
	for _, a := range actions {
		kinds = append(kinds, a.Kind)
		if !strings.HasPrefix(a.URL, "https://dog.example.org/watch/decide/dwl_") || a.ContainerID != "1" || a.Label == "" {
			t.Errorf("action %+v", a)
		}
	}
	if !slices.Equal(kinds,
		[]string{trigger.ActionApprove, trigger.ActionSkip, trigger.ActionSnooze, trigger.ActionDecide}) {
		t.Errorf("links to %v", kinds)
	}
	none := f.container
	none.UpdateAvailable = false
	if got := f.For("ntfy.main", &none); got != nil {
		t.Errorf("without an update there are links: %v", got)
	}
	f.opt.MayApprove = func(*sdk.Container) bool { return false }
	f.restart()
	if got := f.For("ntfy.main", &f.container); len(got) != 3 || got[0].Kind != trigger.ActionSkip {
		t.Errorf("where nothing can be approved there are %+v", got)
	}
}

func TestRedeemDecidesOnce(t *testing.T) {
	f := newFixture(t)
	token := f.token("ntfy.main", trigger.ActionApprove)
	for range 3 { // to look is no decision, however often a scanner does
		if shown, err := f.Show(t.Context(), token); err != nil || shown.Container.Name != "nginx" ||
			shown.Action != choice.Approved {
			t.Fatalf("shown %+v, %v", shown, err)
		}
	}
	if len(f.choices) > 0 {
		t.Fatalf("looking at a link decided %+v", f.choices)
	}
	if _, err := f.Redeem(t.Context(), token, "", time.Time{}); err != nil {
		t.Fatal(err)
	}
	want := chosen{"link of trigger ntfy.main", update.KeyOf(&f.container), choice.Approved, time.Time{}}
	if !slices.Equal(f.choices, []chosen{want}) {
		t.Fatalf("chosen is %+v", f.choices)
	}
	f.restart()
	shown, err := f.Redeem(t.Context(), token, "", time.Time{})
	if !errors.Is(err, signedlink.ErrUsed) || !shown.Use.At.Equal(start) || shown.Use.Action != "approve" ||
		len(f.choices) != 1 {
		t.Errorf("used again: %+v, %v, %d choices", shown.Use, err, len(f.choices))
	}
	// Another link, of the same message too, is another one.
	if _, err := f.Redeem(t.Context(), f.token("ntfy.main", trigger.ActionSkip), "", time.Time{}); err != nil {
		t.Error(err)
	}
}

// Of many who use one link at the same moment one decides.
func TestRedeemConcurrently(t *testing.T) {
	f := newFixture(t)
	token := f.token("ntfy.main", trigger.ActionSkip)
	var wg sync.WaitGroup
	var done atomic.Int32
	for range 16 {
		wg.Go(func() {
			if _, err := f.Redeem(t.Context(), token, "", time.Time{}); err == nil {
				done.Add(1)
			} else if !errors.Is(err, signedlink.ErrUsed) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if done.Load() != 1 || len(f.choices) != 1 {
		t.Errorf("%d succeeded, %d choices", done.Load(), len(f.choices))
	}
}

// A choice that was not recorded leaves the link as it was.
func TestRedeemFailedChoice(t *testing.T) {
	f := newFixture(t)
	token := f.token("ntfy.main", trigger.ActionSkip)
	f.err = errors.New("disk full")
	if _, err := f.Redeem(t.Context(), token, "", time.Time{}); !errors.Is(err, f.err) {
		t.Fatal(err)
	}
	f.err = nil
	if _, err := f.Redeem(t.Context(), token, "", time.Time{}); err != nil {
		t.Error(err)
	}
}

// A link stands for one action, or lets the reader choose one.
func TestRedeemChosenAction(t *testing.T) {
	f := newFixture(t)
	skip := f.token("ntfy.main", trigger.ActionSkip)
	for _, other := range []choice.Kind{choice.Approved, choice.Snooze, signedlink.Any, "undo"} {
		if _, err := f.Redeem(t.Context(), skip, other, time.Time{}); !errors.Is(err, signedlink.ErrChoice) {
			t.Errorf("%s with a link to skip: %v", other, err)
		}
	}
	decide := f.token("ntfy.main", trigger.ActionDecide)
	for _, none := range []choice.Kind{"", signedlink.Any, "undo"} {
		if _, err := f.Redeem(t.Context(), decide, none, time.Time{}); !errors.Is(err, signedlink.ErrChoice) {
			t.Errorf("%q with a link to decide: %v", none, err)
		}
	}
	if len(f.choices) > 0 {
		t.Fatalf("chosen is %+v", f.choices)
	}
	shown, err := f.Redeem(t.Context(), decide, choice.Snooze, start.Add(time.Hour))
	if err != nil || shown.Use.Action != "snooze" || len(f.choices) != 1 || f.choices[0].kind != choice.Snooze {
		t.Errorf("%+v, %v, %+v", shown.Use, err, f.choices)
	}
	if _, err := f.Redeem(t.Context(), decide, choice.Skip, time.Time{}); !errors.Is(err, signedlink.ErrUsed) {
		t.Errorf("a second choice: %v", err)
	}
}

// TestRedeemApprovalOfABase: nobody but who builds the image carries it out.
func TestRedeemApprovalOfABase(t *testing.T) {
	f := newFixture(t)
	approve := f.token("ntfy.main", trigger.ActionApprove)
	c := f.container
	c.Base = &sdk.Image{Name: "library/node", Tag: sdk.Tag{Value: "22-alpine"}}
	f.change(c)
	_, err := f.Redeem(t.Context(), approve, "", time.Time{})
	if !errors.Is(err, signedlink.ErrChoice) || !strings.Contains(err.Error(), "rebuild the image") || len(f.choices) > 0 {
		t.Errorf("%v, and chosen is %+v", err, f.choices)
	}
}

func TestSnoozeBounds(t *testing.T) {
	f := newFixture(t)
	for title, c := range map[string]struct {
		action string
		until  time.Duration
		ok     bool
	}{
		"a week":             {trigger.ActionSnooze, 7 * 24 * time.Hour, true},
		"in the past":        {trigger.ActionSnooze, -time.Second, false},
		"now":                {trigger.ActionSnooze, 0, false},
		"more than a year":   {trigger.ActionSnooze, 400 * 24 * time.Hour, false},
		"a skip with a date": {trigger.ActionSkip, time.Hour, false},
	} {
		_, err := f.Redeem(t.Context(), f.token("ntfy.main", c.action), "", start.Add(c.until))
		if (err == nil) != c.ok || !c.ok && !errors.Is(err, signedlink.ErrChoice) {
			t.Errorf("%s: %v", title, err)
		}
	}
	if len(f.choices) != 1 || !f.choices[0].until.Equal(start.Add(7*24*time.Hour)) {
		t.Errorf("chosen is %+v", f.choices)
	}
}

func TestShowExpired(t *testing.T) {
	f := newFixture(t)
	token := f.token("ntfy.main", trigger.ActionSkip)
	f.advance(7*24*time.Hour - time.Second)
	if _, err := f.Show(t.Context(), token); err != nil {
		t.Errorf("a second before its end: %v", err)
	}
	f.advance(time.Second)
	_, err := f.Redeem(t.Context(), token, "", time.Time{})
	if !errors.Is(err, signedlink.ErrExpired) || len(f.choices) > 0 {
		t.Errorf("at its end: %v", err)
	}
	// A clock that was wrong and is set back makes it good again, but not a used one.
	f.advance(-time.Hour)
	if _, err := f.Redeem(t.Context(), token, "", time.Time{}); err != nil {
		t.Error(err)
	}
	f.advance(8 * 24 * time.Hour)
	// which prunes
	if _, err := f.Redeem(t.Context(), f.token("ntfy.main", trigger.ActionSkip), "", time.Time{}); err != nil {
		t.Fatal(err)
	}
	f.advance(-8 * 24 * time.Hour)
	if _, err := f.Redeem(t.Context(), token, "", time.Time{}); !errors.Is(err, signedlink.ErrUsed) {
		t.Errorf("used, expired, and the clock set back: %v", err)
	}
}

func TestRevoke(t *testing.T) {
	f := newFixture(t)
	ntfy, smtp := f.token("ntfy.main", trigger.ActionSkip), f.token("smtp.main", trigger.ActionSkip)
	expect := func(title string, token string, want error) {
		t.Helper()
		if _, err := f.Show(t.Context(), token); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", title, err, want)
		}
	}
	e := event.Event{Type: event.SettingChanged, Subject: "links"}
	if err := f.Revoke(t.Context(), "ntfy.main", e); err != nil {
		t.Fatal(err)
	}
	expect("of the trigger", ntfy, signedlink.ErrRevoked)
	expect("of another", smtp, nil)
	expect("a new one", f.token("ntfy.main", trigger.ActionSkip), nil)
	f.restart()
	expect("after a restart", ntfy, signedlink.ErrRevoked)
	fresh := f.token("ntfy.main", trigger.ActionSkip)
	if err := f.Revoke(t.Context(), "", e); err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{ntfy, smtp, fresh} {
		expect("of all", token, signedlink.ErrRevoked)
	}
	events, err := f.store.Events(t.Context(), 0, 10)
	if err != nil || len(events) != 2 {
		t.Errorf("events %+v, %v", events, err)
	}
}

func TestShowGone(t *testing.T) {
	newer, levels, other, rebuilt := nginx("1.27.0"), nginx("2.0.0"), nginx("1.26.0"), nginx("1.26.0")
	levels.Result.Levels = &sdk.Levels{Minor: &sdk.Release{Tag: "1.26.0"}, Major: &sdk.Release{Tag: "2.0.0"}}
	other.Name = "apache"
	rebuilt.Image.Digest.Value, rebuilt.ID = "sha256:other", "2"
	updated := nginx("1.26.0")
	updated.UpdateAvailable = false
	moved := nginx("1.26.0")
	moved.UpdateKind.LocalValue, moved.Image.Tag.Value = "1.25.1", "1.25.1"
	for title, c := range map[string]struct {
		now  sdk.Container
		want error
	}{
		"another version": {newer, signedlink.ErrGone}, "still of a level": {levels, nil},
		"no such container": {other, signedlink.ErrGone},
		"recreated":         {rebuilt, nil}, "updated": {updated, signedlink.ErrGone},
		"runs another version": {moved, signedlink.ErrGone},
	} {
		f := newFixture(t)
		token := f.token("ntfy.main", trigger.ActionSkip)
		f.change(c.now)
		if _, err := f.Redeem(t.Context(), token, "", time.Time{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", title, err, c.want)
		}
	}
}

// TestRedeemAfterRename: a link follows the container of its message.
func TestRedeemAfterRename(t *testing.T) {
	f := newFixture(t)
	token := f.token("ntfy.main", trigger.ActionSkip)
	renamed := nginx("1.26.0")
	for _, name := range []string{"web", "www"} {
		from := renamed.Name
		renamed.Name = name
		c := renamed
		if err := f.store.Commit(t.Context(), event.Change{
			Events: []event.Event{{
				Type: event.ContainerRenamed, Subject: event.Subject(c), Payload: event.Payload{Container: &c, From: from},
			}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	f.change(renamed)
	if _, err := f.Redeem(t.Context(), token, "", time.Time{}); err != nil || len(f.choices) != 1 ||
		f.choices[0].key != update.KeyOf(&renamed) {
		t.Errorf("%v, chosen is %+v", err, f.choices)
	}
	elsewhere := f.token("ntfy.main", trigger.ActionSkip)
	moved := renamed
	moved.Watcher = "nas"
	f.change(moved)
	if _, err := f.Redeem(t.Context(), elsewhere, "", time.Time{}); !errors.Is(err, signedlink.ErrGone) {
		t.Errorf("another watcher has the name: %v", err)
	}
}

// A link is of one Dogwatch: another has another key.
func TestShowForeign(t *testing.T) {
	a, b := newFixture(t), newFixture(t)
	if _, err := b.Show(t.Context(), a.token("ntfy.main", trigger.ActionSkip)); !errors.Is(err, signedlink.ErrInvalid) {
		t.Error(err)
	}
	if _, err := a.Show(t.Context(), signedlink.SampleToken); !errors.Is(err, signedlink.ErrInvalid) {
		t.Errorf("the sample stands for something: %v", err)
	}
}
