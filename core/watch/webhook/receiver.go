package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/wake"
	"github.com/dogwatch/dogwatch/sdk"
)

// The errors of Receive and CheckNow that callers tell apart with errors.Is.
var (
	// ErrSecret: the secret is missing or wrong, or there is no hook of this name, which the
	// sender is not told.
	ErrSecret = errors.New("the secret of the webhook is missing or wrong, or webhooks.secrets has none of this name")
	// ErrMalformed: the body cannot be understood. The text says why.
	ErrMalformed = errors.New("the push cannot be understood")
	// ErrBusy: as many repositories as may wait are waiting.
	ErrBusy = errors.New("too many repositories wait for their check")
)

const (
	// debounce is how long a check waits for more pushes: one push of an image for
	// several platforms is several events.
	debounce = 300 * time.Millisecond
	// maxWaiting bounds the repositories that wait for their check.
	maxWaiting = 64
	// maxChecks bounds the checks of CheckNow at a time.
	maxChecks = 4
	// replayWindow is for how long a push counts once, and maxSeen how many are remembered.
	replayWindow = 15 * time.Minute
	maxSeen      = 1000
	// repeatWindow is that for senders whose next push about an image may be the same to the byte.
	repeatWindow = 10 * time.Second
	// maxRecent is how many pushes the page shows of each hook.
	maxRecent = 20
	// storeTime bounds a write of what was accepted.
	storeTime = 5 * time.Second
	// RetryAfter is when one more may be sent after an ErrBusy.
	RetryAfter = 5 * time.Second
)

// Hook is one address that pushes are sent to.
type Hook struct {
	Name, Secret string
	// Host is the registry in the names of containers' images; "" when pushes name it so.
	Host string
	// URLToken is true when the secret may be in the address, as ?token=….
	URLToken bool
}

// Options are what a Receiver needs.
type Options struct {
	Hooks []Hook
	// Containers returns the stored containers.
	Containers func() []sdk.Container
	Store      Store
	// Check checks containers of one watcher now.
	Check func(ctx context.Context, watcher string, ids []string) error
	Log   hclog.Logger
	Now   func() time.Time
}

// Store keeps the repositories whose check waits or is under way, so that what was accepted is
// checked, if not by this process then by the next.
type Store interface {
	AddPushed(ctx context.Context, images []Image) error
	RemovePushed(ctx context.Context, images []Image) error
	Pushed(ctx context.Context) ([]Image, error)
}

// Receiver receives pushes, and checks what they concern. Its methods may be
// called concurrently.
type Receiver struct {
	opt    Options
	log    hclog.Logger
	wake   wake.Signal
	checks chan struct{} // one for each CheckNow under way
	// absent stands in for hooks that there are not, so that their names cannot be told from the others.
	absent Hook

	mu      sync.Mutex
	waiting map[Image][]*Receipt
	seen    map[string]time.Time // until when a push is a duplicate
	recent  map[string][]*Receipt
	counts  map[Count]int
}

// Receipt is what became of a push.
type Receipt struct {
	At time.Time `json:"at"`
	// Format is which sender it was of; "" when it was refused.
	Format string `json:"format,omitempty"`
	// Images are what it names, without tags.
	Images []string `json:"images"`
	// Containers are those that run one of these, as watcher/name: they are checked.
	Containers []string `json:"containers"`
	// State is waiting, checked, failed, ignored, duplicate or refused.
	State string `json:"state"`
	// Reason says why, where nothing was checked.
	Reason string `json:"reason,omitempty"`
	// Validation is what Azure Event Grid wants to have back.
	Validation string `json:"validationResponse,omitempty"`
}

// The states of a receipt.
const (
	Waiting   = "waiting"
	Checked   = "checked"
	Failed    = "failed"
	Ignored   = "ignored"
	Duplicate = "duplicate"
	Refused   = "refused"
)

// Count is what pushes are counted by. Those to names that there are not have the Hook "".
type Count struct{ Hook, State string }

// Status is a hook with its latest pushes, the newest first. It holds no secret.
type Status struct {
	Name     string    `json:"name"`
	Host     string    `json:"host,omitempty"`
	URLToken bool      `json:"urlToken"`
	Recent   []Receipt `json:"recent"`
}

// New returns a Receiver. Run must be called.
func New(opt Options) *Receiver {
	return &Receiver{
		opt: opt, log: opt.Log.Named("webhook"), wake: wake.New(), checks: make(chan struct{}, maxChecks),
		absent: Hook{Secret: rand.Text()}, waiting: map[Image][]*Receipt{}, seen: map[string]time.Time{},
		recent: map[string][]*Receipt{}, counts: map[Count]int{},
	}
}

// hook returns the hook of a name whose secret a request has.
func (r *Receiver) hook(name string, header http.Header, token string, body []byte) (Hook, error) {
	h := r.absent
	for _, one := range r.opt.Hooks {
		if strings.EqualFold(one.Name, name) {
			h = one
		}
	}
	if !h.authentic(header, token, body) {
		r.note(h.Name, &Receipt{
			At: r.opt.Now(), State: Refused, Reason: ErrSecret.Error(), Images: []string{}, Containers: []string{},
		})
		return h, ErrSecret
	}
	return h, nil
}

// Receive takes a push in. What it concerns is checked soon, unless the same
// push was received already. The error is an ErrSecret, ErrMalformed or ErrBusy,
// or one of the Store.
func (r *Receiver) Receive(name string, header http.Header, token string, body []byte) (Receipt, error) {
	h, err := r.hook(name, header, token, body)
	if err != nil {
		return Receipt{}, err
	}
	receipt := &Receipt{At: r.opt.Now(), State: Ignored, Images: []string{}, Containers: []string{}}
	defer func() { r.note(h.Name, receipt) }()
	d, err := Parse(header, body)
	if err != nil {
		receipt.State, receipt.Reason = Refused, err.Error()
		return Receipt{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	receipt.Format, receipt.Reason, receipt.Validation = d.Format, d.Ignored, d.Validation
	if len(d.Images) == 0 {
		return *receipt, nil
	}
	images := d.Images
	for i := range images {
		if h.Host != "" {
			images[i].Host = h.Host
		}
		receipt.Images = append(receipt.Images, images[i].String())
	}
	var concerned []Image
	for _, image := range images {
		if found := r.containers(image); len(found) > 0 {
			concerned = append(concerned, image)
			for _, c := range found {
				receipt.Containers = append(receipt.Containers, c.Watcher+"/"+c.Name)
			}
		}
	}
	if len(concerned) == 0 {
		receipt.Reason = "no container runs an image of " + strings.Join(receipt.Images, ", ")
		return *receipt, nil
	}
	return r.enqueue(h, d, concerned, receipt)
}

// enqueue has the repositories of a push wait for their check.
func (r *Receiver) enqueue(h Hook, d Push, images []Image, receipt *Receipt) (Receipt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.opt.Now()
	maps.DeleteFunc(r.seen, func(_ string, until time.Time) bool { return !now.Before(until) })
	key := h.Name + " " + d.ID
	if _, again := r.seen[key]; again {
		receipt.State, receipt.Reason = Duplicate, "the same push was received already"
		return *receipt, nil
	}
	more := 0
	for _, image := range images {
		if _, waits := r.waiting[image]; !waits {
			more++
		}
	}
	if len(r.waiting)+more > maxWaiting || len(r.seen) >= maxSeen {
		receipt.State, receipt.Reason = Refused, ErrBusy.Error()
		return Receipt{}, ErrBusy
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	if err := r.opt.Store.AddPushed(ctx, images); err != nil {
		receipt.State, receipt.Reason = Refused, err.Error()
		return Receipt{}, err
	}
	r.seen[key] = now.Add(replayWindow)
	if d.Repeats {
		r.seen[key] = now.Add(repeatWindow)
	}
	receipt.State = Waiting
	for _, image := range images {
		r.waiting[image] = append(r.waiting[image], receipt)
	}
	r.wake.Set()
	return *receipt, nil
}

// containers returns the containers of an image's repository.
func (r *Receiver) containers(image Image) []sdk.Container {
	return slices.DeleteFunc(r.opt.Containers(), func(c sdk.Container) bool {
		return !image.concerns(c.Image.Registry.Host, c.Image.Name)
	})
}

// note remembers and logs a receipt.
func (r *Receiver) note(hook string, receipt *Receipt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[Count{hook, receipt.State}]++
	all := r.recent[hook]
	if receipt.State == Refused && len(all) > 0 && all[0].State == Refused && all[0].Reason == receipt.Reason {
		all[0] = receipt // a flood leaves the others on the page, and the log readable
		return
	}
	all = append([]*Receipt{receipt}, all...)
	r.recent[hook] = all[:min(len(all), maxRecent)]
	r.log.Info("push received", "webhook", hook, "state", receipt.State, "format", receipt.Format, "images",
		receipt.Images, "containers", receipt.Containers, "reason", receipt.Reason)
}

// resume has what an earlier process accepted and did not check wait again.
func (r *Receiver) resume(ctx context.Context) {
	images, err := r.opt.Store.Pushed(ctx)
	if err != nil {
		r.log.Error("read what was accepted before this start; planned checks find it", "error", err)
	}
	if len(images) == 0 {
		return
	}
	r.log.Info("what was accepted before this start is checked", "repositories", len(images))
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, image := range images {
		if _, waits := r.waiting[image]; !waits {
			r.waiting[image] = nil // it has no receipt here
		}
	}
	r.wake.Set()
}

// checked forgets repositories, except those that a push has named again since.
func (r *Receiver) checked(ctx context.Context, images map[Image][]*Receipt, state, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var done []Image
	for image, receipts := range images {
		for _, receipt := range receipts {
			receipt.State, receipt.Reason = state, reason
		}
		if _, again := r.waiting[image]; !again {
			done = append(done, image)
		}
	}
	if err := r.opt.Store.RemovePushed(ctx, done); err != nil {
		r.log.Warn("forget what was checked; the next start checks it again", "error", err)
	}
}

// Run checks what pushes concern, until ctx ends. What is not checked by then is left for
// the next Receiver with the Store.
func (r *Receiver) Run(ctx context.Context) error {
	r.resume(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.wake:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(debounce):
		}
		r.mu.Lock()
		waiting := r.waiting
		r.waiting = map[Image][]*Receipt{}
		r.mu.Unlock()
		var all []sdk.Container
		for image := range waiting {
			all = append(all, r.containers(image)...)
		}
		state, reason := Checked, ""
		err := r.check(ctx, all)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			r.log.Warn("check what was pushed", "error", err)
			state, reason = Failed, err.Error()
		}
		r.checked(ctx, waiting, state, reason)
	}
}

// check checks containers, those of a watcher together and the watchers side by side.
func (r *Receiver) check(ctx context.Context, containers []sdk.Container) error {
	ids := map[string][]string{}
	for _, c := range containers {
		if !slices.Contains(ids[c.Watcher], c.ID) {
			ids[c.Watcher] = append(ids[c.Watcher], c.ID)
		}
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	var failed []error
	for watcher, some := range ids {
		wait.Go(func() {
			if err := r.opt.Check(ctx, watcher, some); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, err)
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

// Hooks returns the hooks by name.
func (r *Receiver) Hooks() []Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := []Status{}
	for _, h := range r.opt.Hooks {
		s := Status{Name: h.Name, Host: h.Host, URLToken: h.URLToken, Recent: []Receipt{}}
		for _, receipt := range r.recent[h.Name] {
			s.Recent = append(s.Recent, *receipt)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Counts returns how many pushes there were since the start.
func (r *Receiver) Counts() map[Count]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[Count]int{}
	for k, n := range r.counts {
		all[k] = n
	}
	return all
}
