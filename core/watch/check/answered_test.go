package check

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/sdk"
)

func remove(ids ...string) event.Change { return event.Change{Remove: ids} }

var noon = sdk.TimeOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

// running is a container as discovery leaves it, with the policy of its labels.
func running(image string, given ...string) (sdk.Container, labels.Labels) {
	c := container("web", image, given...)
	p := labels.Read(label.Set{Operator: c.Labels}, labels.Options{WatchByDefault: true})
	if err := normalise(&c.Image); err != nil {
		panic(err)
	}
	p.Apply(&c)
	c.UpdateKind.Kind, c.Check.State = sdk.KindUnknown, sdk.CheckNever
	return c, p
}

// answered returns a container as a check stores it with an answer.
func answered(c sdk.Container, p labels.Labels, a candidate.Answer, at sdk.Time) sdk.Container {
	return decision.New(decision.Options{Log: hclog.NewNullLogger()}).Judge(
		decision.Answered{Container: &c, Answer: &a, Labels: &p}, candidate.Found{}, at.Time)
}

func TestResultOfAnAnswer(t *testing.T) {
	newer := func(newest string) candidate.Answer {
		return candidate.Answer{Selection: tag.Selection{Tag: newest, Newer: true, Kept: 1}}
	}
	same := candidate.Answer{Digest: &candidate.Digest{Remote: digest("1"), Same: true}}
	moved := candidate.Answer{Digest: &candidate.Digest{Remote: digest("2"), Created: noon}}
	inside := candidate.Answer{Digest: &candidate.Digest{Remote: digest("2"), Same: true}}
	for _, c := range []struct {
		about, image string
		labels       []string
		response     candidate.Answer
		available    bool
		kind         sdk.UpdateKind
		result       sdk.Result
		value        string // image.digest.value
	}{
		{"nothing newer", "nginx:1.25.0", nil, candidate.Answer{Selection: tag.Selection{Tag: "1.25.0"}}, false, sdk.UpdateKind{
			Kind: "unknown",
		}, sdk.Result{Tag: "1.25.0"}, ""},
		{"tag newer", "nginx:1.25.0", nil, newer("1.26.0"), true, sdk.UpdateKind{
			Kind: "tag", LocalValue: "1.25.0", RemoteValue: "1.26.0", SemverDiff: "minor",
		}, sdk.Result{Tag: "1.26.0"}, ""},
		{"major", "nginx:1.25.0", nil, newer("2.0.0"), true, sdk.UpdateKind{
			Kind: "tag", LocalValue: "1.25.0", RemoteValue: "2.0.0", SemverDiff: "major",
		}, sdk.Result{Tag: "2.0.0"}, ""},
		{"through a transform", "nginx:build-1.0.0", []string{"dogwatch.tag.transform=^build-(.*)$ => $1"},
			newer("build-1.0.1"), true,
			sdk.UpdateKind{Kind: "tag", LocalValue: "build-1.0.0", RemoteValue: "build-1.0.1", SemverDiff: "patch"},
			sdk.Result{Tag: "build-1.0.1"}, ""},
		{"digest same", "nginx:latest", nil, same, false, sdk.UpdateKind{Kind: "unknown"}, sdk.Result{
			Tag: "latest", Digest: digest("1"),
		}, digest("1")},
		{"digest different", "nginx:latest", nil, moved, true, sdk.UpdateKind{
			Kind: "digest", LocalValue: digest("1"), RemoteValue: digest("2"),
		}, sdk.Result{Tag: "latest", Digest: digest("2"), Created: noon}, digest("1")},
		{"another index with the same image", "nginx:latest", nil, inside, false, sdk.UpdateKind{Kind: "unknown"},
			sdk.Result{Tag: "latest", Digest: digest("2")}, digest("2")},
		{"digest of a version", "nginx:1.25.0", []string{"dogwatch.watch.digest=true"}, moved, true, sdk.UpdateKind{
			Kind: "digest", LocalValue: digest("1"), RemoteValue: digest("2"),
		}, sdk.Result{Tag: "1.25.0", Digest: digest("2"), Created: noon}, digest("1")},
	} {
		before, p := running(c.image, c.labels...)
		before.Error = &sdk.ContainerError{Message: "of the last check"}
		before.Image.Digest.Value = "of the last check"
		got := answered(before, p, c.response, noon)
		if got.Check != (sdk.CheckState{State: sdk.CheckOK, At: noon}) || got.Error != nil {
			t.Errorf("%s: state %+v, error %v", c.about, got.Check, got.Error)
		}
		if got.UpdateAvailable != c.available || got.UpdateKind != c.kind || *got.Result != c.result ||
			got.Image.Digest.Value != c.value {
			t.Errorf("%s:\n got  %t %+v %+v %s\n want %t %+v %+v %s", c.about,
				got.UpdateAvailable, got.UpdateKind, *got.Result, got.Image.Digest.Value, c.available, c.kind, c.result, c.value)
		}
	}
}

// TestResultOfAFailedCheck: the last good one is kept, and never looks like "up to date".
func TestResultOfAFailedCheck(t *testing.T) {
	c, p := running("nginx:1.25.0", "dogwatch.link.template=https://r/${original}", "dogwatch.watch.digest=perhaps")
	newer := candidate.Answer{Selection: tag.Selection{Tag: "1.26.0", Newer: true}}
	good := answered(c, p, newer, noon)
	later := sdk.TimeOf(noon.Add(time.Hour))
	bad := answered(good, p, candidate.Answer{Err: errors.New("registry is down")}, later)
	if bad.Check != (sdk.CheckState{State: sdk.CheckFailed, At: later}) {
		t.Errorf("state %+v", bad.Check)
	}
	if !bad.UpdateAvailable || bad.Result != good.Result || bad.UpdateKind != good.UpdateKind || bad.Link != good.Link {
		t.Errorf("the failed check changed the result: %+v", bad)
	}
	contains(t, "error", decision.Problem(bad), "registry is down; label dogwatch.watch.digest: ")
	again := answered(bad, p, newer, later)
	if *again.Result != *good.Result || again.UpdateKind != good.UpdateKind || again.Link != good.Link {
		t.Error("the same result after a failure counts as another one")
	}
	first := answered(c, p, candidate.Answer{Err: errors.New("registry is down")}, noon)
	if first.Result != nil || first.UpdateAvailable || first.Check.State != sdk.CheckFailed {
		t.Errorf("a first check that failed has a result: %+v", first)
	}
}

func TestLinksAreRenderedFromVersion(t *testing.T) {
	for _, c := range []struct{ template, image, newest, link, resultLink, err string }{
		{"https://r/${major}/${minor}/${patch}/${prerelease}?o=${original}&t=${transformed}&c=${container.name}",
			"foo/bar:1.2.3", "1.3.0-rc.1",
			"https://r/1/2/3/?o=1.2.3&t=1.2.3&c=web", "https://r/1/3/0/rc?o=1.3.0-rc.1&t=1.3.0-rc.1&c=web", ""},
		{"https://r/${major}/${original}", "foo/bar:latest", "", "https://r//latest", "https://r//latest", ""},
		{"https://r/${raw}/${container.image.name}", "foo/bar:1.0", "1.1", "https://r/1.0/foo/bar",
			"https://r/1.1/foo/bar", ""},
		{"https://r/static", "foo/bar:1.0", "1.1", "https://r/static", "https://r/static", ""},
		{"https://r/${container.labels.a.b}", "foo/bar:1.0", "1.1", "", "",
			"label dogwatch.link.template: ${container.labels.a.b}: "},
		{"https://r/${container.imgae.name}", "foo/bar:1.0", "1.1", "", "",
			"label dogwatch.link.template: unknown field container.imgae: did you mean container.image?"},
		{"https://r/${container.image.tag}", "foo/bar:1.0", "1.1", "", "",
			"label dogwatch.link.template: container.image.tag has several values: write one of container.image.tag.value"},
	} {
		before, p := running(c.image, "dogwatch.link.template="+c.template)
		same := &candidate.Digest{Remote: digest("1"), Same: true}
		newest := tag.Selection{Tag: c.newest, Newer: c.newest != ""}
		got := answered(before, p, candidate.Answer{Selection: newest, Digest: same}, noon)
		if got.Link != c.link || got.Result.Link != c.resultLink {
			t.Errorf("%s: %q %q", c.template, got.Link, got.Result.Link)
		}
		contains(t, c.template, decision.Problem(got), c.err)
		if c.err == "" && got.Error != nil {
			t.Errorf("%s: %s", c.template, decision.Problem(got))
		}
		if got.Check.State != sdk.CheckOK || got.UpdateAvailable != (c.newest != "") {
			t.Errorf("%s: a link changed the result: %+v", c.template, got)
		}
	}
	// A wrong template joins what else is wrong.
	before, p := running("foo/bar:1.0", "dogwatch.link.template=${container.a.b}", "dogwatch.watch.digest=perhaps")
	contains(t, "error", decision.Problem(answered(before, p, candidate.Answer{}, noon)), "label dogwatch.watch.digest: ",
		"; label dogwatch.link.template: ")
}
