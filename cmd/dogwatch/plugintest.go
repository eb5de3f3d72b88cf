package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/oneshot"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// testLimit is how long a test may take unless the user says otherwise.
const testLimit = time.Minute

func newPluginTest(g *global) *cobra.Command {
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "test ID [IMAGE|CONTAINER]",
		Short: "Try a configured component",
		Long: `Tries one configured component for real: a trigger sends a sample, a registry is
asked for the digest of an image, or of that of a container, a watcher for its
containers, which are listed. The id is kind.type.name; the kind may be left out where
the rest says enough. What takes longer than --timeout is ended.`,
		Example: `  # send a sample mail
  dogwatch plugin test trigger.smtp.main

  # may this login read that image?
  dogwatch plugin test registry.ghcr.private ghcr.io/me/app:1.0
  dogwatch plugin test registry.ghcr.private app

  # does the engine answer?
  dogwatch plugin test watcher.docker.local`,
		Args:              arguments(1, 2),
		ValidArgsFunction: first(g.componentIDs(kind.Kinds()...)),
		RunE: func(cmd *cobra.Command, args []string) error {
			image := ""
			if len(args) == 2 {
				image = args[1]
			}
			if limit <= 0 {
				return usage(fmt.Errorf("--timeout %s: want more than 0", limit))
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), limit)
			defer cancel()
			err := g.try(ctx, args[0], image)
			if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("%s was not done after %s: --timeout gives it longer (%w)", args[0], limit, err)
			}
			return err
		},
	}
	cmd.Flags().DurationVar(&limit, "timeout", testLimit, "longest `time` for the test, the start of plugins included")
	return cmd
}

func (g *global) try(ctx context.Context, id, image string) error {
	kinds := kind.Kinds()
	if k, _ := splitType(id); k != "" {
		kinds = []kind.Kind{k}
		if image != "" && k == kind.Registry {
			kinds = neededFor([]string{image})
		}
	}
	loaded := kinds
	if slices.Equal(kinds, []kind.Kind{kind.Trigger}) { // it may be one that has watchers update
		loaded = []kind.Kind{kind.Trigger, kind.Watcher}
	}
	instance, redactor, err := g.newOneShot(loaded...)
	if err != nil {
		return err
	}
	defer instance.Close()
	stop := spinner(g.stderr, func() string { return "Trying " + id })
	defer stop()
	if err := loadComponents(ctx, instance, kinds, id, image); err != nil {
		return err
	}
	c, err := pick(instance, kinds, id)
	if err != nil {
		return err
	}
	if image != "" && c.Kind != kind.Registry {
		return usage(fmt.Errorf("%s is no registry: no image can be asked of it", c.FullID()))
	}
	if image != "" {
		if image, err = g.imageOf(ctx, instance, image); err != nil {
			return err
		}
	}
	began := time.Now()
	if state, err := c.State(); state != component.Ready {
		return fmt.Errorf("%s: %w", c.FullID(), err)
	}
	result, err := instance.Test(ctx, c, image)
	stop()
	if text := responseText(c, result); text != "" {
		fmt.Fprintln(g.stdout, logging.Sanitize(redactor.String(text)))
	}
	if err := writeListed(g.stdout, redactor, result.Containers); err != nil {
		return err
	}
	if name, note := instance.PluginNote(c.Kind, c.Type); note != "" {
		fmt.Fprintf(g.stdout, "note: %s was %s\n", printable(name), note)
	}
	if err != nil {
		return fmt.Errorf("it does not work: %s", redactor.String(testrun.ErrorText(err)))
	}
	fmt.Fprintf(g.stdout, "%s works (%s)\n", c.FullID(), words.Took(time.Since(began)))
	return nil
}

// loadComponents has the component be configured, and what its test needs. Others, of which a
// plugin may hang, are waited for only where the test needs them all: to find an image.
func loadComponents(ctx context.Context, instance *oneshot.Instance, kinds []kind.Kind, id, image string) error {
	if image != "" {
		return instance.Load(ctx)
	}
	pending := func(c *component.Component) bool {
		state, _ := c.Configured()
		return state == component.Pending
	}
	return instance.LoadUntil(ctx, func() bool {
		c, err := pick(instance, kinds, id)
		switch {
		case err != nil || pending(c):
			return false
		case c.Can(kind.CapOperate): // it has watchers update
			return !slices.ContainsFunc(instance.All(kind.Watcher), pending)
		}
		return true
	})
}

// imageOf returns the image that a word stands for: itself, or that of a container.
func (g *global) imageOf(ctx context.Context, instance *oneshot.Instance, word string) (string, error) {
	n, wrong := g.find(ctx, instance, []string{word})
	switch {
	case len(wrong) > 0:
		return "", errors.Join(wrong...)
	case len(n.images) > 0:
		return n.images[0], nil
	}
	var images []string
	for _, c := range n.containers {
		img := c.Image
		text := img.Registry.Host + "/" + img.Name + ":" + img.Tag.Value
		if strings.Contains(img.Tag.Value, ":") { // it runs a digest and no tag
			text = img.Registry.Host + "/" + img.Name + "@" + img.Tag.Value
		}
		if !slices.Contains(images, text) {
			images = append(images, text)
		}
	}
	if len(images) > 1 {
		return "", fmt.Errorf("%q can be %s: say which", word, strings.Join(images, " or "))
	}
	return images[0], nil
}

// responseText is what a test run shows.
func responseText(c *component.Component, r testrun.Result) string {
	if c.Kind != kind.Trigger {
		return r.Response
	}
	text := fmt.Sprintf("title: %s\nbody:  %s", r.Title, strings.ReplaceAll(r.Body, "\n", "\n       "))
	for _, warning := range r.Warnings {
		text += "\nwarning: " + warning
	}
	if r.Response != "" {
		text += "\n" + r.Response
	}
	return text
}

// writeListed writes the containers that a watcher listed: their names, their images,
// and what it says went wrong with them.
func writeListed(w io.Writer, redactor *logging.Redactor, all []sdk.Container) error {
	if len(all) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tIMAGE\tSTATUS")
	for _, c := range all {
		status := c.Status
		if c.Error != nil {
			status = strings.TrimPrefix(status+", error: "+c.Error.Message, ", ")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", printable(c.Name), printable(imageText(c.Image)), printable(redactor.String(status)))
	}
	return t.Flush()
}

// imageText is the image of a container as it was listed.
func imageText(i sdk.Image) string {
	text := reference.Short(i.Registry.Host, i.Name)
	switch {
	case i.Tag.Value != "":
		text += ":" + i.Tag.Value
	case i.Digest.Repo != "":
		text += "@" + i.Digest.Repo
	}
	return text
}

// pick finds a component by its id, with or without the kind.
func pick(instance *oneshot.Instance, kinds []kind.Kind, id string) (*component.Component, error) {
	var found []*component.Component
	var known, ids []string
	for _, k := range kinds {
		for _, c := range instance.All(k) {
			known, ids = append(known, c.FullID()), append(ids, c.ID())
			if strings.EqualFold(id, c.FullID()) || strings.EqualFold(id, c.ID()) {
				found = append(found, c)
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		near := cmp.Or(nearest(id, known), nearest(id, ids))
		return nil, fmt.Errorf("there is no component %q%s (there is %s)", id, near, enumerate(known))
	}
	var both []string
	for _, c := range found {
		both = append(both, c.FullID())
	}
	return nil, fmt.Errorf("%s can be %s: say which", id, strings.Join(both, " or "))
}
