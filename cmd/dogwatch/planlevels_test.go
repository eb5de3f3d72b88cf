package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestAllLeavesOutMajorUpdates: without a user to ask, --all carries out the others, names the major ones, and is
// content; a major update that is named is refused. A flag, or the kind, is an answer.
func TestAllLeavesOutMajorUpdates(t *testing.T) {
	major := api.Plan{Major: true, Kind: sdk.DiffMinor, Levels: []api.PlanLevel{
		{Version: "10.6.9", Kind: sdk.DiffPatch}, {Version: "10.7.1", Kind: sdk.DiffMinor, SkippedBy: "ana"},
		{Version: "10.11.2", Chosen: true}}}
	for about, c := range map[string]struct {
		flags updateFlags
		left  int
		code  int
	}{
		"--all":              {updateFlags{all: true, yes: true}, 1, exitOK},
		"named":              {updateFlags{yes: true}, 1, exitBlocked},
		"--all --major":      {updateFlags{all: true, yes: true, major: true}, 2, exitOK},
		"--all --kind major": {updateFlags{all: true, yes: true, step: sdk.DiffMajor}, 2, exitOK},
		"a rollback":         {updateFlags{yes: true, kind: operation.Rollback}, 2, exitOK},
	} {
		if c.flags.kind == "" {
			c.flags.kind = operation.Update
		}
		var said bytes.Buffer
		r := &round{global: &global{stderr: &said}, flags: c.flags}
		var ready []planned
		for name, plan := range map[string]api.Plan{"web": {Kind: sdk.DiffMinor}, "db": major} {
			container := sdk.Container{ID: "id-" + name, Name: name}
			r.results = append(r.results, &result{container: container})
			ready = append(ready, planned{container, plan})
		}
		if left := r.confirmMajor(t.Context(), ready); len(left) != c.left || r.code() != c.code {
			t.Errorf("%s: %d are begun, exit code %d: %s", about, len(left), r.code(), &said)
		}
		const want = "db: not begun, since it is a major update: add --major, or choose --version 10.6.9\n"
		if (c.left == 1) != strings.Contains(said.String(), want) {
			t.Errorf("%s: %q", about, &said)
		}
	}
}

func TestKindOfPlan(t *testing.T) {
	for want, p := range map[string]api.Plan{
		"  (patch)":                    {Kind: sdk.DiffPatch},
		"  (major)":                    {Kind: sdk.DiffMajor, Major: true},
		"  (minor, as a major update)": {Kind: sdk.DiffMinor, Major: true},
		"":                             {},
	} {
		if got := kindNote(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestUpdateOfASmallerStep: what waits for an approval goes to a smaller step without a version, which --kind finds. A
// flag that asks for what is offered names it.
func TestUpdateOfASmallerStep(t *testing.T) {
	db := sdk.Container{ID: "id-db", Name: "db", Watcher: "local", UpdateAvailable: true,
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "16.4", RemoteValue: "17.2", SemverDiff: sdk.DiffMajor},
		Result:     &sdk.Result{Tag: "17.2", Levels: &sdk.Levels{Minor: &sdk.Release{Tag: "16.6"}}},
		Decision:   &sdk.Decision{State: sdk.StateOffered, Reasons: []sdk.Reason{{Code: sdk.ReasonApproval}}}}
	free := db
	free.ID, free.Name, free.Decision = "id-free", "free", nil
	u := &updating{containers: []sdk.Container{db, free}}
	for about, c := range map[string]struct {
		flags    updateFlags
		selected string
		version  string // that is asked for of db
	}{
		"--all":              {updateFlags{all: true}, "db free", ""},
		"--all --kind minor": {updateFlags{all: true, step: sdk.DiffMinor}, "db", ""},
		"--all --kind patch": {updateFlags{all: true, step: sdk.DiffPatch}, "", ""},
		"--all --kind major": {updateFlags{all: true, step: sdk.DiffMajor}, "db free", "17.2"},
		"--major":            {updateFlags{all: true, major: true}, "db free", "17.2"},
		"--version":          {updateFlags{all: true, major: true, version: "16.6"}, "db free", "16.6"},
	} {
		selected, err := u.selected(c.flags, nil)
		var names []string
		for _, s := range selected {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != c.selected {
			t.Errorf("%s selects %q, %v, want %q", about, got, err, c.selected)
		}
		if got := c.flags.change(&db).Version; got != c.version {
			t.Errorf("%s asks for %q, want %q", about, got, c.version)
		}
	}
}
