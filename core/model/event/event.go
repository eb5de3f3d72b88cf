// Package event holds the facts that Dogwatch records: what happened, to
// whom, when. Writers append events in the transaction that changes the state;
// readers follow the log at their own pace.
package event

import (
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// Type names what happened.
type Type string

// The types of events, and the field of Payload that each fills.
const (
	ContainerAdded    Type = "container.added"    // Container
	ContainerReplaced Type = "container.replaced" // Container: same watcher and name, new id
	ContainerRenamed  Type = "container.renamed"  // Container, From: same id, new name
	// Container, Aspect: status, labels, check state, release date, decision or levels
	ContainerChanged Type = "container.changed"
	ContainerRemoved Type = "container.removed" // Container, as it was last

	UpdateFound   Type = "update.found"   // Container: something newer, different from what was known
	UpdateCleared Type = "update.cleared" // Container: nothing newer any more

	CheckStarted  Type = "check.started"  // Check
	CheckFinished Type = "check.finished" // Check
	CheckFailed   Type = "check.failed"   // Check: the engine could not be asked, or it was stopped

	WatcherFailed    Type = "watcher.failed"    // Watcher: its engine cannot be reached, and not for a moment only
	WatcherRecovered Type = "watcher.recovered" // Watcher: its engine can be reached again, after a WatcherFailed

	TriggerSent    Type = "trigger.sent"    // Delivery
	TriggerFailed  Type = "trigger.failed"  // Delivery: given up
	TriggerSkipped Type = "trigger.skipped" // Delivery: no longer worth sending

	PluginUp     Type = "plugin.up"     // Plugin
	PluginDown   Type = "plugin.down"   // Plugin
	PluginBroken Type = "plugin.broken" // Plugin

	PluginOutdated Type = "plugin.outdated" // Plugin, From and To: a newer version was found, once for each

	OperationQueued     Type = "operation.queued"     // Operation
	OperationStarted    Type = "operation.started"    // Operation
	OperationStep       Type = "operation.step"       // Operation: a step begins, or has ended
	OperationSucceeded  Type = "operation.succeeded"  // Operation
	OperationRolledBack Type = "operation.rolledback" // Operation: the container is as it was before
	OperationFailed     Type = "operation.failed"     // Operation
	OperationCancelling Type = "operation.cancelling" // Operation: a user wants it to stop
	OperationCancelled  Type = "operation.cancelled"  // Operation

	ChoiceMade   Type = "choice.made"   // Choice: a user decided about an update
	ChoiceUndone Type = "choice.undone" // Choice

	ScanFinished Type = "scan.finished" // Scan: the images of an update were scanned for vulnerabilities, or could not be

	LoginSucceeded Type = "auth.login"         // Login
	LoginFailed    Type = "auth.failed"        // Login: wrong credentials, or an account that may not
	LoggedOut      Type = "auth.logout"        // Login
	TokenCreated   Type = "auth.token.created" // Login
	TokenRevoked   Type = "auth.token.revoked" // Login
	LinksRevoked   Type = "auth.links.revoked" // Login: those in messages that were sent so far

	// Setting: at run time; also what a plugin is granted, and which of its files is trusted
	SettingChanged Type = "setting.changed"
)

// The types of state whose changes are no history: they are never stored and
// have no id; see Bus.Touch. Streams send progress with its type, and nothing with
// the others.
const (
	CheckProgressed     Type = "check.progress"     // a check of a whole watcher goes on
	ComponentChanged    Type = "component.changed"  // a component became ready, or failed
	DeliveryProgressed  Type = "delivery.progress"  // the trigger of a delivery under way reported a step
	DeliveryChanged     Type = "delivery.changed"   // a delivery is pending, under way, or is to be tried again
	PluginChanged       Type = "plugin.changed"     // a plugin is being started, fell asleep, or was woken
	WorkChanged         Type = "work.changed"       // work that a page started went on, or ended
	OperationProgressed Type = "operation.progress" // a step of an operation goes on
	ScanProgressed      Type = "scan.progress"      // a scan waits, or goes on
	LogWritten          Type = "log.written"        // something was logged; once a second at most
)

// Private reports whether a type says who logged in, or from where a setting
// was changed: that is only shown to logged-in users.
func (t Type) Private() bool { return strings.HasPrefix(string(t), "auth.") || t == SettingChanged }

// Event is one fact.
type Event struct {
	// ID grows by the order of commits; 0 until stored.
	ID   int64     `json:"id"`
	At   time.Time `json:"at"`
	Type Type      `json:"type"`
	// Subject is who it happened to: "local/nginx" for containers, a user for logins, a key such as "log.level" for
	// settings, a component or plugin id otherwise.
	Subject string `json:"subject"`
	// Run is the id of the check it belongs to, if any.
	Run string `json:"run,omitempty"`
	Payload
}

// Payload is what a type of event carries besides its subject.
type Payload struct {
	Container *sdk.Container `json:"container,omitempty"`
	// From is the name of the container before it was renamed.
	From string `json:"from,omitempty"`
	// Aspect is what alone has changed about the container, where that is known.
	Aspect Aspect `json:"aspect,omitempty"`
	// Levels are the steps ("minor") whose newest version is another one than before.
	Levels    []string   `json:"levels,omitempty"`
	Check     *Check     `json:"check,omitempty"`
	Watcher   *Outage    `json:"watcher,omitempty"`
	Delivery  *Delivery  `json:"delivery,omitempty"`
	Plugin    *Plugin    `json:"plugin,omitempty"`
	Login     *Login     `json:"login,omitempty"`
	Setting   *Setting   `json:"setting,omitempty"`
	Operation *Operation `json:"operation,omitempty"`
	Choice    *Choice    `json:"choice,omitempty"`
	Scan      *Scan      `json:"scan,omitempty"`
}

// Aspect is a part of a container.
type Aspect string

// Released is when what is newer was made. That became known later, and is no
// change of the container or of its update.
const Released Aspect = "released"

// Postponed is that a check waits for a pause that a registry asked for, or does
// so no more. What is known of the container's update is as before.
const Postponed Aspect = "postponed"

// Decided is what became of the same update: offered, held or automatic.
const Decided Aspect = "decision"

// Leveled is the newest version of a step other than the one that is offered.
const Leveled Aspect = "levels"

// Check is how a run went.
type Check struct {
	Watcher    string `json:"watcher"`
	Containers int    `json:"containers"`
	// Updates are the ids of the checked containers that are offered an update.
	Updates []string `json:"updates,omitempty"`
	// Known is how many of them have an update, whatever became of it and of their check, and Held how many of these are
	// held; see package tally.
	Known int `json:"known,omitempty"`
	Held  int `json:"held,omitempty"`
	// Found are the ids of those whose update was not known before.
	Found  []string `json:"found,omitempty"`
	Failed int      `json:"failed"`
	// Postponed is how many were not checked since a registry asked for a pause.
	Postponed int `json:"postponed,omitempty"`
	// Shared is how many containers were left to SharedWith, another watcher of the same engine.
	Shared     int    `json:"shared,omitempty"`
	SharedWith string `json:"sharedWith,omitempty"`
	// Single is true when one container was checked rather than all of the watcher's.
	Single bool   `json:"single,omitempty"`
	Took   string `json:"took,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Choice is what a user decided about an update. Subject is that of the container.
type Choice struct {
	// Action is "skip", "snooze" or "approve".
	Action string `json:"action"`
	// Version is the tag or the digest; "" for all versions.
	Version string   `json:"version,omitempty"`
	Until   sdk.Time `json:"until,omitzero"`
	Actor   string   `json:"actor"`
}

// Scan is how a scan of the images of an update ended. Subject is that of the container.
type Scan struct {
	// Actor is who asked for it, or the rule that did.
	Actor string `json:"actor"`
	// Version is the new one; Summary says how it compares: "fixes 3 critical, adds none".
	Version string `json:"version,omitempty"`
	Summary string `json:"summary,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Outage is one of a watcher's engine. Subject is the watcher's name.
type Outage struct {
	// Since is when the engine could not be reached for the first time.
	Since time.Time `json:"since"`
	// Error is why not.
	Error string `json:"error,omitempty"`
}

// Delivery is how a delivery ended.
type Delivery struct {
	ID      int64  `json:"id"`
	Trigger string `json:"trigger"`
	// Manual is true for a run that a user started.
	Manual bool `json:"manual,omitempty"`
	// Title is that of the message; "" when there was none, and in events of older versions.
	Title    string `json:"title,omitempty"`
	Attempts int    `json:"attempts"`
	Error    string `json:"error,omitempty"`
}

// Operation is how far an update or a rollback is. Subject is that of its container.
type Operation struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// From and To are the references of the images.
	From string `json:"from"`
	To   string `json:"to"`
	// Actor is who began it, Trigger the trigger that did.
	Actor   string `json:"actor,omitempty"`
	Trigger string `json:"trigger,omitempty"`
	// By is who cancelled it.
	By string `json:"by,omitempty"`
	// Downtime is for how long the container did not run, such as "1.2s".
	Downtime string `json:"downtime,omitempty"`
	// DryRun is whether it only pulls the image.
	DryRun bool `json:"dryRun,omitempty"`
	// Step is the text of the step, Ended whether it has ended.
	Step  string `json:"step,omitempty"`
	Ended bool   `json:"ended,omitempty"`
	// Code and Error say why the step failed, or the operation did not succeed.
	Code  string `json:"code,omitempty"`
	Error string `json:"error,omitempty"`
	// Log is the last lines that the new container wrote, if it did not work.
	Log string `json:"log,omitempty"`
}

// Anonymous is the actor of what was begun where nobody has to log in.
const Anonymous = "anonymous"

// LinkActor is what the actor of what was done with a signed link begins with; the id of the trigger that sent it
// follows.
const LinkActor = "link of trigger "

// Plugin is what became of a plugin.
type Plugin struct {
	State string `json:"state,omitempty"`
	Error string `json:"error,omitempty"`
	// From and To are the references of what is installed and of what is newer, Digest is that of To.
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Digest string `json:"digest,omitempty"`
}

// Login is who came, or gave a token away. It holds no secret, nor the name of
// a user that does not exist: users type passwords into the wrong field.
type Login struct {
	// Method is the way to log in, such as "basic.ana" or "oidc.home".
	Method string `json:"method,omitempty"`
	// Address is where the request came from.
	Address string `json:"address,omitempty"`
	// Token and Scope are of a token that was created or revoked.
	Token string `json:"token,omitempty"`
	Scope string `json:"scope,omitempty"`
	// Trigger is whose links were revoked; "" for those of all.
	Trigger string `json:"trigger,omitempty"`
	// By is who ended the session of a user from elsewhere.
	By string `json:"by,omitempty"`
	// Error is why a login was refused.
	Error string `json:"error,omitempty"`
	// Attempts is for how many refused logins of its network an event stands; 0 means one.
	Attempts int `json:"attempts,omitempty"`
}

// Setting is how a user changed a setting of the running program.
type Setting struct {
	From string `json:"from"`
	To   string `json:"to"`
	// User is who changed it, Address where the request came from.
	User    string `json:"user,omitempty"`
	Address string `json:"address,omitempty"`
}

// Subject returns the subject of a container's events.
func Subject(c sdk.Container) string { return c.Watcher + "/" + c.Name }

// Change is what is committed together: either all of it is stored or none.
type Change struct {
	// Put inserts or replaces containers by id; a container of the same watcher
	// and name but another id is replaced.
	Put []sdk.Container
	// Remove deletes containers by id; unknown ids are ignored.
	Remove []string
	// Candidates are the newer versions that were found for containers, by subject,
	// encoded.
	Candidates map[string][]byte
	// Events are appended in order.
	Events []Event
}
