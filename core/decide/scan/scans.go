package scan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/internal/wake"
	"github.com/dogwatch/dogwatch/sdk"
)

// The errors that callers tell apart with errors.Is.
var (
	// ErrNoUpdate: there is no newer image to compare with.
	ErrNoUpdate = errors.New("there is no update to scan")
	// ErrBusy: too many scans wait already.
	ErrBusy = errors.New("too many scans wait already: try again later")
)

const (
	// maxWaiting is how many scans wait, beside the one that runs.
	maxWaiting = 100
	// retryPause is the wait before a scan that failed is tried again without a user.
	retryPause = time.Hour
	// listed is how many findings of a kind a comparison has.
	listed = 100
	// maxRemembered is how many comparisons and failures are kept in memory, as many as in the store.
	maxRemembered = 500
)

// Scanner finds the vulnerabilities of an image.
type Scanner interface {
	Scan(ctx context.Context, image Image) (vulnerability.Report, error)
}

// Store keeps what was found.
type Store interface {
	Scan(ctx context.Context, image string) (report []byte, at time.Time, found bool, err error)
	PutScan(ctx context.Context, image string, at time.Time, report []byte) error
	Comparisons(ctx context.Context, each func(images string, doc []byte)) error
	Comparison(ctx context.Context, images string) (doc []byte, found bool, err error)
	PutComparison(ctx context.Context, images string, at time.Time, doc []byte, ev ...event.Event) error
	Commit(ctx context.Context, change event.Change) error
}

// Options configure Scans.
type Options struct {
	Scanner Scanner
	// Images returns the image that a container runs and the one of its update.
	Images func(ctx context.Context, c sdk.Container) (running, offered Image, err error)
	Store  Store
	// MaxAge is for how long what was found in an image counts before it is scanned again.
	MaxAge time.Duration
	// Automatic is whether images are scanned before an update that a rule has carried out,
	// and Hold the severity of added vulnerabilities that keep it from that.
	Automatic bool
	Hold      vulnerability.Severity
	// Changed is called after it became known how images compare; it decides again.
	Changed func(ctx context.Context)
	// Progressed is called when a scan begins to wait, goes on or ends.
	Progressed func()
	// Redact blanks secrets in errors.
	Redact func(string) string
	Log    hclog.Logger
	Now    func() time.Time
}

// Comparison is how the image of an update compares with the one that runs.
type Comparison struct {
	// At is when the older one of the two was scanned.
	At      sdk.Time `json:"at"`
	Scanner string   `json:"scanner"`
	// From and To are the digests of the images.
	From string `json:"from"`
	To   string `json:"to"`
	vulnerability.Summary
	// FixedFindings, AddedFindings and RemainingFindings are the most severe of each.
	FixedFindings     []vulnerability.Finding `json:"fixedFindings"`
	AddedFindings     []vulnerability.Finding `json:"addedFindings"`
	RemainingFindings []vulnerability.Finding `json:"remainingFindings"`
}

// State is how far the scan of the images of an update is.
type State string

// The states of a scan.
const (
	Unscanned State = "none"    // nothing is known, and no scan was asked for
	Waiting   State = "waiting" // for another scan
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed" // the last one; what was known before stays
)

// Status is what is known of a container's update.
type Status struct {
	State State
	// Step says what is being done while it runs, Since when it was asked for or failed.
	Step  string
	Since time.Time
	Error string
	// Comparison is nil when the images were not compared yet.
	Comparison *Comparison
}

// compared is what memory has of a comparison.
type compared struct {
	at       time.Time
	to       string
	summary  vulnerability.Summary
	failedAt time.Time // of the last scan, if it failed
	failure  string
}

// job is a scan that was asked for.
type job struct {
	key       string
	container sdk.Container
	actor     string
	since     time.Time
	step      string // "" while it waits
}

// Counts are how many scans of images there were since the start.
type Counts struct{ Done, Failed, Reused int }

// Scans has images scanned, one at a time. Run is its actor; the other methods may be
// called concurrently, before Run too.
type Scans struct {
	opt  Options
	log  hclog.Logger
	wake wake.Signal

	mu     sync.Mutex
	known  map[string]compared // by the images
	jobs   []*job              // the first is the one that runs
	counts Counts
}

// New returns Scans.
func New(opt Options) *Scans {
	return &Scans{opt: opt, log: opt.Log.Named("scan"), wake: wake.New(), known: map[string]compared{}}
}

// Enabled returns true.
func (s *Scans) Enabled() bool { return true }

// Load reads how images compare.
func (s *Scans) Load(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opt.Store.Comparisons(ctx, func(images string, doc []byte) {
		var c Comparison
		if json.Unmarshal(doc, &c) == nil && len(s.known) < maxRemembered {
			s.known[images] = compared{at: c.At.Time, to: c.To, summary: c.Summary}
		}
	})
}

// PlatformOf returns the platform of a container's image as scanners take it: "linux/arm64/v8";
// "" when it is not known.
func PlatformOf(c *sdk.Container) string {
	p := c.Image.Platform()
	if p.OS == "" || p.Architecture == "" {
		return ""
	}
	return strings.TrimSuffix(p.OS+"/"+p.Architecture+"/"+p.Variant, "/")
}

// keyOf names the image that a container runs and a newer version of it; "" when the
// running one has no digest by which a registry knows it.
func keyOf(c *sdk.Container, version string) string {
	if c.Image.Digest.Repo == "" || c.Base != nil || version == "" {
		return ""
	}
	return c.Image.Registry.Host + "/" + c.Image.Name + "@" + c.Image.Digest.Repo + " " + version + " " + PlatformOf(c)
}

// currentKey is keyOf the update that a container has.
func currentKey(c *sdk.Container) string {
	if !c.UpdateAvailable {
		return ""
	}
	return keyOf(c, update.KeyOf(c).To())
}

// Compared returns how a newer version compares with the image that a container runs;
// false when they were not compared.
func (s *Scans) Compared(c *sdk.Container, to candidate.Candidate) (vulnerability.Summary, bool) {
	version := to.Tag
	if to.Kind == sdk.KindDigest {
		version = to.Digest
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[keyOf(c, version)]
	return known.summary, !known.at.IsZero()
}

// Summary returns how the image of a digest, to which a container is to be updated,
// compares with the one that it runs; false when they were not compared.
func (s *Scans) Summary(c *sdk.Container, digest string) (vulnerability.Summary, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[currentKey(c)]
	return known.summary, !known.at.IsZero() && known.to == digest
}

// Status returns what is known of a container's update.
func (s *Scans) Status(ctx context.Context, c *sdk.Container) (Status, error) {
	key := currentKey(c)
	st := Status{State: Unscanned}
	s.mu.Lock()
	known := s.known[key]
	for i, j := range s.jobs {
		if j.key == key {
			st.State, st.Step, st.Since = Waiting, j.step, j.since
			if i == 0 && j.step != "" {
				st.State = Running
			}
		}
	}
	s.mu.Unlock()
	if !known.at.IsZero() {
		doc, found, err := s.opt.Store.Comparison(ctx, key)
		if err != nil {
			return st, err
		}
		var comparison Comparison
		if found && json.Unmarshal(doc, &comparison) == nil {
			st.Comparison = &comparison
		}
	}
	if st.State != Unscanned {
		return st, nil
	}
	switch {
	case !known.failedAt.IsZero():
		st.State, st.Since, st.Error = Failed, known.failedAt, known.failure
	case st.Comparison != nil:
		st.State = Done
	}
	return st, nil
}

// Request asks for a scan of the images of a container's update. It returns at once; one
// that waits or runs already is not asked for twice. The errors are ErrNoUpdate and
// ErrBusy, and an sdk.ErrUnsupported when the images cannot be identified.
func (s *Scans) Request(c sdk.Container, actor string) error {
	who := event.Subject(c)
	if !c.UpdateAvailable {
		return fmt.Errorf("%s: %w: nothing newer is known", who, ErrNoUpdate)
	}
	key := currentKey(&c)
	if key == "" {
		return sdk.WithKind(sdk.ErrUnsupported,
			fmt.Errorf("%s: the image that runs was not pulled from a registry, so no scanner can fetch it there", who))
	}
	s.mu.Lock()
	for _, j := range s.jobs {
		if j.key == key {
			s.mu.Unlock()
			return nil
		}
	}
	if len(s.jobs) > maxWaiting {
		s.mu.Unlock()
		return fmt.Errorf("%s: %w", who, ErrBusy)
	}
	s.jobs = append(s.jobs, &job{key: key, container: c, actor: actor, since: s.opt.Now()})
	s.mu.Unlock()
	s.wake.Set()
	s.opt.Progressed()
	return nil
}

// Counts returns how many scans there were.
func (s *Scans) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Run scans what is asked for until ctx ends; then the scanner is stopped.
func (s *Scans) Run(ctx context.Context) error {
	for {
		s.mu.Lock()
		var next *job
		if len(s.jobs) > 0 {
			next = s.jobs[0]
		}
		s.mu.Unlock()
		if next == nil {
			select {
			case <-ctx.Done():
				return nil
			case <-s.wake:
			}
			continue
		}
		s.do(ctx, next)
		if ctx.Err() != nil {
			return nil
		}
	}
}

// do does a job, and takes it off the list.
func (s *Scans) do(ctx context.Context, j *job) {
	subject := event.Subject(j.container)
	s.log.Info("scan the images of an update", "container", subject, "by", j.actor)
	c, err := s.compare(ctx, j)
	if ctx.Err() != nil {
		return // it was not the scanner's fault
	}
	ending := event.Scan{Actor: j.actor, Version: update.KeyOf(&j.container).To()}
	now := s.opt.Now()
	if err == nil {
		ending.Summary = c.Summary.String()
		var doc []byte
		if doc, err = json.Marshal(c); err == nil {
			err = s.opt.Store.PutComparison(ctx, j.key, c.At.Time, doc, s.event(subject, now, ending))
		}
	}
	if err != nil {
		ending.Summary, ending.Error = "", s.opt.Redact(err.Error())
		s.log.Warn("the images of an update could not be scanned", "container", subject, "error", ending.Error)
		if err := s.opt.Store.Commit(ctx, event.Change{Events: []event.Event{s.event(subject, now, ending)}}); err != nil {
			s.log.Error("record that a scan failed", "container", subject, "error", err)
		}
	}
	s.mu.Lock()
	if err == nil {
		s.remember(j.key, compared{at: c.At.Time, to: c.To, summary: c.Summary})
	} else {
		failed := s.known[j.key]
		failed.failedAt, failed.failure = now, ending.Error
		s.remember(j.key, failed)
	}
	s.jobs = s.jobs[1:]
	s.mu.Unlock()
	if err == nil {
		s.log.Info("the images of an update were scanned", "container", subject, "result", ending.Summary)
		s.opt.Changed(ctx)
	}
	s.opt.Progressed()
}

func (s *Scans) event(subject string, at time.Time, scan event.Scan) event.Event {
	return event.Event{At: at, Type: event.ScanFinished, Subject: subject, Payload: event.Payload{Scan: &scan}}
}

// remember keeps what is known of two images; the oldest gives way. The lock is held.
func (s *Scans) remember(key string, c compared) {
	if _, known := s.known[key]; !known && len(s.known) >= maxRemembered {
		oldest := ""
		for k, images := range s.known {
			if oldest == "" || images.at.Before(s.known[oldest].at) {
				oldest = k
			}
		}
		delete(s.known, oldest)
	}
	s.known[key] = c
}
