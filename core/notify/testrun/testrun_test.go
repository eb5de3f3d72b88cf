package testrun

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// fakeTrigger keeps its requests, and ends when block does.
type fakeTrigger struct {
	requests chan trigger.Request
	block    <-chan struct{}
	err      error
}

func (f fakeTrigger) Run(_ context.Context, req trigger.Request) error {
	f.requests <- req
	if f.block != nil {
		<-f.block
	}
	return f.err
}

// newRunner returns a Runner whose triggers are as given.
func newRunner(t *testing.T, batch bool, runner trigger.Trigger, title string) *Runner {
	t.Helper()
	messages, err := dispatch.ParseMessages(dispatch.Templates{
		SimpleTitle: title, SimpleBody: "body of ${container.name}", BatchTitle: "${count} updates",
	})
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{
		Trigger: func(c *component.Trigger) dispatch.Trigger {
			return dispatch.Trigger{ID: c.ID(), Batch: batch, Messages: messages, Runner: runner}
		},
		Links: signedlink.None{}, Log: hclog.NewNullLogger(),
	})
}

func smtp() *component.Trigger {
	return &component.Trigger{Component: component.Component{Kind: kind.Trigger, Type: "smtp", Name: "main"}}
}

func TestPreviewRendersTheSampleAndSendsNothing(t *testing.T) {
	requests := make(chan trigger.Request, 1)
	for batch, want := range map[bool]string{false: "new: test-web", true: "2 updates"} {
		got, err := newRunner(t, batch, fakeTrigger{requests: requests}, "new: ${container.name}").Preview(t.Context(),
			smtp())
		if err != nil || got.Title != want || !strings.Contains(got.Body, "test-web") || len(got.Warnings) > 0 {
			t.Errorf("batch %t: %+v, %v", batch, got, err)
		}
	}
	if len(requests) > 0 {
		t.Error("a preview was sent")
	}
}

func TestPreviewWarnsOfMisspeltTemplates(t *testing.T) {
	got, err := newRunner(t, false, nil, "${container.nmae}").Preview(t.Context(), smtp())
	if err != nil || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "nmae") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTriggerRunIsMarkedAsTest(t *testing.T) {
	requests := make(chan trigger.Request, 1)
	refused := errors.New("550 refused")
	got, err := newRunner(t, false, fakeTrigger{requests: requests, err: refused},
		"new: ${container.name}").trigger(t.Context(), smtp())
	if !errors.Is(err, refused) || got.Title != "new: test-web" {
		t.Errorf("%+v, %v", got, err)
	}
	if req := <-requests; !req.Test || len(req.Containers) != 1 || req.Containers[0].Name != "test-web" {
		t.Errorf("the request is %+v", req)
	}
}

// TestTriggerRunGoesOnWhenTheCallerLeaves returns what was sent so far.
func TestTriggerRunGoesOnWhenTheCallerLeaves(t *testing.T) {
	requests, block := make(chan trigger.Request), make(chan struct{})
	defer close(block)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-requests
		cancel()
	}()
	got, err := newRunner(t, false, fakeTrigger{requests: requests, block: block},
		"new: ${container.name}").trigger(ctx, smtp())
	if !errors.Is(err, context.Canceled) || got.Title != "new: test-web" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRunRejectsWhatCannotBeTested(t *testing.T) {
	r := newRunner(t, false, nil, "")
	var invalid *sdk.InvalidError
	if _, err := r.Run(t.Context(), &smtp().Component, Request{Image: "nginx"}); !errors.As(err, &invalid) ||
		invalid.Fields[0].Field != "image" {
		t.Errorf("an image for a trigger: %v", err)
	}
	if _, err := r.Run(t.Context(), &smtp().Component, Request{}); !errors.Is(err, sdk.ErrUnavailable) ||
		!strings.Contains(err.Error(), "trigger.smtp.main") {
		t.Errorf("a trigger that is starting: %v", err)
	}
}
