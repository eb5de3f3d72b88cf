package agent_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// seen is a watcher that notes what it is asked for.
type seen struct {
	agent.Source
	mu      sync.Mutex
	plans   []watcher.UpdateRequest
	applied []watcher.Operation
}

func (s *seen) Plan(ctx context.Context, req watcher.UpdateRequest) (watcher.Plan, error) {
	s.mu.Lock()
	s.plans = append(s.plans, req)
	s.mu.Unlock()
	return s.Source.Plan(ctx, req)
}

func (s *seen) Apply(ctx context.Context, op watcher.Operation, j watcher.Journal) (watcher.Outcome, error) {
	s.mu.Lock()
	s.applied = append(s.applied, op)
	s.mu.Unlock()
	return s.Source.Apply(ctx, op, j)
}

// forged is an operation of an office that does not keep to what a plan says.
func (h *host) forged(t *testing.T, id string, rules watcher.UpdateRules) watcher.Operation {
	t.Helper()
	req := watcher.UpdateRequest{
		ContainerID: h.container.ID, Rules: rules, Image: watcher.TargetImage{Reference: lan + "/team/web:1.1.0", Digest: newDigest},
		Credentials: sdk.Credentials{Username: "ana", Password: secret},
	}
	plan, err := h.docker.Plan(t.Context(), req)
	must(t, err)
	return watcher.Operation{ID: id, Request: req, Plan: plan}
}

// noted is a journal that takes everything.
type noted struct{}

func (noted) Begin(context.Context, watcher.Step) error                         { return nil }
func (noted) End(context.Context, watcher.Step, map[string]string, error) error { return nil }
func (noted) Progress(watcher.StepProgress)                                     {}

// TestOwnerOfTheHostHasTheLastWord: a plan says what the owner of a host does not allow, and the agent refuses an
// operation that is sent nevertheless.
func TestOwnerOfTheHostHasTheLastWord(t *testing.T) {
	o := newOffice(t, 2)
	ofStack := func(name string) func(*enginesim.Container) {
		return func(c *enginesim.Container) { c.Labels = map[string]string{"com.docker.compose.project": name} }
	}
	for name, test := range map[string]struct {
		limits agent.Limits
		stack  string
		code   string // "" for what is allowed
		text   string
	}{
		"readonly":    {agent.Limits{ReadOnly: "there, it runs with --read-only"}, "", agent.BlockReadOnly, "the owner of readonly allows no updates: there"},
		"otherstack":  {agent.Limits{Stacks: []string{"media", "web"}}, "shop", agent.BlockStack, "these stacks only: media, web; web is of stack shop"},
		"nostack":     {agent.Limits{Stacks: []string{"media"}}, "", agent.BlockStack, "web is of no stack"},
		"allowed":     {agent.Limits{Stacks: []string{"media", "shop"}}, "shop", "", ""},
		"withoutword": {agent.Limits{}, "shop", "", ""},
	} {
		h := o.newHost(t, name, false, ofStack(test.stack))
		h.run(t, h.local(), test.limits)
		_, err := o.Start(t.Context(), updater.Request{Container: h.container, Kind: operation.Update, Actor: "ana"})
		var blocked *updater.BlockedError
		if test.code == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.As(err, &blocked) || !strings.Contains(err.Error(), test.text) ||
			!slices.Equal(codes(blocked.Plan.Blocks), []string{test.code}) {
			t.Errorf("%s: %v, want %q", name, err, test.text)
		}
		out, err := h.Apply(t.Context(), h.forged(t, "0forged", watcher.UpdateRules{}), noted{})
		if err != nil || out.State != watcher.Unchanged || out.Reason.Code != test.code ||
			!strings.Contains(out.Reason.Text, test.text) {
			t.Errorf("%s: an operation that is sent all the same: %+v, %v", name, out, err)
		}
		if h.created.Load() != 0 || h.pulled.Load() != 0 {
			t.Errorf("%s: something was done", name)
		}
	}
}

// TestDependentsCountForStacks, and an image does not choose a stack.
func TestDependentsCountForStacks(t *testing.T) {
	project := map[string]string{"com.docker.compose.project": "media"}
	all := []watcher.Container{
		{ID: "1", Labels: project}, {ID: "2", Labels: map[string]string{"com.docker.compose.project": "shop"}},
		{ID: "3", Labels: project, ImageLabels: []string{"com.docker.compose.project"}},
	}
	for id, want := range map[string][]string{"1": nil, "2": {agent.BlockStack}, "3": {agent.BlockStack}, "4": {agent.BlockStack}} {
		plan := watcher.Plan{ContainerID: "1", Name: "vpn", Dependents: []watcher.Dependent{{ContainerID: id, Name: "x"}}}
		if got := codes(agent.BlocksOf(agent.Limits{Stacks: []string{"media"}}, plan, all)); !slices.Equal(got, want) {
			t.Errorf("with the dependent %s: %v, want %v", id, got, want)
		}
	}
}

// TestHooksRunOnlyWhereTheOwnerAllowsThem, whatever the office asks for; and credentials come with an operation only,
// and are nowhere on the disk or in the log.
func TestHooksRunOnlyWhereTheOwnerAllowsThem(t *testing.T) {
	o := newOffice(t, 2)
	for name, allowed := range map[string]bool{"nohooks": false, "hooks": true} {
		h := o.newHost(t, name, false, func(c *enginesim.Container) {
			c.Labels = map[string]string{"dogwatch.hook.pre": "/bin/sync"}
		})
		s := &seen{Source: h.local()}
		h.run(t, s, agent.Limits{Hooks: allowed})
		rules := watcher.UpdateRules{Hooks: watcher.Hooks{Pre: []string{"sh", "-c", "/bin/sync"}}}
		plan, err := h.Plan(t.Context(), watcher.UpdateRequest{
			ContainerID: h.container.ID, Rules: rules, Image: watcher.TargetImage{Reference: lan + "/team/web:1.1.0", Digest: newDigest},
		})
		must(t, err)
		if warned := slices.Contains(codes(plan.Warnings), agent.WarnHooks); warned == allowed {
			t.Errorf("%s: warnings %+v", name, plan.Warnings)
		}
		op := h.forged(t, "0hooks", rules)
		op.Plan.State = plan.State
		_, err = h.Apply(t.Context(), op, noted{})
		must(t, err)
		if len(s.applied) != 1 || (len(s.applied[0].Request.Rules.Hooks.Pre) > 0) != allowed {
			t.Fatalf("%s: applied %+v", name, s.applied)
		}
		if s.applied[0].Request.Credentials.Password != secret {
			t.Errorf("%s: the operation has no credentials", name)
		}
		for _, p := range s.plans {
			if p.Credentials != (sdk.Credentials{}) {
				t.Errorf("%s: a plan has credentials", name)
			}
		}
		must(t, filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				text, err := os.ReadFile(path)
				must(t, err)
				if strings.Contains(string(text), secret) {
					t.Errorf("%s has the password of the registry", path)
				}
			}
			return err
		}))
		if strings.Contains(h.site.Log(), secret) {
			t.Error("the log has the password of the registry")
		}
	}
}

// TestCommandsAreThoseOfLabels of the host's container: an agent runs none that only its controller sends.
func TestCommandsAreThoseOfLabels(t *testing.T) {
	o := newOffice(t, 2)
	h := o.newHost(t, "nas", false, func(c *enginesim.Container) {
		c.Labels = map[string]string{"dogwatch.hook.post": `["/bin/load", "all"]`, "dogwatch.probe.command": "/bin/ready"}
	})
	h.run(t, h.local(), agent.Limits{Hooks: true})
	shell := func(text string) []string { return []string{"sh", "-c", text} }
	for what, test := range map[string]struct {
		rules watcher.UpdateRules
		want  string // the label that has another command; "" for none
	}{
		"hook of the label":   {watcher.UpdateRules{Hooks: watcher.Hooks{Post: []string{"/bin/load", "all"}}}, ""},
		"probe of the label":  {watcher.UpdateRules{Health: watcher.HealthGate{Command: shell("/bin/ready")}}, ""},
		"hook of another":     {watcher.UpdateRules{Hooks: watcher.Hooks{Post: shell("/bin/steal")}}, "dogwatch.hook.post"},
		"hook without label":  {watcher.UpdateRules{Hooks: watcher.Hooks{Pre: shell("/bin/load all")}}, "dogwatch.hook.pre"},
		"probe of another":    {watcher.UpdateRules{Health: watcher.HealthGate{Command: shell("/bin/steal")}}, "dogwatch.probe.command"},
		"probe with one more": {watcher.UpdateRules{Health: watcher.HealthGate{Command: append(shell("/bin/ready"), "x")}}, "dogwatch.probe.command"},
	} {
		req := h.forged(t, "0command", watcher.UpdateRules{}).Request
		req.Rules, req.Credentials = test.rules, sdk.Credentials{}
		plan, err := h.Plan(t.Context(), req)
		must(t, err)
		blocked := slices.Contains(codes(plan.Blocks), agent.BlockCommand)
		if blocked != (test.want != "") || blocked && !strings.Contains(plan.Blocks[0].Text, test.want) {
			t.Errorf("%s: blocks %+v", what, plan.Blocks)
		}
		if !blocked {
			continue
		}
		op := watcher.Operation{ID: "0" + strings.ReplaceAll(what, " ", ""), Request: req, Plan: plan}
		op.Plan.Blocks = nil
		out, err := h.Apply(t.Context(), op, noted{})
		if err != nil || out.State != watcher.Unchanged || out.Reason.Code != agent.BlockCommand {
			t.Errorf("%s: applied: %+v, %v", what, out, err)
		}
	}
}

// TestOperationIsDoneOnce, however often it is sent, also once the office has asked for it in vain.
func TestOperationIsDoneOnce(t *testing.T) {
	o := newOffice(t, 2)
	h := o.newHost(t, "nas", false)
	h.run(t, h.local(), agent.Limits{})
	op := h.forged(t, "0once", watcher.UpdateRules{})
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			if out, err := h.Apply(t.Context(), op, noted{}); err != nil || out.State != watcher.Updated {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	wait.Wait()
	out, err := h.Recover(t.Context(), op, noted{})
	if err != nil || out.State != watcher.Updated || h.created.Load() != 1 || h.pulled.Load() != 1 {
		t.Errorf("%+v, %v; %d created, %d pulled", out, err, h.created.Load(), h.pulled.Load())
	}
	late := op
	late.ID = "0late"
	type call func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error)
	for _, ask := range []call{h.Recover, h.Apply} {
		out, err := ask(t.Context(), late, noted{})
		if err != nil || out.State != watcher.Unchanged || out.Reason.Code != watcher.ReasonInterrupted {
			t.Errorf("one that never came: %+v, %v", out, err)
		}
	}
	lost := op
	lost.ID, lost.Steps = "0lost", []watcher.StepRecord{{Step: op.Plan.Steps[0]}}
	out, err = h.Recover(t.Context(), lost, noted{})
	if err != nil || out.State != watcher.Broken || out.Reason.Code != agent.ReasonUnknown {
		t.Errorf("one whose record is lost: %+v, %v", out, err)
	}
	wrong := op
	for _, wrong.ID = range []string{"../agent", "", strings.Repeat("a", 21)} {
		if _, err := h.Apply(t.Context(), wrong, noted{}); err == nil || !strings.Contains(err.Error(), "no id") {
			t.Errorf("the id %q: %v", wrong.ID, err)
		}
	}
}

// TestCancellationReachesTheHost during a pull, with a link and, later, without one.
func TestCancellationReachesTheHost(t *testing.T) {
	o := newOffice(t, 4)
	for name, isCut := range map[string]bool{"linked": false, "cut": true} {
		h := o.newHost(t, name, false)
		pulling, goOn := make(chan struct{}), make(chan struct{})
		h.pull = func() { close(pulling); <-goOn }
		h.run(t, h.local(), agent.Limits{})
		op := h.begin(t)
		<-pulling
		if isCut {
			h.site.Refuse(true)
			h.site.Cut()
		}
		must(t, o.Cancel(t.Context(), op.ID, "ben"))
		if isCut {
			select {
			case <-endsOf(&o.ended, op.ID).first:
				t.Error("it has ended although the host knows of no cancellation")
			case <-time.After(300 * time.Millisecond):
			}
			h.site.Refuse(false)
		}
		op = h.await(t, op.ID)
		close(goOn)
		if op.State != operation.Cancelled || h.created.Load() != 0 {
			t.Errorf("%s: %s: %s, %d created\n%s", name, op.State, op.Error, h.created.Load(), h.site.Log())
		}
		h.sound(t, op)
	}
}
