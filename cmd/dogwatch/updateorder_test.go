package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

// shop is a stack in which cache does not work, and on which others depend by their names.
func shop(cache *sdk.Decision) []sdk.Container {
	var all []sdk.Container
	for name, needs := range map[string]string{"app": "cache", "edge": "app:service_started:false", "base": "",
		"cache": "base"} {
		c := sdk.Container{
			ID: name + "0123456789", Name: name, Watcher: "local", UpdateAvailable: true, Stack: "shop",
			Labels: map[string]string{
				"com.docker.compose.project": "shop", "com.docker.compose.service": name,
				"com.docker.compose.depends_on": needs,
			},
			UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.0", RemoteValue: "2.0",
				SemverDiff: sdk.DiffMinor},
		}
		if name == "cache" {
			c.Decision = cache
		}
		all = append(all, c)
	}
	return all
}

// TestUpdateAllGoesByDependencies: what others depend on comes first, one that fails stops what
// depends on it, and what failed is tried again only when asked for.
func TestUpdateAllGoesByDependencies(t *testing.T) {
	decided := func(state, code string) *sdk.Decision {
		return &sdk.Decision{State: state, Reasons: []sdk.Reason{{Code: policy.ReasonWindow}, {Code: code}}}
	}
	failed, undone := decided(sdk.StateHeld, policy.ReasonCameBack), decided(sdk.StateHeld, policy.ReasonUndone)
	stopped := []string{"app: not begun: cache, which it depends on, did not work out",
		"edge: not begun: app, which it depends on, did not work out"}
	for name, c := range map[string]struct {
		cache *sdk.Decision
		args  []string
		begun string
		code  int
		says  []string
	}{
		"fails": {nil, nil, "base cache", exitFailure, stopped},
		"failed": {failed, nil, "base", exitOK,
			[]string{"local/cache is left out: did not work (2.0); --retry",
				"local/edge is left out: app, which it depends on, is left out"}},
		"rolled back": {undone, nil, "base", exitOK, []string{"local/cache is left out: rolled back by you (2.0)"}},
		"retry":       {failed, []string{"--retry"}, "base cache", exitFailure, stopped},
		"json":        {failed, []string{"--json"}, "base", exitOK, []string{"local/cache is left out"}},
		"plan":        {failed, []string{"--plan"}, "", exitOK, []string{"local/cache is left out"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &updatesServer{stack: shop(c.cache)}
			serveUpdates(t, s.handler())
			var out, stderr bytes.Buffer
			code := run(t.Context(), append([]string{"update", "--all", "--yes"}, c.args...), &out, &stderr)
			var begun []string
			for _, op := range s.operations {
				begun = append(begun, op.Name)
			}
			if got := strings.Join(begun, " "); got != c.begun || code != c.code {
				t.Errorf("exit code %d, began %q, want %d and %q\n%s%s", code, got, c.code, c.begun, &out, &stderr)
			}
			for _, want := range c.says {
				if !strings.Contains(out.String()+stderr.String(), want) {
					t.Errorf("it does not say %q:\n%s%s", want, &out, &stderr)
				}
			}
			if name == "json" && strings.Contains(out.String(), "left out") {
				t.Errorf("the JSON has a sentence: %s", &out)
			}
		})
	}
	if code := run(t.Context(), []string{"update", "web", "--retry"}, new(bytes.Buffer),
		new(bytes.Buffer)); code != exitUsage {
		t.Errorf("--retry of a container: exit code %d", code)
	}
}
