// Package preset knows what updates of widely used images take: which major updates need a migration, which
// versions must not be left out on the way, where the vendor says so, and which repository has their release notes.
// All of it is in presets.yaml, with a source for each entry.
package preset

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/internal/reference"
)

//go:embed presets.yaml
var document []byte

// Preset is what is known of some images.
type Preset struct {
	Name string `yaml:"name"`
	// Images are repositories as references are written in short: "postgres", "ghcr.io/goauthentik/server".
	Images []string `yaml:"images"`
	// Major is Never, or "" where nothing speaks against major updates.
	Major string `yaml:"major"`
	// Line is how many numbers of a version name what the vendor calls a major version, or a release line: 1, or 2 for
	// 10.11 of 10.11.6.
	Line int `yaml:"line"`
	// Steps is One where no release line may be left out.
	Steps string `yaml:"steps"`
	// Stops are versions, in order, that must not be passed without a stay: "16.3".
	Stops []string `yaml:"stops"`
	// Needs is what an update to another release line takes, in whole sentences.
	Needs string `yaml:"needs"`
	// Page is the address where the vendor says so.
	Page string `yaml:"page"`
	// Notes is the address of the repository with the release notes; "" where that is not known.
	Notes string `yaml:"notes"`
}

// The words of Major and Steps.
const (
	Never = "never"
	One   = "one"
)

// Source is how decisions and explanations name a preset: "preset postgres".
func (p *Preset) Source() string { return "preset " + p.Name }

// Named names a preset within a sentence.
func (p *Preset) Named() phrase.Phrase { return phrase.New("built-in rule for %s", p.Name) }

// Advice is what an update to another release line takes, and the address of the page that says so.
func (p *Preset) Advice() string { return p.Needs + " See " + p.Page }

// Said is an advice, or what an update needs alone, as a phrase. An advice is stored with the plan of an update, where
// its address may be cut off.
func Said(advice string) phrase.Phrase {
	needs, page, sees := strings.Cut(advice, " See")
	said := phrase.New(strings.ReplaceAll(needs, "%", "%%"))
	if sees {
		return phrase.New("%s See%s", said, page)
	}
	return said
}

// Read returns the presets in the order of the document.
func Read() ([]*Preset, error) {
	var all []*Preset
	decoder := yaml.NewDecoder(strings.NewReader(string(document)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("read presets.yaml: %w", err)
	}
	for _, p := range all {
		p.Line = max(p.Line, 1)
	}
	return all, nil
}

// Presets finds the preset of an image. The zero Presets is ready, reads the document when it is first asked, and
// may be used concurrently.
type Presets struct {
	once    sync.Once
	byImage map[string]*Preset
}

// Of returns the preset of an image by its host, as "docker.io", and its repository; nil when there is none. Mirrors
// keep official images of Docker Hub below library or docker/library, where they are known as well.
func (s *Presets) Of(host, repository string) *Preset {
	s.once.Do(s.read)
	if p := s.byImage[reference.Short(host, repository)]; p != nil {
		return p
	}
	official, isOfficial := strings.CutPrefix(strings.TrimPrefix(repository, "docker/"), "library/")
	if !isOfficial {
		return nil
	}
	return s.byImage[official]
}

func (s *Presets) read() {
	all, err := Read()
	if err != nil {
		panic("preset: " + err.Error()) // the document is part of the program, and tested
	}
	s.byImage = map[string]*Preset{}
	for _, p := range all {
		for _, image := range p.Images {
			s.byImage[image] = p
		}
	}
}
