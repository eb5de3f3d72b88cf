package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/lookup"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// choiceBody is what a command decides about the updates of containers, as the body of a request.
type choiceBody struct {
	Action  string   `json:"action"`
	Version string   `json:"version,omitempty"`
	Until   sdk.Time `json:"until,omitzero"`
}

func newSkip(g *global) *cobra.Command {
	return newChoose(g, choiceBody{Action: "skip"}, &cobra.Command{
		Use:   "skip CONTAINER...",
		Short: "Do not offer this version of a container; wait for the next",
		Long: `Has the Dogwatch that is serving hold the update of a container, and offer the next
version that comes. The choice is kept when the container is recreated; undo takes it
back.`,
		Example: `  # not this one
  dogwatch skip nginx

  # not the major version, but the minor one below it
  dogwatch skip nginx --version 9.0.0`,
	})
}

func newSnooze(g *global) *cobra.Command {
	return newChoose(g, choiceBody{Action: "snooze"}, &cobra.Command{
		Use:   "snooze CONTAINER...",
		Short: "Hold the update of a container until a date or the next version",
		Long: `Has the Dogwatch that is serving hold every update of a container until the date, or
for as long as --until says; without it, hold this version until the next one. The choice
is kept when the container is recreated; undo takes it back.`,
		Example: `  # not before Monday
  dogwatch snooze nginx --until 2026-11-30

  # remind me in a week
  dogwatch snooze nginx redis --until 7d`,
	})
}

func newApprove(g *global) *cobra.Command {
	return newChoose(g, choiceBody{Action: "approve"}, &cobra.Command{
		Use:   "approve CONTAINER...",
		Short: "Approve the update of a container, whatever its age and step",
		Long: `Has the Dogwatch that is serving carry out the update of a container where its watcher
may update, in its next window. An approval counts for this version only, and whatever
the rules say of ages and steps. See update for carrying it out now.`,
		Example: `  # in the next window
  dogwatch approve nginx

  # the minor version, not the major one that is offered
  dogwatch approve nginx --version 8.2.1`,
	})
}

func newUndo(g *global) *cobra.Command {
	return newChoose(g, choiceBody{Action: "undo"}, &cobra.Command{
		Use:   "undo CONTAINER...",
		Short: "Take back what was chosen about the update of a container",
		Long: `Has the Dogwatch that is serving forget that the update of a container was skipped,
snoozed or approved. Rules decide again. What has been carried out is returned by
rollback.`,
		Example: `  # it was skipped by mistake
  dogwatch undo nginx

  # offer the updates of both again
  dogwatch undo nginx redis`,
	})
}

// newChoose completes a command that makes a choice.
func newChoose(g *global, c choiceBody, cmd *cobra.Command) *cobra.Command {
	var until string
	cmd.Args = arguments(1, -1)
	cmd.ValidArgsFunction = others(g.containerNames)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if until != "" {
			end, err := parseUntil(until, time.Now())
			if err != nil {
				return usage(err)
			}
			c.Until = sdk.TimeOf(end)
		}
		return g.choose(cmd.Context(), c, args)
	}
	switch c.Action {
	case "skip", "approve":
		cmd.Flags().StringVar(&c.Version, "version", "", "the `version` that is meant, if it is not the one that is shown")
	case "snooze":
		cmd.Flags().StringVar(&until, "until", "",
			"a `date` such as 2026-12-24 or \"2026-12-24 08:00\", or an age such as 7d (default: until the next version)")
	}
	return cmd
}

// parseUntil reads a date, the beginning of that day or a time of it, or for how long.
func parseUntil(text string, now time.Time) (time.Time, error) {
	end, err := time.Time{}, error(nil)
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", time.RFC3339} {
		if end, err = time.ParseInLocation(layout, text, now.Location()); err == nil {
			break
		}
	}
	if err != nil {
		age, unreadable := policy.ParseAge(text)
		if unreadable != nil || age == 0 {
			return time.Time{},
				fmt.Errorf("--until %q is neither a date such as 2026-12-24 or \"2026-12-24 08:00\", nor an age such as 7d or 36h", text)
		}
		end = now.Add(age)
	}
	if !end.After(now) {
		return time.Time{}, fmt.Errorf("--until %q is over", text)
	}
	return end, nil
}

// choose makes a choice about each container, and goes on when it is refused of one.
func (g *global) choose(ctx context.Context, c choiceBody, names []string) (err error) {
	u, err := g.openUpdating(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.close()) }()
	// A name that is wrong makes no choice about the others.
	selected, err := u.selected(updateFlags{}, names)
	if err != nil {
		return err
	}
	var refused []error
	for _, target := range selected {
		body := c
		if body.Version == "" && c.Action != "undo" && c.Until.IsZero() {
			body.Version = target.UpdateKind.RemoteValue // what the user was shown, not what is found meanwhile
		}
		path := "/api/containers/" + url.PathEscape(target.ID)
		var after sdk.Container
		if err = u.post(ctx, path+"/decision", body, nil); err == nil {
			err = u.call(ctx, http.MethodGet, path, &after)
		}
		if err != nil {
			refused = append(refused, fmt.Errorf("%s: %w", lookup.Qualified(target), err))
			continue
		}
		fmt.Fprintln(g.stdout, printable(lookup.Qualified(after)+": "+words.Decision(&after).String()))
	}
	return errors.Join(refused...)
}
