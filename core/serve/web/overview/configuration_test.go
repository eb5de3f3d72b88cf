package overview

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func TestProblemsOfTheConfigurationAreOneSentence(t *testing.T) {
	failed := service.Component{
		View: component.View{ID: "ntfy.main", Type: "ntfy", Name: "main", State: component.Failed}, Kind: kind.Trigger,
	}
	problems := []string{failed.Key() + ".topic: is required", "log.levl: unknown setting"}
	for want, of := range map[string][]string{
		"1 more problem in the configuration: log.levl: unknown setting": problems,
		"2 more problems in the configuration":                           append(problems, "x: unknown setting"),
	} {
		lines := configurationOf(of, []service.Component{failed})
		if len(lines) != 1 || lines[0].Text.String() != want || lines[0].To != "/settings" {
			t.Errorf("%v, want %q", lines, want)
		}
	}
	if lines := configurationOf(problems[:1], []service.Component{failed}); lines != nil {
		t.Errorf("a component that failed is told twice: %v", lines)
	}
}
