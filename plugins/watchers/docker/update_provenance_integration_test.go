package docker

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/update"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// claims are labels by which an image makes its container look like one of a compose file.
func claims(file string) map[string]string {
	return map[string]string{
		"dogwatch.update": "auto", "dogwatch.update.minage": "0", "dogwatch.update.acknowledge": replace.BlockData,
		"dogwatch.probe.http": "http://192.0.2.1/", "dogwatch.hook.pre": "touch /tmp/owned",
		replace.HelperLabel: "op1", compose.LabelFile: file, compose.LabelFileWUD: file, "stack.file": file,
		compose.LabelProject: "home", compose.LabelService: "web", compose.LabelNumber: "1", compose.LabelHash: strings.Repeat("a", 64),
		"com.docker.compose.project.config_files": file, "com.docker.compose.project.working_dir": filepath.Dir(file),
		"com.docker.compose.project.environment_file": filepath.Join(filepath.Dir(file), "stolen.env"),
		"com.docker.compose.depends_on":               "db:service_started:true",
	}
}

// image makes an image with labels.
func (l *lab) image(t *testing.T, ref string, labels map[string]string) string {
	t.Helper()
	var changes []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		changes = append(changes, `LABEL "`+name+`"="`+labels[name]+`"`)
	}
	return l.Image(t, ref, changes...)
}

// TestLabelsOfAnImageDoNothing: an image with labels of Dogwatch and compose is run plainly. Whatever
// the watcher's options allow, no file is changed or read, nothing runs in the container, and the
// update does not make the labels those of whoever created it.
func TestLabelsOfAnImageDoNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := newProject(t, l, strings.ReplaceAll(composeText, "app:1", "evil:1"))
	want, err := os.ReadFile(p.file)
	check(t, err)
	check(t, os.WriteFile(filepath.Join(filepath.Dir(p.file), "stolen.env"), []byte("TAG=1\n"), 0o600))
	said := claims(p.file)
	old := l.image(t, "evil:1", said)
	l.new = l.Image(t, "evil:2")
	for name, c := range map[string]struct {
		option string
		asked  *watcher.ComposeRules
		block  string
	}{
		"edit":     {update.ComposeEdit, nil, ""},
		"command":  {update.ComposeCommand, nil, ""},
		"off":      {"", nil, ""},
		"asked":    {update.ComposeRequest, &watcher.ComposeRules{Label: "stack.file", Command: true}, ""},
		"required": {update.ComposeRequest, &watcher.ComposeRules{Label: "stack.file", Required: true}, watcher.BlockComposeAbsent},
	} {
		t.Run(name, func(t *testing.T) {
			d := watch(t, Options{Connection: Connection{Socket: l.Host}, Update: true, Hooks: true, Compose: c.option})
			d.updater.Liveness = soon
			id := l.make(t, "web", "evil:1", shape{}, true)
			defer l.Remove(t, "web")
			if got := list(t, d)["web"].ImageLabels; !slices.Equal(got, slices.Sorted(maps.Keys(said))) {
				t.Errorf("the image brings %v", got)
			}
			req := l.request(id)
			req.Image.Reference, req.Rules.Compose = "docker.io/library/evil:2", c.asked
			plan, err := d.Plan(t.Context(), req)
			check(t, err)
			if got := codes(plan.Blocks); got != c.block || len(plan.Files) > 0 {
				t.Errorf("blocked by %q, files %v", got, plan.Files)
			}
			for _, s := range plan.Steps {
				said := strings.Contains(s.Text, "compose") || strings.Contains(s.Text, "192.0.2.1")
				if said || s.Code == watcher.StepEdit || s.Code == watcher.StepHook {
					t.Errorf("a step of the image: %+v", s)
				}
			}
			out, err := d.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
			check(t, err)
			if now, err := os.ReadFile(p.file); err != nil || string(now) != string(want) {
				t.Errorf("the compose file was changed: %v\n%s", err, now)
			}
			if c.block != "" {
				l.only(t, "web", old)
				return
			}
			if out.State != watcher.Updated {
				t.Errorf("%+v", out)
			}
			l.only(t, "web", l.new)
			if left := l.inspect(t, "web").Config.Labels; len(left) != 0 {
				t.Errorf("labels of the old image are the container's now: %v", left)
			}
		})
	}
}

// TestIntruderIsNoSibling: of two containers with the same labels, one has them from its image.
func TestIntruderIsNoSibling(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := newProject(t, l, composeText)
	web := p.make(t)
	said := p.labels()
	said["com.docker.compose.depends_on"] = "web:service_started:true"
	l.image(t, "evil:1", said)
	l.make(t, "intruder", "evil:1", shape{}, true)
	for _, fresh := range []bool{true, false} {
		plan := l.plan(t, p.request(web))
		if got := codes(plan.Warnings); strings.Contains(got, replace.WarnScaled) || len(plan.Dependents) > 0 {
			t.Errorf("known before: %v: warnings %v, dependents %v", !fresh, plan.Warnings, plan.Dependents)
		}
		list(t, l.docker) // which gets to know the images
	}
	delete(said, "com.docker.compose.depends_on")
	l.make(t, "sibling", "app:1", shape{Config: container.Config{Labels: said}}, true)
	said["com.docker.compose.service"], said["com.docker.compose.depends_on"] = "other", "web:service_started:true"
	l.make(t, "follower", "app:1", shape{Config: container.Config{Labels: said}}, true)
	plan := l.plan(t, p.request(web))
	if len(plan.Dependents) != 1 || plan.Dependents[0].Name != "follower" {
		t.Errorf("dependents %v", plan.Dependents)
	}
	for _, w := range plan.Warnings {
		named := strings.Contains(w.Text, "sibling") && !strings.Contains(w.Text, "intruder")
		if w.Code == replace.WarnScaled && !named {
			t.Errorf("%s", w.Text)
		}
	}
	if !strings.Contains(codes(plan.Warnings), replace.WarnScaled) {
		t.Errorf("no sibling: %v", plan.Warnings)
	}
}

// TestImageThatComposeBuilt: Compose 2 writes project, service and its version into what it builds
// (Compose 1 is told to here). The container belongs to its stack all the same, and stays in it.
func TestImageThatComposeBuilt(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	text := `version: "3.8"
services:
  web:
    image: built:1
    network_mode: none
    stop_grace_period: 1s
`
	p := newProject(t, l, text+`    build:
      context: .
      labels:
        com.docker.compose.project: home
        com.docker.compose.service: web
        com.docker.compose.version: 2.40.0
        dogwatch.update: auto
`)
	p.write(t, filepath.Join(filepath.Dir(p.file), "Dockerfile"), "FROM app:1\n")
	p.compose(t, "-f", p.file, "build")
	p.write(t, p.file, text) // as it is where the image is only run
	p.up(t, "web")
	l.new = l.Image(t, "built:2")
	c := list(t, l.docker)[composed("home_web_1")]
	for name, brought := range map[string]bool{
		compose.LabelProject: true, compose.LabelService: true, "dogwatch.update": true, compose.LabelHash: false, compose.LabelNumber: false,
	} {
		if slices.Contains(c.ImageLabels, name) != brought {
			t.Errorf("the image brings %v", c.ImageLabels)
		}
	}
	req := p.request(c.ID)
	req.Image.Reference = "docker.io/library/built:2"
	plan := l.plan(t, req)
	if len(plan.Files) != 1 {
		t.Errorf("files %v, warnings %v", plan.Files, plan.Warnings)
	}
	out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
	if check(t, err); out.State != watcher.Updated {
		t.Fatalf("%+v", out)
	}
	p.want(t, strings.Replace(text, "built:1", "built:2", 1))
	labels := l.inspect(t, composed("home_web_1")).Config.Labels
	if labels[compose.LabelProject] != "home" || labels[compose.LabelService] != "web" || labels["dogwatch.update"] != "" {
		t.Errorf("the new container has the labels %v", labels)
	}
	p.up(t, "web")
	if got := l.inspect(t, composed("home_web_1")); got.ID != out.ContainerID {
		t.Errorf("compose made %s of the updated %s", got.ID, out.ContainerID)
	}
}

// TestProvenanceCostsNoRequest: whose the labels of a project's other containers are is known from
// the listing, and a plan inspects no image for it.
func TestProvenanceCostsNoRequest(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := newProject(t, l, composeText)
	web := p.make(t)
	count := func() (n int64) {
		var calls atomic.Int64
		l.docker = l.behind(t, func(w http.ResponseWriter, r *http.Request, engine http.Handler) {
			calls.Add(1)
			engine.ServeHTTP(w, r)
		})
		list(t, l.docker)
		before := calls.Load()
		l.plan(t, l.request(web))
		return calls.Load() - before
	}
	alone := count()
	labels := p.labels()
	for i := range 5 {
		labels[compose.LabelNumber] = strconv.Itoa(i + 2)
		labels["com.docker.compose.depends_on"] = "web:service_started:true"
		l.make(t, "other"+labels[compose.LabelNumber], "app:1", shape{Config: container.Config{Labels: labels}}, true)
	}
	if got := count(); got != alone+5 {
		t.Errorf("%d requests alone, %d with five others of the project", alone, got)
	}
}
