package updater

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// An image that is not there for the platform is a block before the pull; a registry
// that does not say what is in an image takes nothing away from the plan.
func TestPlanWithoutTheConfigurationOfTheImage(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want []string
	}{
		"none for the platform": {sdk.WithKind(sdk.ErrNotFound,
			errors.New("no image for linux/riscv64; there is linux/amd64")), []string{"image.platform"}},
		"unreachable": {sdk.WithKind(sdk.ErrUnavailable, errors.New("connection refused")), nil},
		"schema 1":    {sdk.ErrUnsupported, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := fresh(t)
			f.noConfig = test.err
			p, err := f.Plan(t.Context(), Request{Container: container("web"), Kind: operation.Update})
			var codes []string
			for _, b := range p.Blocks {
				codes = append(codes, b.Code)
			}
			if err != nil || !slices.Equal(codes, test.want) {
				t.Errorf("%v, %v; want %v", p.Blocks, err, test.want)
			}
		})
	}
}

// TestPlanNamesTheTrigger: what the watcher leaves to others says which trigger proposes it, and nothing else does.
func TestPlanNamesTheTrigger(t *testing.T) {
	for id, want := range map[string][]string{
		"":              {"Argo CD has it", "another manager has it", "it is paused"},
		"gitea.homelab": {"Argo CD has it; a pull request is opened by gitea.homelab", "another manager has it; a pull request is opened by gitea.homelab", "it is paused"},
	} {
		f := fresh(t)
		f.engine.blocks = []watcher.Reason{{Code: watcher.BlockKept, Text: "Argo CD has it"},
			{Code: watcher.BlockApplied, Text: "another manager has it"}, {Code: "workload.paused", Text: "it is paused"}}
		f.opt.Proposes = func(c sdk.Container) string {
			if c.Name != "web" {
				t.Errorf("asked about %s", c.Name)
			}
			return id
		}
		p, err := f.Plan(t.Context(), Request{Container: container("web"), Kind: operation.Update})
		var got []string
		for _, b := range p.Blocks {
			got = append(got, b.Text)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

// later is the error of a request that its host gets none for.
type later struct{ error }

func (l later) Unwrap() error { return l.error }

func (later) Postponed() (reason string, until time.Time) {
	return "ghcr.io has no request left of its budget, 3 requests in 1 h (check.budgets)",
		time.Date(2026, 11, 20, 14, 5, 0, 0, time.UTC)
}

// TestPlanWhileTheRegistryGetsNoRequests: a block says which host and until when;
// the update of a delivery is tried again, and any other failure is an error.
func TestPlanWhileTheRegistryGetsNoRequests(t *testing.T) {
	f := fresh(t)
	f.engine.blocks = []watcher.Reason{{
		Code: "image.missing", Text: "the digest is not known: check for updates again",
	}, {Code: "data", Text: "it keeps data"}}
	if _, err := f.Plan(t.Context(), Request{Container: container("web"), Kind: operation.Update}); err != nil {
		t.Fatal(err)
	}
	f.unresolved = later{sdk.WithKind(sdk.ErrUnavailable, errors.New("not asked again"))}
	req := Request{Container: container("web"), Kind: operation.Update}
	p, err := f.Plan(t.Context(), req)
	if err != nil || len(p.Blocks) != 2 || p.Blocks[0].Code != "data" || p.Blocks[1].Code != BlockPostponed {
		t.Fatalf("%+v, %v", p.Blocks, err)
	}
	for _, want := range []string{"docker.io/library/nginx:1.26.0",
		"ghcr.io has no request left of its budget, 3 requests in 1 h (check.budgets)",
		"free again at 2026-11-20 14:05:00 UTC"} {
		if !strings.Contains(p.Blocks[1].Text, want) {
			t.Errorf("%q lacks %q", p.Blocks[1].Text, want)
		}
	}
	if _, err := f.Start(t.Context(), req); !errors.Is(err, ErrBlocked) {
		t.Errorf("an update by a user: %v", err)
	}
	delivered := req
	delivered.IdempotencyKey = "docker.main:1"
	if _, err := f.Start(t.Context(), delivered); errors.Is(err, ErrBlocked) || !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("an update by a trigger: %v", err)
	}
	f.unresolved = sdk.WithKind(sdk.ErrUnavailable, errors.New("connection refused"))
	if _, err := f.Plan(t.Context(), req); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("unreachable: %v", err)
	}
	// With the digest of the plan before nothing is looked up.
	f.engine.blocks, req.Digest = nil, "sha256:new"
	if p, err := f.Plan(t.Context(), req); err != nil || len(p.Blocks) > 0 {
		t.Errorf("%+v, %v", p.Blocks, err)
	}
}
