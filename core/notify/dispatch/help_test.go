package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/store/storetest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// The default templates of a trigger.
const (
	defaultTitle = "New ${container.updateKind.kind} found for container ${container.name}"
	defaultBody  = "Container ${container.name} running with ${container.updateKind.kind} ${container.updateKind.localValue} can be updated to ${container.updateKind.kind} ${container.updateKind.remoteValue}${container.result && container.result.link ? \"\\n\" + container.result.link : \"\"}"
	defaultBatch = "${containers.length} updates available"
)

func messages(t testing.TB, title, body, batch string) Messages {
	t.Helper()
	m, err := ParseMessages(Templates{
		SimpleTitle: cmp.Or(title, defaultTitle), SimpleBody: cmp.Or(body, defaultBody),
		BatchTitle:   cmp.Or(batch, defaultBatch),
		SummaryTitle: "Dogwatch: ${headline}", SummaryBody: "${text}",
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// withUpdate returns a container with an update between versions.
func withUpdate(name, from, to, diff string) sdk.Container {
	return sdk.Container{
		ID: "id-" + name, Name: name, Watcher: "local", UpdateAvailable: true,
		Image: sdk.Image{Name: "team/" + name, Tag: sdk.Tag{Value: from, Semver: true}}, Result: &sdk.Result{Tag: to},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: from, RemoteValue: to, SemverDiff: diff},
	}
}

func minor(name string) sdk.Container { return withUpdate(name, "1.0.0", "1.1.0", sdk.DiffMinor) }

// moved returns a container whose tag has another digest by now.
func moved(name string) sdk.Container {
	return sdk.Container{
		ID: "id-" + name, Name: name, Watcher: "local", UpdateAvailable: true,
		Image: sdk.Image{Tag: sdk.Tag{Value: "latest"}}, Result: &sdk.Result{Tag: "latest", Digest: "sha256:new"},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: "sha256:old", RemoteValue: "sha256:new"},
	}
}

// bench is a Dispatcher on a real store, with triggers of the test. It lives in a bubble.
type bench struct {
	*Dispatcher
	t     *testing.T
	store *store.Store
	bus   *event.Bus
	path  string
	// updates carries out what triggers request; nil for nothing.
	updates Updates
	// atStart are the watchers that are checked at the start.
	atStart []string
	// stored are the containers of summaries, which list changes.
	storedMu sync.Mutex
	stored   []*sdk.Container
	// links are those of messages, signedlink.None by default; redact blanks secrets, nil for none.
	links  SignedLinks
	redact func(string) string
	// notes are what messages have of release notes; none by default.
	notes func(ctx context.Context, c *sdk.Container) string

	mu       sync.Mutex
	triggers []Trigger
	runs     int
	stop     func()
}

// list changes which containers are stored.
func (b *bench) list(all ...*sdk.Container) {
	b.storedMu.Lock()
	defer b.storedMu.Unlock()
	b.stored = all
}

func (b *bench) listed() []*sdk.Container {
	b.storedMu.Lock()
	defer b.storedMu.Unlock()
	return b.stored
}

// open makes a bench with triggers and runs its Dispatcher.
func open(t *testing.T, triggers ...Trigger) *bench {
	t.Helper()
	b := &bench{t: t, path: filepath.Join(t.TempDir(), "store.db"), triggers: triggers}
	b.start(nil)
	return b
}

// start opens the store and runs a Dispatcher, whose view of the store a test may change.
func (b *bench) start(view func(Store) Store) {
	b.t.Helper()
	b.bus = new(event.Bus)
	opened := storetest.Open(b.t, b.path, store.Options{Bus: b.bus, Log: hclog.NewNullLogger()})
	b.store = opened
	var seen Store = opened
	if view != nil {
		seen = view(opened)
	}
	if b.links == nil {
		b.links = signedlink.None{}
	}
	if b.notes == nil {
		b.notes = func(context.Context, *sdk.Container) string { return "" }
	}
	b.Dispatcher = New(Options{
		Triggers: b, Containers: snapshot{opened}, Stored: b.listed, Store: seen, Updates: b.updates,
		CheckedAtStart: func() []string { return b.atStart }, Links: b.links, Notes: b.notes, Redact: b.redact,
		Bus: b.bus, Log: hclog.NewNullLogger(), Now: time.Now,
		NotStarted: func(err error) bool { return errors.Is(err, errNotStarted) },
		Exited:     func(err error) bool { return errors.Is(err, errExited) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	running := b.Dispatcher
	go func() { ended <- running.Run(ctx) }()
	b.stop = func() {
		b.t.Helper()
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, errKilled) {
			b.t.Errorf("Run returned %v", err)
		}
		if err := opened.Close(); err != nil {
			b.t.Error(err)
		}
	}
}

var (
	errNotStarted = errors.New("not started")
	errExited     = sdk.WithKind(sdk.ErrUnavailable, errors.New("the plugin exited"))
)

func (b *bench) All() []Trigger {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.triggers)
}

func (b *bench) Get(id string) (Trigger, bool) {
	for _, t := range b.All() {
		if t.ID == id {
			return t, true
		}
	}
	return Trigger{}, false
}

// snapshot fits the store to Containers, as the core does.
type snapshot struct{ *store.Store }

func (s snapshot) ByID(id string) (sdk.Container, bool) { return container(s.Snapshot().Get(id)) }

func (s snapshot) ByName(watcher, name string) (sdk.Container, bool) {
	return container(s.Snapshot().Named(watcher, name))
}

func container(r *store.Record, known bool) (sdk.Container, bool) {
	if !known {
		return sdk.Container{}, false
	}
	return r.Container, true
}

// commit stores containers with events.
func (b *bench) commit(put []sdk.Container, events ...event.Event) {
	b.t.Helper()
	if err := b.store.Commit(context.Background(), event.Change{Put: put, Events: events}); err != nil {
		b.t.Fatal(err)
	}
}

// checked commits what a check of the whole watcher leaves: the containers
// found to have a new update, and those that had it before.
func (b *bench) checked(found []sdk.Container, known ...sdk.Container) {
	b.t.Helper()
	b.report(event.Check{Watcher: "local"}, found, known...)
}

func (b *bench) report(check event.Check, found []sdk.Container, known ...sdk.Container) {
	b.t.Helper()
	b.runs++
	run := fmt.Sprint("run", b.runs)
	var events []event.Event
	for _, c := range found {
		check.Found = append(check.Found, c.ID)
		events = append(events, event.Event{
			Type: event.UpdateFound, Subject: event.Subject(c), Run: run, Payload: event.Payload{Container: &c},
		})
	}
	all := slices.Concat(found, known)
	for _, c := range all {
		check.Updates = append(check.Updates, c.ID)
	}
	events = append(events, event.Event{
		Type: event.CheckFinished, Subject: "local", Run: run, Payload: event.Payload{Check: &check},
	})
	b.commit(all, events...)
}

// decide stores what became of the update of a container.
func (b *bench) decide(c sdk.Container) {
	b.t.Helper()
	b.commit([]sdk.Container{c}, event.Event{
		Type: event.ContainerChanged, Subject: event.Subject(c), Payload: event.Payload{Container: &c, Aspect: event.Decided},
	})
}

// states returns "subject state" of all deliveries of a trigger, oldest first.
func (b *bench) states(id string) (list []string) {
	b.t.Helper()
	for _, d := range b.deliveries(id) {
		list = append(list, d.Subject+" "+d.State)
	}
	return list
}

func (b *bench) deliveries(id string) []delivery.Delivery {
	b.t.Helper()
	list, err := b.store.Deliveries(context.Background(), store.DeliveryFilter{Trigger: id, Limit: 10_000})
	if err != nil {
		b.t.Fatal(err)
	}
	slices.Reverse(list)
	return list
}

// deliveryEvents returns "type subject" of the events about deliveries.
func (b *bench) deliveryEvents() (list []string) {
	b.t.Helper()
	events, err := b.store.Events(context.Background(), 0, 10_000)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range events {
		if e.Delivery != nil {
			list = append(list, string(e.Type)+" "+e.Subject)
		}
	}
	return list
}

// settle lets time pass, and then everything come to rest.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// sink is the other side of a trigger.
type sink struct {
	mu    sync.Mutex
	got   []trigger.Request
	at    []time.Time
	reply func(ctx context.Context, n int, req trigger.Request) error // n counts the calls from 1
}

func (s *sink) Run(ctx context.Context, req trigger.Request) error {
	s.mu.Lock()
	s.got = append(s.got, req)
	s.at = append(s.at, time.Now())
	n, reply := len(s.got), s.reply
	s.mu.Unlock()
	if reply == nil {
		return nil
	}
	return reply(ctx, n, req)
}

// respond sets how the calls from now on end.
func (s *sink) respond(reply func(ctx context.Context, n int, req trigger.Request) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reply = reply
}

// all returns what it got so far, and times when.
func (s *sink) all() []trigger.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

func (s *sink) times() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.at)
}

// forget empties the sink.
func (s *sink) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got, s.at = nil, nil
}

// names returns which containers each call was about.
func (s *sink) names() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, req := range s.got {
		text := ""
		for _, c := range req.Containers {
			text += c.Name + " "
		}
		list = append(list, text[:max(len(text)-1, 0)])
	}
	return list
}

// simple returns an ordinary trigger with its sink.
func simple(t *testing.T, id string, change ...func(*Trigger)) (Trigger, *sink) {
	s := &sink{}
	tr := Trigger{
		ID: id, Auto: true, Once: true, IncludeByDefault: true, Threshold: "all", Messages: messages(t, "", "", ""),
		Runner: s,
	}
	for _, c := range change {
		c(&tr)
	}
	return tr, s
}

func batch(t *Trigger)  { t.Batch = true }
func always(t *Trigger) { t.Once = false }
func action(t *Trigger) { t.AtMostOnce = true }

func equal[T comparable](t testing.TB, about string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got  %v\n want %v", about, got, want)
	}
}

var errDown = sdk.WithKind(sdk.ErrUnavailable, errors.New("server is down"))
