package api

import (
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Plan is a watcher.Plan as clients see it.
type Plan struct {
	Container PlanContainer `json:"container"`
	State     string        `json:"state"`
	From      PlanImage     `json:"from"`
	To        PlanImage     `json:"to"`
	Steps     []PlanStep    `json:"steps"`
	Carried   []Setting     `json:"carried"`
	Changes   []ImageChange `json:"changes"`
	Warnings  []Reason      `json:"warnings"`
	Blocks    []Reason      `json:"blocks"`
	// Paste has the lines that take blocks away, if there are any.
	Paste      config.Paste `json:"paste,omitzero"`
	Dependents []Dependent  `json:"dependents"`
	Files      []FileChange `json:"files"`
	Backups    []Backup     `json:"backups"`
	Space      Space        `json:"space"`
	// Kind is how much the update changes, and Major whether it is a major one by the rules of the container. These and
	// what follows are absent from the plans of rollbacks and of operations.
	Kind  string `json:"kind,omitempty"`
	Major bool   `json:"major,omitempty"`
	// Levels are the versions that there are to choose from; absent where there is one only.
	Levels []PlanLevel `json:"levels,omitempty"`
	// Releases are those on the way whose notes warn of something, the newest first.
	Releases []PlanRelease `json:"releases,omitempty"`
}

// PlanLevel is a version that a container can be updated to.
type PlanLevel struct {
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Chosen  bool   `json:"chosen,omitempty"`
	// SkippedBy is the user or the rule that skipped it.
	SkippedBy string `json:"skippedBy,omitempty"`
}

// PlanRelease is a release with the lines of its notes that warn of a breaking change, or demand something, as
// Markdown.
type PlanRelease struct {
	Version  string   `json:"version"`
	URL      string   `json:"url,omitempty"`
	Breaking []string `json:"breaking,omitempty"`
	Action   []string `json:"action,omitempty"`
}

// addDetails adds what a user should know beside the plan.
func (p *Plan) addDetails(o service.PlanDetails) {
	p.Kind, p.Major = o.Kind, o.Major
	for _, l := range o.Levels {
		p.Levels = append(p.Levels, PlanLevel{Version: l.Tag, Kind: l.Kind, Chosen: l.Chosen, SkippedBy: l.Skipped})
	}
	for _, r := range o.Warnings {
		p.Releases = append(p.Releases, PlanRelease(r))
	}
}

// PlanContainer is the container that a plan replaces.
type PlanContainer struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// PlanImage is an image of a plan. What is not known is absent.
type PlanImage struct {
	Reference string `json:"reference,omitempty"`
	Digest    string `json:"digest,omitempty"`
	ID        string `json:"id,omitempty"`
}

// PlanStep is one step of a plan.
type PlanStep struct {
	ID        string `json:"id"`
	Code      string `json:"code"`
	Container string `json:"container,omitempty"`
	Text      string `json:"text"`
}

// Setting is a setting that the new container takes over. That of an environment
// variable has no value.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// ImageChange is a default that differs between two images.
type ImageChange struct {
	Name   string `json:"name"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Reason is a warning, a block, or why an operation did not succeed.
type Reason struct {
	Code        string `json:"code"`
	Text        string `json:"text"`
	Acknowledge bool   `json:"acknowledge,omitempty"`
}

// Dependent is a container that is recreated or restarted too.
type Dependent struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Relation string `json:"relation"`
	Action   string `json:"action"`
}

// FileChange is a change of a compose file, or of the .env file that it reads.
type FileChange struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Diff string `json:"diff"`
}

// Backup is a stopped predecessor of the container. What is not known is absent.
type Backup struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Image   string   `json:"image"`
	Created sdk.Time `json:"created,omitzero"`
	// Size is what it has written into itself, in bytes.
	Size *int64 `json:"size,omitempty"`
}

// Space is what an update needs, in bytes; nil when that is not known.
type Space struct {
	Download *int64 `json:"download,omitempty"`
	Writable *int64 `json:"writable,omitempty"`
}

// Operation is an operation.Operation as clients see it.
type Operation struct {
	ID        string          `json:"id"`
	Kind      operation.Kind  `json:"kind"`
	State     operation.State `json:"state"`
	Watcher   string          `json:"watcher"`
	Name      string          `json:"name"`
	Container string          `json:"container"`
	Project   string          `json:"project,omitempty"`
	Actor     string          `json:"actor,omitempty"`
	Trigger   string          `json:"trigger,omitempty"`
	DryRun    bool            `json:"dryRun,omitempty"`
	// Acknowledged are the codes of blocks that a user accepted, CancelledBy is who wants it to stop.
	Acknowledged []string      `json:"acknowledged,omitempty"`
	CancelledBy  string        `json:"cancelledBy,omitempty"`
	Plan         Plan          `json:"plan"`
	Steps        []StepRecord  `json:"steps"`
	Progress     *StepProgress `json:"progress,omitempty"`
	Outcome      *Outcome      `json:"outcome,omitempty"`
	Error        string        `json:"error,omitempty"`
	QueuedAt     time.Time     `json:"queuedAt"`
	BeganAt      time.Time     `json:"beganAt,omitzero"`
	EndedAt      time.Time     `json:"endedAt,omitzero"`
}

// StepRecord is a step that was begun.
type StepRecord struct {
	PlanStep
	Ended   bool      `json:"ended"`
	Error   string    `json:"error,omitempty"`
	BeganAt time.Time `json:"beganAt"`
	EndedAt time.Time `json:"endedAt,omitzero"`
}

// StepProgress is how far the step under way is: bytes of a pull, probes of a health
// check. What is not known is absent.
type StepProgress struct {
	Message string `json:"message,omitempty"`
	Current int64  `json:"current,omitempty"`
	Total   int64  `json:"total,omitempty"`
}

// Outcome is what is true at the end of an operation.
type Outcome struct {
	State     watcher.OutcomeState `json:"state"`
	Reason    *Reason              `json:"reason,omitempty"`
	Container string               `json:"container,omitempty"`
	// Downtime is in seconds.
	Downtime float64   `json:"downtime,omitempty"`
	Kept     []string  `json:"kept,omitempty"`
	Warnings []Reason  `json:"warnings,omitempty"`
	Evidence *Evidence `json:"evidence,omitempty"`
}

// Evidence is what a new container that did not work left, taken before it was removed.
type Evidence struct {
	Container string         `json:"container"`
	Status    string         `json:"status"`
	ExitCode  int            `json:"exitCode"`
	Error     string         `json:"error,omitempty"`
	Health    []HealthResult `json:"health,omitempty"`
	// Log is the end of its log, without secrets.
	Log string `json:"log,omitempty"`
}

// HealthResult is how one health check ended.
type HealthResult struct {
	At       sdk.Time `json:"at,omitzero"`
	ExitCode int      `json:"exitCode"`
	Output   string   `json:"output,omitempty"`
}

func planView(p watcher.Plan) Plan {
	return Plan{
		Container: PlanContainer{ID: p.ContainerID, Name: p.Name}, State: p.State, From: PlanImage(p.From),
		To:       PlanImage(p.To),
		Steps:    each(p.Steps, func(s watcher.Step) PlanStep { return PlanStep(s) }),
		Carried:  each(p.Carried, func(s watcher.Setting) Setting { return Setting(s) }),
		Changes:  each(p.Changes, func(c watcher.Change) ImageChange { return ImageChange(c) }),
		Warnings: reasonViews(p.Warnings), Blocks: reasonViews(p.Blocks), Paste: updater.Paste(p.Blocks),
		Dependents: each(p.Dependents, func(d watcher.Dependent) Dependent {
			return Dependent{ID: d.ContainerID, Name: d.Name, Relation: d.Relation, Action: d.Action}
		}),
		Files: each(p.Files, func(f watcher.FileChange) FileChange { return FileChange(f) }),
		Backups: each(p.Backups, func(b watcher.Backup) Backup {
			return Backup{ID: b.ContainerID, Name: b.Name, Image: b.Image, Created: b.Created, Size: known(b.Size)}
		}),
		Space: Space{Download: known(p.Space.Download), Writable: known(p.Space.Writable)},
	}
}

func operationView(op operation.Operation) Operation {
	v := Operation{
		ID: op.ID, Kind: op.Kind, State: op.State, Watcher: op.Watcher, Name: op.Name, Container: op.ContainerID,
		Project: op.Project,
		Actor:   op.Actor, Trigger: op.Trigger, DryRun: op.Rules.DryRun, Plan: planView(op.Plan), Error: op.Error,
		QueuedAt: op.Queued, BeganAt: op.Began, EndedAt: op.Ended,
		Steps: each(op.Steps, func(s operation.Step) StepRecord {
			return StepRecord{PlanStep: PlanStep(s.Step), Ended: s.Ended, Error: s.Error, BeganAt: s.Began, EndedAt: s.EndedAt}
		}),
	}
	v.Acknowledged = op.Rules.Acknowledged
	if op.Cancel != nil {
		v.CancelledBy = op.Cancel.By
	}
	if o := op.Outcome; o != nil {
		v.Outcome = &Outcome{
			State: o.State, Container: o.ContainerID, Downtime: o.Downtime.Seconds(), Kept: o.Kept,
			Warnings: reasonViews(o.Warnings),
		}
		if o.Reason.Code != "" {
			reason := Reason(o.Reason)
			v.Outcome.Reason = &reason
		}
		v.Outcome.Evidence = evidenceView(o.Evidence)
	}
	return v
}

func evidenceView(e *watcher.Evidence) *Evidence {
	if e == nil {
		return nil
	}
	v := &Evidence{Container: e.Container, Status: e.Status, ExitCode: e.ExitCode, Error: e.Error, Log: e.Log}
	for _, h := range e.Health {
		v.Health = append(v.Health, HealthResult(h))
	}
	return v
}

func reasonViews(all []watcher.Reason) []Reason {
	return each(all, func(r watcher.Reason) Reason { return Reason(r) })
}

// each returns what becomes of all; never nil, so that JSON has a list.
func each[A, B any](all []A, view func(A) B) []B {
	views := make([]B, len(all))
	for i, a := range all {
		views[i] = view(a)
	}
	return views
}

// known returns a size, or nil for one that is not known.
func known(bytes int64) *int64 {
	if bytes < 0 {
		return nil
	}
	return &bytes
}
