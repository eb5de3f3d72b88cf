package docker

import (
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestUpdateKeepsTheEvidenceOfAFailure: what the new container said before it was removed is
// in the outcome, without the secrets of the container.
func TestUpdateKeepsTheEvidenceOfAFailure(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	const secret = "hunter2hunter2"
	for name, c := range map[string]struct {
		changes []string
		tty     bool
		status  []string
		code    int
		again   bool   // whether the engine restarts it
		says    string // in the error, the log or the output of a check
	}{
		"ends": {[]string{`CMD ["crash", "DB_PASSWORD"]`}, false, []string{"exited"}, 3, false,
			"cannot log in with ***"},
		"ends-tty": {[]string{`CMD ["crash", "DB_PASSWORD"]`}, true, []string{"exited"}, 3, false,
			"cannot log in with ***"},
		"restarts": {[]string{`CMD ["falter"]`}, false, []string{"restarting"}, 3, true, "cannot begin"},
		"unhealthy": {[]string{`HEALTHCHECK --interval=200ms --timeout=5s --retries=1 CMD ["/main", "health", "u"]`},
			false, []string{"running, unhealthy"}, 0, false, "not today"},
		"cannot-run": {[]string{`ENTRYPOINT ["/missing"]`}, false, []string{"created", "exited"}, 127, false, "/missing"},
		"log-silent": {[]string{`CMD ["get", "127.0.0.1:1"]`}, false, []string{"exited"}, 1, false,
			"connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			l.new = l.Image(t, "app:bad-"+name, c.changes...)
			config := container.Config{Env: []string{"DB_PASSWORD=" + secret}, Tty: c.tty}
			host := container.HostConfig{}
			if c.again {
				host.RestartPolicy.Name = container.RestartPolicyAlways
			}
			id := l.make(t, "web", "app:1", shape{Config: config, Host: host}, true)
			defer l.Remove(t, "web")
			req := l.request(id)
			req.Rules.Health.Window = 5 * time.Second
			if c.again {
				req.Rules.Health.Interval = 2 * time.Second // so that it runs again when it is looked at
			}
			out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)},
				&journal{})
			check(t, err)
			e := out.Evidence
			if out.State != watcher.RolledBack || e == nil {
				t.Fatalf("%+v", out)
			}
			known := false
			for _, s := range c.status {
				known = known || s == e.Status
			}
			text := e.Error + e.Log
			for _, h := range e.Health {
				text += h.Output
			}
			if c.again && out.Reason.Text != "the new container ended with exit code 3 and the engine restarted it" {
				t.Errorf("the reason is %q", out.Reason.Text)
			}
			if e.Container != "web" || !known || e.ExitCode != c.code || !strings.Contains(text, c.says) {
				t.Errorf("the evidence is %+v", e)
			}
			if strings.Contains(text, secret) || strings.Contains(text, "\x1b") {
				t.Errorf("it has a secret, or colors: %q", text)
			}
			if name == "ends" && (strings.Count(e.Log, "\n") != 50 || strings.Contains(e.Log, "line 9\n")) {
				t.Errorf("the log is not its last 50 lines: %q", e.Log)
			}
			l.only(t, "web", l.old)
		})
	}
}

// TestUpdateReturnsThoughTheLogHangs: an engine that does not give the log does not keep the
// old container from running again.
func TestUpdateReturnsThoughTheLogHangs(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.new = l.Image(t, "app:bad", `CMD ["crash", "X"]`)
	id := l.make(t, "web", "app:1", shape{Host: container.HostConfig{LogConfig: container.LogConfig{Type: "none"}}},
		true)
	req := l.request(id)
	out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)},
		&journal{})
	check(t, err)
	if out.Evidence == nil || out.Evidence.ExitCode != 3 ||
		!strings.HasPrefix(out.Evidence.Log, "The log could not be read: ") {
		t.Errorf("%+v, evidence %+v", out, out.Evidence)
	}
	l.only(t, "web", l.old)
}
