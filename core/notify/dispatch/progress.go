package dispatch

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	// progressInterval is the least time between two steps of one run that are
	// logged and shown. Steps in between are coalesced: the latest one is kept.
	progressInterval = 500 * time.Millisecond
	// maxPhase and maxMessage bound the texts of a step, in characters.
	maxPhase   = 60
	maxMessage = 300
	// maxTitle bounds the title of a message in the history, in characters.
	maxTitle = 200
)

// Progress is the step that the trigger of a delivery under way reported last.
type Progress struct {
	// Delivery is the id of the delivery.
	Delivery int64  `json:"delivery"`
	Trigger  string `json:"trigger"`
	// Manual is true for a run that a user started.
	Manual bool `json:"manual,omitempty"`
	// Subject is that of the delivery, such as "local/nginx".
	Subject string `json:"subject"`
	// Container is the id of the container that the step is about, if of one.
	Container string `json:"container,omitempty"`
	Phase     string `json:"phase,omitempty"`
	Message   string `json:"message,omitempty"`
	// Current of Total is done; Total is 0 when that is not known.
	Current int64 `json:"current,omitempty"`
	Total   int64 `json:"total,omitempty"`
}

// progress returns the latest steps of the deliveries under way, in the order of their ids.
func (rs *runs) progress() []Progress {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	all := []Progress{}
	for _, r := range rs.running {
		if r.reported {
			all = append(all, r.latest)
		}
	}
	slices.SortFunc(all, func(a, b Progress) int { return cmp.Compare(a.Delivery, b.Delivery) })
	return all
}

// runs are the deliveries under way in this process.
type runs struct {
	log    hclog.Logger
	redact func(string) string
	// changed is called when progress returns something else. It must not block.
	changed func()

	mu      sync.Mutex
	running map[int64]*run
}

// run is a call of a trigger. Its fields belong to the lock of runs.
type run struct {
	runs     *runs
	log      hclog.Logger
	latest   Progress
	reported bool
	title    string // that of the message
	phase    string // that was logged last
	shownAt  time.Time
	// later shows a step that came too soon after the one before; nil when there is none.
	later *time.Timer
	ended bool
}

// begin counts a delivery as under way. The caller must call end.
func (rs *runs) begin(d delivery.Delivery) *run {
	r := &run{
		runs: rs, log: rs.log.With("trigger", d.Trigger, "delivery", d.ID, "subject", d.Subject),
		latest: Progress{Delivery: d.ID, Trigger: d.Trigger, Manual: d.Manual, Subject: d.Subject},
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.running[d.ID] = r
	return r
}

// sends notes the title of the message that is sent, which its event has, too.
func (r *run) sends(title string) {
	title = cut(r.runs.redact(title), maxTitle)
	r.runs.mu.Lock()
	defer r.runs.mu.Unlock()
	r.title = title
}

// sent returns the title of the message; "" while none is known, as for what has no message.
func (r *run) sent() string {
	r.runs.mu.Lock()
	defer r.runs.mu.Unlock()
	return r.title
}

// has reports whether a delivery is under way.
func (rs *runs) has(id int64) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.running[id] != nil
}

// end counts the delivery as under way no longer. A step that was not logged yet is.
func (r *run) end() {
	r.runs.mu.Lock()
	defer r.runs.mu.Unlock()
	if r.later != nil {
		r.later.Stop()
		r.show()
	}
	r.ended = true
	delete(r.runs.running, r.latest.Delivery)
	if r.reported {
		r.runs.changed()
	}
}

// report takes a step over from the trigger, whose text is not trusted: secrets
// in it are redacted, and its length is bounded. It may be called concurrently,
// and after the end of the run, when it does nothing.
func (r *run) report(step trigger.Progress) {
	phase, message := cut(r.runs.redact(step.Phase), maxPhase), cut(r.runs.redact(step.Message), maxMessage)
	r.runs.mu.Lock()
	defer r.runs.mu.Unlock()
	if r.ended {
		return
	}
	r.reported = true
	r.latest.Container, r.latest.Phase, r.latest.Message = cut(step.ContainerID, maxMessage), phase, message
	r.latest.Current, r.latest.Total = step.Current, step.Total
	if r.later != nil {
		return // which will show this step instead of the one before
	}
	if wait := progressInterval - time.Since(r.shownAt); wait > 0 {
		r.later = time.AfterFunc(wait, func() {
			r.runs.mu.Lock()
			defer r.runs.mu.Unlock()
			if r.later != nil { // else end has shown it
				r.show()
			}
		})
		return
	}
	r.show()
}

// show logs the latest step, at level info when it begins a phase, and has it shown. The lock is held.
func (r *run) show() {
	r.later, r.shownAt = nil, time.Now()
	level := hclog.Debug
	if r.latest.Phase != r.phase {
		level, r.phase = hclog.Info, r.latest.Phase
	}
	args := []any{"phase", r.latest.Phase, "message", r.latest.Message}
	if r.latest.Total > 0 {
		args = append(args, "current", r.latest.Current, "total", r.latest.Total)
	}
	r.log.Log(level, "progress", args...)
	r.runs.changed()
}

// cut shortens a text to at most n characters.
func cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}
