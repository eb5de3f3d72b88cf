package labels

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/sdk"
)

// container is one as a watcher lists it.
func container(name, image string, labels ...string) sdk.Container {
	c := sdk.Container{ID: "id-" + name, Name: name, Labels: map[string]string{}}
	c.Image.Name, c.Image.Tag.Value, _ = strings.Cut(image, ":")
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		c.Labels[key] = value
	}
	return c
}

// contains asserts that a text has all parts.
func contains(t *testing.T, about, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %q lacks %q", about, text, part)
		}
	}
}

// TestEveryLabel sets each label under both prefixes and sees what it does.
func TestEveryLabel(t *testing.T) {
	for _, c := range []struct {
		label, value string
		read         func(sdk.Container, Labels) string
	}{
		{"tag.include", `^1\.`, func(c sdk.Container, _ Labels) string { return c.IncludeTags }},
		{"tag.exclude", `-rc`, func(c sdk.Container, _ Labels) string { return c.ExcludeTags }},
		{"tag.transform", `^v(.*)$ => $1`, func(c sdk.Container, _ Labels) string { return c.TransformTags }},
		{"link.template", "https://r.example/${major}", func(c sdk.Container, _ Labels) string {
			return c.LinkTemplate
		}},
		{"display.name", "My app", func(c sdk.Container, _ Labels) string { return c.DisplayName }},
		{"display.icon", "si:nginx", func(c sdk.Container, _ Labels) string { return c.DisplayIcon }},
		{"trigger.include", "smtp.main:minor", func(c sdk.Container, _ Labels) string { return c.TriggerInclude }},
		{"trigger.exclude", "docker.local", func(c sdk.Container, _ Labels) string { return c.TriggerExclude }},
		{"watch", "false", func(_ sdk.Container, p Labels) string {
			return map[bool]string{false: "false"}[p.Watch]
		}},
		{"watch.digest", "true", func(c sdk.Container, _ Labels) string {
			return map[bool]string{true: "true"}[c.Image.Digest.Watch]
		}},
		{"tag.prerelease", "true", func(_ sdk.Container, p Labels) string {
			return map[bool]string{true: "true"}[p.rules.Prerelease]
		}},
	} {
		for _, prefix := range []string{"dogwatch.", "wud."} {
			found := container("web", "nginx:1.25.0", prefix+c.label+"="+c.value)
			p := Read(label.Set{Operator: found.Labels}, Options{WatchByDefault: true})
			p.Apply(&found)
			if got := c.read(found, p); got != c.value {
				t.Errorf("%s%s=%s is read as %q", prefix, c.label, c.value, got)
			}
			if len(p.Fatal)+len(p.Wrong)+len(p.Warnings) > 0 {
				t.Errorf("%s%s=%s: complaints %q %q %q", prefix, c.label, c.value, p.Fatal, p.Wrong, p.Warnings)
			}
			if want := (Rule{
				Name: c.label, Value: c.value, Source: "label " + prefix + c.label,
			}); !slices.Contains(p.Sources, want) {
				t.Errorf("sources %v lack %v", p.Sources, want)
			}
		}
	}
}

func TestLabelDefaults(t *testing.T) {
	found := container("web", "nginx:latest")
	p := Read(label.Set{}, Options{WatchByDefault: true})
	p.Apply(&found)
	if found.DisplayName != "web" || found.DisplayIcon != "mdi:docker" || !p.Watch || !found.Image.Digest.Watch ||
		found.Image.Tag.Semver {
		t.Errorf("defaults are %+v, watch %t", found, p.Watch)
	}
}

// TestEmptyLabelsCountAsUnset, the divergence of that name.
func TestEmptyLabelsCountAsUnset(t *testing.T) {
	for _, name := range label.Names() {
		for _, value := range []string{"", "  ", "\t\n"} {
			p := Read(label.Set{Operator: map[string]string{"dogwatch." + name: value}}, Options{WatchByDefault: true})
			if !p.Watch || len(p.Sources)+len(p.Fatal)+len(p.Wrong)+len(p.Warnings) > 0 {
				t.Errorf("empty %s: %+v", name, p)
			}
		}
	}
	p := Read(label.Set{Operator: map[string]string{"dogwatch.tag.include": " ", "wud.tag.include": "^1"}}, Options{WatchByDefault: true})
	if p.rules.Include != "^1" {
		t.Errorf("an empty native label hides the other: %q", p.rules.Include)
	}
}

func TestNativeLabelWins(t *testing.T) {
	p := Read(label.Set{
		Operator: map[string]string{
			"wud.tag.include": "^2", "dogwatch.tag.include": "^1", "wud.watch": "false", "dogwatch.watch": "true",
		},
	}, Options{})
	if p.rules.Include != "^1" || !p.Watch {
		t.Errorf("include %q, watch %t", p.rules.Include, p.Watch)
	}
}

func TestWatchLabel(t *testing.T) {
	for _, c := range []struct {
		value           string
		byDefault, want bool
		wrong           bool
	}{
		{"", true, true, false}, {"", false, false, false},
		{"true", false, true, false}, {"TRUE", false, true, false}, {" yes ", false, true, false}, {"1", false, true, false},
		{"false", true, false, false}, {"no", true, false, false}, {"0", true, false, false}, {"Off", true, false, false},
		{"ture", true, true, true}, {"ture", false, true, true}, // a bad label never hides the container
	} {
		p := Read(label.Set{Operator: map[string]string{"dogwatch.watch": c.value}}, Options{WatchByDefault: c.byDefault})
		if p.Watch != c.want || len(p.Wrong) > 0 != c.wrong {
			t.Errorf("%q with default %t: watched %t, wrong %q", c.value, c.byDefault, p.Watch, p.Wrong)
		}
		for _, text := range p.Wrong {
			contains(t, c.value, text, "label dogwatch.watch: ", "true or false", "ture")
		}
	}
}

// TestDigestLabelIsHonouredEverywhere: three states, whatever the registry and the kind of tag.
func TestDigestLabelIsHonouredEverywhere(t *testing.T) {
	for _, c := range []struct {
		image, label string
		want         bool
	}{
		{"nginx:latest", "", true}, {"nginx:latest", "true", true}, {"nginx:latest", "false", false},
		{"nginx:1.25.0", "", false}, {"nginx:1.25.0", "true", true}, {"nginx:1.25.0", "false", false},
		{"ghcr.io/a/b:latest", "false", false}, {"ghcr.io/a/b:3", "true", true}, {"ghcr.io/a/b:3", "maybe", false},
	} {
		found := container("web", c.image, "wud.watch.digest="+c.label)
		p := Read(label.Set{Operator: found.Labels}, Options{WatchByDefault: true})
		p.Apply(&found)
		if found.Image.Digest.Watch != c.want {
			t.Errorf("%s with %q: watched %t, want %t", c.image, c.label, found.Image.Digest.Watch, c.want)
		}
	}
}

// TestBadLabelsNameTheLabel: each becomes an error that names the exact label, and nothing else.
func TestBadLabelsNameTheLabel(t *testing.T) {
	long := strings.Repeat("x", 20<<10)
	for _, c := range []struct {
		label, value string
		fatal        bool // no requests to registries
		parts        []string
	}{
		{"dogwatch.tag.include", "[", true, []string{`label dogwatch.tag.include: tag include pattern "["`, "matching bracket"}},
		{"wud.tag.include", "(?<=", true, []string{"label wud.tag.include: "}},
		{"dogwatch.tag.exclude", "*", true, []string{`label dogwatch.tag.exclude: tag exclude pattern "*"`}},
		{"wud.tag.transform", "( => $1", true, []string{`label wud.tag.transform: tag transform pattern "( => $1"`}},
		{"dogwatch.tag.include", long, true, []string{"label dogwatch.tag.include: "}},
		{"dogwatch.link.template", "https://x/${", false, []string{"label dogwatch.link.template: "}},
		{"wud.link.template", "${mayor}/${major}", false,
			[]string{`label wud.link.template: unknown name "mayor"`, "did you mean major? (known: container, major"}},
		{"dogwatch.link.template", long, false, []string{"label dogwatch.link.template: "}},
		{"dogwatch.watch.digest", "sometimes", false, []string{"label dogwatch.watch.digest: ", "sometimes"}},
		{"wud.tag.prerelease", "si", false, []string{"label wud.tag.prerelease: "}},
	} {
		p := Read(label.Set{Operator: map[string]string{c.label: c.value}}, Options{WatchByDefault: true})
		complaints := p.Wrong
		if c.fatal {
			complaints = p.Fatal
		}
		if len(p.Fatal)+len(p.Wrong) != 1 || len(complaints) != 1 {
			t.Errorf("%s=%.40s: fatal %q, wrong %q", c.label, c.value, p.Fatal, p.Wrong)
			continue
		}
		contains(t, c.label, complaints[0], c.parts...)
		if len(complaints[0]) > 1000 {
			t.Errorf("%s: a complaint of %d characters", c.label, len(complaints[0]))
		}
		found := container("web", "nginx:1.25.0")
		if p.Apply(&found); !found.Image.Tag.Semver || !p.Watch {
			t.Errorf("%s=%.40s hides the container or its version", c.label, c.value)
		}
	}
}

func TestUnknownLabelsAreWarnedAbout(t *testing.T) {
	for name, suggestion := range map[string]string{
		"dogwatch.tag.includ":    "did you mean dogwatch.tag.include?",
		"wud.tag.exlcude":        "did you mean wud.tag.exclude?",
		"dogwatch.Watch":         "did you mean dogwatch.watch?",
		"dogwatch.watch_digest":  "did you mean dogwatch.watch.digest?",
		"dogwatch.something":     "",
		"dogwatch.trigger.smtp":  "",
		"wud.display.title.long": "",
	} {
		p := Read(label.Set{Operator: map[string]string{name: "x"}}, Options{WatchByDefault: true})
		if len(p.Warnings) != 1 {
			t.Errorf("%s: warnings %q", name, p.Warnings)
			continue
		}
		contains(t, name, p.Warnings[0], "unknown label "+name+", ignored", suggestion)
	}
	quiet := map[string]string{
		"com.docker.compose.project": "p", "wud.trigger.something": "x", "wudx": "1", "dogwatch": "1",
		"dogwatch.compose.file": "/c.yml",
	}
	if p := Read(label.Set{Operator: quiet}, Options{WatchByDefault: true}); len(p.Warnings) > 0 {
		t.Errorf("warnings %q about labels of others", p.Warnings)
	}
}

// TestSpacedTriggerLabels: the white space counts, so it must not do so silently.
func TestSpacedTriggerLabels(t *testing.T) {
	p := Read(label.Set{
		Operator: map[string]string{"wud.trigger.include": " smtp.main, ntfy.x", "dogwatch.trigger.exclude": "a.b , c.d"},
	}, Options{WatchByDefault: true})
	if len(p.Warnings) != 1 {
		t.Fatalf("warnings %q", p.Warnings)
	}
	contains(t, "warning", p.Warnings[0], "label wud.trigger.include begins or ends with white space")
}

// FuzzLabels feeds labels of all kinds into a policy.
func FuzzLabels(f *testing.F) {
	f.Add("dogwatch.tag.include", "^1", "wud.link.template", "${major}")
	f.Add("wud.tag.transform", "a=>$1", "dogwatch.watch", "ja")
	f.Fuzz(func(t *testing.T, a, av, b, bv string) {
		given := map[string]string{a: av, b: bv}
		before := maps.Clone(given)
		p := Read(label.Set{Operator: given}, Options{WatchByDefault: true})
		found := container("web", "nginx:1.25.0")
		p.Apply(&found)
		if p.Selector == nil || !maps.Equal(given, before) {
			t.Fatal("no selector, or labels changed")
		}
	})
}

func TestLint(t *testing.T) {
	for name, c := range map[string]struct {
		label, value string
		foreign      bool
		wrong, odd   string
	}{
		"right":             {"dogwatch.tag.include", `^\d+$`, false, "", ""},
		"a bad pattern":     {"dogwatch.tag.include", `^(`, false, "label dogwatch.tag.include", ""},
		"neither yes or no": {"wud.watch.digest", "perhaps", false, "label wud.watch.digest", ""},
		"misspelt":          {"dogwatch.tag.inclde", "1", false, "", "did you mean dogwatch.tag.include?"},
		"of other tools":    {"diun.regopt", "x", true, "", "label diun.regopt"},
		"ignored":           {"diun.regopt", "x", false, "", ""},
	} {
		wrong, odd := Lint(sdk.Container{Labels: map[string]string{c.label: c.value}}, label.Options{Foreign: c.foreign})
		for got, want := range map[string]string{strings.Join(wrong, "\n"): c.wrong, strings.Join(odd, "\n"): c.odd} {
			if (want == "") != (got == "") || !strings.Contains(got, want) {
				t.Errorf("%s: wrong %q, odd %q", name, wrong, odd)
			}
		}
	}
}

// TestLabelsOnDigest: explanations name the labels about rebuilds, and one that is neither true nor false is wrong.
func TestLabelsOnDigest(t *testing.T) {
	c := container("web", "nginx:1.25.0")
	c.Labels = map[string]string{"wud.trigger.smtp.main.ondigest": "false", "dogwatch.trigger.ondigest": "perhaps"}
	p := Read(label.Of(c), Options{WatchByDefault: true})
	want := Rule{Name: "trigger.smtp.main.ondigest", Value: "false", Source: "label wud.trigger.smtp.main.ondigest"}
	if !slices.Contains(p.Sources, want) {
		t.Errorf("%+v", p.Sources)
	}
	wrong, odd := Lint(c, label.Options{})
	if len(odd) > 0 || len(wrong) != 1 || !strings.HasPrefix(wrong[0], "label dogwatch.trigger.ondigest: ") {
		t.Errorf("wrong %q, odd %q", wrong, odd)
	}
}
