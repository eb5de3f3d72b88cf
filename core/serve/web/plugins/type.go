package plugins

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// typePage is a form with the options of a type. What it leads to is text to paste.
type typePage struct {
	kind.Type
	Title phrase.Phrase
	Path  string
	// Of is the bundle that holds the type.
	Of string
	// Name is the name of the component that is to be made, NameProblem what is wrong with it.
	Name        string
	NameProblem phrase.Phrase
	// Groups are the options: its own, those of them that are optional and have a prefix in common, and those of every
	// component of the kind.
	Groups []typeGroup
	// Snippet is what the values lead to; nil before there are any.
	Snippet *service.Snippet
	// Wrong is how many values have a problem.
	Wrong int
}

// typeGroup is some of the options, with a heading.
type typeGroup struct {
	Title phrase.Phrase
	Own   bool
	// Open is whether one of its options has a value or a problem.
	Open   bool
	Fields []typeField
}

func (g *typeGroup) add(f typeField) {
	g.Fields, g.Open = append(g.Fields, f), g.Open || f.Value != "" || f.Problem != ""
}

// folded moves optional fields with a prefix in common, such as tls., into groups of their own.
func (g typeGroup) folded() []typeGroup {
	groups := []typeGroup{{Title: g.Title, Own: g.Own, Open: g.Open}}
	for _, f := range g.Fields {
		prefix, _, dotted := strings.Cut(f.Name, ".")
		siblings := 0
		for _, other := range g.Fields {
			if strings.HasPrefix(other.Name, prefix+".") && !other.Required {
				siblings++
			}
		}
		title := phrase.New("%s options", prefix)
		if prefix == "tls" {
			title = phrase.New("TLS options")
		}
		switch last := &groups[len(groups)-1]; {
		case !g.Own || !dotted || f.Required || siblings < 2:
			groups[0].add(f)
		case last.Title.String() == title.String():
			last.add(f)
		default:
			groups = append(groups, typeGroup{Title: title})
			groups[len(groups)-1].add(f)
		}
	}
	return groups
}

// typeField is an option as a field of a form.
type typeField struct {
	option.Option
	// ID is its name in the form.
	ID    string
	Value string
	// Hint is what counts without a value.
	Hint    string
	Problem string
	// Words are the values to choose from.
	Words []string
	// Address is true for one that must not have a password in it.
	Address bool
}

// fieldPrefix is of the names of options in the form; the name of the component has none.
const fieldPrefix = "o."

func newTypePage(t kind.Type, form url.Values) typePage {
	p := typePage{
		Type: t, Title: newOf(t), Path: page.TypePath(t.Kind, t.Name), Name: strings.ToLower(strings.TrimSpace(form.Get("name"))),
	}
	given := form.Has("name")
	if !given {
		p.Name = "main"
	}
	if !validName(p.Name) {
		p.NameProblem = phrase.New("want letters, digits and -")
		p.Wrong++
	}
	c := service.Component{Kind: t.Kind, View: component.View{ID: t.Name + "." + p.Name, Type: t.Name, Name: p.Name}}
	for _, g := range []struct {
		typeGroup
		schema option.Schema
	}{
		{typeGroup{Title: phrase.New("Options"), Own: true}, t.Options},
		{typeGroup{Title: optionsOfEvery(t.Kind)}, component.HostOptions(t.Kind)},
	} {
		problems := map[string]string{}
		if given {
			problems = problemsOf(g.schema, form)
		}
		for _, o := range g.schema {
			f := newTypeField(o, form)
			if o.Deprecated != "" && f.Value == "" {
				continue
			}
			f.Problem = problems[o.Name]
			if f.Problem != "" {
				p.Wrong++
			}
			g.add(f)
			if f.Value != "" {
				c.Settings = append(c.Settings, service.Setting{Name: o.Name, Value: f.Value, Secret: o.Secret, Source: "form"})
			}
		}
		if len(g.Fields) > 0 {
			p.Groups = append(p.Groups, g.folded()...)
		}
	}
	if given && p.NameProblem == nil {
		snippet := c.Snippet()
		p.Snippet = &snippet
	}
	return p
}

// newOf is the title of the page of a type.
func newOf(t kind.Type) phrase.Phrase {
	switch t.Kind {
	case kind.Watcher:
		return phrase.New("New watcher: %s", t.Name)
	case kind.Registry:
		return phrase.New("New registry: %s", t.Name)
	}
	return phrase.New("New trigger: %s", t.Name)
}

// optionsOfEvery is the heading of the options that all components of a kind have.
func optionsOfEvery(k kind.Kind) phrase.Phrase {
	switch k {
	case kind.Watcher:
		return phrase.New("Options of every watcher")
	case kind.Registry:
		return phrase.New("Options of every registry")
	}
	return phrase.New("Options of every trigger")
}

func newTypeField(o option.Option, form url.Values) typeField {
	f := typeField{
		Option: o, ID: fieldPrefix + o.Name, Value: strings.TrimSpace(form.Get(fieldPrefix + o.Name)), Words: o.Choices,
	}
	if o.Default != nil {
		f.Hint = *o.Default
	} else {
		f.Hint = o.Example
	}
	if o.Type == option.List {
		f.Words = nil // more than one of them
	}
	switch {
	case o.Secret: // whatever the address of the page says; only that there is one counts
		if f.Value != "" || o.Required {
			f.Value = "secret"
		}
		f.Hint, f.Words = "", nil
	case o.Type == option.Bool:
		f.Words = []string{"true", "false"}
	case o.Type == option.URL || o.Mask == option.MaskURL:
		f.Address = true
	}
	return f
}

// problemsOf returns what is wrong with the values of a form, by option. Secrets are not in it.
func problemsOf(schema option.Schema, form url.Values) map[string]string {
	raw := map[string]any{}
	for _, o := range schema {
		if value := strings.TrimSpace(form.Get(fieldPrefix + o.Name)); value != "" && !o.Secret {
			raw[o.Name] = value
		}
	}
	_, problems, _ := schema.Resolve(raw)
	found := map[string]string{}
	for _, p := range problems {
		if o, known := schema.Find(p.Field); known && !o.Secret {
			found[p.Field] = strings.TrimSuffix(p.Detail, ": "+o.Help) // which is there anyway
		}
	}
	return found
}

// withoutSecrets returns the values of a form without the secrets that a user wrote into the
// address of the page, and whether there were any. The form itself asks for none.
func withoutSecrets(t kind.Type, form url.Values) (url.Values, bool) {
	clean, had := url.Values{}, false
	for name, values := range form {
		for _, value := range values {
			o, known := t.Options.Find(strings.TrimPrefix(name, fieldPrefix))
			safe := value
			if known && o.Secret && value != "" {
				safe = "secret"
			} else if address, err := url.Parse(value); err == nil && address.User != nil {
				address.User = nil
				safe = address.String()
			}
			had = had || safe != value
			clean.Add(name, safe)
		}
	}
	return clean, had
}

// validName reports whether a component can have a name.
func validName(name string) bool {
	return name != "" && name[0] != '-' && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

func (h *Handler) showType(w http.ResponseWriter, r *http.Request) {
	k, name := kind.Kind(r.PathValue("kind")), r.PathValue("type")
	types := h.service.Types(k)
	i := slices.IndexFunc(types, func(t kind.Type) bool { return t.Name == name })
	if i < 0 {
		h.RenderError(w, r, http.StatusNotFound, page.Problem{
			Title: phrase.New("There is no such type"), Detail: phrase.New("No plugin provides the %s %s. The one that did may be gone.", string(k), name),
			Back: phrase.New("Go to plugins"), BackTo: "/plugins",
		})
		return
	}
	if clean, had := withoutSecrets(types[i], r.URL.Query()); had {
		http.Redirect(w, r, h.Path(page.TypePath(k, name)+"?"+clean.Encode()), http.StatusSeeOther)
		return
	}
	p := newTypePage(types[i], r.URL.Query())
	for _, b := range h.service.Plugins() {
		for _, held := range b.Types {
			if held.Kind == k && held.Type == name {
				p.Of = b.Name
			}
		}
	}
	h.Show(w, r, http.StatusOK, "type", page.Page{Title: p.Title, Nav: "plugins", Content: p})
}
