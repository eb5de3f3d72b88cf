package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/internal/gallery"
	"github.com/dogwatch/dogwatch/sdk/option"
)

func newPluginSearch(g *global) *cobra.Command {
	var asJSON, newest bool
	cmd := &cobra.Command{
		Use:   "search [WORD…]",
		Short: "List the plugins of the gallery",
		Long: `Lists the plugins that can be installed by their names: what each does, where it comes
from, and what is installed of it. With words, those that have all of them in their name,
type or description. The list is built in; --newest reads that of the newest release from
plugins.gallery instead. What it says there changes nothing about what is trusted: plugins
of Dogwatch's releases have to be signed by their key.`,
		Example: `  # all of them
  dogwatch plugin search

  # those for pull requests, as the newest release has them
  dogwatch plugin search pull --newest`,
		Args: arguments(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.search(cmd.Context(), args, newest, asJSON)
		},
	}
	cmd.Flags().BoolVar(&newest, "newest", false, "read the list of the newest release from plugins.gallery")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

func (g *global) search(ctx context.Context, words []string, newest, asJSON bool) error {
	cfg, err := g.load(nil)
	if err != nil {
		return err
	}
	shop, err := newGallery(cfg)
	if err != nil {
		return err
	}
	x, wrong := shop.Index(ctx, newest)
	installed, err := install.Read(cfg.Plugins.Dir)
	if err != nil {
		return err
	}
	offers := shop.Offers(x, x.Search(words...), installed)
	if asJSON {
		err = printJSON(g.stdout, append([]install.Offer{}, offers...))
	} else {
		err = writeOffers(g.stdout, offers, words)
	}
	return errors.Join(err, wrong)
}

func writeOffers(w io.Writer, offers []install.Offer, words []string) error {
	if len(offers) == 0 {
		_, err := fmt.Fprintf(w, "no plugin of the gallery has %s\n", printable(enumerate(words)))
		return err
	}
	for _, o := range offers {
		fmt.Fprintf(w, "%s   %s.%s%s\n  %s\n  %s\n\n", printable(o.Name), printable(string(o.Kind)), printable(o.Type),
			printable(installedOf(o)), printable(o.Does), printable(cmp.Or(o.Reference, o.Source)))
	}
	_, err := fmt.Fprintln(w, "dogwatch plugin install NAME installs one")
	return err
}

// installedOf says what is installed of a plugin.
func installedOf(o install.Offer) string {
	switch {
	case o.Installed == "":
		return ""
	case o.Newer == "":
		return "   " + o.Installed + " is installed"
	}
	return "   " + o.Installed + " is installed, and newer is " + o.Newer
}

// newGallery returns the gallery of this program.
func newGallery(cfg *config.Config) (install.Gallery, error) {
	builtIn, err := gallery.BuiltIn(version)
	if err != nil {
		return install.Gallery{}, fmt.Errorf("read the gallery that is built in: %w", err)
	}
	g := install.Gallery{BuiltIn: builtIn}
	if releaseKey != "" {
		if g.Key, err = artifact.ParseKey(releaseKey); err != nil {
			return g, fmt.Errorf("read the key of releases that is built in: %w", err)
		}
	}
	if cfg.Plugins.Gallery != nil {
		newest, err := gallery.NewNewest(cfg.Plugins.Gallery, "dogwatch/"+version, time.Now)
		if err != nil {
			return g, err
		}
		g.Newest = newest.Read
	}
	return g, nil
}

// installRequest reads what the flags say about a reference, or about the name of a plugin of the gallery.
func (g *global) installRequest(ctx context.Context, f installFlags, text string) (install.Request, error) {
	r, err := f.request(text)
	if err != nil {
		return r, usage(err)
	}
	cfg, err := g.load(nil)
	if err != nil {
		return r, err
	}
	shop, err := newGallery(cfg)
	if err != nil {
		return r, err
	}
	named := r.Source.Image != nil && install.Named(text)
	switch {
	case named:
		if r.Source, err = g.chosen(ctx, shop, text, f.newest); err != nil {
			return r, err
		}
	case f.newest:
		return r, usage(errors.New("--newest is for names of the gallery"))
	}
	if r.Want.Key.IsZero() {
		r.Want.Key = shop.KeyOf(r.Source)
	}
	return r, nil
}

// chosen returns where a plugin of the gallery is installed from.
func (g *global) chosen(ctx context.Context, shop install.Gallery, name string, newest bool) (artifact.Source, error) {
	x, wrong := shop.Index(ctx, newest)
	if _, found := x.Find(name); found || wrong != nil {
		source, err := shop.Source(x, name)
		if err != nil {
			err = errors.Join(err, wrong)
		}
		return source, err
	}
	var names []string
	for _, p := range x.Plugins {
		names = append(names, p.Name)
	}
	hint := "dogwatch plugin search lists them"
	if near := option.Suggest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return artifact.Source{}, usage(fmt.Errorf("%s is no plugin of the gallery: %s; a reference has the host of its "+
		"registry, as ghcr.io/me/%[1]s:1.0, and a file a path, as ./%[1]s", strings.TrimSpace(name), hint))
}
