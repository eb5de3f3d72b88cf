package decision

import (
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func layers() *Layers {
	c := &config.Config{
		Policies: map[string]config.Policy{
			"careful": {Update: "approve", MinAge: "7d"}, "night": {Window: "daily 02:00-05:00"},
		},
	}
	c.Policy.Threshold = "minor"
	return &Layers{Config: func() *config.Config { return c }, PolicyOf: func(watcher string) (string, string) {
		if watcher == "nas" {
			return "night", "watcher.docker.nas.policy"
		}
		return "", ""
	}}
}

// TestDelayOfWatcher sets a minimum age as What's Up Docker 9 does.
func TestDelayOfWatcher(t *testing.T) {
	section := func(delay string) config.Component {
		return config.Component{
			Kind: kind.Watcher, Type: "docker", Name: "local", Options: map[string]config.Value{"delay": {V: delay}},
		}
	}
	p := LayersOf(&config.Config{Components: []config.Component{section("3d")}})
	p.Config().Policy.MinAge = "7d"
	for name, want := range map[string]string{"local": "watcher.docker.local.delay", "nas": "policy.minage"} {
		if got := p.Rules(sdk.Container{Watcher: name}).MinAge; got.Source != want {
			t.Errorf("%s: %+v, want that of %s", name, got, want)
		}
	}
	if got := p.Rules(sdk.Container{
		Watcher: "local", Labels: map[string]string{"wud.watch.delay": "1d"},
	}).MinAge; got.Source != "label wud.watch.delay" {
		t.Errorf("with a label: %+v", got)
	}
	if found := p.Problems(time.Now()); len(found) != 0 {
		t.Errorf("got %v", found)
	}
	p.Config().Components[0] = section("3 apples")
	if found := p.Problems(time.Now()); len(found) != 1 || found[0].Key != "watcher.docker.local.delay" {
		t.Errorf("got %v", found)
	}
}

func TestRulesOfContainers(t *testing.T) {
	for about, c := range map[string]struct {
		watcher string
		labels  map[string]string
		want    string
	}{
		"configuration": {"local", nil, "notify default, minor policy.threshold, 0s default"},
		"label": {"local", map[string]string{
			"dogwatch.update": "auto", "dogwatch.update.threshold": "patch",
		}, "auto label dogwatch.update, patch label dogwatch.update.threshold, 0s default"},
		"policy of a label": {"local", map[string]string{"dogwatch.policy": "Careful"},
			"approve policies.careful.update, minor policy.threshold, 168h0m0s policies.careful.minage"},
		"policy of the watcher": {"nas", nil, "notify default, minor policy.threshold, 0s default, daily 02:00-05:00"},
		"label beside a policy": {"nas", map[string]string{"dogwatch.update.minage": "1d"},
			"notify default, minor policy.threshold, 24h0m0s label dogwatch.update.minage, daily 02:00-05:00"},
		"label before the watcher": {"nas", map[string]string{"dogwatch.policy": "careful"},
			"approve policies.careful.update, minor policy.threshold, 168h0m0s policies.careful.minage"},
		"not by itself": {"local", map[string]string{"dogwatch.update": "auto", "dogwatch.update.auto": "false"},
			"approve label dogwatch.update.auto, minor policy.threshold, 0s default"},
		"unknown policy": {"local", map[string]string{"dogwatch.policy": "carefull"},
			"notify default, minor policy.threshold, 0s default; label dogwatch.policy: there is no policy \"carefull\": did you mean careful?"},
	} {
		r := layers().Rules(sdk.Container{Watcher: c.watcher, Name: "web", Labels: c.labels})
		got := string(r.Mode.Value) + " " + r.Mode.Source + ", " + r.Threshold.Value + " " + r.Threshold.Source + ", " +
			r.MinAge.Value.String() + " " + r.MinAge.Source
		if r.Window.Value != nil {
			got += ", " + r.Window.Value.String()
		}
		for _, p := range r.Problems {
			got += "; " + p.Text
		}
		if got != c.want && !strings.HasPrefix(got, c.want+" ") {
			t.Errorf("%s:\n got %s\nwant %s", about, got, c.want)
		}
	}
}

func TestPolicyProblemsNameTheSetting(t *testing.T) {
	p := layers()
	p.Config().Policies["never"] = config.Policy{Window: "2026-12-24 02:00-05:00", Freeze: "12-20..01-05"}
	p.Config().Policies["wrong"] = config.Policy{MinAge: "soon"}
	for name, of := range map[string]string{"nas": "Careful", "vps": "carefull", "local": ""} {
		p.Config().Components = append(p.Config().Components, config.Component{
			Kind: kind.Watcher, Type: "docker", Name: name, Options: map[string]config.Value{"policy": {V: of}},
		})
	}
	var keys []string
	for _, problem := range p.Problems(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)) {
		keys = append(keys, problem.Key)
	}
	if got := strings.Join(keys, " "); !strings.Contains(got, "policies.wrong.minage") ||
		!strings.Contains(got, "watcher.docker.vps.policy") || strings.Contains(got, "careful") ||
		strings.Contains(got, "nas") || strings.Contains(got, "local") {
		t.Errorf("problems of %s", got)
	}
	rules := p.Rules(sdk.Container{Labels: map[string]string{"dogwatch.policy": "wrong"}})
	if len(rules.Problems) != 1 || rules.Mode.Value != policy.Notify {
		t.Errorf("rules %+v", rules)
	}
}
