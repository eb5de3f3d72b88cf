package web

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// fakeService is a Service of parts that tests replace.
type fakeService struct {
	fakeContainers
	fakeComponents
	fakeAgents
	fakePlugins
	fakeHistory
	fakeAccess
	*fakeOperations
	*fakeSettings
	fakePolicies
	*fakeChoices
	*fakeScans
}

// newFakeService has nothing, and was started an hour before noon.
func newFakeService() *fakeService {
	return &fakeService{
		fakePlugins: fakePlugins{calls: &[]string{}}, fakeOperations: &fakeOperations{}, fakeChoices: &fakeChoices{},
		fakeScans: &fakeScans{}, fakeAccess: fakeAccess{forbidden: true},
		fakeSettings: &fakeSettings{about: service.About{Version: "1.2.3", Started: webtest.Noon.Add(-time.Hour)}, level: "info"},
	}
}

// fakes returns the parts of the service of a UI.
func fakes(u *UI) *fakeService { return u.service.(*fakeService) }

// fakeContainers records what is checked.
type fakeContainers struct {
	snapshot    func() store.Snapshot // nil for no containers
	checked     chan string
	err         error
	progress    []check.Progress
	noNotes     bool
	advice      string
	warnings    []service.ReleaseWarning
	explanation *check.Explanation // nil for one that has each of its parts
	access      service.LogAccess
	log         watcher.Log
}

func (f fakeContainers) Containers() store.Snapshot {
	if f.snapshot == nil {
		return store.Snapshot{}
	}
	return f.snapshot()
}

func (f fakeContainers) CheckAll(context.Context, auth.Actor) error {
	f.checked <- "all"
	return f.err
}

func (f fakeContainers) CheckOne(_ context.Context, _ auth.Actor, c sdk.Container) error {
	f.checked <- c.Name
	return f.err
}

func (f fakeContainers) Explain(_ context.Context, c sdk.Container) check.Explanation {
	if f.explanation != nil {
		return *f.explanation
	}
	return check.Explanation{
		Name: c.Name, Summary: phrase.Texts(phrase.New("So nothing newer is known.")),
		Rules: []labels.Rule{{Name: "tag.include", Value: "^1", Source: "label dogwatch.tag.include"}, {
			Name: "tag.exclude", Value: "none", Source: "default",
		}},
		Tags: []check.Verdict{{Tag: "1.1.0", Kept: true, Reason: "newest", Detail: phrase.Text{Phrase: phrase.New("it is the newest allowed tag")}}, {
			Tag: webtest.Evil, Reason: "older", Detail: phrase.Text{Phrase: phrase.Verbatim(webtest.Evil)},
		}},
	}
}

func (f fakeContainers) LogAccess(auth.Actor, string) service.LogAccess { return f.access }

func (f fakeContainers) ContainerLog(context.Context, auth.Actor, string, int) (watcher.Log, error) {
	return f.log, f.err
}

func (f fakeContainers) MajorAdvice(sdk.Container) (advice phrase.Phrase, page string) {
	return phrase.Verbatim(f.advice), "https://docs.example.com/upgrade"
}

func (f fakeContainers) KnownWarnings(context.Context, sdk.Container, string) []service.ReleaseWarning {
	return f.warnings
}

func (f fakeContainers) NextCheck(string) time.Time { return time.Time{} }

func (f fakeContainers) Progress() []check.Progress { return f.progress }

func (f fakeContainers) Redact(text string) string { return strings.ReplaceAll(text, "s3cret", "***") }

// fakeComponents are constant components.
type fakeComponents struct {
	all    []service.Component
	result service.TestResult
	// failure is the error of every test and preview.
	failure error
	image   *string // of the last test
}

func (f fakeComponents) Components(_ auth.Actor, k kind.Kind) (of []service.Component) {
	for _, c := range f.all {
		if c.Kind == k {
			of = append(of, c)
		}
	}
	return of
}

func (f fakeComponents) ComponentsWithSettings(actor auth.Actor, k kind.Kind) []service.Component {
	return f.Components(actor, k)
}

func (f fakeComponents) Component(
	_ context.Context, _ auth.Actor, k kind.Kind, typ, name string,
) (service.Component, bool) {
	i := slices.IndexFunc(f.all, func(c service.Component) bool { return c.Kind == k && c.Type == typ && c.Name == name })
	if i < 0 {
		return service.Component{}, false
	}
	return f.all[i], true
}

func (f fakeComponents) Registries(_ context.Context, actor auth.Actor) []service.Component {
	return f.Components(actor, kind.Registry)
}

func (f fakeComponents) TriggersOf(actor auth.Actor, _ sdk.Container) []service.Component {
	return f.Components(actor, kind.Trigger)
}

func (f fakeComponents) RunTrigger(context.Context, auth.Actor, string, string, []sdk.Container, bool) error {
	return f.failure
}

func (f fakeComponents) Test(
	_ context.Context, _ auth.Actor, _ kind.Kind, _, _, image string,
) (service.TestResult, error) {
	if f.image != nil {
		*f.image = image
	}
	return f.result, f.failure
}

func (f fakeComponents) Preview(context.Context, string, string) (testrun.Result, error) {
	return testrun.Result{Title: "New tag found", Body: "Container web can be updated"}, f.failure
}

// fakePlugins are constant plugins that record what was done with them.
type fakePlugins struct {
	all    []service.Plugin
	offers []install.Offer
	types  []kind.Type
	calls  *[]string
	err    error
}

func (f fakePlugins) Plugins() []service.Plugin { return f.all }

func (f fakePlugins) RestartPlugin(_ auth.Actor, name string) (service.Plugin, error) {
	*f.calls = append(*f.calls, "restart "+name)
	return f.find(name)
}

func (f fakePlugins) TrustPlugin(_ context.Context, actor auth.Actor, name, sha256 string) (service.Plugin, error) {
	found, err := f.find(name)
	switch {
	case err != nil:
		return found, err
	case !actor.Operator():
		return found, service.ErrForbidden
	}
	*f.calls = append(*f.calls, "trust "+name+" "+sha256)
	return found, f.err
}

func (f fakePlugins) GrantPlugin(
	_ context.Context, actor auth.Actor, name, capability string, granted bool,
) (service.Plugin, error) {
	found, err := f.find(name)
	switch {
	case err != nil:
		return found, err
	case !actor.Operator():
		return found, service.ErrForbidden
	}
	*f.calls = append(*f.calls, fmt.Sprint("grant ", name, " ", capability, " ", granted))
	return found, f.err
}

func (f fakePlugins) Gallery(_ context.Context, actor auth.Actor, newest bool) ([]install.Offer, error) {
	if newest && !actor.Operator() {
		return nil, service.ErrForbidden
	}
	return f.offers, f.err
}

func (f fakePlugins) ChangePlugin(
	_ context.Context, _ auth.Actor, do service.PluginChange, name string, newest bool,
) (install.Pin, error) {
	*f.calls = append(*f.calls, fmt.Sprint(do, " ", name, " ", newest))
	return install.Pin{Version: "1.2.3"}, f.err
}

func (f fakePlugins) find(name string) (service.Plugin, error) {
	for _, p := range f.all {
		if p.Name == name {
			return p, nil
		}
	}
	return service.Plugin{}, service.ErrNotFound
}

// fakeHistory has constant events and deliveries, and records the filters.
type fakeHistory struct {
	events     []event.Event
	deliveries []delivery.Delivery
	err        error
	filters    *[]event.Filter
	steps      []dispatch.Progress
	days       []history.Day
}

func (f fakeHistory) DeliveryProgress() []dispatch.Progress { return f.steps }

func (fakeHistory) LastEvent(context.Context) (int64, error) { return 7, nil }

func (f fakeHistory) History(_ context.Context, _ auth.Actor, q event.Filter) ([]event.Event, error) {
	if f.filters != nil {
		*f.filters = append(*f.filters, q)
	}
	var found []event.Event
	for _, e := range f.events {
		if (q.Before == 0 || e.ID < q.Before) && len(found) < q.Limit && (q.Subject == "" || e.Subject == q.Subject) &&
			(len(q.Types) == 0 || slices.Contains(q.Types, e.Type)) {
			found = append(found, e)
		}
	}
	return found, f.err
}

func (f fakeHistory) Deliveries(_ context.Context, q store.DeliveryFilter) ([]delivery.Delivery, error) {
	var found []delivery.Delivery
	for _, d := range f.deliveries {
		if (q.Before == 0 || d.ID < q.Before) && (q.Limit == 0 || len(found) < q.Limit) &&
			(q.State == "" || d.State == q.State) && (q.Trigger == "" || d.Trigger == q.Trigger) {
			found = append(found, d)
		}
	}
	return found, f.err
}

func (f fakeHistory) RetryDelivery(_ context.Context, _ auth.Actor, id int64) error {
	for _, d := range f.deliveries {
		switch {
		case d.ID == id && d.State == delivery.Failed:
			return nil
		case d.ID == id:
			return fmt.Errorf("retry: %w", service.ErrNotFailed)
		}
	}
	return fmt.Errorf("retry: %w", service.ErrNotFound)
}

// fakeAccess has constant tokens and sessions, and records what was done with them.
type fakeAccess struct {
	forbidden bool
	tokens    []store.Token
	sessions  []auth.Session
	push      service.Push
	calls     *[]string
	links     *[]string // whose links were revoked; nil where messages have none
	err       error
}

func (f fakeAccess) do(call string) error {
	if f.forbidden {
		return service.ErrForbidden
	}
	if f.calls != nil {
		*f.calls = append(*f.calls, call)
	}
	return f.err
}

func (f fakeAccess) Tokens(context.Context, auth.Actor) ([]store.Token, error) {
	if f.forbidden {
		return nil, service.ErrForbidden
	}
	return f.tokens, nil
}

func (f fakeAccess) CreateToken(
	_ context.Context, _ auth.Actor, name, scope string, expires time.Time,
) (string, store.Token, error) {
	end := "never"
	if !expires.IsZero() {
		end = expires.Format(time.DateOnly)
	}
	return madeSecret, store.Token{}, f.do(name + " " + scope + " " + end)
}

func (f fakeAccess) HasLinks() bool { return f.links != nil }

func (f fakeAccess) RevokeSignedLinks(_ context.Context, _ auth.Actor, triggerID string) error {
	*f.links = append(*f.links, triggerID)
	return nil
}

func (f fakeAccess) RevokeToken(_ context.Context, _ auth.Actor, id int64) error {
	if err := f.do(fmt.Sprint(id)); err != nil {
		return err
	}
	if slices.ContainsFunc(f.tokens, func(t store.Token) bool { return t.ID == id }) {
		return nil
	}
	return service.ErrNotFound
}

func (f fakeAccess) Push(context.Context, auth.Actor) (service.Push, error) {
	return f.push, f.do("push")
}

func (f fakeAccess) RemoveDevice(_ context.Context, _ auth.Actor, id string) error {
	return f.do("remove " + id)
}

func (f fakeAccess) TestDevice(_ context.Context, _ auth.Actor, id string) error {
	return f.do("test " + id)
}

func (f fakeAccess) Sessions(context.Context, auth.Actor) ([]auth.Session, error) {
	if f.forbidden {
		return nil, service.ErrForbidden
	}
	return f.sessions, nil
}

func (f fakeAccess) EndSession(_ context.Context, _ auth.Actor, id string) error { return f.do(id) }

func (f fakeAccess) EndOtherSessions(context.Context, auth.Actor) error { return f.do("others") }

// fakeOperations has constant plans and operations, and records the changes and cancellations.
type fakeOperations struct {
	permission service.Permission
	previous   string
	plan       watcher.Plan
	details    service.PlanDetails
	diff       updater.ImageDiff
	// planning and starting are the errors of plans and of starts.
	planning, starting  error
	operations          []operation.Operation
	stepProgress        watcher.StepProgress
	cancelled           []string
	cancelling, reading error
	planned, started    []service.Change
	byHand              string // the tag of a smaller update; "" for that of the result
	mu                  sync.Mutex
}

func (f *fakeOperations) UpdatePermission(auth.Actor, string) service.Permission { return f.permission }

func (f *fakeOperations) PreviousImage(context.Context, sdk.Container) (string, error) {
	return f.previous, f.reading
}

func (f *fakeOperations) ByHand(_ context.Context, c sdk.Container) sdk.Container {
	if f.byHand != "" {
		c.Result = &sdk.Result{Tag: f.byHand}
	}
	return c
}

func (f *fakeOperations) PlanDetails(context.Context, auth.Actor, service.Change) (service.PlanDetails, error) {
	return f.details, nil
}

func (f *fakeOperations) Plan(_ context.Context, _ auth.Actor, change service.Change) (watcher.Plan, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.planned = append(f.planned, change)
	return f.plan, f.planning
}

func (f *fakeOperations) StartOperation(
	_ context.Context, _ auth.Actor, change service.Change,
) (operation.Operation, error) {
	f.started = append(f.started, change)
	return operation.Operation{ID: "op9"}, f.starting
}

func (f *fakeOperations) CancelOperation(_ context.Context, _ auth.Actor, id string) error {
	f.cancelled = append(f.cancelled, id)
	return f.cancelling
}

func (f *fakeOperations) Operations(_ context.Context, q operation.Filter) ([]operation.Operation, error) {
	var found []operation.Operation
	for _, op := range f.operations {
		if (q.Before == "" || op.ID < q.Before) && (q.Limit == 0 || len(found) < q.Limit) &&
			(len(q.States) == 0 || slices.Contains(q.States, op.State)) &&
			(q.Name == "" || op.Name == q.Name) && (q.Watcher == "" || op.Watcher == q.Watcher) {
			found = append(found, op)
		}
	}
	return found, f.reading
}

func (f *fakeOperations) Operation(_ context.Context, id string) (operation.Operation, error) {
	for _, op := range f.operations {
		if op.ID == id {
			return op, f.reading
		}
	}
	return operation.Operation{}, service.ErrNotFound
}

func (f *fakeOperations) OperationProgress(string) (watcher.StepProgress, bool) {
	return f.stepProgress, true
}
