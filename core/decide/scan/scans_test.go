package scan

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/store/storetest"
	"github.com/dogwatch/dogwatch/sdk"
)

// bench is Scans with a real store and a scanner of the test's.
type bench struct {
	*Scans
	store *store.Store
	bus   event.Bus

	mu       sync.Mutex
	now      time.Time
	reports  map[string][]vulnerability.Finding // by digest
	fails    error
	about    string   // what reports are about, if not the image
	scanned  []string // digests
	atOnce   int
	release  chan struct{} // if not nil, scans wait for it
	decided  int
	offered  string // the digest behind the tag
	imageErr error
}

func newBench(t *testing.T, change func(*Options)) *bench {
	t.Helper()
	b := &bench{
		now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), reports: map[string][]vulnerability.Finding{},
		offered: "sha256:new",
	}
	b.store = storetest.Open(t, filepath.Join(t.TempDir(), "store.db"), store.Options{
		Bus: &b.bus, Now: b.clock, Log: hclog.NewNullLogger(),
	})
	opt := Options{
		Scanner: b, Images: b.images, Store: b.store, MaxAge: 24 * time.Hour,
		Changed:    func(context.Context) { b.locked(func() { b.decided++ }) },
		Progressed: func() { b.bus.Wake() },
		Redact:     func(text string) string { return strings.ReplaceAll(text, "s3cret", "***") },
		Log:        hclog.NewNullLogger(), Now: b.clock,
	}
	if change != nil {
		change(&opt)
	}
	b.Scans = New(opt)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = b.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended; b.store.Close() })
	return b
}

func (b *bench) locked(do func()) { b.mu.Lock(); defer b.mu.Unlock(); do() }

func (b *bench) clock() time.Time { b.mu.Lock(); defer b.mu.Unlock(); return b.now }

func (b *bench) images(_ context.Context, c sdk.Container) (running, offered Image, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := func(digest string) Image { return Image{Reference: "docker.io/library/web@" + digest, Digest: digest} }
	return of(c.Image.Digest.Repo), of(b.offered), b.imageErr
}

// Scan implements Scanner.
func (b *bench) Scan(ctx context.Context, image Image) (vulnerability.Report, error) {
	b.mu.Lock()
	b.atOnce++
	if b.atOnce > 1 {
		panic("two scans at once")
	}
	b.scanned = append(b.scanned, image.Digest)
	release := b.release
	b.mu.Unlock()
	if release != nil {
		select {
		case <-release:
		case <-ctx.Done():
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.atOnce--
	about := image.Reference
	if b.about != "" {
		about = b.about
	}
	return vulnerability.Report{Scanner: "trivy", Images: []string{about}, Findings: b.reports[image.Digest]},
		errors.Join(b.fails, ctx.Err())
}

// wait returns the status of a container once no scan of it is under way.
func (b *bench) wait(t *testing.T, c sdk.Container) Status {
	t.Helper()
	sub := b.bus.SubscribeAll()
	defer sub.Close()
	for {
		st, err := b.Status(t.Context(), &c)
		if err != nil {
			t.Fatal(err)
		}
		if st.State != Waiting && st.State != Running {
			return st
		}
		if err := sub.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// web is a container that runs an image, with an update to a tag.
func web(name string) sdk.Container {
	return sdk.Container{
		ID: name, Name: name, Watcher: "local", UpdateAvailable: true,
		Image: sdk.Image{
			Name: "library/web", Registry: sdk.Registry{Host: "docker.io"}, Tag: sdk.Tag{Value: "1.0"},
			Digest: sdk.Digest{Repo: "sha256:old"}, OS: "linux", Architecture: "amd64",
		},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.0", RemoteValue: "1.1"}, Result: &sdk.Result{Tag: "1.1"},
	}
}

func findings(texts ...string) (all []vulnerability.Finding) {
	for _, text := range texts {
		id, severity, _ := strings.Cut(text, " ")
		of, _ := vulnerability.ParseSeverity(severity)
		all = append(all, vulnerability.Finding{ID: id, Severity: of, Package: "ssl"})
	}
	return all
}

func TestScanComparesAndRemembers(t *testing.T) {
	b := newBench(t, nil)
	b.reports["sha256:old"], b.reports["sha256:new"] = findings("C1 critical", "C2 critical", "H1 high"),
		findings("H1 high")
	if st := b.wait(t, web("web")); st.State != Unscanned {
		t.Fatalf("before: %+v", st)
	}
	if err := b.Request(web("web"), "ana"); err != nil {
		t.Fatal(err)
	}
	st := b.wait(t, web("web"))
	if st.State != Done || st.Comparison == nil || st.Comparison.String() != "fixes 2 critical, adds none" ||
		len(st.Comparison.FixedFindings) != 2 || len(st.Comparison.RemainingFindings) != 1 ||
		st.Comparison.To != "sha256:new" {
		t.Fatalf("%+v", st)
	}
	newer := candidate.Candidate{Tag: "1.1", Kind: sdk.KindTag}
	c := web("web")
	if s, known := b.Compared(&c, newer); !known || s.Fixed.Critical != 2 {
		t.Errorf("%+v, %v", s, known)
	}
	if _, known := b.Compared(&c, candidate.Candidate{Tag: "1.2", Kind: sdk.KindTag}); known {
		t.Error("another version is known")
	}
	if _, known := b.Summary(&c, "sha256:another"); known {
		t.Error("another image of the tag is known")
	}
	events, err := b.store.History(t.Context(), event.Filter{Types: []event.Type{event.ScanFinished}, Limit: 10})
	if err != nil || len(events) != 1 || events[0].Subject != "local/web" ||
		*events[0].Scan != (event.Scan{Actor: "ana", Version: "1.1", Summary: "fixes 2 critical, adds none"}) {
		t.Errorf("%+v, %v", events, err)
	}
	// Another container with the same images, and this one again: nothing is scanned twice within the day.
	other := web("other")
	if st := b.wait(t, other); st.State != Done {
		t.Errorf("the same images: %+v", st)
	}
	for range 2 {
		if err := b.Request(other, "ana"); err != nil {
			t.Fatal(err)
		}
		b.wait(t, other)
	}
	if b.locked(func() {}); len(b.scanned) != 2 || b.Counts() != (Counts{Done: 2, Reused: 4}) {
		t.Errorf("scanned %v, %+v", b.scanned, b.Counts())
	}
	b.locked(func() { b.now = b.now.Add(25 * time.Hour); b.reports["sha256:new"] = nil })
	if err := b.Request(c, "ana"); err != nil {
		t.Fatal(err)
	}
	if st := b.wait(t, c); st.Comparison.String() != "fixes 2 critical and 1 high, adds none" || len(b.scanned) != 4 {
		t.Errorf("a day later: %+v, scanned %v", st, b.scanned)
	}
	again := New(b.opt)
	if err := again.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, known := again.Compared(&c, newer); !known || s.Fixed.High != 1 {
		t.Errorf("after a restart: %+v, %v", s, known)
	}
}

func TestScanFailures(t *testing.T) {
	b := newBench(t, nil)
	request := func(want string) {
		t.Helper()
		if err := b.Request(web("web"), "ana"); err != nil {
			t.Fatal(err)
		}
		if st := b.wait(t, web("web")); st.State != Failed || !strings.Contains(st.Error, want) ||
			strings.Contains(st.Error, "s3cret") || st.Comparison != nil {
			t.Errorf("%+v, want %q", st, want)
		}
	}
	b.fails = errors.New("denied: s3cret")
	request("the image that runs: denied: ***")
	b.fails, b.about = nil, "nginx:1.27"
	request("the scanner reports on nginx:1.27, and not on docker.io/library/web@sha256:old")
	b.about, b.imageErr = "", errors.New("resolve docker.io/library/web:1.1: no such tag")
	request("no such tag")
	events, err := b.store.History(t.Context(), event.Filter{Types: []event.Type{event.ScanFinished}, Limit: 10})
	if err != nil || len(events) != 3 || !strings.Contains(events[2].Scan.Error+events[0].Scan.Error, "denied: ***") {
		t.Errorf("%+v, %v", events, err)
	}
	none, local := web("web"), web("web")
	none.UpdateAvailable = false
	local.Image.Digest.Repo = ""
	if err := b.Request(none, "ana"); !errors.Is(err, ErrNoUpdate) {
		t.Error(err)
	}
	if err := b.Request(local, "ana"); !errors.Is(err, sdk.ErrUnsupported) {
		t.Error(err)
	}
}

func TestScansWaitAndAreBounded(t *testing.T) {
	b := newBench(t, nil)
	b.release = make(chan struct{})
	named := func(i int) sdk.Container {
		c := web("web")
		c.Image.Name += strings.Repeat("x", i)
		return c
	}
	for i := range maxWaiting + 1 {
		if err := b.Request(named(i), "ana"); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := b.Request(named(0), "ben"); err != nil {
		t.Error("one that is under way:", err)
	}
	if err := b.Request(named(maxWaiting+1), "ana"); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	last := named(maxWaiting)
	if st, err := b.Status(t.Context(), &last); err != nil || st.State != Waiting {
		t.Errorf("%+v, %v", st, err)
	}
	close(b.release)
	if st := b.wait(t, named(maxWaiting)); st.State != Done {
		t.Errorf("%+v", st)
	}
}

// TestRequestsForTheSameImagesAreOneScan, whatever container has them and however many
// clients ask at once.
func TestRequestsForTheSameImagesAreOneScan(t *testing.T) {
	b := newBench(t, nil)
	b.release = make(chan struct{})
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			c := web([]string{"web", "other"}[i%2])
			if err := b.Request(c, "ana"); err != nil {
				t.Error(err)
			}
			if _, err := b.Status(t.Context(), &c); err != nil {
				t.Error(err)
			}
			b.Verdict(&c)
			b.Counts()
		})
	}
	wait.Wait()
	close(b.release)
	for _, name := range []string{"web", "other"} {
		if st := b.wait(t, web(name)); st.State != Done {
			t.Errorf("%s: %+v", name, st)
		}
	}
	b.locked(func() {
		if want := []string{"sha256:old", "sha256:new"}; !slices.Equal(b.scanned, want) {
			t.Errorf("scanned %q, want each image once", b.scanned)
		}
	})
}

func TestVerdict(t *testing.T) {
	automatic := func(hold vulnerability.Severity) func(*Options) {
		return func(o *Options) { o.Automatic, o.Hold = true, hold }
	}
	c := web("web")
	if v := newBench(t, nil).Verdict(&c); v != (Verdict{Ready: true}) {
		t.Errorf("not automatic: %+v", v)
	}
	b := newBench(t, automatic(vulnerability.Critical))
	b.reports["sha256:new"] = findings("C1 critical")
	if v := b.Verdict(&c); v != (Verdict{}) {
		t.Errorf("not scanned: %+v", v)
	}
	b.wait(t, c)
	if v := b.Verdict(&c); v.Ready {
		t.Errorf("it adds a critical one: %+v", v)
	}
	b = newBench(t, automatic(vulnerability.Critical))
	b.reports["sha256:new"] = findings("H1 high")
	b.Verdict(&c)
	b.wait(t, c)
	if v := b.Verdict(&c); v != (Verdict{Ready: true, Digest: "sha256:new"}) {
		t.Errorf("it adds a high one: %+v", v)
	}
	for hold, want := range map[vulnerability.Severity]bool{vulnerability.Unknown: true, vulnerability.Critical: false} {
		b = newBench(t, automatic(hold))
		b.fails = errors.New("no")
		b.Verdict(&c)
		b.wait(t, c)
		if v := b.Verdict(&c); v.Ready != want || !want && !v.Again.Equal(b.clock().Add(retryPause)) {
			t.Errorf("it fails, and %s are held: %+v", hold, v)
		}
		b.locked(func() { b.now = b.now.Add(2 * retryPause); b.fails = nil })
		b.Verdict(&c)
		b.wait(t, c)
		if v := b.Verdict(&c); !v.Ready {
			t.Errorf("it works later: %+v", v)
		}
	}
}

func TestEarlyScansWhatIsTooYoung(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Automatic = true })
	held := func(name, code string) *sdk.Container {
		c := web(name)
		c.Image.Name += name
		c.Decision = &sdk.Decision{State: sdk.StateHeld, Reasons: []sdk.Reason{{Code: code}}}
		return &c
	}
	young, skipped, unruled, offered := held("a", policy.ReasonMinAge), held("b", policy.ReasonSkipped),
		held("unruled", policy.ReasonMinAge), held("d", policy.ReasonMinAge)
	offered.Decision.State = sdk.StateOffered
	rules := func(c sdk.Container) (r policy.Rules) {
		if c.Name != "unruled" {
			r.Security.Value = vulnerability.High
		}
		return r
	}
	all := []*sdk.Container{young, skipped, unruled, offered}
	b.Early(all, rules)
	if st := b.wait(t, *young); st.State != Done {
		t.Errorf("%+v", st)
	}
	b.Early(all, rules)
	if len(b.scanned) != 2 || b.Counts().Reused != 0 {
		t.Errorf("scanned %v, %+v", b.scanned, b.Counts())
	}
}

// TestRunStopsTheScanner, and does not blame it.
func TestRunStopsTheScanner(t *testing.T) {
	b := newBench(t, nil)
	b.release = make(chan struct{})
	other := New(b.opt)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- other.Run(ctx) }()
	if err := other.Request(web("web"), "ana"); err != nil {
		t.Fatal(err)
	}
	for {
		b.mu.Lock()
		n := len(b.scanned)
		b.mu.Unlock()
		if n > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if events, err := b.store.History(t.Context(), event.Filter{
		Types: []event.Type{event.ScanFinished}, Limit: 10,
	}); err != nil || len(events) > 0 {
		t.Errorf("%+v, %v", events, err)
	}
}
