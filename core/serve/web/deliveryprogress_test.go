package web

import (
	"context"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func TestStepText(t *testing.T) {
	for want, p := range map[string]dispatch.Progress{
		"":                        {},
		"pull":                    {Phase: "pull"},
		"half done":               {Message: "half done"},
		"pull: layer 3":           {Phase: "pull", Message: "layer 3"},
		"pull: layer 3 (3 of 10)": {Phase: "pull", Message: "layer 3", Current: 3, Total: 10},
		"0 of 10":                 {Total: 10},
		"pull (0 of 10)":          {Phase: "pull", Total: 10},
	} {
		if got := phrase.English(words.Step(p)); got != want {
			t.Errorf("%+v is %q, want %q", p, got, want)
		}
	}
}

// TestPagesShowDeliveryProgress: the deliveries that are being sent, and the task of a manual run.
func TestPagesShowDeliveryProgress(t *testing.T) {
	u := withFakes(t, func(f *fakeService) {
		f.fakeComponents = fakeComponents{
			all: []service.Component{webtest.Configured(kind.Trigger, "docker", "local", component.Ready)},
		}
		f.fakeHistory = fakeHistory{
			deliveries: []delivery.Delivery{
				{ID: 9, Trigger: "docker.local", Subject: "local/web", State: delivery.Sending, Manual: true, CreatedAt: webtest.Noon},
				{ID: 8, Trigger: "docker.local", Subject: "local/db", State: delivery.Sent, CreatedAt: webtest.Noon},
			},
			steps: []dispatch.Progress{
				{
					Delivery: 9, Trigger: "docker.local", Subject: "local/web", Manual: true, Phase: "pull",
					Message: "layer <3>", Current: 3, Total: 10,
				},
				{Delivery: 8, Trigger: "docker.local", Subject: "local/db", Phase: "stale"},
			},
		}
	})
	for _, path := range []string{"/deliveries", "/triggers/docker/local"} {
		_, body := get(t, u, path)
		webtest.Contains(t, body, "on its way: pull: layer &lt;3&gt; (3 of 10)")
		if strings.Contains(body, "stale") {
			t.Errorf("%s: a delivery that has ended shows progress", path)
		}
	}
	for _, c := range []struct {
		task  page.Task
		shown bool
	}{
		{page.Task{Title: phrase.New("another container"), Steps: 1, Trigger: "docker.local", Subjects: []string{"local/other"}}, false},
		{page.Task{Title: phrase.New("another trigger"), Steps: 1, Trigger: "smtp.main", Subjects: []string{"local/web"}}, false},
		{page.Task{Title: phrase.New("not a manual run"), Steps: 1, Trigger: "docker.local", Subjects: []string{"local/db"}}, false},
		{page.Task{Title: phrase.New("a check"), Steps: 1, Subjects: []string{"local/web"}}, false},
		{page.Task{Title: phrase.New("the run"), Steps: 1, Trigger: "docker.local", Subjects: []string{"local/db", "local/web"}}, true},
	} {
		u.Tasks.Start(c.task, func(ctx context.Context, _ func()) (phrase.Phrase, bool) {
			<-ctx.Done()
			return nil, false
		})
		body := request(u, "GET", "/work", nil, "HX-Request", "true").Body.String()
		if strings.Contains(body, "pull: layer &lt;3&gt; (3 of 10)") != c.shown {
			t.Errorf("%s: %s", c.task.Title, body)
		}
	}
}
