package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/lookup"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

func newPlan(g *global) *cobra.Command {
	var rollback bool
	f := updateFlags{plan: true, kind: operation.Update}
	cmd := &cobra.Command{
		Use:   "plan CONTAINER",
		Short: "Say what the update of a container would do",
		Long: `Asks the Dogwatch that is serving what an update would do, step by step, and changes
nothing: the exact image, its size, what is carried over, which defaults and files change,
which other containers are concerned, and what keeps it from being carried out.

Exit code 0: it can be carried out. 1: it could not be planned. 3: it is blocked or
refused, or there is no update.`,
		Example: `  # before an update
  dogwatch plan nginx

  # the minor version instead of the major one
  dogwatch plan postgres --version 16.6

  # before a rollback, for a script
  dogwatch plan nginx --rollback --json`,
		Args:              exactly(1),
		ValidArgsFunction: first(g.containerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if rollback {
				if f.version != "" {
					return usage(errors.New("--version is of an update, and --rollback of none"))
				}
				f.kind = operation.Rollback
			}
			if err := f.check(args); err != nil {
				return err
			}
			return g.update(cmd.Context(), f, args)
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print the plan as the API does, in a list")
	f.versionFlag(cmd)
	cmd.Flags().BoolVar(&rollback, "rollback", false, "plan the return to the image before the last update")
	f.composeFlag(cmd)
	return cmd
}

// updating is a session with the Dogwatch that is serving.
type updating struct {
	*client
	containers []sdk.Container
}

// openUpdating connects to the Dogwatch that is serving, which the caller closes.
func (g *global) openUpdating(ctx context.Context) (*updating, error) {
	cfg, err := g.load(nil)
	if err != nil {
		return nil, err
	}
	c, err := newTrustedClient(cfg)
	if err != nil {
		return nil, err
	}
	c.keeps = true
	u := &updating{client: c}
	if err := c.call(ctx, http.MethodGet, "/api/containers", &u.containers); err != nil {
		err = errors.Join(err, c.close())
		if errors.Is(err, errNotServing) {
			err = fmt.Errorf("%w; containers are updated by one that is", err)
		}
		return nil, err
	}
	return u, nil
}

// selected returns the containers that a command is for.
func (u *updating) selected(f updateFlags, names []string) ([]sdk.Container, error) {
	var found []sdk.Container
	if f.all {
		for _, c := range u.containers {
			if c.UpdateAvailable && c.Base == nil && (f.step == "" || isStep(&c, f.step) || mayStep(&c, f.step)) {
				found = append(found, c)
			}
		}
		return found, nil
	}
	for _, name := range names {
		c, err := lookup.One(u.containers, name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(found, func(known sdk.Container) bool { return known.ID == c.ID }) {
			found = append(found, c)
		}
	}
	return found, nil
}

// isStep reports whether an update is of a step: major, minor, patch, or rebuilt (as the API says, digest), which is
// every new image of the same tag, whatever its version.
func isStep(c *sdk.Container, step string) bool {
	return tally.Kind(c) == step || (step == tally.Word(sdk.KindDigest) || step == sdk.KindDigest) && tally.Rebuilt(c)
}

// mayStep reports whether an update by hand may be of a smaller step than what is offered, which waits for an approval.
func mayStep(c *sdk.Container, step string) bool {
	if !tally.Approval(c) || c.Result == nil || c.Result.Levels == nil {
		return false
	}
	l := c.Result.Levels
	return step == sdk.DiffMinor && l.Minor != nil || step == sdk.DiffPatch && l.Patch != nil
}

// change is the body of requests to plan, update and roll back.
type change struct {
	Kind        operation.Kind `json:"kind,omitempty"`
	Acknowledge []string       `json:"acknowledge,omitempty"`
	DryRun      bool           `json:"dryRun,omitempty"`
	Digest      string         `json:"digest,omitempty"`
	State       string         `json:"state,omitempty"`
	Compose     string         `json:"compose,omitempty"`
	Version     string         `json:"version,omitempty"`
}

func containerPath(c sdk.Container, action string) string {
	return "/api/containers/" + url.PathEscape(c.ID) + "/" + action
}
