package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// sample is an image that runs, to look up in its registry.
type sample struct {
	host, repository, tag string
	// pulled is whether the engine got it from a registry, as opposed to built it.
	pulled bool
}

// manySamples is how many images are looked up in a registry until it knows one.
const manySamples = 3

func (s sample) String() string { return s.host + "/" + s.repository + ":" + s.tag }

// registries asks each registry that is configured or whose images run about
// one image of every host it serves.
func (e *examination) registries(ctx context.Context, containers []sdk.Container) []Finding {
	samples := map[string][]sample{}
	var orphans []Finding
	for _, c := range containers {
		host := c.Image.Registry.Host
		if host == "" || c.Image.Name == "" || c.Image.Tag.Value == "" {
			continue
		}
		id, _, served := e.Installation.RegistryOf(host)
		subject := "host " + host
		if !served {
			known := slices.ContainsFunc(orphans, func(f Finding) bool { return f.Subject == subject })
			if !known {
				orphans = append(orphans, Finding{
					Subject: subject, Level: Fail,
					Detail: "no registry serves it: the images of " + c.Name + " and others cannot be checked",
					Remedy: "configure one: registry.custom.NAME.url",
				})
			}
			continue
		}
		s := sample{host, c.Image.Name, c.Image.Tag.Value, c.Image.Digest.Repo != ""}
		if !slices.Contains(samples[id], s) {
			samples[id] = append(samples[id], s)
		}
	}
	found := each(e.Installation.Registries(), func(r Registry) []Finding {
		mine := samples[r.ID]
		if len(mine) == 0 && r.Default {
			return nil // not used
		}
		return e.within(ctx, r.ID, func(ctx context.Context) []Finding { return e.registry(ctx, r, mine) })
	})
	return append(found, orphans...)
}

func (e *examination) registry(ctx context.Context, r Registry, samples []sample) []Finding {
	found := r.findings()
	if r.Err != nil {
		return found
	}
	results := each(byHost(samples), func(some []sample) []Finding { return e.resolve(ctx, r, some) })
	if len(samples) == 0 {
		probed, err := r.Probe(ctx)
		if results = e.verdict(r, "", err); err == nil {
			results = append(one(r.ID, OK, probed.Summary, ""), warnings(r.ID, probed)...)
		}
	}
	if text, level, remedy := limitsLeft(r.Limits(ctx), e.Now()); text != "" && results[0].Level == OK {
		results[0].Detail += "; " + text
		results[0].Level, results[0].Remedy = level, remedy
	}
	return append(results, found...)
}

// byHost groups samples, those that were pulled first and few of each host.
func byHost(samples []sample) [][]sample {
	var groups [][]sample
	for _, pulled := range []bool{true, false} {
		for _, s := range samples {
			if s.pulled != pulled {
				continue
			}
			i := slices.IndexFunc(groups, func(g []sample) bool { return g[0].host == s.host })
			switch {
			case i < 0:
				groups = append(groups, []sample{s})
			case len(groups[i]) < manySamples:
				groups[i] = append(groups[i], s)
			}
		}
	}
	return groups
}

// resolve looks samples of one host up until a result is good, and returns that or the first.
func (e *examination) resolve(ctx context.Context, r Registry, samples []sample) []Finding {
	var first []Finding
	for _, s := range samples {
		err := r.Resolve(ctx, s.host, s.repository, s.tag)
		if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("no answer of %s within %s", s.host, e.Limit)
		}
		text := e.verdict(r, s.String(), err)
		if err == nil {
			return text
		}
		if first == nil {
			first = text
		}
		if !errors.Is(err, sdk.ErrNotFound) && !errors.Is(err, sdk.ErrUnauthorized) {
			break // more requests are useless for now
		}
	}
	return first
}

// verdict says what an answer about an image means.
func (e *examination) verdict(r Registry, image string, err error) []Finding {
	var limited *sdk.RateLimitedError
	remedy := sdk.Remedy(err) // the plugin knows better
	switch {
	case err == nil:
		login := "with its options"
		if r.Default {
			login = "without options of its own"
		}
		return one(r.ID, OK, fmt.Sprintf("answers %s for %s", login, image), "")
	case remedy != "":
		return one(r.ID, Fail, err.Error(), remedy)
	case errors.As(err, &limited):
		return one(r.ID, Warn, err.Error(), "check less often (cron), or give the registry a login: those have larger limits")
	case errors.Is(err, sdk.ErrUnauthorized):
		parts := strings.Split(r.ID, ".")
		if r.Default {
			return one(r.ID, Fail, err.Error(),
				fmt.Sprintf("give it a login: dogwatch config docs registry.%s shows how; a misspelt image is answered so, too", parts[1]))
		}
		return one(r.ID, Fail, err.Error(),
			"correct its login, and see that it may read the image; a misspelt image is answered so, too")
	case errors.Is(err, sdk.ErrNotFound):
		return one(r.ID, Warn, err.Error(),
			"it answers: the image or its tag may have been removed, or built on this machine")
	}
	return one(r.ID, Fail, err.Error(), "")
}
