package docker

import (
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/versions"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestComposeCommandRecreates covers updates by "docker-compose up": one that works, and one that does not.
func TestComposeCommandRecreates(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := newProject(t, l, composeText)
	p.needRecreation(t)
	l.Image(t, "app:bad", `HEALTHCHECK --interval=200ms --timeout=1s --retries=1 CMD ["/missing"]`)
	for name, want := range map[string]watcher.OutcomeState{"2": watcher.Updated, "bad": watcher.RolledBack} {
		t.Run(name, func(t *testing.T) {
			p.write(t, p.file, composeText)
			p.up(t, "web")
			image, err := l.API.ImageInspect(t.Context(), "app:"+name)
			check(t, err)
			id := l.inspect(t, composed("home_web_1")).ID
			req := p.request(id)
			req.Image = watcher.TargetImage{Reference: "docker.io/library/app:" + name, ID: image.ID}
			req.Rules.Compose.Command = true
			plan := l.plan(t, req)
			out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
			check(t, err)
			if out.State != want || strings.Contains(out.Reason.Text, "geheimnis") {
				t.Errorf("%+v", out)
			}
			t.Log(out, plan.Steps)
			if want == watcher.Updated {
				if out.Downtime <= 0 || out.Downtime > 30*time.Second {
					t.Errorf("downtime %s", out.Downtime)
				}
				p.want(t, composeNew)
				l.only(t, composed("home_web_1"), l.new)
			} else {
				p.want(t, composeText)
				l.only(t, composed("home_web_1"), l.old)
			}
			if got := l.inspect(t, composed("home_web_1")).ID; got != out.ContainerID {
				t.Errorf("the container is %s, the outcome says %s", got, out.ContainerID)
			}
			p.compose(t, "-f", p.file, "down", "-t", "1")
		})
	}
}

// TestComposeCommandInterruptedAnywhere stops the host at every call of the journal.
func TestComposeCommandInterruptedAnywhere(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := newProject(t, l, composeText)
	p.needRecreation(t)
	first := 0
	if separator() == "-" {
		first = 1 // version 2 is interrupted where version 1 is not
	}
	chosen := dockertest.Moments(t, 2, first)
	for call, updated := 1, false; !updated; call++ {
		if !chosen(call) {
			continue
		}
		p.write(t, p.file, composeText)
		p.up(t, "web")
		req := p.request(l.inspect(t, composed("home_web_1")).ID)
		req.Rules.Compose.Command = true
		op := watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}
		out := p.interrupted(t, op, call, errGone)
		if updated = call > len(op.Plan.Steps)*2; updated && out.State != watcher.Updated {
			t.Errorf("not updated: %+v", out)
		}
		if out.State == watcher.Updated {
			l.only(t, composed("home_web_1"), l.new)
			p.want(t, composeNew)
		} else {
			l.only(t, composed("home_web_1"), l.old)
			p.want(t, composeText)
		}
		t.Logf("call %d: %s (%s)", call, out.State, out.Reason.Code)
		l.Remove(t, composed("home_web_1"))
	}
}

// TestComposeCommandRecoversWhatComposeLeft kills compose in the middle: Debian's stops
// the old container, renames it, and creates the new one beside it.
func TestComposeCommandRecoversWhatComposeLeft(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := newProject(t, l, composeText)
	p.needRecreation(t)
	for left, leave := range map[string]func(id string){
		"nothing": func(string) {},
		"stopped": func(id string) { check(t, l.API.ContainerStop(t.Context(), id, container.StopOptions{})) },
		"renamed": func(id string) {
			check(t, l.API.ContainerStop(t.Context(), id, container.StopOptions{}))
			check(t, l.API.ContainerRename(t.Context(), id, engine.Short(id)+"_"+composed("home_web_1")))
		},
		"both": func(id string) {
			check(t, l.API.ContainerStop(t.Context(), id, container.StopOptions{}))
			check(t, l.API.ContainerRename(t.Context(), id, engine.Short(id)+"_"+composed("home_web_1")))
			l.make(t, composed("home_web_1"), "app:2",
				shape{Config: container.Config{Labels: l.inspect(t, id).Config.Labels}}, true)
		},
		"gone": func(id string) { l.Remove(t, id) },
	} {
		p.write(t, p.file, composeText)
		p.up(t, "web")
		id := l.inspect(t, composed("home_web_1")).ID
		req := p.request(id)
		req.Rules.Compose.Command = true
		op := watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}
		op.Steps = []watcher.StepRecord{{Step: op.Plan.Steps[0], Ended: true}, {Step: op.Plan.Steps[1]}}
		p.write(t, p.file, composeNew)
		leave(id)
		out, err := l.docker.Recover(t.Context(), op, &journal{})
		check(t, err)
		if out.State != watcher.RolledBack || (out.ContainerID == id) != (left != "gone") {
			t.Errorf("%s: %+v", left, out)
		}
		l.only(t, composed("home_web_1"), l.old)
		p.want(t, composeText)
		l.Remove(t, composed("home_web_1"))
	}
}

// needRecreation skips a test where this compose cannot recreate containers of this
// engine, after it has seen that the plan says so.
func (p *project) needRecreation(t *testing.T) {
	t.Helper()
	tool, err := compose.FindTool(t.Context())
	if err != nil {
		plugintest.Skip(t, "docker", err)
	}
	modern := versions.GreaterThanOrEqualTo(p.lab.API.ClientVersion(), "1.44")
	why := compose.Command{First: compose.IsFirst(t.Context(), tool)}.Misfit(modern)
	if why == "" {
		return
	}
	req := p.request(p.make(t))
	req.Rules.Compose.Command = true
	plan, err := p.lab.docker.Plan(t.Context(), req)
	check(t, err)
	if len(plan.Blocks) != 1 || plan.Blocks[0].Code != replace.BlockCommand || plan.Blocks[0].Text != why {
		t.Errorf("%+v", plan.Blocks)
	}
	t.Skip(why)
}

// TestComposeCommandIsNotThere plans where there is no compose.
func TestComposeCommandIsNotThere(t *testing.T) {
	l := newLab(t)
	p := newProject(t, l, composeText)
	req := p.request(p.make(t))
	req.Rules.Compose.Command = true
	t.Setenv("PATH", t.TempDir())
	plan, err := l.docker.Plan(t.Context(), req)
	check(t, err)
	if codes(plan.Blocks) != replace.BlockCommand {
		t.Errorf("%+v", plan.Blocks)
	}
}
