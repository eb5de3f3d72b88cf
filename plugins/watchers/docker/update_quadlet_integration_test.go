package docker

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/quadlet"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const quadletText = `# the web
[Unit]
Description=Image=none

[Container]
Image=localhost/app:0
; the last one counts
Image=localhost/app:1
Environment=TOKEN=geheimnis
`

var quadletNew = strings.Replace(quadletText, "app:1", "app:2", 1)

// unit is a container that systemd makes of a quadlet.
type unit struct {
	*lab
	*dockertest.Systemd
	file string
}

func newUnit(t *testing.T) *unit {
	t.Helper()
	l := newPodmanLab(t)
	u := &unit{lab: l, file: filepath.Join(t.TempDir(), "web.container")}
	u.write(t, u.file, quadletText)
	u.Systemd = l.StartSystemd(t, u.file)
	l.docker.updater.Quadlets, l.docker.updater.Bus = []string{filepath.Dir(u.file)}, u.Bus
	return u
}

func (u *unit) write(t *testing.T, file, text string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(file), 0o755))
	check(t, os.WriteFile(file, []byte(text), 0o640))
}

// agrees checks that one container runs an image, and that the file and the unit have it.
func (u *unit) agrees(t *testing.T, text, reference, image string) {
	t.Helper()
	u.only(t, "systemd-web", image)
	if got, err := os.ReadFile(u.file); err != nil || string(got) != text {
		t.Errorf("the quadlet is\n%s\nwant\n%s%v", got, text, err)
	}
	if got := u.Image(); got != reference {
		t.Errorf("the unit has the image %s, want %s", got, reference)
	}
}

// TestQuadletUpdate writes the image into the quadlet, and returns from one that does not start or that ends.
func TestQuadletUpdate(t *testing.T) {
	t.Parallel()
	u := newUnit(t)
	for tag, change := range map[string]string{"fails": `ENTRYPOINT ["/missing"]`, "ends": `CMD ["crash", "TOKEN"]`} {
		req := u.podmanRequest(t, "systemd-web")
		req.Image = watcher.TargetImage{Reference: "localhost/app:" + tag, ID: u.lab.Daemon.Image(t, "localhost/app:"+tag, change)}
		out := u.carryOut(t, req, "op1")
		if out.State != watcher.RolledBack || strings.Contains(out.Reason.Text, "geheimnis") {
			t.Errorf("%s: %+v", tag, out)
		}
		t.Log(out.Reason)
		u.agrees(t, quadletText, podmanOld, u.old)
	}
	u.Calls()
	req := u.podmanRequest(t, "systemd-web")
	plan := u.plan(t, req)
	if len(plan.Files) != 1 || plan.Files[0].Line != 8 || !strings.Contains(plan.Files[0].Diff, "+Image=localhost/app:2") ||
		strings.Contains(plan.Files[0].Diff, "geheimnis") {
		t.Errorf("files: %+v", plan.Files)
	}
	if out := u.carryOut(t, req, "op2"); out.State != watcher.Updated || len(out.Warnings) > 0 {
		t.Errorf("%+v", out)
	}
	u.agrees(t, quadletNew, podmanNew, u.new)
	if calls := u.Calls(); calls != "reload restart" {
		t.Errorf("systemd was asked for %q", calls)
	}
}

// TestQuadletRefuses what it cannot edit, and a file that was changed meanwhile.
func TestQuadletRefuses(t *testing.T) {
	t.Parallel()
	u := newUnit(t)
	defer u.only(t, "systemd-web", u.old)
	dir := filepath.Dir(u.file)
	for name, c := range map[string]struct {
		text, drop, code, says string
		set                    func()
	}{
		"drop-in":     {drop: "web.container.d/10.conf", code: quadlet.Dropin, says: "10.conf"},
		"for all":     {drop: "container.d/10.conf", code: quadlet.Dropin, says: "10.conf"},
		"image unit":  {text: "Image=web.image", code: quadlet.Kind, says: "web.image"},
		"build":       {text: "Image=web.build", code: quadlet.Kind, says: "web.build"},
		"continued":   {text: "Image=localhost/\\\napp:1", code: compose.LayoutUnsupported, says: "one line"},
		"other image": {text: "Image=localhost/db:1", code: compose.ImageDiffers, says: "localhost/db:1"},
		"other name":  {text: "Image=localhost/app:1\nContainerName=db", code: quadlet.Name, says: "db"},
		"no image":    {text: "Exec=x", code: compose.ImageMissing, says: "[Container]"},
		"generated":   {set: func() { u.SetSource("") }, code: replace.BlockPodmanUnit, says: "podman generate systemd"},
		"a pod":       {set: func() { u.SetSource(filepath.Join(dir, "web.pod")) }, code: quadlet.Kind, says: ".container"},
		"a template":  {set: func() { u.SetSource(filepath.Join(dir, "web@.container")) }, code: quadlet.Template, says: "template"},
		"not mounted": {set: func() { u.SetSource(filepath.Join(dir, "x/web.container")) }, code: compose.FileMissing, says: "mount"},
		"elsewhere":   {set: func() { u.SetSource("/etc/passwd") }, code: replace.BlockQuadletOff, says: "quadlets"},
		"off":         {set: func() { u.docker.updater.Quadlets = nil }, code: replace.BlockQuadletOff, says: "quadlets"},
		"no bus":      {set: func() { u.docker.updater.Bus = "unix:path=/missing" }, code: replace.BlockQuadletBus, says: "bus"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.text != "" {
				u.write(t, u.file, "[Container]\n"+c.text+"\n[Install]\nImage=localhost/app:1\n")
			}
			if c.drop != "" {
				u.write(t, filepath.Join(dir, c.drop), "[Container]\nImage=localhost/app:1\n")
				defer os.Remove(filepath.Join(dir, c.drop))
			}
			if c.set != nil {
				c.set()
			}
			u.refused(t, u.podmanRequest(t, "systemd-web"), c.code, c.says)
			u.write(t, u.file, quadletText)
			u.SetSource(u.file)
			u.docker.updater.Bus, u.docker.updater.Quadlets = u.Bus, []string{dir}
		})
	}
	req := u.podmanRequest(t, "systemd-web")
	plan := u.plan(t, req)
	u.write(t, u.file, quadletText+"# mine\n")
	out, err := u.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
	if check(t, err); out.State != watcher.Unchanged || out.Reason.Code != replace.BlockChanged {
		t.Errorf("changed since the plan: %+v", out)
	}
	u.agrees(t, quadletText+"# mine\n", podmanOld, u.old)
}

// TestQuadletAgreesAfterAnInterruption stops the host at every call of the journal: file, unit and container agree.
func TestQuadletAgreesAfterAnInterruption(t *testing.T) {
	t.Parallel()
	u := newUnit(t)
	for call, updated := 1, false; !updated; call++ {
		req := u.podmanRequest(t, "systemd-web")
		op := watcher.Operation{ID: "op1", Request: req, Plan: u.plan(t, req)}
		j := &journal{failAt: call, fail: errGone}
		out, err := u.docker.Apply(t.Context(), op, j)
		if err != nil {
			op.Steps = j.steps
			again := &journal{steps: slices.Clone(j.steps)}
			out, err = u.docker.Recover(t.Context(), op, again)
			check(t, err)
			op.Steps = again.steps
			if second, err := u.docker.Recover(t.Context(), op, &journal{}); err != nil || second.State != out.State {
				t.Errorf("call %d: recovered again: %+v, %v", call, second, err)
			}
		}
		t.Logf("call %d: %s (%s)", call, out.State, out.Reason.Code)
		if updated = out.State == watcher.Updated; updated {
			u.agrees(t, quadletNew, podmanNew, u.new)
		} else {
			u.agrees(t, quadletText, podmanOld, u.old)
		}
		if call > 20 {
			t.Fatal("never updated")
		}
	}
}
