// Package gallery is the list of plugins that users can choose from: a file of
// references, the page that is made of it, and the index that programs read.
package gallery

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Plugin is a reference to a plugin.
type Plugin struct {
	// Name is that of the executable: "trigger-lamp".
	Name string `yaml:"name" json:"name"`
	// Kind and Type are what is configured: trigger.lamp. A plugin with several types has several references.
	Kind kind.Kind `yaml:"kind" json:"kind"`
	Type string    `yaml:"type" json:"type"`
	// Does says in a line what it does.
	Does string `yaml:"does" json:"does"`
	// License is the SPDX identifier of its license.
	License string `yaml:"license" json:"license"`
	// Source is where it is developed: an address, or a folder of this repository.
	Source string `yaml:"source" json:"source"`
	// Install is what dogwatch plugin install takes; "" for a plugin that is built from its source. Of a folder of
	// this repository it follows from the name.
	Install string `yaml:"install" json:"install,omitempty"`
	// SDK is the sdk.Version that it was built with: of a folder of this repository the current one.
	SDK string `yaml:"sdk" json:"sdk"`
}

// ours reports whether the plugin is a folder of this repository.
func (p Plugin) ours() bool { return !strings.Contains(p.Source, "://") }

// address is where its source is for those who have no checkout.
func (p Plugin) address() string {
	if p.ours() {
		return repository + "/tree/main/" + p.Source
	}
	return p.Source
}

// Read reads a file of references, sorted by kind, name and type. root is the folder of the repository.
func Read(file, root string) ([]Plugin, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the gallery: %w", err)
	}
	var all []Plugin
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read the gallery: %w", err)
	}
	var problems []error
	types := map[string]string{}
	for i := range all {
		p := &all[i]
		if err := p.check(root); err != nil {
			problems = append(problems, fmt.Errorf("%s: reference %d, %q: %w", filepath.Base(file), i+1, p.Name, err))
		}
		id := string(p.Kind) + "." + p.Type
		if other, taken := types[id]; taken {
			problems = append(problems,
				fmt.Errorf("%s: reference %d, %q: type: %s is that of %q", filepath.Base(file), i+1, p.Name, id, other))
		}
		types[id] = p.Name
	}
	slices.SortFunc(all, func(a, b Plugin) int {
		return cmp.Or(
			cmp.Compare(slices.Index(kind.Kinds(), a.Kind), slices.Index(kind.Kinds(), b.Kind)),
			strings.Compare(a.Name, b.Name), strings.Compare(a.Type, b.Type))
	})
	return all, errors.Join(problems...)
}

var (
	nameForm    = lazyregexp.New(`^[a-z0-9][a-z0-9._-]*$`)
	typeForm    = lazyregexp.New(`^[a-z][a-z0-9]*$`)
	licenseForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.+-]*( (OR|AND|WITH) [A-Za-z0-9.+-]+)*$`)
	versionForm = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+$`)
	tagForm     = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+(-[A-Za-z0-9.-]{1,64})?$`)
	// installForm has a host in front, so that it is never taken for a file.
	installForm = lazyregexp.New(`^[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+` +
		`(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$`)
)

// check completes a reference and says what is wrong with it, by its key.
func (p *Plugin) check(root string) error {
	switch {
	case !nameForm().MatchString(p.Name):
		return errors.New("name: want that of the executable, in lower case")
	case !slices.Contains(kind.Kinds(), p.Kind):
		return fmt.Errorf("kind: want one of %v, got %q", kind.Kinds(), p.Kind)
	case !typeForm().MatchString(p.Type):
		return fmt.Errorf("type: want the name of its type, got %q", p.Type)
	case p.Does == "" || strings.Contains(p.Does, "|") || visible.Line(p.Does) != p.Does || len(p.Does) > 160:
		return errors.New("does: want what it does, in a line of up to 160 characters without |")
	case !licenseForm().MatchString(p.License):
		return fmt.Errorf("license: want an identifier of SPDX, such as MIT, got %q", p.License)
	case p.ours() && (p.SDK != "" || p.Install != ""):
		return errors.New("sdk and install: leave them out for a folder of this repository")
	case p.ours():
		p.SDK, p.Install = sdk.Version, Registry+"/"+p.Name
		return p.checkFolder(filepath.Join(root, filepath.FromSlash(p.Source)))
	case p.Install != "" && !installForm().MatchString(p.Install):
		return fmt.Errorf("install: want an artifact in a registry, such as ghcr.io/me/lamp:1.0, got %q", p.Install)
	case !versionForm().MatchString(p.SDK):
		return fmt.Errorf("sdk: want the version of the SDK that it was built with, such as %s, got %q", sdk.Version, p.SDK)
	}
	if u, err := url.Parse(p.Source); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil ||
		strings.ContainsAny(p.Source, "|() ") {
		return fmt.Errorf("source: want an address that starts with https://, or a folder of this repository, got %q",
			p.Source)
	}
	return nil
}

// checkFolder looks whether a folder has what users need: a program, and a
// README with the options as YAML and as variables.
func (p *Plugin) checkFolder(dir string) error {
	if main, _ := filepath.Glob(filepath.Join(dir, "main.*")); len(main) == 0 || p.Source == "" {
		return fmt.Errorf("source: there is no program in the folder %q", p.Source)
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		return fmt.Errorf("source: the folder %s has no README.md", p.Source)
	}
	for what, wanted := range map[string]string{
		"YAML":      fmt.Sprintf("%s:\n  %s:\n", p.Kind, p.Type),
		"variables": strings.ToUpper(fmt.Sprintf("DOGWATCH_%s_%s_", p.Kind, p.Type)),
	} {
		if !strings.Contains(string(readme), wanted) {
			return fmt.Errorf("source: README.md of %s lacks its %s (%q)", p.Source, what, wanted)
		}
	}
	return nil
}
