package registryquery

import (
	"context"
	"errors"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// thresholdDigest is the threshold that excludes every other tag.
const thresholdDigest = "digest"

// Question is what a check wants to know about the image of one container, and the answer once there is one. Nobody
// is asked about one whose answer is an error already.
type Question struct {
	// Container has what its watcher lists and the last check found. What registries say about the image that runs
	// is written into it: whether its tag floats, and its version.
	Container sdk.Container
	// Match serves the image that is watched.
	Match  Match
	Labels Labels
	// Pull is what the engine pulls the image with, where the operator lets that be used; zero for nothing.
	Pull watcher.PullCredentials
	// Selector chooses among tags by the labels of the container.
	Selector *tag.Selector
	// Known is what the last check found, and Rules those by which the update is decided.
	Known  candidate.Found
	Rules  policy.Rules
	Search candidate.Search
	// Explained is whether every tag gets a verdict.
	Explained bool

	Answer candidate.Answer
}

// Labels are what the labels of a container say that questions depend on.
type Labels interface {
	// WatchesDigest reports whether a new digest behind the tag of an image counts as an update.
	WatchesDigest(img sdk.Image) bool
	// InfersBase reports whether the base of an image is only what the image says of itself.
	InfersBase() bool
	// OffersImplausible reports whether newer tags are offered that were built long before what runs.
	OffersImplausible() bool
	// Blame names the label behind an error of the selector.
	Blame(err error) error
}

// Image returns the image of which newer ones are looked for.
func (q *Question) Image() *sdk.Image { return q.Container.Watched() }

// repository is where the image is looked up, with the credentials of the container's engine if they are for it.
func (q *Question) repository(repo registry.Repository) repository {
	r := repository{Repository: repo, match: q.Match}
	if q.Container.Base == nil && q.Pull.Host == repo.Host && q.Pull.Credentials != (sdk.Credentials{}) {
		r.Credentials, r.ScopeHints = q.Pull.Credentials, nil // a token for others is no business of theirs
		r.source = q.Container.Watcher + " " + q.Pull.Source
	}
	return r
}

// candidates returns what the answer offers so far.
func (q *Question) candidates(now time.Time) candidate.Found {
	return q.Search.Candidates(*q.Image(), q.Answer, q.Known, now)
}

// selector returns what chooses among the tags of a repository: by the labels of the container, and by what is known
// of its image.
func (q *Question) selector() *tag.Selector {
	known := q.Rules.Preset
	if known == nil || known.Steps != preset.One && len(known.Stops) == 0 {
		return q.Selector
	}
	path := tag.Path{Stops: known.Stops, Source: known.Named()}
	if known.Steps == preset.One {
		path.Line = known.Line
	}
	return q.Selector.Along(path)
}

// selectTags selects the newer ones among the tags of the repository.
func (q *Question) selectTags(ctx context.Context, tags []string) {
	selector, err := q.selector(), error(nil)
	if q.Explained {
		var why tag.Explanation
		why, err = selector.Explain(ctx, q.Image().Tag.Value, tags, q.Known.Tags()...)
		q.Answer.Why, q.Answer.Selection = &why, why.Selection
	} else {
		q.Answer.Selection, err = selector.Select(ctx, q.Image().Tag.Value, tags, q.Known.Tags()...)
	}
	if err != nil {
		q.Answer.Err = q.Labels.Blame(err)
	}
}

// float finds out whether the running version is one that stands for more
// specific ones: then the image behind it changes, as behind any other tag.
func (q *Question) float(tags []string) {
	img := q.Image()
	img.Tag.Floating = tag.Floats(img.Tag.Value, tags)
	img.Digest.Watch = q.Labels.WatchesDigest(*img)
}

func (q *Question) wantsTags() bool { return q.Image().Tag.Semver && !q.Image().Built }

// wantsDigest leaves out images of which there is nothing to compare.
func (q *Question) wantsDigest() bool {
	img := *q.Image()
	return img.Digest.Watch && !img.Built && (!withoutDigest(img) || hasID(img))
}

// comparesDigest reports whether the image behind the tag decides, now that it is known which
// tags are newer.
func (q *Question) comparesDigest() bool {
	a := &q.Answer
	newer := a.Selection.Newer && q.Rules.Threshold.Value != thresholdDigest
	return a.Err == nil && a.Uncompared == "" && !newer && q.wantsDigest()
}

// withoutDigest reports whether no registry ever gave the engine a digest of an image: it was
// built there, or loaded from a file.
func withoutDigest(img sdk.Image) bool { return img.Digest.Repo == "" && len(img.Digest.Repos) == 0 }

// hasID reports whether an engine identifies an image by a digest: in the classic image store
// of a Docker Engine that of the configuration, which the manifest in the registry names; in the store
// of containerd that of the manifest or index itself.
func hasID(img sdk.Image) bool { return reference.IsDigest(img.ID) }

// fail notes that a registry could not answer. That it knows nothing of an
// image which came from no registry is no failure: there is nothing to compare that with. Registries
// say of repositories that do not exist that they are private, so a refused login means the same.
func (q *Question) fail(err error) {
	img := *q.Image()
	missing := errors.Is(err, sdk.ErrNotFound) || errors.Is(err, sdk.ErrUnauthorized)
	switch {
	case missing && q.Container.Base != nil && q.Labels.InfersBase():
		q.Answer.Uncompared = "built here, and what its label says of its base image cannot be looked up: " +
			err.Error()
		return
	case !missing || q.Container.Base != nil || img.ID == "" || !withoutDigest(img):
		q.Answer.Err = err
		return
	}
	q.Answer.Uncompared = "built or loaded here, so there is no digest to compare, " +
		"and its registry shows no such image: " + err.Error()
}
