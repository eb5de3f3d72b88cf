package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/internal/gallery"
)

// Gallery is what plugins can be chosen from by their names. It is safe for concurrent use.
type Gallery struct {
	// BuiltIn is the index of this program.
	BuiltIn gallery.Index
	// Key signs the plugins of releases; zero for a program that was built without it.
	Key artifact.Key
	// Newest reads the index of the newest release; nil where there is none.
	Newest func(ctx context.Context) (gallery.Index, error)
}

// Offer is a plugin of the gallery as users see it.
type Offer struct {
	gallery.Plugin
	// Reference is what is installed, and "" for a plugin that users build from its source.
	Reference string `json:"reference,omitempty"`
	// Installed is the version that is, or its reference where it has none; "" for none.
	Installed string `json:"installed,omitempty"`
	// Newer is what an update would install; "" for nothing that is known.
	Newer string `json:"newer,omitempty"`
	// Previous is what can be gone back to; "" for nothing.
	Previous string `json:"previous,omitempty"`
	// BuiltIn is false for one that only the newest index has.
	BuiltIn bool `json:"builtIn"`
}

// Index returns the index that counts: the one that is built in, or the newest where that is asked for. It is
// complete with an error, too, which says what of the newest does not count.
func (g Gallery) Index(ctx context.Context, newest bool) (gallery.Index, error) {
	if !newest {
		return g.BuiltIn, nil
	}
	if g.Newest == nil {
		return g.BuiltIn, errors.New("there is no address of the newest index: set plugins.gallery")
	}
	x, err := g.Newest(ctx)
	if err != nil {
		return g.BuiltIn, err
	}
	if order, comparable := artifact.CompareVersions(x.Version, g.BuiltIn.Version); comparable && order < 0 {
		return g.BuiltIn, fmt.Errorf("the newest index is of version %s, and this is %s: it does not count", x.Version,
			g.BuiltIn.Version)
	}
	x, err = x.Over(g.BuiltIn)
	if err != nil {
		err = fmt.Errorf("the newest index: %w", err)
	}
	return x, err
}

// Offers returns plugins of an index with what is installed of them.
func (g Gallery) Offers(x gallery.Index, plugins []gallery.Plugin, installed []Status) []Offer {
	var all []Offer
	for _, p := range plugins {
		o := Offer{Plugin: p, Reference: x.Reference(p)}
		_, o.BuiltIn = g.BuiltIn.Find(p.Name)
		for _, st := range installed {
			if st.Name == p.Name && gallery.Repository(st.Ref) == gallery.Repository(p.Install) {
				o.complete(st)
			}
		}
		all = append(all, o)
	}
	return all
}

// complete says what is installed, and whether the index, or the last look into the registry, has something newer.
func (o *Offer) complete(st Status) {
	o.Installed, o.Newer, o.Previous = st.Version, st.Available, st.Previous
	o.Installed = cmp.Or(o.Installed, st.Ref)
	tag := strings.TrimPrefix(o.Reference, gallery.Repository(o.Reference)+":")
	if order, comparable := artifact.CompareVersions(tag, st.Version); o.Newer == "" && comparable && order > 0 {
		o.Newer = o.Reference
	}
}

// KeyOf returns the key that has to have signed a reference; zero where none is known.
func (g Gallery) KeyOf(s artifact.Source) artifact.Key {
	if s.Image == nil || !gallery.Released(s.Image.String()) {
		return artifact.Key{}
	}
	return g.Key
}

// Named reports whether text can only be the name of a plugin of the gallery, and no reference.
func Named(text string) bool { return text != "" && !strings.ContainsAny(text, `/\:@`) }

// Source returns where a plugin of an index is installed from.
func (g Gallery) Source(x gallery.Index, name string) (artifact.Source, error) {
	p, found := x.Find(name)
	switch {
	case !found:
		return artifact.Source{}, fmt.Errorf("the gallery has no plugin %s", name)
	case p.Install == "":
		return artifact.Source{}, fmt.Errorf("%s is not published: build it from its source, %s", name, p.Source)
	}
	return artifact.ParseSource("oci://" + x.Reference(p))
}
