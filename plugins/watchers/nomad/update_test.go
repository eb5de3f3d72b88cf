package nomad_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/watchers/nomad"
	"github.com/dogwatch/dogwatch/plugins/watchers/nomad/nomadtest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	digestB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	web     = "media_web_web_web"
	rolling = `"Count": 1, "Update": {"MaxParallel": 1, "ProgressDeadline": 600000000000}`
)

// journal keeps the steps of an operation, as the host does.
type journal struct {
	steps []watcher.StepRecord
	begin func(watcher.Step) error // nil for none

	progress func(watcher.StepProgress)
}

func (j *journal) Begin(_ context.Context, s watcher.Step) error {
	var err error
	if j.begin != nil {
		err = j.begin(s)
	}
	if err == nil {
		j.steps = append(j.steps, watcher.StepRecord{Step: s})
	}
	return err
}

func (j *journal) End(_ context.Context, s watcher.Step, _ map[string]string, err error) error {
	last := &j.steps[len(j.steps)-1]
	if last.ID != s.ID {
		return fmt.Errorf("%s ends, and %s was begun", s.ID, last.ID)
	}
	if last.Ended = true; err != nil {
		last.Error = err.Error()
	}
	return nil
}

func (j *journal) Progress(p watcher.StepProgress) {
	if j.progress != nil {
		j.progress(p)
	}
}

// taken are the ids of the steps that were begun.
func (j *journal) taken() string {
	var ids []string
	for _, s := range j.steps {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, " ")
}

func at(t *testing.T, s *nomadtest.Server) nomad.Options {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	o := nomad.Options{URL: u, Token: token, Namespaces: []string{"media"}, Update: true}
	o.Timeout = 10 * time.Second
	return o
}

func newUpdater(t *testing.T, o nomad.Options) *nomad.Nomad {
	t.Helper()
	n, err := nomad.New(sdk.Env{Log: hclog.NewNullLogger(), UserAgent: "test", Warn: func(string) {}}, o)
	if err != nil {
		t.Fatal(err)
	}
	n.Hasten(5*time.Millisecond, 500*time.Millisecond)
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// webJob is a job with one task, and more of itself and its group.
func webJob(kind, job, group, image string) string {
	more := func(text string) string {
		if text != "" {
			text += ", "
		}
		return text
	}
	return fmt.Sprintf(`{"ID": "web", "Namespace": "media", "Type": %q, "SubmitTime": 1764324000000000001, %s"TaskGroups": [
		{"Name": "web", %s"Tasks": [{"Name": "web", "Driver": "docker", "Config": {"image": %q, "force_pull": true}}]}]}`,
		kind, more(job), more(group), image)
}

// withWeb is a server with that service.
func withWeb(t *testing.T) *nomadtest.Server {
	t.Helper()
	s := nomadtest.New(t)
	s.Put(t, webJob("service", "", rolling, "nginx:1.27"))
	return s
}

func requestFor(id, reference string) watcher.UpdateRequest {
	return watcher.UpdateRequest{ContainerID: id, Image: watcher.TargetImage{Reference: reference, Digest: digestB}}
}

func planned(t *testing.T, n *nomad.Nomad, req watcher.UpdateRequest) watcher.Operation {
	t.Helper()
	p, err := n.Plan(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return watcher.Operation{ID: "op1", Request: req, Plan: p}
}

// update has the task run the image nginx:1.28.
func update(t *testing.T, n *nomad.Nomad, j watcher.Journal) (watcher.Outcome, error) {
	t.Helper()
	return n.Apply(t.Context(), planned(t, n, requestFor(web, "nginx:1.28")), j)
}

func texts(all []watcher.Reason) string {
	var lines []string
	for _, r := range all {
		lines = append(lines, r.Code+": "+r.Text)
	}
	return strings.Join(lines, "\n")
}

// changes are the requests that have changed a job.
func changes(s *nomadtest.Server) (all []string) {
	for _, r := range s.Requests() {
		path, _, _ := strings.Cut(r, "?")
		if strings.HasPrefix(path, "POST ") && !strings.HasSuffix(path, "/plan") {
			all = append(all, strings.TrimPrefix(path, "POST /v1/job/"))
		}
	}
	return all
}

func image(s *nomadtest.Server) string { return nomadtest.Image(s.Job("media/web")) }

// failing has the deployment of an image fail.
func failing(bad ...string) func(nomadtest.Object) nomadtest.Rollout {
	return func(job nomadtest.Object) nomadtest.Rollout {
		if slices.Contains(bad, nomadtest.Image(job)) {
			return nomadtest.Rollout{
				Deployment: "failed", Description: "Failed due to progress deadline",
				Allocations: []nomadtest.Object{nomadtest.Failing("web", 3)},
			}
		}
		return nomadtest.Rollout{Deployment: "successful", Allocations: []nomadtest.Object{nomadtest.Running()}}
	}
}

// without makes no deployment.
func without(allocations ...nomadtest.Object) func(nomadtest.Object) nomadtest.Rollout {
	return func(nomadtest.Object) nomadtest.Rollout { return nomadtest.Rollout{Allocations: allocations} }
}

func TestUpdate(t *testing.T) {
	const watched, begun = "rollout:media_web health:media_web", "rollout:media_web"
	for name, c := range map[string]struct {
		job, want, steps string
		rollOut          func(nomadtest.Object) nomadtest.Rollout
	}{
		"service":             {webJob("service", "", rolling, "nginx:1.27"), "nginx:1.28", watched, nil},
		"no deployment":       {webJob("service", "", `"Count": 1, "Update": {"MaxParallel": 0}`, "nginx:1.27"), "nginx:1.28", watched, without(nomadtest.Running())},
		"system":              {webJob("system", "", "", "nginx:1.27"), "nginx:1.28", watched, without(nomadtest.Running(), nomadtest.Running())},
		"system, deployed":    {webJob("system", "", "", "nginx:1.27"), "nginx:1.28", watched, nil},
		"system without node": {webJob("system", "", "", "nginx:1.27"), "nginx:1.28", watched, without()},
		"sysbatch":            {webJob("sysbatch", "", "", "nginx:1.27"), "nginx:1.28", watched, without(nomadtest.Object{"ClientStatus": "complete"})},
		"batch":               {webJob("batch", "", `"Count": 1`, "nginx:1.27"), "nginx:1.28", watched, without(nomadtest.Object{"ClientStatus": "complete"})},
		"periodic":            {webJob("batch", `"Periodic": {"Spec": "@daily"}`, `"Count": 1`, "nginx:1.27"), "nginx:1.28", begun, without()},
		"parameterized":       {webJob("batch", `"ParameterizedJob": {"Payload": ""}`, `"Count": 1`, "nginx:1.27"), "nginx:1.28", begun, without()},
		"scaled to zero":      {webJob("service", "", `"Count": 0, "Update": {"MaxParallel": 1}`, "nginx:1.27"), "nginx:1.28", begun, without()},
		"transport":           {webJob("service", "", rolling, "docker://docker.io/library/nginx:1.27"), "docker://docker.io/library/nginx:1.28", watched, nil},
		"digest":              {webJob("service", "", rolling, "nginx:1.27@"+digestA), "nginx:1.28@" + digestB, watched, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := nomadtest.New(t)
			s.Put(t, c.job)
			s.RollOut = c.rollOut
			n := newUpdater(t, at(t, s))
			op := planned(t, n, requestFor(web, "docker.io/library/nginx:1.28"))
			if len(op.Plan.Blocks) > 0 || len(changes(s)) > 0 {
				t.Fatalf("blocks %q, and changed %q", texts(op.Plan.Blocks), changes(s))
			}
			j := &journal{}
			out, err := n.Apply(t.Context(), op, j)
			if err != nil || out.State != watcher.Updated || image(s) != c.want || j.taken() != c.steps {
				t.Errorf("got %+v, %v, the image %s, and took %q", out, err, image(s), j.taken())
			}
			if got := strings.Join(changes(s), " "); got != "web" {
				t.Errorf("changed %q", got)
			}
		})
	}
}

// TestUpdateKeepsTheRest: what is not known of a job stays as the server wrote it, and so do large numbers.
func TestUpdateKeepsTheRest(t *testing.T) {
	s := nomadtest.New(t)
	s.Put(t, webJob("service", `"Unknown": {"a": [1, "<b>"]}, "Meta": {"x": "y"}`, rolling, "nginx:1.27"))
	n := newUpdater(t, at(t, s))
	if out, err := update(t, n, &journal{}); err != nil || out.State != watcher.Updated {
		t.Fatalf("got %+v, %v", out, err)
	}
	text, _ := json.Marshal(s.Job("media/web"))
	for _, want := range []string{`"Unknown":{"a":[1,"\u003cb\u003e"]}`, `"Meta":{"x":"y"}`, `"ProgressDeadline":600000000000`, `"force_pull":true`,
		`"SubmitTime":1764324000000000001`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

// TestEvidenceHasTheLog: the end of what the allocation that failed has written, without the secrets of the job, or the
// capability that the token lacks for that.
func TestEvidenceHasTheLog(t *testing.T) {
	lack := func(stream string) string {
		return "The log could not be read: read the " + stream + " of the task web of Nomad in namespace media: HOST answered 403 " +
			"Forbidden: Permission denied; add the capability \"read-logs\" for namespace \"media\" to a policy of token\n"
	}
	for name, c := range map[string]struct {
		output       map[string]string
		denied, want string
	}{
		"both":    {map[string]string{"stdout": "starting", "stderr": "password hunter2 is wrong\n"}, "", "starting\npassword *** is wrong\n"},
		"one":     {map[string]string{"stderr": "for t0psecret or 0ther"}, "", "for *** or ***\n"},
		"nothing": {nil, "", ""},
		"long":    {map[string]string{"stdout": strings.Repeat("hunter2", 20000) + "\nend"}, "", "end\n"},
		"denied":  {map[string]string{"stderr": "x"}, "Permission denied", lack("stdout") + lack("stderr")},
	} {
		t.Run(name, func(t *testing.T) {
			s := nomadtest.New(t)
			s.Put(t, strings.NewReplacer(`"Driver"`, `"Env": {"DB_PASSWORD": "hunter2", "X_TOKEN": "t0psecret"}, "Driver"`,
				`"force_pull"`, `"args": ["--key", "0ther"], "force_pull"`).Replace(webJob("service", "", rolling, "nginx:1.27")))
			s.RollOut, s.Output = failing("nginx:1.28"), c.output
			s.Deny("/v1/client/fs/logs/", c.denied)
			out, err := update(t, newUpdater(t, at(t, s)), &journal{})
			if err != nil || out.Evidence == nil {
				t.Fatalf("got %+v, %v", out, err)
			}
			if got := strings.ReplaceAll(out.Evidence.Log, strings.TrimPrefix(s.URL, "http://"), "HOST"); got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestUpdateThatFailsReturns(t *testing.T) {
	s := withWeb(t)
	s.RollOut = failing("nginx:1.28")
	n := newUpdater(t, at(t, s))
	j := &journal{}
	out, err := update(t, n, j)
	if err != nil || out.State != watcher.RolledBack || image(s) != "nginx:1.27" {
		t.Fatalf("got %+v, %v, and the image %s", out, err, image(s))
	}
	const why = "the allocation 5c2b8b5f: Exit Code: 3"
	if out.Reason.Text != why+" (Failed due to progress deadline)" || out.Evidence == nil || out.Evidence.ExitCode != 3 || out.Evidence.Error != why {
		t.Errorf("because %+v, evidence %+v", out.Reason, out.Evidence)
	}
	if got := strings.Join(changes(s), " "); got != "web web/revert" || j.taken() != "rollout:media_web health:media_web rollback:media_web" {
		t.Errorf("changed %q, took %q", got, j.taken())
	}
}

func TestUpdateThatNeitherWorks(t *testing.T) {
	s := withWeb(t)
	s.RollOut = failing("nginx:1.27", "nginx:1.28")
	n := newUpdater(t, at(t, s))
	out, err := update(t, n, &journal{})
	if err != nil || out.State != watcher.Broken || !strings.Contains(out.Reason.Text, "; and the old image does not run either: the allocation ") {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestNomadReverts: where the job has auto_revert, Nomad is faster, and what it has done counts.
func TestNomadReverts(t *testing.T) {
	s := withWeb(t)
	s.RollOut = func(job nomadtest.Object) nomadtest.Rollout {
		r := failing("nginx:1.28")(job)
		r.Reverts = r.Deployment == "failed"
		return r
	}
	n := newUpdater(t, at(t, s))
	out, err := update(t, n, &journal{})
	if err != nil || out.State != watcher.RolledBack || image(s) != "nginx:1.27" || strings.Join(changes(s), " ") != "web" ||
		out.Evidence == nil || out.Evidence.ExitCode != 3 {
		t.Errorf("got %+v, %v, changed %q", out, err, changes(s))
	}
}

// TestUpdateThatNeverConverges: the deployment of the version before does not count for one that is not made.
func TestUpdateThatNeverConverges(t *testing.T) {
	for _, status := range []string{"running", ""} {
		s := withWeb(t)
		s.Work("media/web", failing()(s.Job("media/web")))
		s.RollOut = func(job nomadtest.Object) nomadtest.Rollout {
			r := failing()(job)
			if nomadtest.Image(job) == "nginx:1.28" {
				r.Deployment, r.Allocations = status, []nomadtest.Object{{"ClientStatus": "pending"}}
			}
			return r
		}
		n := newUpdater(t, at(t, s))
		req := requestFor(web, "nginx:1.28")
		req.Rules.Health.Window = 50 * time.Millisecond
		out, err := n.Apply(t.Context(), planned(t, n, req), &journal{})
		if err != nil || out.State != watcher.RolledBack ||
			out.Reason.Text != "nothing changed for 50ms, and 0 of 1 allocations of media_web run the image: the cluster does not say why" {
			t.Errorf("%q: got %+v, %v", status, out, err)
		}
	}
}

// TestChangeThatArrivedAllTheSame: a server may fail after it has stored a change.
func TestChangeThatArrivedAllTheSame(t *testing.T) {
	s := withWeb(t)
	s.Before = func(string) {
		s.Put(t, webJob("service", "", rolling, "nginx:1.28"))
		s.Work("media/web", nomadtest.Rollout{Deployment: "successful", Allocations: []nomadtest.Object{nomadtest.Running()}})
	}
	n := newUpdater(t, at(t, s))
	op := planned(t, n, requestFor(web, "nginx:1.28"))
	s.Put(t, webJob("service", "", rolling, "nginx:1.27")) // Before was called for the plan, too
	if out, err := n.Apply(t.Context(), op, &journal{}); err != nil || out.State != watcher.Updated {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestPlaced: jobs without a deployment are watched by their allocations.
func TestPlaced(t *testing.T) {
	restarting := nomadtest.Object{"ClientStatus": "running", "TaskStates": nomadtest.Object{"web": nomadtest.Object{"Restarts": 1}}}
	full := nomadtest.Object{"web": nomadtest.Object{
		"NodesEvaluated": 2, "NodesExhausted": 2, "DimensionExhausted": nomadtest.Object{"memory": 2},
	}}
	for name, c := range map[string]struct {
		kind, group string
		rollout     nomadtest.Rollout
		want        watcher.OutcomeState
		why         string
	}{
		"runs":          {"service", `"Count": 1`, nomadtest.Rollout{Allocations: []nomadtest.Object{restarting}}, watcher.Updated, ""},
		"fails":         {"service", `"Count": 1`, nomadtest.Rollout{Allocations: []nomadtest.Object{nomadtest.Failing("web", 3)}}, watcher.Broken, "Exit Code: 3"},
		"one of two":    {"service", `"Count": 2`, nomadtest.Rollout{Allocations: []nomadtest.Object{nomadtest.Running()}}, watcher.Broken, "1 of 2 allocations"},
		"pending":       {"system", "", nomadtest.Rollout{Allocations: []nomadtest.Object{nomadtest.Running(), {"ClientStatus": "pending"}}}, watcher.Broken, "1 of 2 allocations"},
		"not placed":    {"system", "", nomadtest.Rollout{Failed: full}, watcher.Broken, "the group web: 2 nodes, 0 filtered, 2 exhausted, memory"},
		"batch running": {"batch", `"Count": 1`, nomadtest.Rollout{Allocations: []nomadtest.Object{nomadtest.Running()}}, watcher.Updated, ""},
		"batch failed":  {"batch", `"Count": 1`, nomadtest.Rollout{Allocations: []nomadtest.Object{nomadtest.Failing("web", 4)}}, watcher.Broken, "Exit Code: 4"},
	} {
		t.Run(name, func(t *testing.T) {
			s := nomadtest.New(t)
			s.RollOut = func(nomadtest.Object) nomadtest.Rollout { return c.rollout }
			s.Put(t, webJob(c.kind, "", c.group, "nginx:1.27"))
			n := newUpdater(t, at(t, s))
			stuck := 20 * time.Millisecond
			if c.want == watcher.Updated {
				stuck = 20 * time.Second // it ends when it is done, on a busy machine later
			}
			n.Hasten(time.Millisecond, stuck)
			out, err := update(t, n, &journal{})
			if err != nil || out.State != c.want || !strings.Contains(out.Reason.Text, c.why) {
				t.Errorf("got %+v, %v", out, err)
			}
		})
	}
}

// TestOldAllocationsCount: a system job is not rolled out while a node runs its old version, nor while tasks restart.
func TestOldAllocationsCount(t *testing.T) {
	for name, first := range map[string]nomadtest.Object{
		"old version": {"ClientStatus": "running", "JobVersion": 0},
		"restarts":    {"ClientStatus": "running", "TaskStates": nomadtest.Object{"web": nomadtest.Object{"Restarts": 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := nomadtest.New(t)
			looks := 0
			s.RollOut = without(nomadtest.Running(), first)
			s.Put(t, webJob("system", "", "", "nginx:1.27"))
			n := newUpdater(t, at(t, s))
			n.Hasten(time.Millisecond, 20*time.Second)
			j := &journal{progress: func(p watcher.StepProgress) {
				if looks++; looks == 4 {
					if name == "old version" && p.Current >= p.Total {
						t.Errorf("it has %d of %d", p.Current, p.Total)
					}
					s.Work("media/web", nomadtest.Rollout{Allocations: []nomadtest.Object{nomadtest.Running(), {
						"ClientStatus": "running", "TaskStates": nomadtest.Object{"web": nomadtest.Object{"Restarts": 2}},
					}}})
				}
			}}
			out, err := update(t, n, j)
			if err != nil || out.State != watcher.Updated || looks < 9 {
				t.Errorf("got %+v, %v after %d looks", out, err, looks)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	const canaries = `"Count": 1, "Update": {"MaxParallel": 1, "Canary": 1, "AutoPromote": %v}`
	for name, c := range map[string]struct{ job, want string }{
		"regions":           {webJob("service", `"Multiregion": {"Regions": []}`, rolling, "nginx:1.27"), "workload.regions: media_web runs in several regions, each of which has its own version: change its job file, and run that"},
		"stopped":           {webJob("service", `"Stop": true`, rolling, "nginx:1.27"), "workload.stopped: media_web is stopped, so nothing would run the new image: start it with nomad job start"},
		"canaries of nodes": {webJob("system", "", fmt.Sprintf(canaries, false), "nginx:1.27"), "workload.canaries: media_web has canaries that somebody has to promote: set auto_promote in its update block, or run its job file"},
		"canaries":          {webJob("service", "", fmt.Sprintf(canaries, false), "nginx:1.27"), "workload.canaries: media_web has canaries that somebody has to promote: set auto_promote in its update block, or run its job file"},
		"variable":          {webJob("service", "", rolling, "nginx:${NOMAD_META_tag}"), `image.missing: the image "nginx:${NOMAD_META_tag}" of media_web has a variable, which Nomad replaces on the node: change it where the variable is set`},

		"promoted by Nomad": {webJob("service", "", fmt.Sprintf(canaries, true), "nginx:1.27"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := nomadtest.New(t)
			s.Put(t, c.job)
			n := newUpdater(t, at(t, s))
			op := planned(t, n, requestFor(web, "nginx:1.28"))
			if got := texts(op.Plan.Blocks); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			out, err := n.Apply(t.Context(), op, &journal{begin: func(watcher.Step) error { return watcher.ErrStop }})
			if err != nil && name != "variable" || out.State == watcher.Updated || len(changes(s)) > 0 {
				t.Errorf("applied all the same: %+v, %v", out, err)
			}
		})
	}
}

func TestReadOnlyChangesNothing(t *testing.T) {
	s := withWeb(t)
	o := at(t, s)
	o.Update = false
	n := newUpdater(t, o)
	op := planned(t, n, requestFor(web, "nginx:1.28"))
	if !strings.HasPrefix(texts(op.Plan.Blocks), "engine.readonly: this watcher only reads") {
		t.Errorf("blocks %q", texts(op.Plan.Blocks))
	}
	if out, err := n.Apply(t.Context(), op, &journal{}); err != nil || out.State != watcher.Unchanged {
		t.Errorf("got %+v, %v", out, err)
	}
	op.Steps = []watcher.StepRecord{{Step: op.Plan.Steps[0]}, {Step: watcher.Step{ID: "rollback:media_web"}}}
	s.Put(t, webJob("service", "", rolling, "nginx:1.28"))
	out, err := n.Recover(t.Context(), op, &journal{})
	if err != nil || out.State != watcher.Broken || strings.Contains(fmt.Sprint(s.Requests()), "POST") {
		t.Errorf("recovered to %+v, %v, with %v", out, err, s.Requests())
	}
}

// TestPlanKeepsToWhatIsWatched: no id leads out of the namespaces, nor to what is no container.
func TestPlanKeepsToWhatIsWatched(t *testing.T) {
	s := withWeb(t)
	s.Put(t, job("other", "web", "nginx:1.27"))
	n := newUpdater(t, at(t, s))
	for _, id := range []string{"other_web_web_web", "media_web_web_other", "media_none_none_none", "web", "media_web_web_web_", ""} {
		if _, err := n.Plan(t.Context(), requestFor(id, "nginx:1.28")); !errors.Is(err, sdk.ErrNotFound) {
			t.Errorf("%q: got %v", id, err)
		}
	}
}

func TestDeniedUpdateNamesCapability(t *testing.T) {
	s := withWeb(t)
	n := newUpdater(t, at(t, s))
	req := requestFor(web, "nginx:1.28")
	op := planned(t, n, req)
	const rule = `add the capability "submit-job" for namespace "media" to a policy of token`
	s.Deny("/v1/job/web/plan", "Permission denied")
	s.Deny("POST /v1/job/web", "Permission denied")
	if got := texts(planned(t, n, req).Plan.Blocks); !strings.HasPrefix(got, "workload.refused: plan the job web of Nomad in namespace media") ||
		!strings.HasSuffix(got, rule) {
		t.Errorf("planned: %s", got)
	}
	out, err := n.Apply(t.Context(), op, &journal{})
	why := out.Reason.Text
	if err != nil || out.State != watcher.Unchanged || !strings.HasSuffix(why, rule) || strings.Contains(why, token) {
		t.Errorf("applied: %+v, %v", out, err)
	}
	s.Fail("POST /v1/job/web", http.StatusInternalServerError, "no nginx, says the policy for "+token)
	out, err = n.Apply(t.Context(), op, &journal{})
	why = out.Reason.Text
	if err != nil || out.State != watcher.Unchanged || !strings.Contains(why, "no nginx, says") || strings.Contains(why, token) {
		t.Errorf("a policy: %+v, %v", out, err)
	}
	s.Fail("/v1/job/web/plan", http.StatusServiceUnavailable, "later")
	s.Fail("POST /v1/job/web", http.StatusServiceUnavailable, "later")
	if _, err := n.Plan(t.Context(), req); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("an outage: got %v", err)
	}
	if _, err := n.Apply(t.Context(), op, &journal{}); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("an outage while it is applied: got %v", err)
	}
}

// TestChangedMeanwhile: what somebody else changes after the plan, or at the same time, is not overwritten; that an
// autoscaler does is no reason to give up.
func TestChangedMeanwhile(t *testing.T) {
	const scaled = `"Count": 3, "Update": {"MaxParallel": 1, "ProgressDeadline": 600000000000}`
	for name, c := range map[string]struct {
		job, why string
		want     watcher.OutcomeState
	}{
		"another image": {webJob("service", "", rolling, "nginx:1.26"), "was changed", watcher.Unchanged},
		"a setting":     {webJob("service", `"Meta": {"a": "b"}`, rolling, "nginx:1.27"), "plan again", watcher.Unchanged},
		"scaled":        {webJob("service", "", scaled, "nginx:1.27"), "", watcher.Updated},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, late %v", name, late), func(t *testing.T) {
				s := withWeb(t)
				n := newUpdater(t, at(t, s))
				op := planned(t, n, requestFor(web, "nginx:1.28"))
				done := false
				change := func(string) {
					if !done {
						done = true
						s.Put(t, c.job)
					}
				}
				if s.Before = change; !late {
					change("")
				}
				out, err := n.Apply(t.Context(), op, &journal{})
				if err != nil || out.State != c.want || !strings.Contains(out.Reason.Text, c.why) {
					t.Errorf("got %+v, %v", out, err)
				}
				text, _ := json.Marshal(s.Job("media/web"))
				if c.want == watcher.Unchanged && s.Job("media/web")["Version"] != 1 || name == "scaled" && !strings.Contains(string(text), `"Count":3`) {
					t.Errorf("the job is %s", text)
				}
			})
		}
	}
}

// TestRollbackKeepsWhatOthersChanged: a job that was scaled since it was updated is not reverted to how many it had.
func TestRollbackKeepsWhatOthersChanged(t *testing.T) {
	s := withWeb(t)
	s.RollOut = failing("nginx:1.28")
	n := newUpdater(t, at(t, s))
	out, err := update(t, n, &journal{begin: func(step watcher.Step) error {
		if strings.HasPrefix(step.ID, "rollback:") {
			s.Put(t, webJob("service", "", strings.Replace(rolling, "1", "3", 1), "nginx:1.28"))
		}
		return nil
	}})
	text, _ := json.Marshal(s.Job("media/web"))
	if err != nil || out.State != watcher.RolledBack || image(s) != "nginx:1.27" || !strings.Contains(string(text), `"Count":3`) {
		t.Errorf("got %+v, %v, and the job %s", out, err, text)
	}
}

// TestOvertaken: while Dogwatch watches, somebody gives the job another image, stops it, or removes it.
func TestOvertaken(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*nomadtest.Server)
		want   watcher.OutcomeState
		why    string
	}{
		"another image": {func(s *nomadtest.Server) { s.Put(t, webJob("service", "", rolling, "nginx:1.30")) }, watcher.Broken, "another client changed media_web to nginx:1.30 meanwhile, and it was left as it is: check it"},
		"stopped":       {func(s *nomadtest.Server) { s.Put(t, webJob("service", `"Stop": true`, rolling, "nginx:1.28")) }, watcher.Broken, "media_web was stopped meanwhile: create it again"},
		"removed":       {func(s *nomadtest.Server) { s.Remove("media/web") }, watcher.Broken, ": create it again"},
	} {
		t.Run(name, func(t *testing.T) {
			s := withWeb(t)
			n := newUpdater(t, at(t, s))
			out, err := update(t, n, &journal{begin: func(step watcher.Step) error {
				if step.Code == watcher.StepHealth {
					c.change(s)
				}
				return nil
			}})
			if err != nil || out.State != c.want || !strings.HasSuffix(out.Reason.Text, c.why) || len(changes(s)) != 1 {
				t.Errorf("got %+v, %v, changed %q", out, err, changes(s))
			}
		})
	}
}

// TestCancelled: a user stops an update before its first step, or while it is watched.
func TestCancelled(t *testing.T) {
	for code, want := range map[string]watcher.OutcomeState{
		watcher.StepRollout: watcher.Unchanged, watcher.StepHealth: watcher.RolledBack,
	} {
		s := withWeb(t)
		n := newUpdater(t, at(t, s))
		out, err := update(t, n, &journal{begin: func(step watcher.Step) error {
			if step.Code == code {
				return watcher.ErrStop
			}
			return nil
		}})
		if err != nil || out.State != want || out.Reason.Code != watcher.ReasonCancelled || image(s) != "nginx:1.27" {
			t.Errorf("%s: got %+v, %v", code, out, err)
		}
	}
}

// TestRollbackByUser: a user returns to what ran before, by the identifier that the plan gave it.
func TestRollbackByUser(t *testing.T) {
	for old, id := range map[string]string{"nginx:1.27": "nginx:1.27", "nginx:1.27@" + digestA: digestA} {
		s := nomadtest.New(t)
		s.Put(t, webJob("service", "", rolling, old))
		n := newUpdater(t, at(t, s))
		op := planned(t, n, requestFor(web, "nginx:1.28"))
		if op.Plan.From.ID != id {
			t.Errorf("from %+v, want the id %s", op.Plan.From, id)
		}
		if out, err := n.Apply(t.Context(), op, &journal{}); err != nil || out.State != watcher.Updated {
			t.Fatalf("got %+v, %v", out, err)
		}
		from := op.Plan.From
		back := planned(t, n, watcher.UpdateRequest{
			ContainerID: web, Image: watcher.TargetImage{Reference: from.Reference, ID: from.ID},
		})
		if out, err := n.Apply(t.Context(), back, &journal{}); err != nil || out.State != watcher.Updated || image(s) != old {
			t.Errorf("got %+v, %v, and the image %s", out, err, image(s))
		}
	}
}

var errKilled = errors.New("killed")

// TestRecover kills an update before and after each of its steps, and has it recovered by another process.
func TestRecover(t *testing.T) {
	for _, bad := range []bool{false, true} {
		for _, step := range []string{
			"begin rollout:media_web", "end rollout:media_web", "begin health:media_web", "end health:media_web",
			"begin rollback:media_web", "end rollback:media_web",
		} {
			if !bad && strings.Contains(step, "rollback") {
				continue
			}
			t.Run(fmt.Sprintf("%s, bad %v", step, bad), func(t *testing.T) {
				s := withWeb(t)
				if bad {
					s.RollOut = failing("nginx:1.28")
				}
				n := newUpdater(t, at(t, s))
				op := planned(t, n, requestFor(web, "nginx:1.28"))
				steps, err := kill(t, n, op, step)
				if err == nil {
					t.Fatal("it was not killed")
				}
				op.Steps = steps
				before := len(changes(s))
				out, err := newUpdater(t, at(t, s)).Recover(t.Context(), op, &journal{})
				want, is := watcher.Updated, "nginx:1.28"
				switch {
				case step == "begin rollout:media_web":
					want, is = watcher.Unchanged, "nginx:1.27"
				case bad:
					want, is = watcher.RolledBack, "nginx:1.27"
				}
				if err != nil || out.State != want || image(s) != is {
					t.Errorf("recovered to %+v, %v, with the image %s", out, err, image(s))
				}
				again := len(changes(s)) - before
				if allowed := map[bool]int{true: 1}[want == watcher.RolledBack && step != "end rollback:media_web"]; again != allowed {
					t.Errorf("%d changes when it recovered, want %d", again, allowed)
				}
			})
		}
	}
}

// kill ends an update as kill -9 does: after a step was stored as begun, or before it is stored as ended.
func kill(
	t *testing.T, n *nomad.Nomad, op watcher.Operation, at string,
) (steps []watcher.StepRecord, err error) {
	t.Helper()
	j := &killed{at: at}
	_, err = n.Apply(t.Context(), op, j)
	return j.steps, err
}

type killed struct {
	journal
	at string
}

func (j *killed) Begin(ctx context.Context, s watcher.Step) error {
	err := j.journal.Begin(ctx, s)
	if err == nil && "begin "+s.ID == j.at {
		return errKilled
	}
	return err
}

func (j *killed) End(ctx context.Context, s watcher.Step, facts map[string]string, err error) error {
	if "end "+s.ID == j.at {
		return errKilled
	}
	return j.journal.End(ctx, s, facts, err)
}

// TestWarnings: a plan says what the server would do, without values, which may be secret.
func TestWarnings(t *testing.T) {
	s := nomadtest.New(t)
	s.Put(t, webJob("batch", "", `"Count": 1`, "nginx:1.27"))
	s.Planned = func(response nomadtest.Object) {
		diff := response["Diff"].(nomadtest.Object)
		diff["Objects"] = []nomadtest.Object{{"Type": "Edited", "Name": "Meta", "Fields": []nomadtest.Object{
			{"Type": "Edited", "Name": "password", "Old": "secret1", "New": "secret2"}, {"Type": "None", "Name": "same", "Old": "a", "New": "a"},
		}}}
		response["FailedTGAllocs"] = nomadtest.Object{"web": nomadtest.Object{"NodesEvaluated": 1, "NodesExhausted": 1, "DimensionExhausted": nomadtest.Object{"cpu": 1}}}
	}
	n := newUpdater(t, at(t, s))
	req := requestFor(web, "nginx:1.28")
	req.Rules.Health.TCP, req.Rules.Hooks.Pre = ":80", []string{"true"}
	got := texts(planned(t, n, req).Plan.Warnings)
	const want = `workload.manifest: the job file of media_web is not changed: write the new image there too, or running it returns to the old one
workload.runs: media_web is a batch job, which runs again with the new image at once
probe.workload: the probe of media_web is not used: Nomad waits for the checks of its services
hooks.workload: the hooks of media_web are not run: they belong to one container, and a job has many allocations
workload.changes: registering media_web changes more than its image: Meta.password
workload.placement: Nomad finds no node for all allocations of media_web now: the group web: 1 nodes, 0 filtered, 1 exhausted, cpu`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
