package dispatch

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Send renders the messages of a trigger and runs it for containers, marked as a
// test: without credentials and engines, and without a record.
func Send(ctx context.Context, t Trigger, containers []sdk.Container, links SignedLinks, log hclog.Logger) error {
	req := trigger.Request{Delivery: delivery.NewManualFingerprint(), Containers: containers, Test: true}
	attachLinks(t.ID, &req, links)
	t.Messages.notes = sampleNotes(containers)
	return t.Runner.Run(ctx, render(t, req, log))
}

// eventMessage returns title and body of a message about an event.
func eventMessage(e trigger.Event) (title, body string) {
	switch {
	case e.Operation != "":
		return endMessage(e)
	case e.Type == trigger.PluginOutdated:
		return outdatedMessage(e)
	}
	return outageMessage(e)
}

// notesTimeout is how long a message waits for the release notes of its containers, all together.
const notesTimeout = 5 * time.Second

// sender calls triggers.
type sender struct {
	opt Options
	log hclog.Logger
}

// run attaches to a request what its trigger may have, and the links of its readers, and sends it.
func (s *sender) run(ctx context.Context, t Trigger, run *run, req trigger.Request) error {
	if s.opt.Attacher != nil {
		s.opt.Attacher.Attach(ctx, t.ID, &req)
	}
	if !t.Operates { // which has no reader
		attachLinks(t.ID, &req, s.opt.Links)
	}
	t.Messages.notes = s.notes(ctx, t.Messages, req.Containers)
	req = render(t, req, s.log)
	run.sends(req.Title)
	return t.Runner.Run(ctx, req.WithReport(run.report))
}

// attachLinks completes a request with what its readers can decide. Links are made for
// each attempt anew, since they are stored nowhere.
func attachLinks(id string, req *trigger.Request, links SignedLinks) {
	for i := range req.Containers {
		if req.Test {
			req.Actions = append(req.Actions, links.Sample(&req.Containers[i])...)
		} else {
			req.Actions = append(req.Actions, links.For(id, &req.Containers[i])...)
		}
	}
}

// render returns a request with its message.
func render(t Trigger, req trigger.Request, log hclog.Logger) trigger.Request {
	var err error
	req.Title, req.Body, err = t.Messages.render(req.Containers, req.Batch, req.Actions...)
	if err != nil {
		// A message with a gap is better than none.
		log.Warn("render a template", "trigger", t.ID, "error", err)
	}
	return req
}

// notes returns excerpts of release notes for a message, by container, if its templates read
// them. What does not come in time is left out: a message does not depend on it.
func (s *sender) notes(ctx context.Context, m Messages, containers []sdk.Container) map[string]string {
	if !m.wantNotes() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, notesTimeout)
	defer cancel()
	found := map[string]string{}
	for i := range containers {
		if ctx.Err() != nil {
			break
		}
		found[containers[i].ID] = s.opt.Redact(s.opt.Notes(ctx, &containers[i]))
	}
	return found
}
