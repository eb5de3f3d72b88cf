package doctor

import (
	"context"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestExamineReportsLabelsOfImages that do not count, and watchers that do not tell them apart.
func TestExamineReportsLabelsOfImages(t *testing.T) {
	f, opt := healthy(t)
	c := container("web", "", "nginx", map[string]string{"dogwatch.hook.pre": "sh",
		"dogwatch.trigger.include": "ntfy.nowhere", "dogwatch.display.name": "Web"})
	c.ImageLabels = []string{"dogwatch.hook.pre", "dogwatch.trigger.include", "dogwatch.display.name"}
	f.watchers[0].List = func(context.Context) ([]sdk.Container, error) { return []sdk.Container{c}, nil }
	opt.Rules = func(sdk.Container) policy.Rules {
		return policy.Rules{
			Ignored: []policy.Problem{{
				Text: "label dogwatch.update from the image: ignored: only the operator may replace notify (default) by auto",
			}},
		}
	}
	got := text(Examine(t.Context(), opt), opt.Config.Store.Path)
	for _, want := range []string{
		"warn container local/web: label dogwatch.hook.pre from the image: ignored: only the operator may say this",
		"warn container local/web: label dogwatch.trigger.include from the image: ignored",
		"warn container local/web: label dogwatch.update from the image: ignored",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	if strings.Contains(got, "nowhere") || strings.Contains(got, "does not tell the labels") {
		t.Errorf("got:\n%s", got)
	}
	f.watchers[0].MixesLabels = true
	if got := text(Examine(t.Context(), opt), opt.Config.Store.Path); !strings.Contains(got,
		"warn watcher.docker.local: its plugin does not tell the labels of images") {
		t.Errorf("got:\n%s", got)
	}
}
