package update

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/internal/redact"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// evidenceTime is how long the return to the old container waits at most for what the engine knows of the new one.
	evidenceTime = 5 * time.Second
	// evidenceLines and evidenceBytes are how much of the end of a log is read.
	evidenceLines = 50
	evidenceBytes = 64 << 10
)

// evidence is what the engine knows of the new container that did not work, before that is
// removed; nil for one that was never started, or that works. What the engine does not tell is left out.
func (r *replacement) evidence(ctx context.Context, failed watcher.Step, cause error) *watcher.Evidence {
	if errors.Is(cause, watcher.ErrStop) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, evidenceTime)
	defer cancel()
	name := cmp.Or(failed.Container, r.op.Plan.Name)
	id := r.newOf(ctx, name)
	if id == "" {
		return nil
	}
	c, err := r.engine.Container(ctx, id)
	switch {
	case err != nil || c.ContainerJSONBase == nil || c.State == nil || c.Config == nil:
		return nil
	case c.State.Status == container.StateCreated && c.State.Error == "":
		return nil
	case failed.Code == watcher.ReasonInterrupted && alive(c) == nil:
		return nil
	}
	hide := hiding(c.Config)
	e := &watcher.Evidence{
		Container: name, Status: string(c.State.Status), ExitCode: c.State.ExitCode, Error: hide(c.State.Error),
	}
	if restarted(c) {
		e.Status += ", restarted"
		if code, known := r.engine.LastExit(ctx, c); known {
			e.Status, e.ExitCode = string(container.StateRestarting), code
		}
	}
	if c.State.OOMKilled {
		e.Error = strings.TrimSpace("it was killed since it had no memory left. " + e.Error)
	}
	if c.State.Health != nil && c.State.Health.Status != container.NoHealthcheck {
		e.Status += ", " + string(c.State.Health.Status)
		for _, check := range c.State.Health.Log {
			e.Health = append(e.Health, watcher.HealthResult{
				At: sdk.TimeOf(check.End), ExitCode: check.ExitCode, Output: hide(check.Output),
			})
		}
	}
	log, err := lastLines(ctx, r.engine, id, c.Config.Tty)
	if err != nil {
		log = "The log could not be read: " + err.Error()
	}
	e.Log = hide(log)
	return e
}

// newOf is the id of the container that took the place of the one called name; "" for none.
func (r *replacement) newOf(ctx context.Context, name string) string {
	old, known := r.old[name]
	if !known || old.ContainerJSONBase == nil {
		return ""
	}
	if id := r.created[old.ID]; id != "" || r.files.Command == nil {
		return id
	}
	c := r.files.Command // which failed before it said what it had created
	found, err := r.slot(ctx, map[string]string{
		compose.LabelProject: c.Project, compose.LabelService: c.Service, compose.LabelNumber: r.files.Number,
	})
	found = slices.DeleteFunc(found, func(s container.Summary) bool { return s.ID == old.ID })
	if err != nil || len(found) != 1 {
		return ""
	}
	return found[0].ID
}

// lastLines returns the end of what a container wrote, the standard error too.
func lastLines(ctx context.Context, e *engine.Engine, id string, tty bool) (string, error) {
	end := &compose.Tail{Limit: evidenceBytes}
	err := e.LastLines(ctx, id, evidenceLines, tty, end)
	text := end.String()
	if end.Cut { // a part of a line may be a part of a secret, which would not be found
		_, text, _ = strings.Cut(text, "\n")
	}
	return text, err
}

var (
	// secretName is what settings are called whose values are for nobody to see.
	secretName = lazyregexp.New(`(?i)pass|pwd|secret|token|key|auth|cred|private|salt|dsn`)
	// namedSecret is a secret that a program says with its name, as in password=x, {"token": "x"} and Authorization:
	// Basic x: the second group, which begins with the quotation mark, if any. A parser's "unexpected token: x" is
	// matched without groups. Where the name means other things too (pwd=/, pass: 3), likelySecret has it.
	namedSecret = lazyregexp.New(`(?i)unexpected[ \t]+token|` +
		`((?:pass(?:word|wd|phrase)|[_.-](?:pass|pwd)|secret|token|authorization|credentials?|` +
		`(?:api|access|account|encryption|master|private|secret|session|signing)[_-]?key)` +
		`\\*["']?[ \t]*(?:=[=>]?|:=?)[ \t]*(?:(?:basic|bearer|digest|token)[ \t]+)?)` +
		`("(?:[^"\\]|\\.)+|'[^']+|\\+"[^"\\]+|[^\s"',;&]+)`)
	likelySecret = lazyregexp.New(`(?i)(bearer\s+|(?:pass|pwd)["']?\s*[=:]\s*["']?)([^\s"',;&]{8,})`)
	// remark is what is said of a secret in its place, as in "password: must not be empty", and what is none.
	remark = lazyregexp.New(`(?i)^(?:is|was|are|has|must|should|can|cannot|may|not|no|none|nil|null|undefined|true|` +
		`false|yes|ok|set|unset|empty|missing|required|expected|unknown|invalid|incorrect|wrong|malformed|mismatch|` +
		`expired|rejected|refused|denied|failed|unauthorized|forbidden|[][{}()<>|*…-]+|:.*)[.!]?$`)
	secretInURL = lazyregexp.New(`(://[^/\s:@]*:)([^/\s@]+)@`)
)

// hiding returns what takes the secrets of a container out of a text: the values of its variables and
// arguments that are called so, and what looks like one.
func hiding(c *container.Config) func(string) string {
	known := redact.New(secretsOf(slices.Concat(c.Env, c.Entrypoint, c.Cmd))...)
	return func(text string) string {
		text = compose.WithoutColors(strings.ToValidUTF8(text, "\uFFFD"))
		text = secretInURL().ReplaceAllString(known.Blank(text), "${1}"+redact.Blank+"@")
		text = namedSecret().ReplaceAllStringFunc(text, hideNamed)
		return likelySecret().ReplaceAllString(text, "${1}"+redact.Blank)
	}
}

// hideNamed takes the secret out of a match of namedSecret, however short it is, unless it is a remark.
func hideNamed(match string) string {
	groups := namedSecret().FindStringSubmatch(match)
	secret := strings.TrimLeft(groups[2], `\"'`)
	if secret == "" || remark().MatchString(secret) {
		return match
	}
	return strings.TrimSuffix(match, secret) + redact.Blank
}

// secretsOf returns the values of "NAME=value", and those that follow an option, which
// are secret by their name.
func secretsOf(settings []string) []string {
	var all []string
	option := ""
	for _, s := range settings {
		name, value, has := strings.Cut(s, "=")
		if !has && option != "" {
			name, value = option, s
		}
		if option = ""; !has && strings.HasPrefix(s, "-") {
			option = s
		}
		for _, in := range secretInURL().FindAllStringSubmatch(value, -1) {
			all = append(all, in[2])
		}
		if secretName().MatchString(name) {
			all = append(all, value)
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "true" || s == "false" })
}
