package check

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestEveryLabel sets each label under both prefixes and sees what it does.
func TestEveryLabel(t *testing.T) {
	for _, c := range []struct {
		label, value string
		read         func(sdk.Container, containerLabels) string
	}{
		{"tag.include", `^1\.`, func(c sdk.Container, _ containerLabels) string { return c.IncludeTags }},
		{"tag.exclude", `-rc`, func(c sdk.Container, _ containerLabels) string { return c.ExcludeTags }},
		{"tag.transform", `^v(.*)$ => $1`, func(c sdk.Container, _ containerLabels) string { return c.TransformTags }},
		{"link.template", "https://r.example/${major}", func(c sdk.Container, _ containerLabels) string {
			return c.LinkTemplate
		}},
		{"display.name", "My app", func(c sdk.Container, _ containerLabels) string { return c.DisplayName }},
		{"display.icon", "si:nginx", func(c sdk.Container, _ containerLabels) string { return c.DisplayIcon }},
		{"trigger.include", "smtp.main:minor", func(c sdk.Container, _ containerLabels) string { return c.TriggerInclude }},
		{"trigger.exclude", "docker.local", func(c sdk.Container, _ containerLabels) string { return c.TriggerExclude }},
		{"watch", "false", func(_ sdk.Container, p containerLabels) string {
			return map[bool]string{false: "false"}[p.watch]
		}},
		{"watch.digest", "true", func(c sdk.Container, _ containerLabels) string {
			return map[bool]string{true: "true"}[c.Image.Digest.Watch]
		}},
		{"tag.prerelease", "true", func(_ sdk.Container, p containerLabels) string {
			return map[bool]string{true: "true"}[p.rules.Prerelease]
		}},
	} {
		for _, prefix := range []string{"dogwatch.", "wud."} {
			found := container("web", "nginx:1.25.0", prefix+c.label+"="+c.value)
			p := readLabels(label.Set{Operator: found.Labels}, true, label.Options{})
			p.apply(&found)
			if got := c.read(found, p); got != c.value {
				t.Errorf("%s%s=%s is read as %q", prefix, c.label, c.value, got)
			}
			if len(p.fatal)+len(p.wrong)+len(p.warnings) > 0 {
				t.Errorf("%s%s=%s: complaints %q %q %q", prefix, c.label, c.value, p.fatal, p.wrong, p.warnings)
			}
			if want := (Rule{
				Name: c.label, Value: c.value, Source: "label " + prefix + c.label,
			}); !slices.Contains(p.sources, want) {
				t.Errorf("sources %v lack %v", p.sources, want)
			}
		}
	}
}

func TestLabelDefaults(t *testing.T) {
	found := container("web", "nginx:latest")
	p := readLabels(label.Set{}, true, label.Options{})
	p.apply(&found)
	if found.DisplayName != "web" || found.DisplayIcon != "mdi:docker" || !p.watch || !found.Image.Digest.Watch ||
		found.Image.Tag.Semver {
		t.Errorf("defaults are %+v, watch %t", found, p.watch)
	}
}

// TestEmptyLabelsCountAsUnset, the divergence of that name.
func TestEmptyLabelsCountAsUnset(t *testing.T) {
	for _, name := range label.Names() {
		for _, value := range []string{"", "  ", "\t\n"} {
			p := readLabels(label.Set{Operator: map[string]string{"dogwatch." + name: value}}, true, label.Options{})
			if !p.watch || len(p.sources)+len(p.fatal)+len(p.wrong)+len(p.warnings) > 0 {
				t.Errorf("empty %s: %+v", name, p)
			}
		}
	}
	p := readLabels(label.Set{Operator: map[string]string{"dogwatch.tag.include": " ", "wud.tag.include": "^1"}}, true,
		label.Options{})
	if p.rules.Include != "^1" {
		t.Errorf("an empty native label hides the other: %q", p.rules.Include)
	}
}

func TestNativeLabelWins(t *testing.T) {
	p := readLabels(label.Set{
		Operator: map[string]string{
			"wud.tag.include": "^2", "dogwatch.tag.include": "^1", "wud.watch": "false", "dogwatch.watch": "true",
		},
	}, false, label.Options{})
	if p.rules.Include != "^1" || !p.watch {
		t.Errorf("include %q, watch %t", p.rules.Include, p.watch)
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
		p := readLabels(label.Set{Operator: map[string]string{"dogwatch.watch": c.value}}, c.byDefault, label.Options{})
		if p.watch != c.want || len(p.wrong) > 0 != c.wrong {
			t.Errorf("%q with default %t: watched %t, wrong %q", c.value, c.byDefault, p.watch, p.wrong)
		}
		for _, text := range p.wrong {
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
		p := readLabels(label.Set{Operator: found.Labels}, true, label.Options{})
		p.apply(&found)
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
		{"dogwatch.tag.include", "[", true, []string{`label dogwatch.tag.include: tag include pattern "["`, "balance"}},
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
		p := readLabels(label.Set{Operator: map[string]string{c.label: c.value}}, true, label.Options{})
		complaints := p.wrong
		if c.fatal {
			complaints = p.fatal
		}
		if len(p.fatal)+len(p.wrong) != 1 || len(complaints) != 1 {
			t.Errorf("%s=%.40s: fatal %q, wrong %q", c.label, c.value, p.fatal, p.wrong)
			continue
		}
		contains(t, c.label, complaints[0], c.parts...)
		if len(complaints[0]) > 1000 {
			t.Errorf("%s: a complaint of %d characters", c.label, len(complaints[0]))
		}
		found := container("web", "nginx:1.25.0")
		if p.apply(&found); !found.Image.Tag.Semver || !p.watch {
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
		p := readLabels(label.Set{Operator: map[string]string{name: "x"}}, true, label.Options{})
		if len(p.warnings) != 1 {
			t.Errorf("%s: warnings %q", name, p.warnings)
			continue
		}
		contains(t, name, p.warnings[0], "unknown label "+name+", ignored", suggestion)
	}
	quiet := map[string]string{
		"com.docker.compose.project": "p", "wud.trigger.something": "x", "wudx": "1", "dogwatch": "1",
		"dogwatch.compose.file": "/c.yml",
	}
	if p := readLabels(label.Set{Operator: quiet}, true, label.Options{}); len(p.warnings) > 0 {
		t.Errorf("warnings %q about labels of others", p.warnings)
	}
}

// TestSpacedTriggerLabels: the white space counts, so it must not do so silently.
func TestSpacedTriggerLabels(t *testing.T) {
	p := readLabels(label.Set{
		Operator: map[string]string{"wud.trigger.include": " smtp.main, ntfy.x", "dogwatch.trigger.exclude": "a.b , c.d"},
	}, true, label.Options{})
	if len(p.warnings) != 1 {
		t.Fatalf("warnings %q", p.warnings)
	}
	contains(t, "warning", p.warnings[0], "label wud.trigger.include begins or ends with white space")
}

// FuzzLabels feeds labels of all kinds into a policy.
func FuzzLabels(f *testing.F) {
	f.Add("dogwatch.tag.include", "^1", "wud.link.template", "${major}")
	f.Add("wud.tag.transform", "a=>$1", "dogwatch.watch", "ja")
	f.Fuzz(func(t *testing.T, a, av, b, bv string) {
		given := map[string]string{a: av, b: bv}
		before := maps.Clone(given)
		p := readLabels(label.Set{Operator: given}, true, label.Options{})
		found := container("web", "nginx:1.25.0")
		p.apply(&found)
		if p.selector == nil || !maps.Equal(given, before) {
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
