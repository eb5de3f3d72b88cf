package api

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestFilters(t *testing.T) {
	w := start(t, nil)
	third := nginx()
	third.ID, third.Name, third.DisplayName, third.UpdateAvailable, third.Result, third.UpdateKind = "third", "proxy",
		"Proxy", false, nil, sdk.UpdateKind{}
	third.Labels = map[string]string{"com.docker.compose.project": "other"}
	held := nginx()
	held.Decision, held.Stack = &sdk.Decision{State: sdk.StateHeld}, "web"
	w.put(held, redis(), third)
	all := []string{"nginx", "proxy", "redis"}
	for query, want := range map[string][]string{
		"":                                       all,
		"watcher=local":                          {"nginx", "proxy"},
		"watcher=local&name=nginx":               {"nginx"},
		"name=NGINX":                             {},
		"name=":                                  {},
		"image.name=team/redis":                  {"redis"},
		"image.tag.value=1.25.0":                 {"nginx", "proxy"},
		"image.registry.name=hub.public":         {"nginx", "proxy"},
		"image.created=2021-06-12T05:33:38.440Z": {"nginx", "proxy"},
		"updateAvailable=true":                   {"nginx"},
		"updateAvailable=false":                  {"proxy", "redis"},
		"updateAvailable=TRUE":                   {"nginx"},
		"image.tag.semver=true":                  {"nginx", "proxy"},
		"image.digest.watch=false":               {"redis"},
		"updateKind.kind=tag":                    {"nginx"},
		"updateKind.semverDiff=minor":            {"nginx"},
		"result.tag=1.26.0":                      {"nginx"},
		"decision=held":                          {"nginx"},
		"decision.state=held":                    {"nginx"},
		"decision=offered":                       {},
		"stack=web":                              {"nginx"},
		"stack=other":                            {},
		"result.tag=":                            {},
		"error.message=the%20registry%20answered%20404": {"redis"},
		"check.state=failed":                            {"redis"},
		"labels.com.docker.compose.project=web":         {"nginx"},
		"labels.empty=":                                 {"nginx"},
		"labels.none=":                                  {},
		"q=WEB":                                         {"nginx"},
		"q=team/":                                       {"redis"},
		"q=r":                                           all,
		"limit=2":                                       {"nginx", "proxy"},
		"limit=1&updateAvailable=false":                 {"proxy"},
		"after=third":                                   {"redis"},
		"limit=1&after=" + nginx().ID:                   {"proxy"},
		"after=" + url.QueryEscape(redis().ID):          {},
	} {
		same(t, query, w.get("/api/containers?"+query).want(200).names(), want)
	}
}

func TestBadFilters(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	for query, want := range map[string][]string{
		"udpateAvailable=true":    {"udpateAvailable", "did you mean updateAvailable?"},
		"updateavailable=true":    {"did you mean updateAvailable?"},
		"image.tag=1":             {"image.tag"},
		"image=x":                 {"image"},
		"limt=5":                  {"did you mean limit?"},
		"name=a&name=b":           {"name: given 2 times"},
		"name[$regex]=^b":         {"name[$regex]"},
		"name[]=a":                {"name[]"},
		"image[name]=x":           {"image[name]"},
		"labels=x":                {"name the label"},
		"labels.=x":               {"name the label"},
		"$where=1":                {"$where"},
		"constructor=x":           {"constructor"},
		"updateAvailable=yes":     {"updateAvailable: want true or false, got \"yes\""},
		"image.tag.semver=":       {"want true or false"},
		"limit=0":                 {"limit: want a whole number from 1"},
		"limit=-1":                {"limit"},
		"limit=many":              {"limit"},
		"after=none":              {"after: there is no container \"none\""},
		"name=%zz":                {"the query could not be read"},
		"name=a;watcher=b":        {"the query could not be read"},
		"image.digest.repos=x":    {"image.digest.repos"},
		strings.Repeat("x", 5000): {"containers have no such field"},
	} {
		got := w.get("/api/containers?"+query).fails(400, want...)
		fields := decodeAs[problem](got).Errors
		if len(fields) != 1 || fields[0].Detail == "" {
			t.Errorf("%s: errors %v", query, fields)
		}
	}
}

// TestEveryScalarFieldIsAFilter filters by each scalar of a full container.
func TestEveryScalarFieldIsAFilter(t *testing.T) {
	w := start(t, nil)
	full := nginx()
	full.ExcludeTags, full.TransformTags, full.TriggerInclude, full.TriggerExclude = "beta", "^v => ", "smtp.gmail",
		"ntfy.one"
	full.Error = &sdk.ContainerError{Message: "no", Cause: "Docker Hub does not answer"}
	full.Image.Tag.Floating, full.Image.Digest.Pinned, full.Image.Built = true, true, true
	full.Check.PostponedUntil, full.Check.PostponedReason = full.Check.At, "docker.io limits requests"
	full.Check.Reason = "built here"
	at := full.Image.Created
	level := &sdk.Release{Tag: "1", Created: at, FirstSeen: at, Link: "3"}
	levels := &sdk.Levels{Patch: level, Minor: level, Major: level}
	full.UpdateKind.Result = &sdk.Result{Tag: "1", Digest: "2", Link: "3", Created: at, Levels: levels, Version: "1.0.1"}
	full.Image.Version, full.Result.Version = "1.0.0", "1.0.1"
	full.Result.Levels, full.Stack = levels, "shop"
	full.Decision = &sdk.Decision{State: sdk.StateHeld, Until: at, OfferedAt: at}
	full.Created, full.IsSnoozed, full.SnoozedUntil, full.IsCoolingDown, full.CoolingDownUntil, full.Delay = at, true,
		at, true, at, "7d"
	base := full.Image
	base.ID, base.Name = "base", "library/node"
	full.Base = &base
	w.put(full, redis())
	requested := 0
	var filterBy func(prefix string, doc map[string]any)
	filterBy = func(prefix string, doc map[string]any) {
		for name, v := range doc {
			if sub, nested := v.(map[string]any); nested {
				filterBy(prefix+name+".", sub)
				continue
			}
			requested++
			query := url.QueryEscape(prefix+name) + "=" + url.QueryEscape(fmt.Sprint(v))
			if got := w.get("/api/containers?" + query).want(200).names(); !slices.Contains(got, "nginx") {
				t.Errorf("%s does not find it", query)
			}
		}
	}
	filterBy("", w.get("/api/containers/"+full.ID).object())
	h := newRouter(w.opt, t.Context())
	if want := len(h.fields) + len(full.Labels); requested != want {
		t.Errorf("requested %d fields, there are %d", requested, want)
	}
}

func FuzzQuery(f *testing.F) {
	for _, q := range []string{"name=a", "limit=3&after=x", "labels.a.b=c", "updateAvailable=true&q=%00", "%", "a=b;c",
		"image.tag.semver=1&name=\xff"} {
		f.Add(q)
	}
	h := &handler{fields: containerFields()}
	records := []*store.Record{{Container: nginx()}, {Container: redis()}}
	f.Fuzz(func(t *testing.T, raw string) {
		r := request(t, "GET", "/api/containers")
		r.URL.RawQuery = raw
		q, err := h.parseContainerFilter(r)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		got, err := q.apply(records)
		if err == nil && len(got) > len(records) {
			t.Errorf("%d of %d", len(got), len(records))
		}
	})
}

// TestStatusFilter selects containers by the engine's word for what they do.
func TestStatusFilter(t *testing.T) {
	w := start(t, nil)
	paused := nginx()
	paused.ID, paused.Name, paused.Status = "p", "paused", "paused"
	w.put(nginx(), paused)
	found := w.get("/api/containers?status=paused").want(200).list()
	if len(found) != 1 || found[0]["name"] != "paused" {
		t.Errorf("paused are %v", found)
	}
	same(t, "exited", len(w.get("/api/containers?status=exited").want(200).list()), 0)
}
