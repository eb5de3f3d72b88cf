package web

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/plugin/reload"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/webhook"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Service is the application that the pages show and change, by the nouns of its
// methods. *service.Service is one, and says what the methods return.
type Service interface {
	ContainerService
	ComponentService
	PluginService
	HistoryService
	OperationService
	AccessService
	SettingsService
	PolicyService
	ChoiceService
}

// ContainerService is about the containers and their checks.
type ContainerService interface {
	Containers() store.Snapshot
	CheckAll(ctx context.Context, actor auth.Actor) error
	CheckOne(ctx context.Context, actor auth.Actor, c sdk.Container) error
	Explain(ctx context.Context, c sdk.Container) check.Explanation
	HasNotes() bool
	Notes(ctx context.Context, c sdk.Container) notes.Notes
	CanScan(actor auth.Actor) (has, may bool)
	Scan(actor auth.Actor, c sdk.Container) error
	ScanStatus(ctx context.Context, c sdk.Container) (scan.Status, error)
	NextCheck(watcher string) time.Time
	Progress() []check.Progress
	Redact(text string) string
}

// ComponentService is about the configured watchers, registries and triggers.
type ComponentService interface {
	Components(actor auth.Actor, k kind.Kind) []service.Component
	ComponentsWithSettings(actor auth.Actor, k kind.Kind) []service.Component
	Component(ctx context.Context, actor auth.Actor, k kind.Kind, typ, name string) (service.Component, bool)
	Registries(ctx context.Context, actor auth.Actor) []service.Component
	TriggersOf(actor auth.Actor, c sdk.Container) []service.Component
	RunTrigger(ctx context.Context, actor auth.Actor, typ, name string, containers []sdk.Container, test bool) error
	Test(ctx context.Context, actor auth.Actor, k kind.Kind, typ, name, image string) (service.TestResult, error)
	Preview(ctx context.Context, typ, name string) (testrun.Result, error)
}

// PluginService is about the bundles and their processes.
type PluginService interface {
	Plugins() []service.Plugin
	Types(k kind.Kind) []kind.Type
	RestartPlugin(actor auth.Actor, name string) (service.Plugin, error)
	TrustPlugin(ctx context.Context, actor auth.Actor, name, sha256 string) (service.Plugin, error)
	GrantPlugin(ctx context.Context, actor auth.Actor, name, capability string, granted bool) (service.Plugin, error)
}

// HistoryService is about what happened, and what is pending for triggers.
type HistoryService interface {
	History(ctx context.Context, actor auth.Actor, f event.Filter) ([]event.Event, error)
	LastEvent(ctx context.Context) (int64, error)
	UpdateHistory(ctx context.Context) ([]history.Day, error)
	Deliveries(ctx context.Context, f store.DeliveryFilter) ([]delivery.Delivery, error)
	DeliveryProgress() []dispatch.Progress
	RetryDelivery(ctx context.Context, actor auth.Actor, id int64) error
}

// OperationService is about updates and rollbacks of containers.
type OperationService interface {
	UpdatePermission(actor auth.Actor, watcherName string) service.Permission
	PreviousImage(ctx context.Context, c sdk.Container) (string, error)
	ImageDiff(ctx context.Context, actor auth.Actor, id string) (updater.ImageDiff, error)
	Plan(ctx context.Context, actor auth.Actor, change service.Change) (watcher.Plan, error)
	PlanDetails(ctx context.Context, actor auth.Actor, change service.Change) (service.PlanDetails, error)
	ByHand(ctx context.Context, c sdk.Container) sdk.Container
	StartOperation(ctx context.Context, actor auth.Actor, change service.Change) (operation.Operation, error)
	CancelOperation(ctx context.Context, actor auth.Actor, id string) error
	Operations(ctx context.Context, f operation.Filter) ([]operation.Operation, error)
	Operation(ctx context.Context, id string) (operation.Operation, error)
	OperationProgress(id string) (watcher.StepProgress, bool)
}

// AccessService is about the API tokens and the sessions of logged-in users.
type AccessService interface {
	Tokens(ctx context.Context, actor auth.Actor) ([]store.Token, error)
	CreateToken(ctx context.Context, actor auth.Actor, name, scope string, expires time.Time) (secret string,
		made store.Token, err error)
	RevokeToken(ctx context.Context, actor auth.Actor, id int64) error
	HasLinks() bool
	RevokeLinks(ctx context.Context, actor auth.Actor, triggerID string) error
	Sessions(ctx context.Context, actor auth.Actor) ([]auth.Session, error)
	EndSession(ctx context.Context, actor auth.Actor, id string) error
	EndOtherSessions(ctx context.Context, actor auth.Actor) error
}

// PolicyService is about the rules of updates.
type PolicyService interface {
	PreviewPolicies(ctx context.Context, rules []string) (service.PolicyPreview, error)
}

// ChoiceService is about what users decided about updates.
type ChoiceService interface {
	Choose(ctx context.Context, actor auth.Actor, choice service.Choice) error
	UndoChoices(ctx context.Context, actor auth.Actor, container string) (int, error)
	ChoicesOf(subject string) []policy.Choice
	AllChoices() []policy.Choice
}

// SettingsService is about the program itself.
type SettingsService interface {
	About() service.About
	LogLevel() string
	SetLogLevel(ctx context.Context, actor auth.Actor, level string) error
	PreviewReload(ctx context.Context, actor auth.Actor) (reload.Result, error)
	ReloadConfiguration(ctx context.Context, actor auth.Actor) (reload.Result, error)
	Webhooks() []webhook.Status
}
