package doctor

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestExamineFindsRulesThatDoNotWork: of labels for each container, and of the
// configuration once.
func TestExamineFindsRulesThatDoNotWork(t *testing.T) {
	f, opt := healthy(t)
	f.watchers[0].List = func(context.Context) ([]sdk.Container, error) {
		var list []sdk.Container
		for _, name := range []string{"a", "b", "c"} {
			list = append(list, container(name, "", "nginx", nil))
		}
		return list, nil
	}
	set := func(r *policy.Rules, name, text, source string) {
		if err := r.Set(name, text, source, time.UTC); err != nil {
			t.Fatal(err)
		}
	}
	opt.Rules = func(c sdk.Container) policy.Rules {
		r := policy.Rules{
			Problems: []policy.Problem{{
				Source: "watcher.docker.local.policy", Text: `watcher.docker.local.policy: there is no policy "carefull"`,
			}},
		}
		switch c.Name {
		case "a":
			r.Problems = append(r.Problems, policy.Problem{
				Source: "label dogwatch.update.minage", Text: "label dogwatch.update.minage: \"7\" has no unit",
			})
		case "b":
			set(&r, policy.RuleWindow, "daily 02:00-05:00", "label dogwatch.update.window")
			set(&r, policy.RuleFreeze, "01-01..12-31", "policy.freeze")
		case "c":
			set(&r, policy.RuleFreeze, "01-01..12-31", "policy.freeze")
		}
		return r
	}
	opt.Config.Problems = append(opt.Config.Problems, config.Problem{
		Key: "policy.freeze", Message: "the freeze 01-01..12-31 UTC never ends: give it a last day", Level: config.Error,
	})
	var got []string
	for _, finding := range Examine(t.Context(), opt) {
		if finding.Level == Fail {
			got = append(got, finding.Subject+": "+finding.Detail)
		}
	}
	slices.Sort(got)
	want := []string{
		"configuration: policy.freeze: the freeze 01-01..12-31 UTC never ends: give it a last day",
		"container local/a: label dogwatch.update.minage: \"7\" has no unit",
		"container local/b: the window daily 02:00-05:00 UTC (label dogwatch.update.window) is within the freeze 01-01..12-31 UTC for ever: change one of them",
		"watcher.docker.local.policy: there is no policy \"carefull\"",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
