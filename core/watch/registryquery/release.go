package registryquery

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// What requests for dates may cost registries. Reading a manifest is a pull to a
// registry that counts them, of which Docker Hub allows 100 in 6 hours without
// an account (docs.docker.com/docker-hub/usage), and checks and engines need them more.
const (
	// spareShare is the part of what a host allows that is left for others: a half.
	spareShare = 2
	// usualWindow is how long a limit is believed whose host does not say for how long it counts.
	usualWindow = time.Hour
	// datesPerHour is how many dates are fetched from a host that does not say what it allows.
	datesPerHour = 30
	// datePause is how long a failed request for a date is not retried.
	datePause = 6 * time.Hour
)

var (
	errPull    = errors.New("its host may count reading it as a pull")
	errNotRead = errors.New("it could not be read a while ago")
)

// NoneToSpare is the error that says why a host gets no request that can wait.
type NoneToSpare string

func (n NoneToSpare) Error() string { return string(n) }

// MayRead reports whether reading a release can find out more about it now.
func (cl *Client) MayRead(r candidate.Release) bool {
	earlier, isRead := cl.releases.get(r)
	return !isRead || !earlier.created.IsZero() || !earlier.retry.IsZero() && !cl.opt.Now().Before(earlier.retry)
}

// Created returns when a release was made, which may take a pull; zero when its registry says nothing that can be
// believed. The error is a NoneToSpare when the host has no requests to spare.
func (cl *Client) Created(ctx context.Context, r candidate.Release) (sdk.Time, error) {
	repo, err := cl.repositoryOf(r)
	if err != nil {
		return sdk.Time{}, err
	}
	result, err := cl.inspect(ctx, repo, r, true, nil)
	return result.created, err
}

// inspect finds out when a release was made, and of what type it is if it is no image, once, and remembers what came
// of it. known, for a tag that may have moved, returns what is known of the digest behind it; nil for what is read
// once only. Without pulls inspect makes no request that is one, and returns errPull with the digest where it takes
// one. What failed a while ago is not read again (errNotRead). The error is NoneToSpare when the host has no requests
// to spare.
func (cl *Client) inspect(
	ctx context.Context, repo repository, r candidate.Release, pulls bool, known func(digest string) (reading, bool),
) (reading, error) {
	earlier, isRead := cl.releases.get(r)
	if known == nil && isRead && (!earlier.created.IsZero() || earlier.retry.IsZero()) {
		return earlier, nil
	}
	if cl.opt.Now().Before(earlier.retry) {
		return reading{}, errNotRead
	}
	result, err := cl.fetchRelease(ctx, repo, r, pulls, known)
	var none NoneToSpare
	switch {
	case ctx.Err() != nil:
		return reading{}, NoneToSpare("the check has ended")
	case errors.As(err, &none) || errors.Is(err, errPull):
		return result, err
	case err != nil:
		result = reading{retry: cl.opt.Now().Add(datePause)}
	}
	cl.releases.put(r, result)
	return result, err
}

// fetchRelease asks the registry for what is behind a tag, if it has requests to spare: a date that can
// be believed, and the type of what is no image.
func (cl *Client) fetchRelease(
	ctx context.Context, repo repository, r candidate.Release, pulls bool, known func(digest string) (reading, bool),
) (reading, error) {
	if err := cl.permit(ctx, repo); err != nil {
		return reading{}, err
	}
	digest, err := cl.resolve(ctx, repo, r.Tag)
	if err != nil {
		return reading{}, err
	}
	if known != nil {
		if result, isKnown := known(digest); isKnown {
			return result, nil
		}
	}
	return cl.readDigest(ctx, repo, r, digest, pulls)
}

// repositoryOf returns the repository of a release. The error is NoneToSpare when no registry serves it.
func (cl *Client) repositoryOf(r candidate.Release) (repository, error) {
	match, served := cl.opt.Registries.For(r.Host)
	if !served {
		return repository{}, NoneToSpare("no registry serves it")
	}
	return repository{Repository: r.Repository(), match: match}, nil
}

// readDigest returns what is behind a digest, which a registry is asked once for each.
func (cl *Client) readDigest(
	ctx context.Context, repo repository, r candidate.Release, digest string, pulls bool,
) (reading, error) {
	if m, cached := cachedManifest(ctx, cl.opt.Cache, repo.Repository, digest, r.Platform); cached {
		return cl.readingOf(digest, m), nil
	}
	if t, known := cl.describe(ctx, repo, r.Tag, digest, r.Platform); known && (t.Artifact != "" || !t.Pushed.IsZero()) {
		version := cl.describedVersion(ctx, repo, r.Tag, digest, r.Platform)
		return cl.readingOf(digest, registry.Manifest{Created: t.Pushed, Artifact: t.Artifact, Version: version}), nil
	}
	if !pulls && repo.match.Describer != nil {
		return reading{digest: digest}, errPull
	}
	// Up to here it was no pull, and by now the host may have said what is left.
	if _, err := cl.spare(ctx, repo); err != nil {
		return reading{}, err
	}
	m, err := cl.manifest(ctx, repo, digest, r.Platform)
	return cl.readingOf(digest, m), err
}

func (cl *Client) readingOf(digest string, m registry.Manifest) reading {
	result := reading{artifact: m.Artifact, digest: digest, version: candidate.Version(m.Version)}
	if candidate.Believable(m.Created, cl.opt.Now()) {
		result.created = m.Created
	}
	return result
}

// permit returns nil when a host may get a request, which is counted, and else an error that is NoneToSpare.
func (cl *Client) permit(ctx context.Context, repo repository) error {
	limited, err := cl.spare(ctx, repo)
	switch {
	case err != nil:
		return err
	case !limited && !cl.unlimited.take(repo.Host, datesPerHour, cl.opt.Now()):
		return NoneToSpare("it was asked for enough of them this hour")
	}
	return nil
}

// spare returns an error that is NoneToSpare when a host is to be left alone. limited is whether
// the host has said what it allows.
func (cl *Client) spare(ctx context.Context, repo repository) (limited bool, err error) {
	host := repo.Host
	if why := cl.limiter.Paused(host); why != "" {
		return false, NoneToSpare(why)
	}
	if u := cl.opt.Budget.Of(host); u.Allowance.Requests > 0 && u.Left()*spareShare < u.Allowance.Requests {
		return true, NoneToSpare("less than half of its budget is left")
	}
	api, now := repo.match.apiHost(), cl.opt.Now()
	for _, l := range cl.opt.Spare(ctx, repo.match.ID) {
		switch {
		case !strings.EqualFold(l.Host, api):
		case l.PausedUntil.After(now):
			return true, NoneToSpare("it asked for a pause")
		case l.Limit > 0 && now.Before(l.At.Add(cmp.Or(l.Window, usualWindow))):
			if limited = true; l.Remaining*spareShare < l.Limit {
				return true, NoneToSpare("less than half of what it allows is left")
			}
		}
	}
	return limited, nil
}
