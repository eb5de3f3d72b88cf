package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const chart = "application/vnd.cncf.helm.config.v1+json"

// reading is a checker that reads new candidates, of the repository of one container.
type reading struct {
	*fixture
	rules policy.Rules
	at    time.Time

	published int
}

func openReading(t *testing.T, change ...func(*fixture, *options)) *reading {
	r := &reading{at: time.Now()}
	change = append(change, func(w *fixture, o *options) {
		o.Queries.ReadCandidates, o.Decide.Candidates = true, w.store.Candidates
		o.Now = func() time.Time { return r.at }
		o.Decide.Rules = func(sdk.Container) policy.Rules { return r.rules }
	})
	r.fixture = open(t, change...)
	r.restart()
	r.engine.has(container("web", "team/app:1.0.0"))
	return r
}

// restart begins with what is stored.
func (r *reading) restart() {
	r.spares(func() []registry.Limit { return nil })
}

// publish puts what is of a type behind tags; images are of none.
func (r *reading) publish(artifact string, tags ...string) {
	for _, tag := range tags {
		r.published++
		digest := fmt.Sprintf("sha256:%064x", r.published)
		if !slices.Contains(r.hub.tags["team/app"], tag) {
			r.hub.tags["team/app"] = append(r.hub.tags["team/app"], tag)
		}
		r.hub.digests["team/app:"+tag] = digest
		made := sdk.TimeOf(r.at.Add(-time.Hour))
		r.hub.manifests[digest] = registry.Manifest{Digest: digest, Artifact: artifact, Created: made}
	}
}

// offered runs a check and returns the tag that is offered, and what was asked besides the tags.
func (r *reading) offered() (tag string, requests []string) {
	r.t.Helper()
	r.run()
	c := r.get("id-web")
	if c.Check.State != sdk.CheckOK {
		r.t.Errorf("the check: %+v, %+v", c.Check, c.Error)
	}
	if c.UpdateAvailable {
		tag = c.Result.Tag
	}
	requests = slices.DeleteFunc(r.hub.requests(), func(q string) bool { return q == "tags team/app" })
	return tag, requests
}

func (r *reading) expect(title, want string, requests int) {
	r.t.Helper()
	if tag, asked := r.offered(); tag != want || len(asked) != requests {
		r.t.Errorf("%s: %q is offered, after %q; want %q and %d requests", title, tag, asked, want, requests)
	}
}

// What is no image is not offered, and each candidate is read once.
func TestArtifactsAreNotOffered(t *testing.T) {
	r := openReading(t)
	r.publish("", "1.0.0")
	r.expect("nothing new", "", 0)
	r.publish("", "1.1.0", "1.0.1")
	r.publish(chart, "2.0.0", "1.2.0", "3.0.0")
	r.expect("charts above images", "1.1.0", 10) // two each, for all but 1.0.0
	r.expect("again", "1.1.0", 0)
	r.restart()
	r.expect("after a restart", "1.1.0", 0)
	l := r.get("id-web").Result.Levels
	if l.Major != nil || l.Minor.Tag != "1.1.0" || l.Patch.Tag != "1.0.1" || l.Minor.Created.IsZero() {
		t.Errorf("levels %+v", l)
	}
	r.publish("", "2.1.0")
	r.expect("an image among charts", "2.1.0", 2) // the chart above it is known
	r.at = r.at.Add(droppedFresh + time.Hour)
	r.publish("", "3.0.0")                // in place of the chart
	r.expect("a month later", "3.0.0", 3) // and the digest of the other chart, which is the same
}

func TestOnlyArtifactsAreNewer(t *testing.T) {
	r := openReading(t)
	r.publish("", "1.0.0")
	r.publish("application/vnd.example.model.v1", "1.1.0")
	r.expect("a model", "", 2)
	why := r.Explain(t.Context(), r.get("id-web"))
	i := slices.IndexFunc(why.Tags, func(v Verdict) bool { return v.Tag == "1.1.0" })
	const want = `it is no image but of the type "application/vnd.example.model.v1"`
	if v := why.Tags[i]; v.Kept || v.Reason != "artifact" || v.Detail.String() != want || why.UpdateAvailable {
		t.Errorf("%+v, %+v", v, why)
	}
	contains(t, "summary", strings.Join(phrase.Strings(why.Summary), "\n"), "that the rules allow: 0.", "nothing newer")
}

func TestExplainNamesArtifacts(t *testing.T) {
	r := openReading(t)
	r.publish("", "1.0.0", "1.1.0")
	r.publish(chart, "1.2.0")
	r.run()
	var got []string
	for _, v := range r.Explain(t.Context(), r.get("id-web")).Tags {
		got = append(got, fmt.Sprint(v.Tag, " ", v.Kept, " ", v.Reason, " ", v.Detail))
	}
	equal(t, "verdicts", got, []string{
		"1.0.0 false current it is the current tag", "1.1.0 true newest it is the newest allowed tag",
		"1.2.0 false artifact it is no image but a Helm chart",
	})
}

// Behind what is no image, nothing is offered that was not read.
func TestManyArtifactsAreReadByAndBy(t *testing.T) {
	r := openReading(t)
	r.publish("", "1.0.0", "1.1.0")
	for n := range 12 {
		r.publish(chart, fmt.Sprintf("1.%d.0", n+2))
	}
	r.expect("the first check", "", 2*maxDatesPerCheck)
	r.expect("the second", "1.1.0", 2*3)
	r.expect("the third", "1.1.0", 0)
}

// What cannot be read is offered by its number, and not asked for all the time.
func TestUnreadableCandidateIsOffered(t *testing.T) {
	r := openReading(t)
	r.publish("", "1.0.0")
	r.publish(chart, "1.1.0")
	r.hub.errs["resolve team/app:1.1.0"] = sdk.WithKind(sdk.ErrUnavailable, errors.New("out of order"))
	r.expect("out of order", "1.1.0", 1)
	r.expect("soon after", "1.1.0", 0)
	clear(r.hub.errs)
	r.at = r.at.Add(datePause + time.Minute)
	r.expect("later", "", 2)
}

func TestCandidatesBeyondThresholdAreNotRead(t *testing.T) {
	r := openReading(t)
	r.rules.Threshold = setting("patch")
	r.publish("", "1.0.0", "1.0.1", "1.1.0")
	r.publish(chart, "2.0.0")
	r.expect("patches only", "1.0.1", 2)
}

// Where reading is a pull, only what the registry says without one counts.
func TestArtifactsWithoutPulls(t *testing.T) {
	r := openReading(t)
	r.hub.described = map[string][]registry.DescribedTag{}
	r.publish("", "1.0.0", "1.1.0", "1.2.0")
	r.publish(chart, "1.3.0", "1.4.0")
	for _, tag := range []string{"1.2.0", "1.3.0"} {
		d := registry.DescribedTag{Name: tag, Digest: r.hub.digests["team/app:"+tag], Pushed: sdk.TimeOf(r.at)}
		if d.Image = d.Digest; tag == "1.3.0" {
			d.Image, d.Artifact = "", chart
		}
		r.hub.described["team/app"] = append(r.hub.described["team/app"], d)
	}
	tag, asked := r.offered()
	if slices.ContainsFunc(asked, func(q string) bool { return strings.HasPrefix(q, "manifest") }) || tag != "1.4.0" {
		t.Errorf("%q is offered after %q", tag, asked) // of which nothing is known
	}
	r.expect("again", "1.4.0", 0)
	r.hub.tags["team/app"] = slices.DeleteFunc(r.hub.tags["team/app"], func(tag string) bool { return tag == "1.4.0" })
	tag, asked = r.offered()
	if slices.ContainsFunc(asked, func(q string) bool { return strings.HasPrefix(q, "manifest") }) || tag != "1.2.0" {
		t.Errorf("%q is offered after %q", tag, asked)
	}
	r.expect("once more", "1.2.0", 0)
}

// A checker that reads no candidates makes no requests about them.
func TestCandidatesAreReadOnRequest(t *testing.T) {
	r := openReading(t)
	r.opt.Queries.ReadCandidates = false
	r.restart()
	r.publish("", "1.0.0")
	r.publish(chart, "1.1.0")
	r.expect("by its number", "1.1.0", 0)
}
