package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// history is a repository whose images have dates, and a container that runs one of them.
type history struct {
	*reading
	images int
}

// openHistory publishes images, each "tags made" or "tags made version" with tags as a list and
// the version that a label says, and runs the first tag of the first.
func openHistory(t *testing.T, images ...string) *history {
	h := &history{reading: openReading(t)}
	h.add(images...)
	running, _, _ := strings.Cut(strings.Fields(images[0])[0], ",")
	h.runs(running)
	return h
}

func (h *history) add(images ...string) {
	for _, image := range images {
		words := append(strings.Fields(image), "", "")
		h.images++
		m := registry.Manifest{Digest: fmt.Sprintf("sha256:%064x", 0x100+h.images), Version: words[2]}
		if words[1] != "" {
			m.Created = day(words[1])
		}
		for name := range strings.SplitSeq(words[0], ",") {
			if !slices.Contains(h.hub.tags["team/app"], name) {
				h.hub.tags["team/app"] = append(h.hub.tags["team/app"], name)
			}
			h.hub.digests["team/app:"+name] = m.Digest
		}
		h.hub.manifests[m.Digest] = m
	}
}

// runs makes the container run what is behind a tag now.
func (h *history) runs(tag string, labels ...string) {
	c := container("web", "team/app:"+tag, labels...)
	digest := h.hub.digests["team/app:"+tag]
	c.Image.ID, c.Image.Digest.Repos = digest, []string{"team/app@" + digest}
	c.Image.Created = h.hub.manifests[digest].Created
	h.engine.list = nil
	h.engine.has(c)
}

func day(text string) sdk.Time {
	layout := time.DateOnly
	if len(text) == len("2006-01") {
		layout = "2006-01"
	}
	at, err := time.Parse(layout, text)
	if err != nil {
		panic(err)
	}
	return sdk.TimeOf(at)
}

// The first two are the abandoned and the mistyped versions of public reports; what follows is
// newer all the same.
func TestImplausibleVersionsGiveWay(t *testing.T) {
	for _, c := range []struct {
		name, want, skipped string
		images              string
	}{
		{"an abandoned line", "1.3.2", "1.8.1259 was built 13 months before what runs",
			"1.2.2 2023-03; 1.3.2 2023-04; 1.8.1259 2022-02"},
		{"an abandoned line of long ago, and a date", "0.6.23", "5.33.2 was built 22 months before what runs",
			"0.6.21 2023-10; 0.6.23 2024-09; 2021.12.16 2021-12; 5.33.2 2021-12"},
		{"an abandoned minor version", "1.7.7", "1.16.13 was built 13 months before what runs",
			"1.7.5 2024-06; 1.7.7 2024-09; 1.16,1.16.13 2023-05"},
		{"nothing newer", "", "v1.10.6 was built 23 months before what runs",
			"v1.5.2 2023-12; v1.10,v1.10.6 2022-01"},
		{"without a leap", "1.9.9", "2.0.0 was built 3 years before what runs",
			"1.9.8 2024-03; 1.9.9 2024-04; 2.0.0 2021-01"},
		{"latest holds what is right", "1.3.2", "1.8.1259 was built 13 months before what runs",
			"1.2.2 2023-03; 1.3.2,latest 2023-04; 1.8.1259 2022-02"},
		{"latest holds what runs", "", "v1.10.6 was built 23 months before what runs",
			"v1.5.2,latest 2023-12; v1.10.6 2022-01"},
		{"latest says its version", "1.3.2", "1.8.1259 was built 13 months before what runs",
			"1.2.2 2023-03; 1.3.2 2023-04; 1.8.1259 2022-02; latest 2023-04 1.3.2"},
		{"an alpine variant", "1.3.2-alpine", "1.8.1259-alpine was built 13 months before what runs",
			"1.2.2-alpine 2023-03; 1.3.2-alpine,alpine 2023-04; 1.8.1259-alpine 2022-02; 1.8.1259,latest 2022-02"},
		{"several of them", "1.3.2",
			"1.8.1259 was built 13 months before what runs; 1.8.1258 was built 14 months before what runs; " +
				"1.8.1257 was built 15 months before what runs",
			"1.2.2 2023-03; 1.3.2 2023-04; 1.8.1257 2021-12; 1.8.1258 2022-01; 1.8.1259 2022-02"},
		{"of all steps", "1.2.3", "5.0.0 was built 2 years before what runs; 1.9.0 was built 2 years before what runs",
			"1.2.2 2023-03; 1.2.3 2023-05; 1.9.0 2021-01; 5.0.0 2021-02"},
		{"older than latest, and out of all proportion", "1.3.2", "19.0.0 was built 11 months before what latest holds",
			"1.2.2 2023-03; 1.3.2,latest 2024-04; 19.0.0 2023-05"},
		{"some months older, and out of all proportion", "1.3.2", "19.0.0 was built 4 months before what runs",
			"1.2.2 2023-09; 1.3.2,latest 2023-10; 19.0.0 2023-05"},

		{"a major version before a backport", "2.0.0", "", "1.9.9 2024-10-20; 2.0.0 2024-08-03"},
		{"a major version before a backport, and latest", "2.0.0", "", "1.9.9,latest 2024-10-20; 2.0.0 2024-08-03"},
		{"renumbered before a backport", "15.0.0", "", "0.14.9 2024-10-20; 15.0.0 2024-08-03"},
		{"renumbered", "15.0.0", "", "0.14.8 2024-04; 0.14.9,latest 2024-06-20; 15.0.0 2024-06-03"},
		{"renumbered long before a backport", "15.0.0", "", "0.14.9 2025-10; 15.0.0,latest 2024-08"},
		{"a base that is rebuilt every night", "1.5.0", "", "1.4.2 2026-06-30; 1.5.0,latest 2025-10-12"},
		{"latest was built once more", "1.5.0", "", "1.4.2 2026-06-30; 1.5.0 2025-10-12; latest 2025-11-12 1.5.0"},
		{"a variant that is rebuilt every night", "1.5.0-alpine3.21", "",
			"1.4.2-alpine3.20 2026-06-30; 1.5.0-alpine3.21,alpine 2025-10-12; 1.4.2,latest 2026-06-30"},
		{"a variant without a tag of its own", "1.5.0-slim", "",
			"1.4.2-slim 2026-06-30; 1.5.0-slim 2025-10-12; latest 2025-10-12 1.5.0"},
		{"a quiet project", "1.3.0", "", "1.2.0 2015-01; 1.3.0 2015-06"},
		{"a quiet project, built again", "1.3.0", "", "1.2.0 2015-08; 1.3.0 2015-06"},
		{"a plain history", "3.0.0", "",
			"1.0.0 2020-01; 1.1.0 2020-03; 2.0.0 2021-01; 1.1.1 2021-02; 3.0.0,latest 2022-01"},
		{"no date", "1.8.1259", "", "1.2.2 2023-03; 1.3.2,latest 2023-04; 1.8.1259"},
		{"a date that nobody believes", "1.8.1259", "", "1.2.2 2023-03; 1.3.2,latest 2023-04; 1.8.1259 1980-01"},
		{"no date of what runs", "1.8.1259", "", "1.2.2; 1.3.2 2023-04; 1.8.1259 2022-02"},
		{"a date of what runs that nobody believes", "1.8.1259", "", "1.2.2 1970-01; 1.3.2 2023-04; 1.8.1259 2022-02"},
		{"a long number", "1.2.20240301", "", "1.2.3 2024-02; 1.2.20240301,latest 2024-03"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := openHistory(t, strings.Split(c.images, "; ")...)
			tag, asked := h.offered()
			got := h.get("id-web")
			if tag != c.want || skippedText(got) != c.skipped {
				t.Errorf("%q is offered and %q skipped, want %q and %q; after %q", tag, skippedText(got), c.want,
					c.skipped, asked)
			}
			read := map[string]bool{}
			for _, request := range asked {
				if strings.HasPrefix(request, "manifest") && read[request] {
					t.Errorf("%q is asked twice", request)
				}
				read[request] = true
			}
			h.expect("the next check", c.want, 0)
			h.restart()
			h.expect("the check after a restart", c.want, 0)
			if skippedText(h.get("id-web")) != c.skipped {
				t.Errorf("%q is skipped after a restart, want %q", skippedText(h.get("id-web")), c.skipped)
			}
		})
	}
}

func skippedText(c sdk.Container) string {
	var texts []string
	for _, s := range c.Skipped {
		texts = append(texts, s.Text)
	}
	return strings.Join(texts, "; ")
}

// Only the operator has implausible versions offered all the same.
func TestImplausibleVersionsAreOfferedOnRequest(t *testing.T) {
	h := openHistory(t, "1.2.2 2023-03", "1.3.2 2023-04", "1.8.1259 2022-02")
	h.expect("without a label", "1.3.2", 4)
	h.runs("1.2.2", "dogwatch.tag.implausible=true")
	h.expect("with the label", "1.8.1259", 0)
	if c := h.get("id-web"); len(c.Skipped) > 0 || c.Result.Created != day("2022-02") {
		t.Errorf("with the label: %+v, skipped %+v", c.Result, c.Skipped)
	}
	h.engine.list[0].ImageLabels = []string{"dogwatch.tag.implausible"}
	h.expect("with the label of an image", "1.3.2", 0)
	why := h.Explain(t.Context(), h.get("id-web"))
	contains(t, "warnings", strings.Join(phrase.Strings(why.Warnings), "; "), "dogwatch.tag.implausible")
	h.runs("1.2.2", "dogwatch.tag.implausible=perhaps")
	h.expect("with a wrong label", "1.3.2", 0)
	contains(t, "error", h.get("id-web").Error.Message, "dogwatch.tag.implausible")
}

func TestExplainNamesImplausibleVersions(t *testing.T) {
	h := openHistory(t, "1.2.2 2023-03", "1.3.2 2023-04", "1.8.1259 2022-02")
	h.run()
	why := h.Explain(t.Context(), h.get("id-web"))
	i := slices.IndexFunc(why.Tags, func(v Verdict) bool { return v.Tag == "1.8.1259" })
	tag := why.Tags[i]
	if tag.Kept || tag.Reason != "implausible" || tag.Detail.String() != "it was built 13 months before what runs" || why.Result.Tag != "1.3.2" {
		t.Errorf("%+v, %+v", why.Tags[i], why.Result)
	}
	contains(t, "summary", strings.Join(phrase.Strings(why.Summary), "\n"), "that the rules allow: 1.", "updated to 1.3.2",
		"Skipped: 1.8.1259 was built 13 months before what runs. The label dogwatch.tag.implausible=true offers")
}

// Of a mistyped version of an image that no engine runs, latest tells.
func TestExplainImageSkipsImplausibleVersions(t *testing.T) {
	h := openHistory(t, "1.2.2 2023-03", "1.3.2,latest 2024-04", "19.0.0 2023-05")
	why := h.ExplainImage(t.Context(), "team/app:1.2.2")
	if why.Result.Tag != "1.3.2" || why.Error != "" {
		t.Errorf("%+v, %s", why.Result, why.Error)
	}
	summary := strings.Join(phrase.Strings(why.Summary), "\n")
	contains(t, "summary", summary, "Skipped: 19.0.0 was built 11 months before what latest holds.")
}

// What runs counts as it is now, without reading a date again.
func TestPlausibilityFollowsWhatRuns(t *testing.T) {
	h := openHistory(t, "1.2.2 2023-03", "1.3.2 2024-04", "2.0.0 2022-12")
	h.expect("an old image", "2.0.0", 4)
	h.add("1.2.2 2024-06")
	h.runs("1.2.2")
	h.expect("an image that was built again", "1.3.2", 0)
	if got := skippedText(h.get("id-web")); got != "2.0.0 was built 18 months before what runs" {
		t.Errorf("%q is skipped", got)
	}
	h.add("2.1.0,latest 2024-07")
	h.expect("a new version above it, which latest holds", "2.1.0", 2+1)
}

// What was a candidate is known to be older than its latest build: the next version, which was built once, is newer.
func TestRebuiltVersionsCountAsPublished(t *testing.T) {
	h := openHistory(t, "1.4.1 2025-08", "1.4.2 2025-09-20")
	h.expect("a candidate", "1.4.2", 2)
	h.add("1.4.2 2026-06-30")
	h.runs("1.4.2")
	h.add("1.5.0 2025-10-12")
	h.expect("a base that is rebuilt every night, without latest", "1.5.0", 2)
	h.restart()
	h.expect("after a restart", "1.5.0", 0)
	h.add("1.6.0 2024-12")
	h.expect("an abandoned version all the same", "1.5.0", 2)
	if got := skippedText(h.get("id-web")); got != "1.6.0 was built 9 months before what runs" {
		t.Errorf("%q is skipped", got)
	}
}

// A leap is checked with what latest holds by then.
func TestRollingTagIsReadForEachNewCandidate(t *testing.T) {
	h := openHistory(t, "0.13.0 2023-03", "0.14.9,latest 2024-06")
	h.add("9.0.0 2023-09")
	h.expect("a leap", "0.14.9", 2+2+1)
	h.at = h.at.Add(time.Hour)
	h.add("25.0.0,latest 2024-08")
	h.expect("another one, which latest holds", "25.0.0", 2+1)
	h.expect("the next check", "25.0.0", 0)
}

// A publisher who takes up a version again is not ignored for ever, and a date is not read twice.
func TestImplausibleVersionsAreLookedAtOnceMore(t *testing.T) {
	h := openHistory(t, "1.2.2 2023-03", "1.3.2,latest 2023-04", "1.8.1259 2022-02")
	h.expect("the first check", "1.3.2", 2+2+1)
	h.at = h.at.Add(droppedFresh + time.Hour)
	h.restart()
	h.expect("a month later", "1.3.2", 2) // the digests behind 1.8.1259 and latest
	h.expect("the check after that", "1.3.2", 0)
	h.at = h.at.Add(droppedFresh + time.Hour)
	h.add("1.8.1259 2023-05")
	h.expect("built again", "1.8.1259", 2+1)
	h.expect("the check after that", "1.8.1259", 0)
}

// A rule or a user may hold the newest version: what comes next is to be plausible, too.
func TestHeldVersionsGiveWayToPlausibleOnes(t *testing.T) {
	h := openHistory(t, "1.2.2 2023-03", "1.3.2 2023-04", "1.8.1259 2022-02")
	h.add("1.9.0 " + h.at.Add(-24*time.Hour).UTC().Format(time.DateOnly))
	h.rules.MinAge = setting(7 * 24 * time.Hour)
	h.expect("an age", "1.3.2", 3*2)
	h.expect("again", "1.3.2", 0)
	h.restart()
	h.expect("after a restart", "1.3.2", 0)

	h = openHistory(t, "1.2.2 2023-03", "1.3.2 2023-04", "1.8.1259 2022-02", "1.9.0 2023-05")
	h.expect("nothing is held", "1.9.0", 2+2) // and the leap to 1.8
	h.rules.Skip = policy.Setting[policy.Pattern]{Value: pattern("1.9.0"), Source: "policy.skip"}
	h.expect("a rule skips it", "1.3.2", 2)
	if got := skippedText(h.get("id-web")); got != "1.8.1259 was built 13 months before what runs" {
		t.Errorf("%q is skipped", got)
	}
}

func TestVersionsBeforeLatestAreSkippedByProportion(t *testing.T) {
	h := openHistory(t, "1.2.2 2023-03", "1.3.2 2023-04", "1.8.1259 2022-02", "2.0.0,latest 2025-01")
	h.rules.Threshold = setting("minor")
	h.expect("a leap", "1.3.2", 4+2+1) // what latest holds is the one that the rule does not offer
	h = openHistory(t, "1.4.2 2026-06", "1.5.0 2025-10", "2.0.0,latest 2025-12")
	h.rules.Threshold = setting("minor")
	h.expect("a usual number", "1.5.0", 2+2+1)
}

// An implausible version ends no search for one that is old enough.
func TestImplausibleVersionsHaveNoAge(t *testing.T) {
	h := openHistory(t, "1.9.9 2024-06", "1.10.0 2024-07", "2.0.0 2021-01")
	yesterday := " " + h.at.Add(-24*time.Hour).UTC().Format(time.DateOnly)
	h.add("1.11.0"+yesterday, "3.0.0"+yesterday)
	h.rules.MinAge = setting(7 * 24 * time.Hour)
	h.expect("an age", "1.10.0", 4*2)
	h.expect("again", "1.10.0", 0)
}

// What a rule lets through is read in the same check.
func TestVersionsBehindHeldOnesAreRead(t *testing.T) {
	h := openHistory(t, "1.9.9 2024-06", "1.9.10 2024-07", "2.0.0 2021-01", "2.1.0 2021-02", "3.0.0 2024-08")
	h.rules.Skip = policy.Setting[policy.Pattern]{Value: pattern("3.0.0"), Source: "policy.skip"}
	h.expect("a rule skips a version", "1.9.10", 4*2)
	h.expect("again", "1.9.10", 0)
	const want = "2.1.0 was built 3 years before what runs; 2.0.0 was built 3 years before what runs"
	if got := skippedText(h.get("id-web")); got != want {
		t.Errorf("%q is skipped", got)
	}
}

type pattern string

func (p pattern) Match(text string) bool { return text == string(p) }
func (p pattern) String() string         { return string(p) }

// A long line of abandoned versions is read by and by, and then its end is found.
func TestManyImplausibleVersionsAreReadByAndBy(t *testing.T) {
	h := openHistory(t, "1.2.2 2023-03", "1.3.2 2023-04")
	const abandoned = 45
	for n := range abandoned {
		h.add(fmt.Sprintf("1.8.%d 2022-02", 1200+n))
	}
	reads := 0
	for n := range abandoned/maxDatesPerCheck + 1 {
		h.at = h.at.Add(time.Hour) // in which a host is asked for some dates only
		tag, asked := h.offered()
		if reads += len(asked); len(asked) > 2*maxDatesPerCheck {
			t.Errorf("check %d: %d requests", n, len(asked))
		}
		if last := n == abandoned/maxDatesPerCheck; tag != map[bool]string{true: "1.3.2"}[last] {
			t.Errorf("check %d: %q is offered", n, tag)
		}
	}
	h.expect("once all are read", "1.3.2", 0)
	skipped := h.get("id-web").Skipped
	if reads != 2*(abandoned+1) || len(skipped) != maxSkipped || skipped[0].Tag != "1.8.1244" {
		t.Errorf("%d requests, skipped %+v", reads, skipped)
	}
	why := h.Explain(t.Context(), h.get("id-web"))
	n := 0
	for _, v := range why.Tags {
		if v.Reason == "implausible" {
			n++
		}
	}
	contains(t, "summary", strings.Join(phrase.Strings(why.Summary), "\n"), "that the rules allow: 1.")
	if n != abandoned || len(why.Tags) != abandoned+2 {
		t.Errorf("%d of %d tags are implausible", n, len(why.Tags))
	}
}

// What is kept of a repository is bounded, and a version that is skipped stays known.
func TestKindsOfCandidatesStayKnown(t *testing.T) {
	h := openHistory(t, "1.2.2 2023-03", "1.3.2 2023-04", "1.8.1259 2022-02")
	h.expect("the first check", "1.3.2", 4)
	img := h.get("id-web").Image
	key := "tag kinds " + img.Registry.Host + "/" + img.Name
	type kind struct {
		Digest   string
		Made, At time.Time
	}
	kept := func() (known map[string]kind) {
		_, body, _ := h.opt.Queries.Cache.Get(t.Context(), key)
		if err := json.Unmarshal(body, &known); err != nil {
			t.Fatal(err)
		}
		return known
	}
	known := kept()
	for n := range 500 {
		known[fmt.Sprintf("1.1.%d", n)] = kind{Digest: digest("1"), At: h.at}
	}
	body, err := json.Marshal(known)
	if err != nil {
		t.Fatal(err)
	}
	h.opt.Queries.Cache.Put(t.Context(), key, "", body)
	h.add("1.3.3 2023-05")
	h.restart()
	h.expect("a new version", "1.3.3", 2)
	if known := kept(); len(known) != 3 || !known["1.8.1259"].Made.Equal(day("2022-02").Time) {
		t.Errorf("%d are known", len(known))
	}
}

// At Docker Hub dates are those of its web site, which takes no pull; without them the order of
// numbers stands.
func TestImplausibleVersionsWithoutPulls(t *testing.T) {
	h := openHistory(t, "1.2.2 2023-03", "1.3.2 2023-04", "1.8.1259 2022-02")
	h.hub.described = map[string][]registry.DescribedTag{}
	tag, asked := h.offered()
	if tag != "1.8.1259" || strings.Contains(strings.Join(asked, " "), "manifest") {
		t.Errorf("without dates %q is offered after %q", tag, asked)
	}
	h.expect("the next check", "1.8.1259", 0)

	h = openHistory(t, "1.2.2 2023-03", "1.3.2 2023-04", "1.8.1259 2022-02", "latest 2023-04")
	h.hub.described = map[string][]registry.DescribedTag{}
	for _, name := range []string{"latest", "1.3.2", "1.8.1259"} {
		digest := h.hub.digests["team/app:"+name]
		h.hub.described["team/app"] = append(h.hub.described["team/app"], registry.DescribedTag{
			Name: name, Digest: digest, Image: digest, Pushed: h.hub.manifests[digest].Created,
		})
	}
	tag, asked = h.offered()
	equal(t, "requests", asked, []string{
		"describe team/app", "resolve team/app:1.3.2", "resolve team/app:1.8.1259", "resolve team/app:latest",
	})
	if got := skippedText(h.get("id-web")); tag != "1.3.2" || got != "1.8.1259 was built 13 months before what runs" {
		t.Errorf("%q is offered and %q skipped", tag, got)
	}
	h.expect("the next check", "1.3.2", 0)
	h.at = h.at.Add(droppedFresh + time.Hour)
	h.restart()
	h.expect("a month later", "1.3.2", 2) // the same digests, whose dates are known
}

// What latest holds is not asked for all the time where that cannot be had; dates tell alone.
func TestUnreadableRollingTag(t *testing.T) {
	h := openHistory(t, "1.2.2 2023-03", "1.3.2,latest 2023-04", "1.8.1259 2022-02")
	h.hub.errs["resolve team/app:latest"] = sdk.WithKind(sdk.ErrUnavailable, errors.New("out of order"))
	h.expect("out of order", "1.3.2", 4+1)
	h.expect("soon after", "1.3.2", 0)
	clear(h.hub.errs)
	h.hub.digests["team/app:latest"] = h.hub.digests["team/app:1.8.1259"]
	h.at = h.at.Add(datePause + time.Minute)
	h.expect("later", "1.8.1259", 1)
}

// A registry without requests to spare has the order of numbers stand.
func TestPlausibilityWithoutRequestsToSpare(t *testing.T) {
	h := openHistory(t, "1.2.2 2023-03", "1.3.2 2023-04", "1.8.1259 2022-02")
	h.spares(func() []registry.Limit {
		return []registry.Limit{{
			Host: "registry-1.docker.io", Limit: 100, Remaining: 10, Window: time.Hour, At: sdk.TimeOf(h.at),
		}}
	})
	h.expect("little is left", "1.8.1259", 0)
	h.restart()
	h.expect("enough is left", "1.3.2", 4)
}

// Histories without an abandoned version are untouched, whatever was built again meanwhile: of
// projects that publish rarely, with two lines that are mended for some weeks side by side.
func TestPlausibleHistoriesAreUntouched(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 1))
	for n := range 300 {
		var images []string
		at := time.Date(2015+r.IntN(8), time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC)
		major, minor, patch := r.IntN(3), r.IntN(5), 0
		publish := func(major, minor, patch int, at time.Time) {
			images = append(images, fmt.Sprintf("%d.%d.%d %s", major, minor, patch, at.Format(time.DateOnly)))
		}
		for range 2 + r.IntN(8) {
			at = at.AddDate(0, r.IntN(20), r.IntN(28))
			switch r.IntN(4) {
			case 0:
				publish(major, minor, patch+1, at.AddDate(0, 0, r.IntN(80))) // of the old line, later
				major, minor, patch = major+1, 0, 0
			case 1:
				minor, patch = minor+1, 0
			default:
				patch += 2
			}
			publish(major, minor, patch, at)
		}
		running := r.IntN(len(images))
		images[0], images[running] = images[running], images[0]
		h := openHistory(t, images...)
		h.run()
		c := h.get("id-web")
		sel, err := new(tag.Selector).Select(t.Context(), c.Image.Tag.Value, h.hub.tags["team/app"])
		if err != nil || c.Result.Tag != sel.Tag || len(c.Skipped) > 0 {
			t.Fatalf("history %d: of %q %s is offered, want %s; %+v (%v)", n, images, c.Result.Tag, sel.Tag,
				c.Skipped, err)
		}
		h.store.Close()
	}
}
