// Package registrytest checks that a registry keeps the promises of package
// registry, by serving it over real gRPC as a plugin is served. Its author
// brings a service that responds, one that hangs, and ones that fail.
//
//	func TestConformance(t *testing.T) {
//		registrytest.Run(t, custom.Type(), registrytest.Case{
//			Working: func(t *testing.T) registrytest.Service {
//				s := ocitest.New(t)
//				r := service(s.URL)
//				r.Digest = s.Push(r.Repository.Name, r.Tag)
//				return r
//			},
//			Hanging: func(t *testing.T, reached func()) registrytest.Service {
//				return service(plugintest.Hanging(t, reached))
//			},
//			Failing: registrytest.HTTPFailures(service),
//		})
//	}
//
//	func service(url string) registrytest.Service {
//		return registrytest.Service{
//			Options:    map[string]any{"url": url, "password": "recognisable-password"},
//			Repository: registry.Repository{Host: strings.TrimPrefix(url, "http://"), Name: "library/nginx"},
//			Tag:        "1.25.3",
//		}
//	}
//
// The checks are the subtests; a check that does not apply to a type is listed in Case.Skip:
//
//	describe    the description is stable and complete
//	options     unknown, missing and malformed options are refused by name
//	replace     an instance can be configured again
//	release     a released instance leaves nothing running behind
//	concurrent  one instance serves many calls at a time
//	cancel      a call whose context ends comes back
//	errors      failures are of the right kind
//	secrets     no secret option shows in an error, a log line or a warning
//	probe       an instance that can be probed describes what responded
//	hosts       the instance says which hosts it serves
//	responses   tags are complete and unchanged under their validator, digests and manifests hold together
//	missing     a repository, a tag and an image that do not exist are sdk.ErrNotFound
//
// A part of a check is named with it: "errors/404", "cancel/manifest". Give
// every secret option a recognisable value of at least six characters: the kit
// searches for it in whatever the registry says during any of the checks.
package registrytest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/conform"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Case says how to exercise one type. Its functions are called once for each
// check that needs them; what they start ends with t.
type Case struct {
	// Working returns a service that responds.
	Working func(t *testing.T) Service
	// Hanging returns a service of which every request calls reached, from
	// wherever it gets stuck, and then blocks until its context ends.
	Hanging func(t *testing.T, reached func()) Service
	// Failing are the ways in which every request can fail.
	Failing []Failure
	// Invalid are mistakes in options that only the type's own code can see.
	Invalid []Invalid
	// Skip names checks, or parts of checks, that do not apply to the type.
	Skip []string

	timeout time.Duration // shorter in this package's own tests
}

// Service is a registry service, the options with which it is reached, and something that it holds.
type Service struct {
	Options    map[string]any
	Repository registry.Repository
	// Tag is a tag of the repository.
	Tag string
	// Digest is what Tag stands for; only a working service needs to say.
	Digest string
	// Platform is one that the image of Tag has; linux/amd64 when it is zero.
	Platform sdk.Platform
}

// Failure is one way in which every request can fail.
type Failure struct {
	Name    string
	Service func(t *testing.T) Service
	// Kind is the kind that the error must have: a sentinel of package sdk, an
	// *sdk.InvalidError, or an *sdk.RateLimitedError, whose delay must be the
	// same unless it is 0. A nil Kind takes any error.
	Kind error
}

// Invalid are changes to valid options that Field is to blame for. A changed
// value of nil takes an option away.
type Invalid struct {
	Field string
	Set   map[string]any
}

// Run runs the checks as subtests of t.
func Run(t *testing.T, typ registry.Type, c Case) {
	t.Helper()
	s := conform.Subject{
		Bundle: plugin.Bundle{Version: "test", Registries: []registry.Type{typ}},
		Type:   typ.Type,
		Working: func(t *testing.T) conform.Situation {
			return c.Working(t).situation(typ.Capabilities)
		},
		Skip:    c.Skip,
		Timeout: c.timeout,
	}
	if c.Hanging != nil {
		s.Hanging = func(t *testing.T, reached func()) conform.Situation {
			return c.Hanging(t, reached).situation(typ.Capabilities)
		}
	}
	for _, f := range c.Failing {
		s.Failing = append(s.Failing, conform.Failure{Name: f.Name, Kind: f.Kind, Make: func(t *testing.T) conform.Situation {
			return f.Service(t).situation(typ.Capabilities)
		}})
	}
	for _, i := range c.Invalid {
		s.Invalid = append(s.Invalid, conform.Invalid(i))
	}
	s.More = []conform.Check{{Name: "hosts", Run: c.hosts}, {Name: "responses", Run: c.responses}, {
		Name: "missing", Run: c.missing,
	}}
	conform.Run(t, s)
}

// HTTPFailures are the failures of a registry that uses the HTTP server at a URL.
func HTTPFailures(service func(url string) Service) []Failure {
	var all []Failure
	for _, f := range conform.HTTPFailures() {
		all = append(all, Failure{f.Name, func(t *testing.T) Service { return service(f.URL(t)) }, f.Kind})
	}
	return all
}

func (s Service) platform() sdk.Platform {
	if s.Platform == (sdk.Platform{}) {
		return sdk.Platform{OS: "linux", Architecture: "amd64"}
	}
	return s.Platform
}

func (s Service) digest() string {
	if s.Digest == "" {
		return missingDigest
	}
	return s.Digest
}

// missingDigest is that of no content.
const missingDigest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// situation is one request of each sort to the service.
func (s Service) situation(capabilities []string) conform.Situation {
	image := s.Repository.Host + "/" + s.Repository.Name + ":" + s.Tag
	in := conform.Situation{Options: s.Options, Image: image, Calls: []conform.Call{
		{Name: "tags", Do: func(ctx context.Context, p *conform.Instance) error {
			_, err := p.Client.Registry(p.ID).Tags(ctx, s.Repository, "")
			return err
		}},
		{Name: "resolve", Do: func(ctx context.Context, p *conform.Instance) error {
			_, err := p.Client.Registry(p.ID).Resolve(ctx, s.Repository, s.Tag)
			return err
		}},
		{Name: "manifest", Do: func(ctx context.Context, p *conform.Instance) error {
			_, err := p.Client.Registry(p.ID).Manifest(ctx, s.Repository, s.digest(), s.platform())
			return err
		}},
	}}
	if slices.Contains(capabilities, kind.CapConfig) {
		in.Calls = append(in.Calls, conform.Call{Name: "config", Do: func(ctx context.Context, p *conform.Instance) error {
			_, err := p.Client.Registry(p.ID).ImageConfig(ctx, s.Repository, s.digest(), s.platform())
			return err
		}})
	}
	return in
}
