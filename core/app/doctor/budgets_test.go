package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestExamineComparesBudgetsWithContainers(t *testing.T) {
	f, opt := healthy(t)
	f.watchers[0].List = func(context.Context) ([]sdk.Container, error) {
		var list []sdk.Container
		for i := range 7 { // of five repositories
			list = append(list, container(fmt.Sprint("c", i), "docker.io", fmt.Sprint("library/app", i%5), nil))
		}
		return list, nil
	}
	for budget, want := range map[string]string{
		"docker.io=5/h":       "ok: 5 repositories to check, and 5 requests in 1 h",
		"docker.io=2/6h":      "warn: 5 repositories to check, and 2 requests in 6 h: a check is spread over 3, so that a new version is seen after up to 18 h",
		"nowhere.example=5/h": "warn: no container has an image of this host, so it has no effect",
	} {
		opt.Config.Check.Budgets = []string{budget}
		subject, _, _ := strings.Cut(budget, "=")
		all := Examine(t.Context(), opt)
		i := slices.IndexFunc(all, func(f Finding) bool { return f.Subject == "budget of "+subject })
		if i < 0 {
			t.Errorf("%s: nothing was found", budget)
		} else if got := fmt.Sprintf("%s: %s", all[i].Level, all[i].Detail); got != want ||
			(all[i].Level == OK) != (all[i].Remedy == "") {
			t.Errorf("%s: got %q with the remedy %q, want %q", budget, got, all[i].Remedy, want)
		}
	}
}
