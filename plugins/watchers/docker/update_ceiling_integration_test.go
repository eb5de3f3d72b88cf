package docker

import (
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/update"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestOptionsOfTheWatcherAreTheMost: no request gets more than they allow.
func TestOptionsOfTheWatcherAreTheMost(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := newProject(t, l, composeText)
	id := p.make(t)
	edit, command := &watcher.ComposeRules{}, &watcher.ComposeRules{Command: true}
	for _, c := range []struct {
		option         string
		asked          *watcher.ComposeRules
		block, warning string
		files          bool
	}{
		{"", nil, "", replace.BlockComposeOff, false},
		{"off", nil, "", replace.BlockComposeOff, false},
		{"", edit, replace.BlockComposeOff, "", false},
		{"off", edit, replace.BlockComposeOff, "", false},
		{"off", &watcher.ComposeRules{File: p.file, Required: true}, replace.BlockComposeOff, "", false},
		{update.ComposeRequest, nil, "", replace.WarnUnchanged, false},
		{update.ComposeRequest, edit, "", "", true},
		{update.ComposeRequest, command, "", replace.WarnRecreates, true},
		{update.ComposeEdit, nil, "", "", true},
		{update.ComposeEdit, edit, "", "", true},
		{update.ComposeEdit, command, replace.BlockComposeOff, "", false},
		{update.ComposeCommand, edit, "", "", true},
		{update.ComposeCommand, nil, "", replace.WarnRecreates, true},
	} {
		d := watch(t, Options{Connection: Connection{Socket: l.Host}, Update: true, Compose: c.option})
		req := l.request(id)
		req.Rules.Compose = c.asked
		req.Rules.Hooks = watcher.Hooks{Pre: []string{"touch", "/owned"}, Post: []string{"touch", "/owned"}}
		plan, err := d.Plan(t.Context(), req)
		check(t, err)
		// Where there is no compose, that blocks the command as well.
		blocks := slices.DeleteFunc(slices.Clone(plan.Blocks), func(b watcher.Reason) bool {
			return b.Code == replace.BlockCommand
		})
		if got := codes(blocks); got != c.block || !strings.Contains(codes(plan.Warnings), c.warning) {
			t.Errorf("%q, asked for %+v: blocks %v, warnings %v", c.option, c.asked, plan.Blocks, plan.Warnings)
		}
		if len(plan.Files) > 0 != c.files && len(plan.Blocks) == len(blocks) {
			t.Errorf("%q, asked for %+v: files %v", c.option, c.asked, plan.Files)
		}
		if slices.ContainsFunc(plan.Steps, func(s watcher.Step) bool { return s.Code == watcher.StepHook }) {
			t.Errorf("%q: hooks run though the option is off: %v", c.option, plan.Steps)
		}
	}
	p.want(t, composeText)
}
