package docker

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const composeText = `# home
version: "3.8"
services:
  web:
    image: "app:1" # the web
    network_mode: none
    stop_grace_period: 1s
    environment: {SECRET: geheimnis}
  other:
    image: app:1
    network_mode: none
    stop_grace_period: 1s
`

// project is a folder with a compose file.
type project struct {
	*lab
	file string
}

func newProject(t *testing.T, l *lab, text string) *project {
	t.Helper()
	p := &project{l, filepath.Join(t.TempDir(), "compose.yml")}
	p.write(t, p.file, text)
	return p
}

func (p *project) write(t *testing.T, file, text string) {
	t.Helper()
	check(t, os.WriteFile(file, []byte(text), 0o640))
}

func (p *project) labels() map[string]string {
	return map[string]string{
		compose.LabelProject: "home", compose.LabelService: "web", compose.LabelNumber: "1", compose.LabelOneOff: "False",
		"com.docker.compose.project.config_files": p.file,
		"com.docker.compose.project.working_dir":  filepath.Dir(p.file), compose.LabelHash: strings.Repeat("a", 64),
	}
}

func (p *project) make(t *testing.T) string {
	t.Helper()
	return p.lab.make(t, "web", "app:1", shape{Config: container.Config{Labels: p.labels()}}, true)
}

func (p *project) request(id string) watcher.UpdateRequest {
	req := p.lab.request(id)
	req.Rules.Compose = &watcher.ComposeRules{}
	return req
}

func (p *project) want(t *testing.T, text string) {
	t.Helper()
	if got, err := os.ReadFile(p.file); err != nil || string(got) != text {
		t.Errorf("the compose file is\n%s\nwant\n%s%v", got, text, err)
	}
}

var composeNew = strings.Replace(composeText, `"app:1"`, `"app:2"`, 1)

// TestUpdateEditsTheComposeFile covers the edit, its backup, and that it is taken back.
func TestUpdateEditsTheComposeFile(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	t.Run("updated", func(t *testing.T) {
		p := newProject(t, l, composeText)
		id := p.make(t)
		defer l.Remove(t, "web")
		req := p.request(id)
		req.Rules.Compose.Backup = true
		plan := l.plan(t, req)
		if len(plan.Files) != 1 || plan.Files[0].Line != 5 ||
			!strings.Contains(plan.Files[0].Diff, `+    image: "app:2`) || plan.Steps[0].Code != watcher.StepEdit {
			t.Errorf("planned: %+v, %+v", plan.Files, plan.Steps)
		}
		p.want(t, composeText)
		out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
		check(t, err)
		if out.State != watcher.Updated || len(out.Warnings) > 0 {
			t.Errorf("%+v", out)
		}
		l.only(t, "web", l.new)
		p.want(t, composeNew)
		if backup, err := os.ReadFile(p.file + ".back"); err != nil || string(backup) != composeText {
			t.Errorf("backup: %s, %v", backup, err)
		}
		if got := l.inspect(t, "web").Config.Labels[compose.LabelHash]; got != strings.Repeat("a", 64) {
			t.Errorf("the hash is %s though nothing says what it would be", got)
		}
		// Back again, as a rollback does it.
		req = p.request(out.ContainerID)
		req.Image = watcher.TargetImage{Reference: "app:1", ID: l.old}
		out, err = l.docker.Apply(t.Context(), watcher.Operation{ID: "op2", Request: req, Plan: l.plan(t, req)}, &journal{})
		if check(t, err); out.State != watcher.Updated {
			t.Errorf("rollback: %+v", out)
		}
		p.want(t, composeText)
		l.only(t, "web", l.old)
	})
	t.Run("fails", func(t *testing.T) {
		p := newProject(t, l, composeText)
		id := p.make(t)
		defer l.Remove(t, "web")
		req := p.request(id)
		req.Image.ID = l.Image(t, "app:bad", `HEALTHCHECK --interval=200ms --timeout=1s --retries=1 CMD ["/missing"]`)
		out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}, &journal{})
		check(t, err)
		if out.State != watcher.RolledBack || out.Reason.Code != "unhealthy" || len(out.Warnings) > 0 {
			t.Errorf("%+v", out)
		}
		p.want(t, composeText)
		l.only(t, "web", l.old)
	})
	t.Run("changed by a user meanwhile", func(t *testing.T) {
		p := newProject(t, l, composeText)
		id := p.make(t)
		defer l.Remove(t, "web")
		req := p.request(id)
		plan := l.plan(t, req)
		p.write(t, p.file, composeText+"# mine\n")
		out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
		check(t, err)
		if out.State != watcher.Unchanged || out.Reason.Code != replace.BlockChanged {
			t.Errorf("%+v", out)
		}
		p.want(t, composeText+"# mine\n")
		l.only(t, "web", l.old)
	})
}

// TestPlanOfAComposeContainer covers what keeps the file from being changed, and what is no reason for that.
func TestPlanOfAComposeContainer(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	bad := strings.Replace(composeText, "  web:", "  web: [", 1)
	for name, c := range map[string]struct {
		text, image     string
		rules           *watcher.ComposeRules
		plain           bool // not of compose
		block, warning  string
		files, readonly bool
		moved           bool // not where the labels say
	}{
		"edit":        {text: composeText, rules: &watcher.ComposeRules{}, files: true},
		"no rules":    {text: composeText, warning: "compose.unchanged"},
		"same tag":    {text: bad, image: "app:1", rules: &watcher.ComposeRules{}},
		"not mounted": {rules: &watcher.ComposeRules{}, block: "file.missing"},
		"read-only":   {text: composeText, readonly: true, rules: &watcher.ComposeRules{}, block: "file.readonly"},
		"invalid":     {text: bad, rules: &watcher.ComposeRules{}, block: "yaml.invalid"},
		"unknown service": {
			text: strings.Replace(composeText, "  web:", "  app:", 1), rules: &watcher.ComposeRules{}, block: "service.unknown",
		},
		"another image": {
			text: strings.Replace(composeText, "app:1", "app:7", 1), rules: &watcher.ComposeRules{}, block: "image.differs",
		},
		"pinned, no digest": {
			text:  strings.Replace(composeText, `"app:1"`, "app:1@sha256:"+strings.Repeat("1", 64), 1),
			rules: &watcher.ComposeRules{}, block: "digest.missing",
		},
		"not of compose": {text: composeText, plain: true, rules: &watcher.ComposeRules{}, warning: "compose.absent"},
		"required": {
			text: composeText, plain: true, rules: &watcher.ComposeRules{Required: true}, block: "compose.absent",
		},
		"in another file": {
			text: strings.ReplaceAll(composeText, "app:1", "db:1"), plain: true,
			rules: &watcher.ComposeRules{File: "FILE"}, warning: "compose.absent",
		},
		"in the file": {
			text: strings.Replace(composeText, "image: app:1", "image: db:1", 1), plain: true,
			rules: &watcher.ComposeRules{File: "FILE"}, files: true,
		},
		"at another path": {text: composeText, moved: true, rules: &watcher.ComposeRules{File: "FILE"}, files: true},
		"two of one image": {
			text: composeText, plain: true, rules: &watcher.ComposeRules{File: "FILE"}, block: "service.ambiguous",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, l, c.text)
			if c.text == "" {
				check(t, os.Remove(p.file))
			}
			if c.readonly {
				readonly(t, filepath.Dir(p.file))
			}
			s := shape{}
			if !c.plain {
				s.Labels = p.labels()
			}
			if c.moved {
				s.Labels["com.docker.compose.project.config_files"], s.Labels["com.docker.compose.project.working_dir"] = "/missing/compose.yml", "/missing"
			}
			id := l.make(t, "web", "app:1", s, true)
			defer l.Remove(t, "web")
			req := l.request(id)
			if c.image != "" {
				req.Image.Reference = "docker.io/library/" + c.image
			}
			if req.Rules.Compose = c.rules; c.rules != nil && c.rules.File == "FILE" {
				c.rules.File = p.file
			}
			plan, err := l.docker.Plan(t.Context(), req)
			check(t, err)
			if got := codes(plan.Blocks); got != c.block {
				t.Errorf("blocked by %q (%+v), want %q", got, plan.Blocks, c.block)
			}
			if c.warning != "" && !strings.Contains(codes(plan.Warnings), c.warning) {
				t.Errorf("warnings %+v", plan.Warnings)
			}
			if got := len(plan.Files) > 0; got != c.files {
				t.Errorf("files: %+v", plan.Files)
			}
			if c.block == "file.missing" && !strings.Contains(plan.Blocks[0].Text, filepath.Dir(p.file)) {
				t.Errorf("the mount is not named: %s", plan.Blocks[0].Text)
			}
			if c.block == "" {
				return
			}
			out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
			check(t, err)
			if out.State != watcher.Unchanged || out.Reason.Code != c.block {
				t.Errorf("%+v", out)
			}
			l.only(t, "web", l.old)
			if c.text != "" {
				p.want(t, c.text)
			}
		})
	}
}

// readonly mounts a folder over itself so that nothing in it can be written.
func readonly(t *testing.T, dir string) {
	t.Helper()
	mount := func(args ...string) {
		if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
			plugintest.Skip(t, "mount", string(out))
		}
	}
	mount("--bind", dir, dir)
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	mount("-o", "remount,bind,ro", dir)
}

func codes(reasons []watcher.Reason) string {
	var all []string
	for _, r := range reasons {
		all = append(all, r.Code)
	}
	return strings.Join(all, " ")
}

// TestComposeFileAgreesAfterAnInterruption stops the host at every call of the journal.
func TestComposeFileAgreesAfterAnInterruption(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := newProject(t, l, composeText)
	chosen := dockertest.Moments(t, 3, 0)
	for call, updated := 1, false; !updated; call++ {
		for _, fail := range []error{errGone, watcher.ErrStop} {
			if !chosen(call) || fail == watcher.ErrStop && call%6 != 3 {
				continue // TestUpdateInterruptedAnywhere stops at every step
			}
			p.write(t, p.file, composeText)
			req := p.request(p.make(t))
			op := watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}
			out := p.interrupted(t, op, call, fail)
			updated = call > len(op.Plan.Steps)*2
			if out.State == watcher.Updated {
				l.only(t, "web", l.new)
				p.want(t, composeNew)
			} else {
				l.only(t, "web", l.old)
				p.want(t, composeText)
			}
			if updated && out.State != watcher.Updated {
				t.Errorf("not updated: %+v", out)
			}
			if t.Logf("call %d, %v: %s (%s)", call, fail, out.State, out.Reason.Code); len(out.Warnings) > 0 {
				t.Errorf("warnings: %+v", out.Warnings)
			}
			l.Remove(t, "web")
		}
	}
}

// interrupted applies an operation, of which the host stores nothing from one call on, and recovers it.
func (p *project) interrupted(t *testing.T, op watcher.Operation, call int, fail error) watcher.Outcome {
	t.Helper()
	j := &journal{failAt: call, fail: fail}
	out, err := p.docker.Apply(t.Context(), op, j)
	if err == nil {
		return out
	}
	op.Steps = j.steps
	again := &journal{steps: slices.Clone(j.steps)}
	out, err = p.docker.Recover(t.Context(), op, again)
	check(t, err)
	op.Steps = again.steps
	if second, err := p.docker.Recover(t.Context(), op, &journal{}); err != nil || second.State != out.State {
		t.Errorf("call %d: recovered again: %+v, %v", call, second, err)
	}
	return out
}

// up runs Debian's compose.
func (p *project) up(t *testing.T, args ...string) {
	t.Helper()
	p.compose(t, append([]string{"-f", p.file, "up", "-d"}, args...)...)
}

func (p *project) compose(t *testing.T, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("docker-compose"); err != nil {
		plugintest.Skip(t, "docker-compose", err)
	}
	cmd := exec.CommandContext(t.Context(), "docker-compose", append([]string{"-p", "home"}, args...)...)
	cmd.Dir, cmd.Env = filepath.Dir(p.file), append(os.Environ(), "DOCKER_HOST="+p.Host)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("docker-compose %v: %v\n%s", args, err, out)
	}
}

// TestComposeDoesNotRecreateAnEditedService runs "docker-compose up" after an update.
func TestComposeDoesNotRecreateAnEditedService(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := newProject(t, l, composeText)
	dir := filepath.Dir(p.file)
	base, env := p.file, filepath.Join(dir, ".env")
	override := filepath.Join(dir, "compose.override.yml")
	p.write(t, override, "version: \"3.8\"\nservices:\n  web:\n    image: app:${TAG:?} # mine\n")
	p.write(t, env, "# tags\nTAG=1\n")
	up := []string{"-f", base, "-f", override, "up", "-d"}
	p.compose(t, up...)
	web, other := l.inspect(t, composed("home_web_1")), l.inspect(t, composed("home_other_1"))
	req := p.request(web.ID)
	plan := l.plan(t, req)
	if len(plan.Files) != 1 || plan.Files[0].Path != env {
		t.Errorf("files: %+v", plan.Files)
	}
	out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
	check(t, err)
	if out.State != watcher.Updated {
		t.Fatalf("%+v", out)
	}
	p.want(t, composeText)
	if got, err := os.ReadFile(env); err != nil || string(got) != "# tags\nTAG=2\n" {
		t.Errorf("%s, %v", got, err)
	}
	p.compose(t, up...)
	if got := l.inspect(t, composed("home_web_1")); got.ID != out.ContainerID || got.Image != l.new ||
		!got.State.Running {
		t.Errorf("compose made %s of the updated %s", got.ID, out.ContainerID)
	}
	if got := l.inspect(t, composed("home_other_1")); got.ID != other.ID {
		t.Errorf("compose recreated the other service")
	}
	// A newer image under the same tag: Compose 1 has its id in the hash.
	req = p.request(other.ID)
	req.Image.Reference = "docker.io/library/app:1"
	out, err = l.docker.Apply(t.Context(), watcher.Operation{ID: "op2", Request: req, Plan: l.plan(t, req)}, &journal{})
	if check(t, err); out.State != watcher.Updated {
		t.Fatalf("%+v", out)
	}
	p.compose(t, up...)
	if got := l.inspect(t, composed("home_other_1")); got.ID != out.ContainerID || got.Image != l.new {
		t.Errorf("compose made %s of the updated %s", got.ID, out.ContainerID)
	}
}

// testComposeProfile: a service that compose only knows with its profile is left alone, too.
func (l *lab) testComposeProfile(t *testing.T) {
	const mode = "    network_mode: none\n"
	p := newProject(t, l, strings.Replace(composeText, mode, mode+"    profiles: [night]\n", 1))
	up := []string{"-f", p.file, "--profile", "night", "up", "-d"}
	p.compose(t, up...)
	web := l.container(t, "web")
	req := p.request(web.ID)
	out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)},
		&journal{})
	if check(t, err); out.State != watcher.Updated {
		t.Fatalf("%+v", out)
	}
	p.compose(t, up...)
	if got := l.container(t, "web"); got.ID != out.ContainerID {
		t.Errorf("compose made %s of the updated %s", got.ID, out.ContainerID)
	}
	l.Remove(t, web.Name)
	l.Remove(t, l.container(t, "other").ID)
}

// container is the container of a service.
func (l *lab) container(t *testing.T, service string) container.InspectResponse {
	t.Helper()
	found, err := l.API.ContainerList(t.Context(), container.ListOptions{All: true, Filters: filters.NewArgs(
		filters.Arg("label", compose.LabelProject+"=home"), filters.Arg("label", compose.LabelService+"="+service),
	)})
	if check(t, err); len(found) != 1 {
		t.Fatalf("%d containers of %s", len(found), service)
	}
	return l.inspect(t, found[0].ID)
}

// TestUpdateOfAScaledService updates two containers of one service, one after the other.
func TestUpdateOfAScaledService(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := newProject(t, l, composeText)
	p.up(t, "--scale", "web=2", "web")
	for i, name := range []string{composed("home_web_1"), composed("home_web_2")} {
		req := p.request(l.inspect(t, name).ID)
		plan := l.plan(t, req)
		if !strings.Contains(codes(plan.Warnings), replace.WarnScaled) || (len(plan.Files) == 1) != (i == 0) {
			t.Errorf("%s: %+v, %+v", name, plan.Warnings, plan.Files)
		}
		out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
		if check(t, err); out.State != watcher.Updated {
			t.Errorf("%+v", out)
		}
		p.want(t, composeNew)
	}
}
