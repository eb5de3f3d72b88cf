package check

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/sdk"
)

// built is a container whose image brings labels.
func built(name, image string, labels ...string) sdk.Container {
	c := container(name, image, labels...)
	for name := range c.Labels {
		c.ImageLabels = append(c.ImageLabels, name)
	}
	slices.Sort(c.ImageLabels)
	return c
}

// TestImageDescribesItself: its labels say how tags read and how it looks; they watch and
// hide no container, and choose no trigger.
func TestImageDescribesItself(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0", "2.0.0"}
	own := []string{
		"dogwatch.watch=false", "dogwatch.tag.include=^1", "dogwatch.display.name=Web", "dogwatch.trigger.include=smtp.evil",
		"dogwatch.link.template=https://example.org/${container.image.name}/${raw}",
		"com.docker.compose.project=shop", "dogwatch.hook.pre=sh",
	}
	w.engine.has(built("web", "nginx:1.25.0", own...), container("own", "nginx:1.25.0",
		"com.docker.compose.project=shop"))
	w.run()
	w.run()
	c := w.get("id-web")
	if c.Result.Tag != "1.26.0" || c.DisplayName != "Web" ||
		c.Link != "https://example.org/library/nginx/1.25.0" || c.Error != nil {
		t.Errorf("it does not describe itself: %+v, result %+v", c, c.Result)
	}
	if c.TriggerInclude != "" || c.Stack != "" || w.get("id-own").Stack != "shop" {
		t.Errorf("triggers %q, stack %q", c.TriggerInclude, c.Stack)
	}
	e := w.Explain(t.Context(), c)
	contains(t, "warnings", strings.Join(phrase.Strings(e.Warnings), "\n"),
		"label dogwatch.watch from the image: ignored: only the operator may say this",
		"label dogwatch.trigger.include from the image: ignored", "label dogwatch.hook.pre from the image: ignored",
		"label com.docker.compose.project from the image: ignored")
	if len(e.Warnings) != 4 || !slices.Contains(e.Rules, labels.Rule{Name: "tag.include", Value: "^1",
		Source: "label dogwatch.tag.include from the image"}) {
		t.Errorf("%q\n%+v", e.Warnings, e.Rules)
	}
	if n := strings.Count(w.log.String(), "dogwatch.hook.pre from the image: ignored"); n != 1 {
		t.Errorf("logged %d times", n)
	}
	hidden, err := w.Run(t.Context(), Watcher{Name: "other", Lister: &engine{list: []sdk.Container{built("x",
		"nginx:1.25.0", "dogwatch.watch=true")}}})
	if err != nil || hidden.Containers != 0 {
		t.Errorf("an image has itself watched: %+v, %v", hidden, err)
	}
}

// TestLinkOfImageKnowsOnlyTheImage: it is opened by the readers of messages.
func TestLinkOfImageKnowsOnlyTheImage(t *testing.T) {
	const template = "dogwatch.link.template=https://example.org/${container.labels.token}"
	for about, c := range map[string]struct {
		c    sdk.Container
		how  string
		link string
	}{
		"image":    {built("web", "nginx:1.25.0", template), "", ""},
		"trusted":  {built("web", "nginx:1.25.0", template), label.ImageAll, "https://example.org/secret"},
		"operator": {container("web", "nginx:1.25.0", template), "", "https://example.org/secret"},
	} {
		w := open(t, func(_ *fixture, o *options) { o.Labels.Image = c.how })
		w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
		c.c.Labels["token"] = "secret"
		w.engine.has(c.c)
		w.run()
		got := w.get("id-web")
		if got.Link != c.link || (got.Error != nil) != (c.link == "") {
			t.Errorf("%s: link %q, error %v", about, got.Link, got.Error)
		}
		if got.Error != nil {
			contains(t, about, got.Error.Message, "label dogwatch.link.template from the image: ")
		}
	}
}

// TestImagesSayNothing, or everything, where the operator wants that.
func TestImagesSayNothing(t *testing.T) {
	for how, want := range map[string]string{label.ImageNone: "2.0.0 ", label.ImageAll: "1.26.0 smtp.main",
		label.ImageDescriptive: "1.26.0 "} {
		w := open(t, func(_ *fixture, o *options) { o.Labels.Image = how })
		w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0", "2.0.0"}
		w.engine.has(built("web", "nginx:1.25.0", "dogwatch.tag.include=^1", "dogwatch.trigger.include=smtp.main"))
		w.run()
		if c := w.get("id-web"); c.Result.Tag+" "+c.TriggerInclude != want {
			t.Errorf("%s: %s %q", how, c.Result.Tag, c.TriggerInclude)
		}
	}
}

// TestProvenanceDecidesAgain: once it is known that the image brings a label, the update is
// decided without it, even if the registry does not respond then.
func TestProvenanceDecidesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &ruled{}
		d.fixture = open(t, func(w *fixture, o *options) {
			o.Decide.Candidates = w.store.Candidates
			o.Decide.Facts = func(sdk.Container) policy.Facts { return policy.Facts{MayUpdate: true} }
			o.Decide.Rules = func(c sdk.Container) policy.Rules {
				if label.Of(c).Operator["dogwatch.update"] == "auto" {
					return policy.Rules{Mode: setting(policy.Auto)}
				}
				return policy.Rules{Mode: setting(policy.Notify)}
			}
		})
		defer d.store.Close()
		c := container("web", "team/app:1.0.0", "dogwatch.update=auto")
		d.engine.has(c)
		d.hub.tags["team/app"] = []string{"1.0.0", "1.1.0"}
		d.run()
		if got := d.get("id-web").Decision; got == nil || got.State != sdk.StateAutomatic {
			t.Fatalf("by the operator: %+v", got)
		}
		time.Sleep(time.Hour)
		c.ImageLabels = []string{"dogwatch.update"}
		d.engine.has(c)
		d.hub.errs["tags team/app "] = sdk.ErrUnavailable
		d.run()
		got := d.get("id-web")
		if got.Decision == nil || got.Decision.State != sdk.StateOffered || !slices.Equal(got.ImageLabels, c.ImageLabels) {
			t.Errorf("by the image: %+v, %v", got.Decision, got.Check)
		}
		if got.Check.State != sdk.CheckFailed {
			t.Errorf("the registry responded: %+v", got.Check)
		}
	})
}
