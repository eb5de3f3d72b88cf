package label

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestTranslate: what becomes of each label of another tool.
func TestTranslate(t *testing.T) {
	const wt = "com.centurylinklabs.watchtower"
	for _, c := range []struct{ label, value, name, want, note string }{
		{"diun.enable", "true", Watch, "true", ""},
		{"diun.watch_repo", "true", "", "", "newer versions are always looked for"},
		{"diun.watch_repo", "false", WatchDigest, "true", "newer versions are offered all the same"},
		{"diun.watch_repo", "perhaps", "", "", `want true or false, got "perhaps"`},
		{"diun.notify_on", "new", WatchDigest, "false", ""},
		{"diun.notify_on", "update", WatchDigest, "true", "newer versions"},
		{"diun.notify_on", "new;update", WatchDigest, "true", ""},
		{"diun.notify_on", ";", "", "", "want new, update"},
		{"diun.notify_on", "old", "", "", "want new, update"},
		{"diun.include_tags", `^\d+$`, TagInclude, `^\d+$`, ""},
		{"diun.include_tags", `^1; ^2;;`, TagInclude, `(?:^1)|(?:^2)`, ""},
		{"diun.exclude_tags", `rc|beta;dev`, TagExclude, `(?:rc|beta)|(?:dev)`, ""},
		{"diun.hub_link", "https://r/${x}\\`", LinkTemplate, "https://r/\\${x}\\\\\\`", ""},
		{"diun.hub_tpl", "https://{{ .Domain }}/{{.Path}}:{{ .Tag }}$", LinkTemplate,
			"https://${container.image.registry.host}/${container.image.name}:${original}$", ""},
		{"diun.hub_tpl", "{{ .Digest }}", "", "", "{{ .Domain }}, {{ .Path }} and {{ .Tag }}"},
		{"diun.hub_tpl", "{{ .Tag", "", "", "has no effect"},
		{"diun.platform", "linux/amd64", "", "", "the running image"},
		{"diun.regopt", "x", "", "", "by the host of the image"},
		{"diun.sort_tags", "semver", "", "", "compared as versions"},
		{"diun.max_tags", "10", "", "", "dogwatch.tag.include restricts them"},
		{"keel.sh/policy", "never", Watch, "false", ""},
		{"keel.sh/policy", "all", UpdateThreshold, "major", "only where dogwatch.update says so"},
		{"keel.sh/policy", " minor", UpdateThreshold, "minor", "only where dogwatch.update says so"},
		{"keel.sh/policy", "force", WatchDigest, "true", "only where dogwatch.update says so"},
		{"keel.sh/policy", "glob:build-*.x", TagInclude, `^build-.*\.x$`, "only where dogwatch.update says so"},
		{"keel.sh/policy", `regexp:^\d+$`, TagInclude, `^\d+$`, "only where dogwatch.update says so"},
		{"keel.sh/policy", "newest", "", "", `got "newest"`},
		{"keel.sh/approvals", "1", Update, "approve", ""},
		{"keel.sh/approvals", "2", Update, "approve", "one approval is enough"},
		{"keel.sh/approvals", "0", "", "", "no approval is asked for"},
		{"keel.sh/approvals", "-1", "", "", "want a number"},
		{"keel.sh/releaseNotes", "https://r/${x}", LinkTemplate, `https://r/\${x}`, ""},
		{"keel.sh/trigger", "poll", "", "", "option cron"},
		{"keel.sh/pollSchedule", "@every 1h", "", "", "option cron"},
		{"keel.sh/matchTag", "true", "", "", "followed when its image changes"},
		{"keel.sh/polcy", "all", "", "", "did you mean keel.sh/policy?"},
		{"diun.metadata.team", "x", "", "", "container.labels"},
		{"diun.inlcude_tags", "x", "", "", "did you mean diun.include_tags?"},
		{"dd.watch", "false", Watch, "false", ""},
		{"dd.watch.digest", "true", WatchDigest, "true", ""},
		{"dd.tag.include", "^1", TagInclude, "^1", ""},
		{"dd.tag.exclude", "^1", TagExclude, "^1", ""},
		{"dd.tag.transform", "a => $1", TagTransform, "a => $1", ""},
		{"dd.link.template", "${major}", LinkTemplate, "${major}", ""},
		{"dd.display.name", "x", DisplayName, "x", ""},
		{"dd.display.icon", "x", DisplayIcon, "x", ""},
		{"dd.trigger.include", "smtp.a:minor", TriggerInclude, "smtp.a:minor", ""},
		{"dd.trigger.exclude", "smtp.a", TriggerExclude, "smtp.a", ""},
		{"dd.notification.include", "smtp.a", TriggerInclude, "smtp.a", "one list for notifications and actions"},
		{"dd.action.exclude", "docker.a", TriggerExclude, "docker.a", ""},
		{"dd.compose.file", "/c.yml", ComposeFile, "/c.yml", ""},
		{"dd.tag.family", "strict", "", "", ""},
		{"dd.tag.family", "loose", "", "", "tags of other families"},
		{"dd.tag.pin.info", "true", "", "", "newer versions"},
		{"dd.display.picture", "x", "", "", "no picture"},
		{"dd.registry.lookup.image", "x", "", "", "pulled from"},
		{"dd.group", "x", "", "", "nothing of the kind"},
		{"dd.action.auto", "x", "", "", "option auto"},
		{"dd.action.auto", "false", UpdateAuto, "false", ""},
		{"dd.updatePolicy.skipTags", "1.2", UpdateSkip, `^1\.2$`, ""},
		{"dd.updatePolicy.skipTags", "1.2, 1.3,", UpdateSkip, `^(1\.2|1\.3)$`, ""},
		{"dd.updatePolicy.skipDigests", "sha256:a", UpdateSkip, "^sha256:a$", ""},
		{"dd.updatePolicy.maturityMode", "Mature", UpdateMinAge, "7d", ""},
		{"dd.updatepolicy.maturitymode", "all", UpdateMinAge, "0", ""},
		{"dd.updatePolicy.maturityMode", "old", "", "", "want all or mature"},
		{"dd.updatePolicy.maturityMinAgeDays", " 14", UpdateMinAge, "14d", ""},
		{"dd.updatePolicy.maturityMinAgeDays", "2w", "", "", "want days"},
		{"dd.updatePolicy.skipTag", "1", "", "", "skipTags?"},
		{"dd.hook.pre", "x", "", "", "in the one that is updated"},
		{"dd.rollback.auto", "false", "", "", "always returns"},
		{"dd.rollback.window", "300000", ProbeWindow, "300000ms", ""},
		{"dd.rollback.interval", "10000", ProbeInterval, "10000ms", ""},
		{"dd.rollback.interval", "10s", "", "", "want milliseconds"},
		{"dd.update.mode", "infrastructure", "", "", "depends on what it is"},
		{"dd.compose.native", "x", "", "", "option of the watcher"},
		{"dd.security.gate", "x", "", "", "scan.hold"},
		{"dd.depends_on", "x", "", "", "found by itself"},
		{"dd.wacth", "x", "", "", "did you mean dd.watch?"},
		{wt + ".enable", "false", Watch, "false", ""},
		{wt + ".no-pull", "true", Watch, "false", "not to be asked"},
		{wt + ".no-pull", "false", "", "", ""},
		{wt + ".no-pull", "eh", "", "", "want true or false"},
		{wt + ".monitor-only", "true", UpdateAuto, "false", ""},
		{wt + ".monitor-only", "false", "", "", "where a trigger does so"},
		{wt + ".monitor-only", "eh", "", "", "want true or false"},
		{wt + ".scope", "a", "", "", "dogwatch.watch chooses"},
		{wt + ".cooldown-delay", "3d", UpdateMinAge, "3d", ""},
		{wt + ".cooldown-delay", "2M", UpdateMinAge, "60d", ""},
		{wt + ".cooldown-delay", "0", UpdateMinAge, "0", ""},
		{wt + ".depends-on", "db", "", "", "found by itself"},
		{wt + ".stop-signal", "SIGINT", UpdateStopSignal, "SIGINT", ""},
		{wt + ".lifecycle.pre-update", "dump", HookPre, "dump", "option hooks"},
		{wt + ".lifecycle.post-update", "load", HookPost, "load", "option hooks"},
		{wt + ".lifecycle.pre-update-timeout", "5", HookTimeout, "5m", ""},
		{wt + ".lifecycle.post-update-timeout", "0", HookTimeout, "60m", "for ever"},
		{wt + ".lifecycle.pre-update-timeout", "5m", "", "", "want minutes"},
		{wt + ".lifecycle.pre-check", "x", "", "", "not around checks"},
		{wt + ".lifecycle.uid", "0", "", "", "user of the container"},
		{wt + ".lifecycle.other", "0", "", "", "around updates only"},
		{wt + ".enabel", "x", "", "", "did you mean " + wt + ".enable?"},
		{wt, "true", "", "", "behind the back"},
	} {
		got, known := Translate(c.label, c.value)
		if !known || got.Name != c.name || got.Value != c.want || !strings.Contains(got.Note, c.note) ||
			(c.note == "") != (got.Note == "") {
			t.Errorf("%s=%s: %+v", c.label, c.value, got)
		}
	}
	for _, label := range []string{"wud.watch", "dogwatch.watch", "diun", "dd", "diun.", "diunx.enable",
		"com.centurylinklabs.watchtowerx", "com.centurylinklabs.watchtower..", "ddx.watch", ""} {
		if got, known := Translate(label, "true"); known {
			t.Errorf("%q is taken for a label of another tool: %+v", label, got)
		}
	}
}

// TestPrecedence: of two labels the one of the better tool counts, and the
// other is mentioned.
func TestPrecedence(t *testing.T) {
	order := []string{"dogwatch.tag.include", "wud.tag.include", "diun.include_tags", "dd.tag.include"}
	for i := range order {
		labels := map[string]string{}
		for _, label := range order[i:] {
			labels[label] = "^" + label
		}
		r := read(labels, true, false)
		rule, _ := r.Get(TagInclude)
		if rule.Label != order[i] || rule.Value != "^"+order[i] {
			t.Errorf("of %v: %+v", order[i:], rule)
		}
		for _, label := range order[max(i+1, 2):] {
			if !slices.Contains(r.Notes, "label "+label+": not used, since "+order[i]+" is set") {
				t.Errorf("%s is passed over silently: %q", label, r.Notes)
			}
		}
	}
	watch := []string{"dogwatch.watch", "wud.watch", "diun.enable", "dd.watch", "com.centurylinklabs.watchtower.enable"}
	for i, label := range watch {
		if i > 0 && Rank(watch[i-1]) >= Rank(label) {
			t.Errorf("%s does not yield to %s", label, watch[i-1])
		}
	}
	if Rank("com.example.watch") != -1 {
		t.Error("a label of no known tool has a rank")
	}
}

func TestLabelsOfOneTool(t *testing.T) {
	const wt = "com.centurylinklabs.watchtower."
	r := read(map[string]string{
		wt + "enable": "true", wt + "no-pull": "true", "diun.notify_on": "new", "diun.watch_repo": "false",
		"dd.notification.include": "smtp.a", "dd.action.include": "docker.b:minor", "dd.trigger.exclude": " ",
	}, true, false)
	for name, want := range map[string]Rule{
		Watch:          {Watch, "false", wt + "no-pull", false},
		WatchDigest:    {WatchDigest, "false", "diun.notify_on", false},
		TriggerInclude: {TriggerInclude, "docker.b:minor,smtp.a", "dd.action.include and dd.notification.include", false},
	} {
		if got, _ := r.Get(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if _, found := r.Get(TriggerExclude); found {
		t.Error("an empty label counts")
	}
	if !slices.Contains(r.Notes, "label diun.watch_repo: not used, since diun.notify_on is set") {
		t.Errorf("notes: %q", r.Notes)
	}
}

// TestReadIsStable: the order of a map must not decide.
func TestReadIsStable(t *testing.T) {
	labels := map[string]string{}
	for i, label := range []string{"diun.notify_on", "diun.watch_repo", "dd.watch",
		"com.centurylinklabs.watchtower.enable", "com.centurylinklabs.watchtower.no-pull", "dd.action.include",
		"dd.notification.include", "diun.x", "diun.y"} {
		labels[label] = []string{"new", "false", "true"}[i%3]
	}
	want := fmt.Sprint(read(labels, true, false))
	for range 50 {
		if got := fmt.Sprint(read(maps.Clone(labels), true, false)); got != want {
			t.Fatalf("%s\n%s", got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("diun.include_tags", "a;b", "com.centurylinklabs.watchtower", "true")
	f.Add("diun.hub_tpl", "{{ .Tag }}", "dd.updatePolicy.x", "")
	f.Add("wud.watch", "x", "dogwatch.", "y")
	f.Fuzz(func(t *testing.T, a, av, b, bv string) {
		labels := map[string]string{a: av, b: bv}
		if r := read(labels, false, false); len(r.Notes) > 0 && !Private(a) && !Private(b) ||
			slices.ContainsFunc(r.rules, func(r Rule) bool { return Rank(r.Label) > 1 }) {
			t.Errorf("foreign labels count: %+v", r)
		}
		r := read(labels, true, false)
		for _, rule := range r.rules {
			if !slices.Contains(Names(), rule.Name) || strings.TrimSpace(rule.Value) == "" || rule.Label == "" {
				t.Errorf("rule %+v", rule)
			}
		}
	})
}

// TestRulesOfOneTool: the mode of Drydock counts with its days, and its lists add up.
func TestRulesOfOneTool(t *testing.T) {
	const days, mode = "dd.updatePolicy.maturityMinAgeDays", "dd.updatePolicy.maturityMode"
	for about, c := range map[string]struct {
		labels map[string]string
		name   string
		want   Rule
	}{
		"mature with days": {map[string]string{mode: "mature", days: "14"}, UpdateMinAge,
			Rule{UpdateMinAge, "14d", days, false}},
		"mature":        {map[string]string{mode: "mature"}, UpdateMinAge, Rule{UpdateMinAge, "7d", mode, false}},
		"all with days": {map[string]string{mode: "all", days: "14"}, UpdateMinAge, Rule{UpdateMinAge, "0", mode, false}},
		"days":          {map[string]string{days: "14"}, UpdateMinAge, Rule{UpdateMinAge, "14d", days, false}},
		"ours": {map[string]string{mode: "all", days: "14", "dogwatch.update.minage": "2d"}, UpdateMinAge,
			Rule{UpdateMinAge, "2d", "dogwatch.update.minage", false}},
		"tags and digests": {map[string]string{
			"dd.updatePolicy.skipTags": "1,2", "dd.updatePolicy.skipDigests": "sha256:a",
		}, UpdateSkip,
			Rule{UpdateSkip, "^sha256:a$|^(1|2)$", "dd.updatePolicy.skipDigests and dd.updatePolicy.skipTags", false}},
		"tags against ours": {map[string]string{"dd.updatePolicy.skipTags": "1,2", "dogwatch.update.skip": "x"},
			UpdateSkip, Rule{UpdateSkip, "x", "dogwatch.update.skip", false}},
	} {
		r := read(c.labels, true, false)
		if got, _ := r.Get(c.name); got != c.want {
			t.Errorf("%s: %+v, want %+v", about, got, c.want)
		}
		if len(r.Notes) != 0 && !strings.Contains(about, "ours") {
			t.Errorf("%s: %q", about, r.Notes)
		}
	}
	r := read(map[string]string{mode: "mature"}, false, false)
	if _, found := r.Get(UpdateMinAge); found {
		t.Error("labels of other tools count though they are not to")
	}
}
