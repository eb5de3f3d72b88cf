package watcher

import (
	"context"
	"errors"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// Updater is a Watcher that can replace a container it lists by one that runs
// another image. The host resolves the image, shows the plan, decides, and stores
// each step before it is taken; after a crash it calls Recover. Its methods are
// called concurrently, but never two of Apply and Recover for one container.
//
// The type has an option "update" (bool, false by default): without it the
// instance changes nothing, and the host plans and applies nothing.
type Updater interface {
	// Plan says what Apply would do. It changes nothing and may be repeated. What
	// keeps the update from being applied is in Plan.Blocks; an error means that
	// the engine could not be asked.
	Plan(ctx context.Context, req UpdateRequest) (Plan, error)
	// Apply carries out the plan of an operation, one step after the other. If a step
	// fails, or Journal.Begin returns ErrStop, it returns to the old container.
	// The error means that the outcome is not known; the host calls Recover then, unless it
	// has ended ctx since a user cancelled the operation during a step of code StepPull.
	Apply(ctx context.Context, op Operation, journal Journal) (Outcome, error)
	// Recover looks at what an interrupted Apply left, finishes it or returns to the
	// old container, and says what is true. It may be called again after an
	// interrupted Recover.
	Recover(ctx context.Context, op Operation, journal Journal) (Outcome, error)
}

// ErrStop is returned by Journal.Begin when no further step is to be taken,
// since the operation was cancelled or the host stops.
var ErrStop = errors.New("the operation is to stop before this step")

// ReasonCancelled is the code of the reason of an outcome, RolledBack or Unchanged, to
// which nothing led but ErrStop. An operation that a user cancelled counts as cancelled
// then, and as one that did not work otherwise.
const ReasonCancelled = "cancelled"

// ReasonInterrupted is the code of the reason of an outcome of Recover, RolledBack or
// Unchanged, to which the end of a process led and not the new image.
const ReasonInterrupted = "interrupted"

// UpdateRequest is a container and the image that it shall run.
type UpdateRequest struct {
	// ContainerID is the engine's identifier, see Container.ID.
	ContainerID string
	Image       TargetImage
	Rules       UpdateRules
	// Credentials are for pulling the image; the zero value for none.
	Credentials sdk.Credentials
}

// TargetImage is one exact image.
type TargetImage struct {
	// Reference is how users name the image, with its registry host and tag:
	// "docker.io/library/nginx:1.26.0". The new container has it, with the digest
	// if the reference of the old one has one.
	Reference string
	// Digest is what is pulled, checked and started: that of the manifest or of the
	// index which the reference was resolved to. With an ID, it is pulled only
	// if the engine does not have that image any more, and may be empty.
	Digest string
	// ID is the engine's identifier of an image that ran before, which is not pulled if it is still there: for a rollback.
	ID string
	// Config is the configuration of the image where the host knows it before the
	// pull; nil when it does not.
	Config *sdk.ImageConfig
}

// UpdateRules are what configuration and labels ask of an update. Zero durations
// mean the defaults of the watcher.
type UpdateRules struct {
	// Keep is how many stopped predecessors stay.
	Keep int
	// Prune removes images that no container uses after the update.
	Prune bool
	// DryRun ends after the pull.
	DryRun bool
	Health HealthGate
	// Acknowledged are the codes of blocks that a user accepts, see Reason.Acknowledge.
	Acknowledged []string
	// StopSignal stops the old container instead of its own signal: "SIGINT"; "" for its own.
	StopSignal string
	Hooks      Hooks
	// Compose has the image written into the compose file of the container; nil leaves the file alone.
	Compose *ComposeRules
}

// Hooks are commands that run in the container, the first before the old one is
// stopped, the second once the new one works. One that fails, or takes longer than
// Timeout, returns to the old container.
type Hooks struct {
	Pre, Post []string
	Timeout   time.Duration
}

// ComposeRules say how the compose file of a container is changed.
type ComposeRules struct {
	// File is the compose file of containers whose labels name none; "" for none.
	File string
	// Label is the label that names the compose file of a container; "" for the
	// watcher's own ("dogwatch.compose.file").
	Label string
	// Backup keeps a copy of the file as it was before.
	Backup bool
	// Required blocks updates of containers that belong to no compose file, with
	// BlockComposeAbsent. Without it they are updated as others.
	Required bool
	// Command has the compose command recreate the container, instead of the engine's API.
	Command bool
}

// HealthGate says when the new container counts as working. Without any probe it
// is the HEALTHCHECK of the image or container, and without that its staying up.
type HealthGate struct {
	// HTTP is an address that must respond with a status below 400, TCP one that must
	// accept a connection: "http://:8080/health", ":5432". A missing host is the container.
	HTTP, TCP string
	// Command runs in the container and must exit with 0.
	Command []string
	// Window is how long it may take to become healthy, Interval the time between two probes.
	Window, Interval time.Duration
}

// BlockComposeAbsent is the code of a block: see ComposeRules.Required.
const BlockComposeAbsent = "compose.absent"

// The codes of blocks that say that somebody else sets the image, so that it is to be changed there: a tool or a
// controller that keeps a workload, or another manager of its fields.
const (
	BlockKept    = "workload.kept"
	BlockApplied = "workload.applied"
)

// Plan is what an update would do.
type Plan struct {
	// Container is the one to replace.
	ContainerID, Name string
	// State identifies what the plan was made from. Apply refuses with the block
	// "changed" if the container differs by then.
	State string
	From  PlannedImage
	To    PlannedImage
	// Steps are taken in this order.
	Steps []Step
	// Carried are the settings that the new container takes over from the old one,
	// since a user made them. Changes are the defaults that differ between the two images.
	Carried []Setting
	Changes []Change
	// Warnings are what the user should know, Blocks what keeps the update from being applied.
	Warnings []Reason
	Blocks   []Reason
	// Dependents are the containers that are recreated or restarted too.
	Dependents []Dependent
	// Files are the files that are changed.
	Files []FileChange
	// Backups are the stopped predecessors that are there now, the newest first.
	Backups []Backup
	Space   Space
}

// PlannedImage is an image of a plan. What is not known is empty.
type PlannedImage struct {
	Reference string
	Digest    string
	ID        string
}

// Step is one thing that Apply does.
type Step struct {
	// ID is unique in the plan: "create:web".
	ID string
	// Code is one of the Step… words.
	Code string
	// Container is the name of the container that it concerns; "" for none.
	Container string
	// Text says it to the user: "start the new web".
	Text string
}

// The codes of steps. A plan has those it needs, in an order of its own.
const (
	StepPull    = "pull"
	StepEdit    = "edit" // of a compose file
	StepHook    = "hook" // a command in the container
	StepRename  = "rename"
	StepCreate  = "create"
	StepConnect = "connect" // to a further network
	StepStop    = "stop"
	StepStart   = "start"
	StepHealth  = "health"
	StepRemove  = "remove"
	StepPrune   = "prune"
	StepRestart = "restart"
	StepPause   = "pause"
	// StepHandover has a helper container take the steps after it, since the container is the one that Dogwatch runs in.
	StepHandover = "handover"
	// StepRollout has an orchestrator replace the tasks of a service, as many at a time as that says.
	StepRollout = "rollout"
)

// Setting is a configured value of a container: "env PATH", "port 80/tcp".
type Setting struct{ Name, Value string }

// Change is a value that differs between two images; "" when an image does not have it.
type Change struct{ Name, Before, After string }

// Reason is a warning or a block of a plan.
type Reason struct {
	// Code is stable: "data.writable-layer".
	Code string
	// Text is one sentence for the user, with the remedy if there is one.
	Text string
	// Acknowledge is true for a block that a user may accept: UpdateRules.Acknowledged.
	Acknowledge bool
}

// Dependent is a container that depends on the one to replace.
type Dependent struct {
	ContainerID, Name string
	// Relation says how: "network_mode", "pid", "ipc", "links", "depends_on".
	Relation string
	// Action is StepCreate or StepRestart.
	Action string
}

// FileChange is a change of a compose file, or of the .env file that it reads.
type FileChange struct {
	Path string
	Line int
	// Diff is a unified diff. It hides what else stands on the line.
	Diff string
}

// Backup is a stopped predecessor of a container.
type Backup struct {
	ContainerID, Name string
	// Image is the reference of its image.
	Image string
	// Created is when the predecessor was created.
	Created sdk.Time
	// Size is what it has written into itself, in bytes; -1 when it is not known.
	Size int64
}

// Space is what the update needs, in bytes. What is not known is -1.
type Space struct {
	// Download is the compressed size of the image, see sdk.ImageConfig; layers that are there already count too.
	Download int64
	// Writable is the size of what the container has written into itself.
	Writable int64
}

// Operation is one update that is carried out.
type Operation struct {
	// ID is unique among all operations of an installation, and short enough for the
	// name of a container: [a-z0-9]{1,20}.
	ID      string
	Request UpdateRequest
	Plan    Plan
	// Steps are those that were begun, in that order.
	Steps []StepRecord
	// Cancelled is true once a user has cancelled it. It is for updaters that go on without the host, which
	// take no further step then: others are stopped by Journal.Begin.
	Cancelled bool
}

// StepRecord is a step that was begun.
type StepRecord struct {
	Step
	// Ended is false for the step under way when Apply was interrupted: it may have
	// been taken or not.
	Ended bool
	// Error says why it failed; "" when it did not.
	Error string
	// Facts are what the updater noted for Recover, such as the id of a new container.
	Facts map[string]string
}

// Journal is how an updater keeps the host informed. Its methods are called by one
// goroutine at a time.
type Journal interface {
	// Begin returns once the host has stored that the step begins, or ErrStop. No
	// step is taken before that. Steps that return to the old container are not
	// stopped any more.
	Begin(ctx context.Context, s Step) error
	// End stores how the step went: err is nil when it was taken. It returns once that is stored.
	End(ctx context.Context, s Step, facts map[string]string, err error) error
	// Progress says how far the step under way is. It may be lost, and never waits.
	Progress(p StepProgress)
}

// StepProgress is how far a step is.
type StepProgress struct {
	Message        string
	Current, Total int64 // bytes or probes; 0 when unknown
}

// Outcome is what is true at the end of an operation.
type Outcome struct {
	State OutcomeState
	// Reason says why it was not Updated.
	Reason Reason
	// ContainerID is the container that has the name now.
	ContainerID string
	// Downtime is from when the old container had stopped until the new one had
	// started; 0 when it did not run.
	Downtime time.Duration
	// Kept are the names of stopped predecessors.
	Kept []string
	// Warnings are what did not go well and changes nothing about the outcome: an
	// image that could not be removed.
	Warnings []Reason
	// Evidence is what is known of the new container that did not work; nil when there was none.
	Evidence *Evidence `json:",omitempty"`
}

// Evidence is what a new container that did not work left, taken before it was removed. The
// updater leaves out the secrets of the container; the host leaves out those it knows,
// and stores 16 KiB of it at most.
type Evidence struct {
	// Container is the name that it had.
	Container string
	// Status is how it was last, in the words of the engine: "exited", "running, unhealthy".
	Status string
	// ExitCode is that of its last process; 0 while it runs, too.
	ExitCode int
	// Error is why the engine could not start it, or ended it.
	Error string
	// Health are the results of its last health checks, the oldest first.
	Health []HealthResult
	// Log is the end of its log, 50 lines at most, standard output and error together.
	Log string
}

// HealthResult is how one health check ended.
type HealthResult struct {
	At       sdk.Time
	ExitCode int
	Output   string
}

// OutcomeState is one of the four ways in which an operation ends.
type OutcomeState string

// The states of an Outcome.
const (
	Updated    OutcomeState = "updated"
	Unchanged  OutcomeState = "unchanged"   // nothing was done to the container
	RolledBack OutcomeState = "rolled-back" // the old container is back as it was
	Broken     OutcomeState = "broken"      // neither: the reason says what is left and what to do
)
