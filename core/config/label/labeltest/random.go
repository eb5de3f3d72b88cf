package labeltest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/sdk"
)

// foreign are labels of other tools, and those of Compose.
var foreign = []string{
	"diun.enable", "diun.watch_repo", "diun.notify_on", "diun.include_tags", "diun.exclude_tags",
	"diun.hub_link", "diun.hub_tpl",
	"dd.watch", "dd.tag.include", "dd.trigger.include", "dd.compose.file", "dd.action.auto",
	"dd.action.include", "dd.updatePolicy.skipTags",
	"dd.updatePolicy.maturityMode", "dd.updatePolicy.maturityMinAgeDays", "dd.rollback.window",
	"com.centurylinklabs.watchtower.enable", "com.centurylinklabs.watchtower.no-pull",
	"com.centurylinklabs.watchtower.monitor-only",
	"com.centurylinklabs.watchtower.cooldown-delay", "com.centurylinklabs.watchtower.stop-signal",
	"com.centurylinklabs.watchtower.lifecycle.pre-update", "com.centurylinklabs.watchtower",
	"keel.sh/policy", "keel.sh/approvals", "keel.sh/releaseNotes", "keel.sh/trigger",
	"wud.watch.delay", "wud.tag.delay",
	"com.docker.compose.project", "com.docker.compose.service", "com.docker.compose.depends_on",
	"com.docker.compose.config-hash",
	"com.docker.compose.container-number", "com.docker.compose.project.config_files",
	"com.docker.compose.project.working_dir",
	"com.docker.stack.namespace", "io.podman.compose.project", "org.opencontainers.image.version", "",
}

// hostile are values that something might stumble over.
var hostile = []string{
	"", " ", "true", "false", "auto", "notify", "approve", "all", "patch", "major-only", "digest", "0", "7d",
	"99999w", "-1", "1e999", "NaN",
	"always", "none", "daily 02:00-05:00", "^1", "(", "(?:.?){1000}", "a=>b", "$1 => ${x}",
	"http://169.254.169.254/", "http://:80@evil/",
	":80", ":80/x", ":65536", "//evil:80", "\\\\evil\\x", "file:///etc/passwd", "javascript:alert(1)",
	"/etc/passwd", "../../x",
	"\x00", "\xff\xfe", "\u202e\u2066", "${container.labels}", "${(", "{{ .Tag", `["sh","-c","id"]`, "SIGKILL",
	"smtp.main:minor, x", "\r\nX: y",
}

// Container returns a container with labels at random, known ones and mutated ones, some of
// which are its image's.
func Container(r *rand.Rand) sdk.Container {
	c := sdk.Container{ID: "1", Name: "web", Watcher: "local", Labels: map[string]string{}}
	for range r.IntN(12) {
		name := name(r)
		c.Labels[name] = value(r, name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Labels)) {
		if r.IntN(2) == 0 {
			c.ImageLabels = append(c.ImageLabels, name)
		}
	}
	if r.IntN(20) == 0 {
		c.ImageLabels = append(c.ImageLabels, "no.such.label")
	}
	return c
}

// WithoutImage returns a container without the labels of its image.
func WithoutImage(c sdk.Container) sdk.Container {
	c.Labels, c.ImageLabels = label.Of(c).Operator, nil
	return c
}

func name(r *rand.Rand) string {
	known := label.Names()
	name := foreign[r.IntN(len(foreign))]
	if r.IntN(3) > 0 {
		name = []string{label.Prefix, label.Prefix, label.WUDPrefix}[r.IntN(3)] + known[r.IntN(len(known))]
	}
	if r.IntN(5) == 0 {
		return mutated(r, name)
	}
	return name
}

// value returns what the label may have, or something else.
func value(r *rand.Rand, name string) string {
	v := hostile[r.IntN(len(hostile))]
	_, short, _ := strings.Cut(name, ".")
	if fit, known := values[short]; known && r.IntN(2) == 0 {
		v = fit
	}
	switch r.IntN(12) {
	case 0:
		return mutated(r, v)
	case 1:
		return strings.Repeat(v+"x", 1+r.IntN(4000))
	}
	return v
}

// mutated changes some bytes.
func mutated(r *rand.Rand, text string) string {
	b := []byte(text + "x")
	for range 1 + r.IntN(3) {
		switch i := r.IntN(len(b)); r.IntN(3) {
		case 0:
			b[i] = byte(r.IntN(256))
		case 1:
			b = slices.Insert(b, i, byte(r.IntN(256)))
		default:
			b = b[:i+1]
		}
	}
	return string(b)
}
