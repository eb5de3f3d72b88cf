package label

import (
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestOfSplitsLabels(t *testing.T) {
	labels := map[string]string{"a": "1", "b": "2", "c": "3"}
	for about, c := range map[string]struct {
		image           []string
		operator, other string
	}{
		"the image's":             {[]string{"b", "x"}, "a c", "b"},
		"none":                    {nil, "a b c", ""},
		"all":                     {[]string{"a", "b", "c"}, "", "a b c"},
		"not known":               {[]string{Unattributed}, "", "a b c"},
		"one of that name beside": {[]string{Unattributed, "a"}, "b c", "a"},
	} {
		s := Of(sdk.Container{Labels: labels, ImageLabels: c.image})
		if got := names(s.Operator); got != c.operator {
			t.Errorf("%s: of the operator %q, want %q", about, got, c.operator)
		}
		if got := names(s.Image); got != c.other {
			t.Errorf("%s: of the image %q, want %q", about, got, c.other)
		}
		if s.Unattributed != strings.HasPrefix(about, "not known") {
			t.Errorf("%s: unattributed is %t", about, s.Unattributed)
		}
	}
}

// TestLabelOfThatName: an image may have any label.
func TestLabelOfThatName(t *testing.T) {
	s := Of(sdk.Container{Labels: map[string]string{Unattributed: "1", "b": "2"}, ImageLabels: []string{Unattributed}})
	if s.Unattributed || names(s.Operator) != "b" || names(s.Image) != Unattributed {
		t.Errorf("%+v", s)
	}
}

func names(labels map[string]string) string {
	var all []string
	for name := range labels {
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestImageSays: what becomes of a label of an image: a rule, one that tightens, or nothing.
func TestImageSays(t *testing.T) {
	const wt = "com.centurylinklabs.watchtower."
	for _, c := range []struct {
		label, value string
		want         Say
		why          string
	}{
		{"dogwatch.tag.include", "^1", Describes, ""},
		{"wud.tag.include", "^1", Describes, ""},
		{"diun.include_tags", "^1", Describes, ""},
		{"diun.hub_link", "https://example.org", Describes, ""},
		{"dd.display.name", "x", Describes, ""},
		{"diun.notify_on", "update", Describes, ""},
		{"dogwatch.probe.http", ":8080/health", Describes, ""},
		{"dogwatch.probe.http", "http://:8080/health", Describes, ""},
		{"dogwatch.probe.http", "https://:8443", Describes, ""},
		{"dogwatch.probe.http", "http://169.254.169.254/", Never, ownProbe},
		{"dogwatch.probe.http", "http://localhost:80/", Never, ownProbe},
		{"dogwatch.probe.http", "http://user@:80/", Never, ownProbe},
		{"dogwatch.probe.http", "http:///etc", Never, ownProbe},
		{"dogwatch.probe.http", "http://:/x", Never, ownProbe},
		{"dogwatch.probe.http", "http://", Never, ownProbe},
		{"dogwatch.probe.http", "//evil:80/", Never, ownProbe},
		{"dogwatch.probe.http", ":80@evil/", Never, ownProbe},
		{"dogwatch.probe.http", ":80\\@evil", Never, ownProbe},
		{"dogwatch.probe.http", ":0/", Never, ownProbe},
		{"dogwatch.probe.http", "file://:80/etc/passwd", Never, ownProbe},
		{"dogwatch.probe.tcp", ":5432", Describes, ""},
		{"dogwatch.probe.tcp", "db:5432", Never, ownProbe},
		{"dogwatch.probe.tcp", "[::1]:5432", Never, ownProbe},
		{"dogwatch.probe.tcp", ":5432@evil", Never, ownProbe},
		{"dogwatch.probe.command", "true", Never, onlyOperator},
		{"dogwatch.update", "notify", Tightens, ""},
		{"dogwatch.update", "approve", Tightens, ""},
		{"dogwatch.update", " AUTO ", Never, onlyOperator},
		{"dogwatch.update.minage", "30d", Tightens, ""},
		{"wud.watch.delay", "30d", Tightens, ""},
		{wt + "cooldown-delay", "30d", Tightens, ""},
		{"dd.updatePolicy.maturityMode", "mature", Tightens, ""},
		{"dogwatch.update.threshold", "patch", Tightens, ""},
		{"dogwatch.update.auto", "false", Tightens, ""},
		{wt + "monitor-only", "true", Tightens, ""},
		{"dogwatch.update.auto", "true", Never, onlyOperator},
		{"dogwatch.update.auto", "x", Never, onlyOperator},
		{"dogwatch.watch", "true", Never, onlyOperator},
		{"wud.watch", "false", Never, onlyOperator},
		{"diun.enable", "true", Never, onlyOperator},
		{"dd.watch", "true", Never, onlyOperator},
		{wt + "enable", "true", Never, onlyOperator},
		{wt + "no-pull", "true", Never, onlyOperator},
		{wt + "lifecycle.pre-update", "sh", Never, onlyOperator},
		{wt + "stop-signal", "SIGKILL", Never, onlyOperator},
		{"dd.compose.file", "/etc/x.yaml", Never, onlyOperator},
		{"dd.updatePolicy.skipTags", "1.2", Never, onlyOperator},
		{"dd.action.include", "docker.a", Never, onlyOperator},
		{"dd.rollback.window", "1000", Never, onlyOperator},
	} {
		image := Set{Image: map[string]string{c.label: c.value}}
		r := Read(image, Options{Foreign: true})
		got := Never
		switch {
		case len(r.rules) == 1:
			got = Describes
		case len(r.tighter) == 1:
			got = Tightens
		}
		if got != c.want || len(r.rules)+len(r.tighter)+len(r.Ignored) != 1 {
			t.Errorf("%s=%s: %s, want %s: %+v", c.label, c.value, got, c.want, r)
			continue
		}
		if got == Never && (r.Ignored[0].Label != c.label || r.Ignored[0].Why != c.why) {
			t.Errorf("%s=%s: ignored %v", c.label, c.value, r.Ignored)
		}
		for _, rule := range slices.Concat(r.rules, r.tighter) {
			if !rule.FromImage || rule.Source() != "label "+c.label+" from the image" {
				t.Errorf("%s=%s: %+v", c.label, c.value, rule)
			}
		}
		if r := Read(image, Options{Foreign: true, Image: ImageNone}); len(r.rules)+len(r.tighter) > 0 ||
			len(r.Ignored) != 1 {
			t.Errorf("%s=%s, with none: %+v", c.label, c.value, r)
		}
		if r := Read(image, Options{Foreign: true, Image: ImageAll}); len(r.rules) != 1 ||
			len(r.tighter)+len(r.Ignored) > 0 || !r.rules[0].FromImage {
			t.Errorf("%s=%s, with all: %+v", c.label, c.value, r)
		}
	}
}

// TestOperatorWins: a label of the operator rules out all of the image that mean the same.
func TestOperatorWins(t *testing.T) {
	for _, c := range []struct{ operator, image string }{
		{"diun.include_tags=^1", "dogwatch.tag.include=^2"},
		{"wud.display.name=a", "dogwatch.display.name=b"},
		{"dogwatch.update.minage=1d", "wud.watch.delay=30d"},
		{"dogwatch.update=auto", "dogwatch.update=notify"},
		{"dogwatch.probe.command=true", "dogwatch.probe.http=:80/"},
		{"dogwatch.probe.tcp=:1", "dogwatch.probe.http=:80/"},
	} {
		name, value, _ := strings.Cut(c.operator, "=")
		other, text, _ := strings.Cut(c.image, "=")
		s := Set{Operator: map[string]string{name: value}, Image: map[string]string{other: text}}
		for _, how := range []string{ImageDescriptive, ImageAll} {
			r := Read(s, Options{Foreign: true, Image: how})
			if len(r.rules) != 1 || len(r.tighter) > 0 || r.rules[0].Label != name || r.rules[0].FromImage {
				t.Errorf("%s beside %s, %s: %+v", c.operator, c.image, how, r)
			}
			if want := "label " + other + " from the image: not used, since " + name +
				" is set"; !slices.Contains(r.Notes, want) {
				t.Errorf("%s beside %s, %s: notes %q", c.operator, c.image, how, r.Notes)
			}
		}
	}
}

func TestUnknownLabelsOfImages(t *testing.T) {
	r := Read(Set{Image: map[string]string{"dogwatch.wach": "true"}}, Options{})
	if len(r.Unknown) != 1 ||
		r.Unknown[0] != "unknown label dogwatch.wach from the image, ignored: did you mean dogwatch.watch?" {
		t.Errorf("got %q", r.Unknown)
	}
}

func TestIgnoredNamesTheRemedy(t *testing.T) {
	r := Read(Set{Image: map[string]string{"dogwatch.hook.pre": "sh"}}, Options{})
	if got := r.Ignored[0].String(); got != "label dogwatch.hook.pre from the image: ignored: only the operator may say this, by a label of the container itself" {
		t.Errorf("got %q", got)
	}
}

// FuzzImageLabels: an image says what it may and no more, and takes nothing from the operator.
func FuzzImageLabels(f *testing.F) {
	f.Add("dogwatch.update", "notify", "dogwatch.update", "auto", "dogwatch.hook.pre", "sh")
	f.Add("dogwatch.probe.command", "true", "dogwatch.probe.http", "http://:80/", "dogwatch.probe.tcp", ":1")
	f.Add("diun.include_tags", "a;b", "com.docker.compose.project", "shop", "dd.watch", "\xff")
	f.Add("com.docker.compose.config-hash", "1", "com.docker.compose.project", "shop", "wud.watch.delay", "7d")
	f.Fuzz(func(t *testing.T, own, ownValue, a, aValue, b, bValue string) {
		labels := map[string]string{a: aValue, b: bValue}
		labels[own] = ownValue
		c := sdk.Container{Labels: labels}
		for _, name := range []string{a, b} {
			if name != own {
				c.ImageLabels = append(c.ImageLabels, name)
			}
		}
		s := Of(c)
		with, without := Read(s, Options{Foreign: true}), Read(Set{Operator: map[string]string{own: ownValue}},
			Options{Foreign: true})
		for _, rule := range without.rules {
			if got, found := with.Get(rule.Name); !found || got != rule {
				t.Errorf("%+v has become %+v", rule, got)
			}
		}
		for _, rule := range with.rules {
			if e, _ := byName(rule.Name); rule.FromImage && e.image != Describes {
				t.Errorf("the image says %+v", rule)
			}
			if rule.FromImage && rule.Name == ProbeHTTP && !strings.HasPrefix(rule.Value, ":") &&
				!strings.Contains(rule.Value, "://:") {
				t.Errorf("the image has %q probed", rule.Value)
			}
		}
		for _, rule := range with.tighter {
			if e, _ := byName(rule.Name); !rule.FromImage || e.image != Tightens {
				t.Errorf("the image tightens %+v", rule)
			}
		}
		if is := s.stack(); is.Name != "" && own != composeHash && own != composeNumber && is.Name != ownValue {
			t.Errorf("the image puts its container into %q", is.Name)
		}
	})
}
