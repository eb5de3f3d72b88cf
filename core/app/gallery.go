package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/internal/gallery"
)

// Offers implements service.Installs.
func (i *installer) Offers(ctx context.Context, newest bool) ([]install.Offer, error) {
	x, err := i.gallery.Index(ctx, newest)
	return i.gallery.Offers(x, x.Plugins, i.Installed()), err
}

// Change implements service.Installs. Without somebody at a terminal who looks at what came, only what the key of
// releases, or the key of the version before, has signed is installed.
func (i *installer) Change(
	ctx context.Context, do service.PluginChange, name string, newest bool,
) (install.Pin, error) {
	command := fmt.Sprintf("run dogwatch plugin %s %s", do, name)
	switch {
	case slices.ContainsFunc(i.config.Plugins.Declared(), func(d config.Install) bool { return d.Name == name }):
		return install.Pin{}, fmt.Errorf("plugins.install names %s: change it there, and run dogwatch reload", name)
	case i.config.Plugins.Trust == "pinned" || i.config.Plugins.Checksums()[name] != "":
		return install.Pin{}, fmt.Errorf("plugins.checksums decides which files run: %s, which says what to set", command)
	case i.logins == nil:
		return install.Pin{}, errors.New("nothing can be installed here")
	}
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	folder, err := install.Open(ctx, i.config.Plugins.Dir)
	if err != nil {
		return install.Pin{}, err
	}
	defer folder.Close()
	var pin install.Pin
	if do == service.RollBackPlugin {
		pin, err = folder.Rollback(name)
	} else {
		pin, err = i.fetch(ctx, folder, name, newest, command)
	}
	if err == nil {
		err = i.start(ctx, name, pin.SHA256)
	}
	return pin, err
}

// fetch installs the version of the gallery, or the one that is newer than what is installed.
func (i *installer) fetch(
	ctx context.Context, folder *install.Folder, name string, newest bool, command string,
) (install.Pin, error) {
	logins := i.logins()
	defer logins.Close()
	from := artifact.Fetcher{Logins: logins, UserAgent: i.agent, Platform: artifact.Here()}
	r, err := i.request(ctx, from, folder, name, newest)
	if err != nil {
		return install.Pin{}, err
	}
	if r.Want.Key.IsZero() {
		return install.Pin{}, fmt.Errorf("no key is known that has to have signed %s: %s, which shows what comes", name, command)
	}
	s, err := folder.Fetch(ctx, from, r)
	if err != nil {
		return install.Pin{}, err
	}
	if err := i.may(name, s.Types); err != nil {
		return install.Pin{}, err
	}
	s.Grants = s.KeptGrants()
	if err := folder.Install(s); err != nil {
		return install.Pin{}, err
	}
	return install.Pin{Ref: s.Ref, Version: s.Version, SHA256: s.SHA256}, nil
}

// request returns what to fetch for a plugin, with the key that has to have signed it.
func (i *installer) request(
	ctx context.Context, from artifact.Fetcher, folder *install.Folder, name string, newest bool,
) (r install.Request, err error) {
	r.Want.Name = name
	x, err := i.gallery.Index(ctx, newest)
	if err != nil {
		return r, err
	}
	installed := folder.Installed()
	index := slices.IndexFunc(installed, func(st install.Status) bool { return st.Name == name })
	if index < 0 {
		if r.Source, err = i.gallery.Source(x, name); err == nil {
			r.Want.Key = i.gallery.KeyOf(r.Source)
		}
		return r, err
	}
	st := installed[index]
	newer := st.Available
	if p, found := x.Find(name); newer == "" && found {
		newer = i.gallery.Offers(x, []gallery.Plugin{p}, installed)[0].Newer
	}
	if newer == "" {
		look := []install.Status{st}
		if err := install.FindNewer(ctx, from, time.Now(), look, i.may); err != nil {
			return r, err
		}
		if newer = look[0].Available; newer == "" {
			return r, fmt.Errorf("there is no newer version of %s than %s", name, cmp.Or(st.Version, st.Ref))
		}
	}
	if st.Key != "" {
		if r.Want.Key, err = artifact.ParseKey(st.Key); err != nil {
			return r, fmt.Errorf("the key of %s is malformed: remove the plugin and install it again", name)
		}
	}
	r.Source, err = artifact.ParseSource("oci://" + newer)
	return r, err
}

// startInstalled has a plugin run whose file was just put in its place.
func (a *App) startInstalled(ctx context.Context, name, sum string) error {
	if _, known := a.plugins.Bundle(name); known {
		return a.plugins.Trust(ctx, name, sum)
	}
	return a.installer.accept(ctx, name, sum)
}
