package replace

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func composeFacts(t *testing.T, state string) Facts {
	t.Helper()
	f := Facts{Target: parse(t,
		`{"Id":"w1","Name":"/web","Image":"sha256:1","State":`+state+`,"HostConfig":{"NetworkMode":"none"},
		"Config":{"Image":"app:1","Labels":{"com.docker.compose.project":"home","com.docker.compose.service":"web"}}}`)}
	f.Compose = Compose{
		Rules: &watcher.ComposeRules{},
		Edit:  compose.Change{File: "/srv/compose.yml", Line: 3, Offset: 30, Old: "app:1", New: "app:2", Diff: "-1 +2"},
	}
	return f
}

func composeRequest() watcher.UpdateRequest {
	return watcher.UpdateRequest{
		ContainerID: "w1", Image: watcher.TargetImage{Reference: "docker.io/library/app:2", Digest: "sha256:2"},
	}
}

const isRunning = `{"Running":true}`

func stepIDs(p watcher.Plan) string {
	var all []string
	for _, s := range p.Steps {
		all = append(all, s.ID)
	}
	return strings.Join(all, " ")
}

func TestPlanOfAComposeFileOrdersTheSteps(t *testing.T) {
	command := &compose.Command{Tool: []string{"docker-compose"}, Service: "web"}
	for name, c := range map[string]struct {
		state string
		with  func(f *Facts, req *watcher.UpdateRequest)
		want  string
	}{
		"edit": {isRunning, nil, "pull edit rename:web create:web stop:web start:web health:web remove:web"},
		"rollback": {isRunning, func(_ *Facts, req *watcher.UpdateRequest) {
			req.Image.ID = "sha256:2"
		}, "edit rename:web create:web stop:web start:web health:web remove:web"},
		"named already": {isRunning, func(f *Facts, _ *watcher.UpdateRequest) {
			f.Compose.Edit = compose.Change{}
		}, "pull rename:web create:web stop:web start:web health:web remove:web"},
		"dry run": {isRunning, func(_ *Facts, req *watcher.UpdateRequest) { req.Rules.DryRun = true }, "pull"},
		"self":    {isRunning, func(f *Facts, _ *watcher.UpdateRequest) { f.Self = "w1" }, "pull edit handover:web"},
		"refused": {isRunning, func(f *Facts, _ *watcher.UpdateRequest) {
			f.Compose.Problem = &watcher.Reason{Code: "x"}
		}, "pull rename:web create:web stop:web start:web health:web remove:web"},
		"command": {isRunning, func(f *Facts, _ *watcher.UpdateRequest) {
			f.Compose.Command = command
		}, "pull edit create:web health:web"},
		"command, prune": {isRunning, func(f *Facts, req *watcher.UpdateRequest) {
			f.Compose.Command, req.Rules.Prune = command, true
		}, "pull edit create:web health:web prune"},
		"stopped": {`{"Running":false}`, func(f *Facts, _ *watcher.UpdateRequest) {
			f.Compose.Command = command
		}, "pull edit create:web"},
		"paused": {`{"Running":true,"Paused":true}`, func(f *Facts, _ *watcher.UpdateRequest) {
			f.Compose.Command = command
		}, "pull edit create:web health:web pause:web"},
	} {
		t.Run(name, func(t *testing.T) {
			f, req := composeFacts(t, c.state), composeRequest()
			if c.with != nil {
				c.with(&f, &req)
			}
			if got := stepIDs(Plan(f, req)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestPlanStoresTheChangeOfAFile(t *testing.T) {
	f, req := composeFacts(t, isRunning), composeRequest()
	p := Plan(f, req)
	got, err := ComposeOf(p)
	want := Compose{Edit: f.Compose.Edit}
	want.Edit.Diff = ""
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if Statuses(p)["web"] != Running || len(Statuses(p)) != 1 {
		t.Errorf("statuses: %v", Statuses(p))
	}
	f.Compose.Edit.BeforeSum = "other"
	if Plan(f, req).State == p.State {
		t.Error("the state is the same for another file")
	}
	f.Compose = Compose{}
	if got, err := ComposeOf(Plan(f, req)); err != nil || !got.Edit.Empty() || got.Command != nil {
		t.Errorf("without rules: %+v, %v", got, err)
	}
	if _, err := ComposeOf(watcher.Plan{State: "web=running;1;!"}); err == nil {
		t.Error("a broken state is read")
	}
}

func TestRenames(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"app:1", "docker.io/library/app:1"}:                                   false,
		{"app", "docker.io/library/app:latest"}:                                false,
		{"app:1", "docker.io/library/app:2"}:                                   true,
		{"app:1@sha256:" + strings.Repeat("1", 64), "docker.io/library/app:1"}: true,
		{"app:1", "ghcr.io/a/app:1"}:                                           true,
		{"sha256:" + strings.Repeat("1", 64), "docker.io/library/a:1"}:         true,
	} {
		if got := Renames(pair[0], pair[1]); got != want {
			t.Errorf("%v: %v", pair, got)
		}
	}
}
