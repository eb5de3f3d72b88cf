package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	updatekey "github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// storeUpdates stores containers with an update of an age in days, and without one if it is 0.
func storeUpdates(t *testing.T, ages map[string]int, labels map[string]map[string]string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("DOGWATCH_STORE_PATH", dir)
	t.Setenv("DOGWATCH_CONFIG", "")
	t.Chdir(dir)
	s, err := store.Open(t.Context(), filepath.Join(dir, "dogwatch.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	change := event.Change{Candidates: map[string][]byte{}}
	for name, days := range ages {
		c := sdk.Container{ID: name + strings.Repeat("0", 12), Name: name, Watcher: "local", Labels: labels[name]}
		c.Image.Name, c.Image.Tag.Value = "library/"+name, "1.0"
		change.Put = append(change.Put, c)
		if days == 0 {
			continue
		}
		found, err := candidate.Found{
			Candidates: []candidate.Candidate{{
				Tag: "1.1", Kind: sdk.KindTag, Diff: sdk.DiffMinor, Created: time.Now().AddDate(0, 0, -days),
			}},
		}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		change.Candidates[event.Subject(c)] = found
	}
	if err := s.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	skipped := choice.Choice{
		Subject: "local/skipped", Kind: choice.Skip, Actor: "ana",
		Update: updatekey.Key{Subject: "local/skipped", Kind: sdk.KindTag, FromTag: "1.0", ToTag: "1.1"},
		At:     sdk.TimeOf(time.Now()),
	}
	if err := s.PutChoice(t.Context(), skipped, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// runRoot runs a command line and returns what it prints.
func runRoot(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot(&out, &out)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestPolicyPreview(t *testing.T) {
	storeUpdates(t, map[string]int{"young": 2, "old": 30, "shut": 30, "skipped": 30, "current": 0},
		map[string]map[string]string{
			"shut": {"dogwatch.update.window": "0 2 29 2 * UTC"},
		})
	out, err := runRoot(t, "policy", "preview")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"local/young  1.0 → 1.1  offered\n", "local/shut  1.0 → 1.1  held\n", "for 1h UTC) until ",
		"windows of local/shut\n", "local/skipped  1.0 → 1.1  held\n    it was skipped by ana\n",
		"2 offered, 2 held, 1 without an update\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("got %s\nwant %q", out, want)
		}
	}
	if strings.Contains(out, "local/current") {
		t.Errorf("it lists a container without an update:\n%s", out)
	}

	out, err = runRoot(t, "policy", "preview", "--rule", "minage=7d")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"local/young  1.0 → 1.1  held, now offered\n", "local/old  1.0 → 1.1  offered\n",
		"now: 2 offered, 2 held", "with this rule: 1 offered, 3 held"} {
		if !strings.Contains(out, want) {
			t.Errorf("with a rule: got %s\nwant %q", out, want)
		}
	}

	if out, err = runRoot(t, "policy", "preview", "current"); err != nil ||
		!strings.Contains(out, "local/current  no update\n") {
		t.Errorf("of one: got %s, %v", out, err)
	}

	out, err = runRoot(t, "policy", "preview", "--json", "shut")
	var p preview.Preview
	if err != nil || json.Unmarshal([]byte(out), &p) != nil || p.Held != 1 || len(p.Containers) != 1 ||
		len(p.Containers[0].Windows) == 0 {
		t.Errorf("as JSON: got %s, %v", out, err)
	}
}

// TestPolicyPreviewOfStoppedStack: what waits behind a failed update of its stack is held for that reason, also where
// a trigger rather than the watcher's option lets it be updated.
func TestPolicyPreviewOfStoppedStack(t *testing.T) {
	storeUpdates(t, map[string]int{"other": 30}, nil)
	t.Setenv("DOGWATCH_TRIGGER_DOCKER_LOCAL_AUTO", "true")
	t.Setenv("DOGWATCH_POLICY_UPDATE", "auto")
	s, err := store.Open(t.Context(), "dogwatch.db", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	failed := time.Now().Add(-time.Hour)
	auth := stackMember(t, s, "auth", failed, sdk.Reason{Code: policy.ReasonCameBack})
	stackMember(t, s, "web", failed, sdk.Reason{Code: policy.ReasonStack})
	op := operation.Operation{
		ID: "00001", Kind: operation.Update, Watcher: "local", Name: "auth", Project: "shop", Queued: failed,
		State: operation.Queued, Actor: "rule policy.update",
		IdempotencyKey: "automatic " + updatekey.KeyOf(&auth).String() + " 0",
	}
	if err := s.AddOperation(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	op.State, op.Ended = operation.RolledBack, failed
	if err := s.ChangeOperation(t.Context(), operation.Queued, op); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := runRoot(t, "policy", "preview")
	for _, want := range []string{
		"local/web  1.0 → 1.1  held\n    stack stopped by auth (failed " + failed.Format("15:04") + ")\n",
		"local/other  1.0 → 1.1  automatic\n", "local/auth  1.0 → 1.1  offered\n", "1 offered, 1 held, 1 automatic\n",
	} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("got %s, %v\nwant %q", out, err, want)
		}
	}
}

// stackMember stores a container of a stack whose update was offered before a time, and why it is held or offered.
func stackMember(t *testing.T, s *store.Store, name string, before time.Time, why sdk.Reason) sdk.Container {
	t.Helper()
	offered := before.Add(-time.Hour)
	c := sdk.Container{
		ID: name + strings.Repeat("0", 12), Name: name, Watcher: "local", Stack: "shop", UpdateAvailable: true,
		Image: sdk.Image{Name: "library/" + name, Tag: sdk.Tag{Value: "1.0"}}, Result: &sdk.Result{Tag: "1.1"},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.0", RemoteValue: "1.1", SemverDiff: sdk.DiffMinor},
		Decision: &sdk.Decision{
			State: sdk.StateHeld, OfferedAt: sdk.TimeOf(offered), Reasons: []sdk.Reason{why},
		},
	}
	newer := candidate.Candidate{
		Tag: "1.1", Kind: sdk.KindTag, Diff: sdk.DiffMinor, Created: offered, OfferedAt: offered,
	}
	found, err := candidate.Found{Candidates: []candidate.Candidate{newer}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	change := event.Change{Put: []sdk.Container{c}, Candidates: map[string][]byte{event.Subject(c): found}}
	if err := s.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPolicyPreviewRefusals(t *testing.T) {
	storeUpdates(t, map[string]int{"nginx": 2}, nil)
	for _, test := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"ngnix"}, "did you mean nginx?", exitFailure},
		{[]string{"--rule", "minage"}, "write it like minage=7d", exitUsage},
		{[]string{"--rule", "minage=7"}, "write 7d for days", exitUsage},
		{[]string{"--rule", "windw=always"}, "did you mean window?", exitUsage},
	} {
		_, err := runRoot(t, append([]string{"policy", "preview"}, test.args...)...)
		if code, _ := exitCode(err); err == nil || !strings.Contains(err.Error(), test.want) || code != test.code {
			t.Errorf("%q: got %v (%d), want %q (%d)", test.args, err, code, test.want, test.code)
		}
	}
	t.Setenv("DOGWATCH_STORE_PATH", t.TempDir())
	if _, err := runRoot(t, "policy", "preview"); err == nil ||
		!strings.Contains(err.Error(), "no containers are recorded yet") {
		t.Errorf("without a database: got %v", err)
	}
}

func TestPolicyList(t *testing.T) {
	storeUpdates(t, map[string]int{"nginx": 2, "redis": 30}, map[string]map[string]string{
		"nginx": {"dogwatch.policy": "careful"}, "redis": {"dogwatch.update.minage": "soon"},
	})
	t.Setenv("DOGWATCH_POLICY_FREEZE", "02-29")
	t.Setenv("DOGWATCH_POLICIES_CAREFUL_MINAGE", "7d")
	t.Setenv("DOGWATCH_POLICIES_BOLD_UPDATE", "auto")
	out, err := runRoot(t, "policy", "list")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"RULE VALUE SOURCE CONTAINERS UPDATES", "minage 7d policies.careful.minage 1 1 held",
		"freeze 02-29 policy.freeze 2 2 held",
		`"soon" is not an age`, "no container uses policies.bold",
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("got %s\nwant %q", out, want)
		}
	}
}
