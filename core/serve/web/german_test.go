package web

import (
	"errors"
	"html"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// inGerman returns a page in German, as an operator sees it, without markup and what is no language's. The texts of
// others, which stay as they are, are cut out of it.
func inGerman(t *testing.T, u *UI, path string, others ...string) string {
	t.Helper()
	r := asOperator(httptest.NewRequest("GET", path, nil))
	r.Header.Set("Accept-Language", "de")
	_, body := respond(t, u, r)
	if !strings.Contains(body, `lang="de"`) || !strings.Contains(body, "</html>") {
		t.Errorf("%s is no page in German: %s", path, body)
	}
	text := regexp.MustCompile(`(?s)<(head|code|pre|kbd|script)\b.*?</(head|code|pre|kbd|script)>`).ReplaceAllString(body, " ")
	text = regexp.MustCompile(`(?s)<(?:small|p|span|ul)\b[^>]* lang="en"[^>]*>.*?</(?:small|p|span|ul)>`).ReplaceAllString(text, " ")
	var read strings.Builder
	for _, attribute := range regexp.MustCompile(`\b(?:aria-label|title|placeholder|alt)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		read.WriteString(attribute[1] + "\n")
	}
	read.WriteString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, "\n"))
	text = html.UnescapeString(read.String())
	for _, other := range others {
		text = strings.ReplaceAll(text, other, "")
	}
	return text
}

var englishWord = regexp.MustCompile(`(?i).*\b(the|is|of|and|not|with|no|are|to|by|from|ago|it|its|has|that)\b.*`)

// mustBeGerman fails for the lines of pages with words that only English has.
func mustBeGerman(t *testing.T, u *UI, path string, others ...string) {
	t.Helper()
	text := inGerman(t, u, path, others...)
	for _, line := range englishWord.FindAllString(text, -1) {
		t.Errorf("%s says %q", path, strings.TrimSpace(line))
	}
}

func TestPagesOfContainersInGerman(t *testing.T) {
	others := []string{"registry asks to wait"}
	postponed := webtest.Container("later", func(c *sdk.Container) {
		c.Check.PostponedUntil = sdk.TimeOf(webtest.Noon.Add(time.Hour))
		c.Check.PostponedReason = "registry asks to wait"
	})
	u, _ := withStore(t, slices.Concat(house(), []sdk.Container{webtest.Container("sad", webtest.Failed("refused by the registry")),
		webtest.Container("sorry", webtest.Failed("refused by the registry")), postponed,
		webtest.Container("bare", func(c *sdk.Container) { c.Image.Name, c.Image.Tag.Value = "", "" }),
		webtest.Container("built", webtest.Newer("23-alpine", "major"), func(c *sdk.Container) {
			c.Base = &sdk.Image{Name: "library/node", Tag: sdk.Tag{Value: "22-alpine"}}
		})})...)
	f := fakes(u)
	f.fakeHistory.days = webtest.DaysUntil(1, 3, 2)
	for _, path := range []string{
		"/", "/containers", "/containers?q=nothing", "/containers?group=watcher&state=held", "/containers/local/young",
		"/containers/local/young?tab=details", "/containers/local/young?tab=activity", "/containers/local/young?tab=versions",
		"/containers/local/waits", "/containers/local/later",
		"/containers/local/bare", "/containers/local/built", "/choose?c=local/built", "/containers/local/nobody", "/nowhere",
		"/choose?c=local/young", "/choose?c=local/young&c=local/open", "/start",
	} {
		mustBeGerman(t, u, path, others...)
	}
	if text := inGerman(t, u, "/containers"); !strings.Contains(text, "zu neu, noch 6 Tage") {
		t.Errorf("the list says %s", text)
	}
	for path, want := range map[string]string{"/containers": "Basis ", "/containers/local/bare": "kein Image-Name:kein Tag"} {
		if text := inGerman(t, u, path); !strings.Contains(text, want) {
			t.Errorf("%s lacks %q: %s", path, want, text)
		}
	}
	empty, _ := withStore(t)
	for _, path := range []string{"/", "/containers", "/start", "/history", "/deliveries"} {
		mustBeGerman(t, empty, path)
	}
}

func TestHistoryInGerman(t *testing.T) {
	u := withFakes(t, func(f *fakeService) {
		for i, e := range everyEvent() {
			e.ID, e.At = int64(i+1), webtest.Noon.Add(-time.Duration(i)*time.Hour)
			f.fakeHistory.events = append(f.fakeHistory.events, e)
		}
		f.fakeHistory.events = append(f.fakeHistory.events, event.Event{
			ID: 1000, At: webtest.Noon, Type: event.ChoiceMade, Subject: "local/web", Payload: event.Payload{Choice: &event.Choice{
				Action: "snooze", Version: "2.0", Until: sdk.TimeOf(webtest.Noon), Actor: "ana",
			}},
		}, event.Event{
			ID: 1001, At: webtest.Noon, Type: event.ContainerChanged, Subject: "local/web",
			Payload: event.Payload{Container: &house()[2], Aspect: event.Decided},
		})
		for i, state := range []string{delivery.Pending, delivery.Sending, delivery.Sent, delivery.Failed, delivery.Skipped} {
			f.fakeHistory.deliveries = append(f.fakeHistory.deliveries, delivery.Delivery{
				ID: int64(i + 1), Trigger: "smtp.main", Subject: "local/web", State: state, Attempts: i, Manual: i == 1,
			})
		}
	})
	for _, path := range []string{"/history", "/history?each=1", "/deliveries", "/deliveries?retried=3", "/deliveries?state=failed"} {
		mustBeGerman(t, u, path)
	}
	text := inGerman(t, u, "/history?each=1")
	for _, want := range []string{
		"12 Container geprüft: 2 Updates (1 neu), 1 Fehler", "umbenannt: old → nginx",
		"2.0 zurückgestellt bis So 29.03.2026", "2.0.0: zurückgehalten: es wurde von user ana übersprungen", "12 Anmeldungen abgewiesen",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the history lacks %q:\n%s", want, text)
		}
	}
}

func TestLoginAndLinksInGerman(t *testing.T) {
	mustBeGerman(t, withFakes(t, nil), "/login")
	for _, action := range []choice.Kind{choice.Approved, choice.Skip, choice.Snooze, signedlink.Any} {
		u, links := withLink(t, action, decidedAs(sdk.StateHeld, sdk.Reason{
			Code: policy.ReasonWindow, Text: "the window is closed", Until: sdk.TimeOf(webtest.Noon),
		}))
		for _, err := range []error{
			nil, signedlink.ErrExpired, signedlink.ErrRevoked, signedlink.ErrGone, signedlink.ErrUsed,
		} {
			links.err, links.shown.Use = err, signedlink.Use{At: webtest.Noon, Action: string(choice.Skip)}
			mustBeGerman(t, u, "/decide/good")
		}
		mustBeGerman(t, u, "/decide/other")
		mustBeGerman(t, u, "/decide/"+signedlink.SampleToken)
	}
}

func TestOperationsInGerman(t *testing.T) {
	u, _ := withStore(t, house()...)
	f := fakes(u).fakeOperations
	for _, op := range []operation.Operation{
		updateOf("nginx", operation.Queued), updateOf("nginx", operation.Running), updateOf("nginx", operation.Succeeded),
		updateOf("nginx", operation.Succeeded, asRollback), updateOf("nginx", operation.RolledBack, failing("xyz")),
		updateOf("nginx", operation.Failed, failing("xyz")), updateOf("nginx", operation.Cancelled, asRollback),
	} {
		f.operations = []operation.Operation{op}
		for _, path := range []string{"/operations", "/operations?state=failed", "/operations/op1", "/operations/op2"} {
			mustBeGerman(t, u, path)
		}
	}
	f.operations = []operation.Operation{updateOf("nginx", operation.RolledBack, failing("xyz"))}
	if text := inGerman(t, u, "/operations/op1"); !strings.Contains(text, "hat nicht funktioniert, deshalb läuft wieder der alte Container, unverändert. Der Grund:") {
		t.Errorf("the operation says %s", text)
	}
}

func TestSettingsInGerman(t *testing.T) {
	others := []string{"in the address, ?token=…", "the secret is missing", "Not allowed.", `${container.name} "is" new`}
	u := withFakes(t, func(f *fakeService) {
		f.fakeComponents = fakeComponents{all: []service.Component{webtest.SMTP()}}
		f.fakePlugins = fakePlugins{all: somePlugins()}
		f.fakeAgents.joined = threeAgents()
		f.fakeSettings = &fakeSettings{level: "debug", recent: logging.NewRecent(), about: service.About{
			Version: "1.2.3", Started: webtest.Noon, Settings: []service.Setting{
				{Name: "log.level", Value: "info", Source: "env DOGWATCH_LOG_LEVEL", Help: "the level of the log"},
				{Name: "store.path", Value: "/store", Source: "default"},
			},
		}}
	})
	for _, path := range []string{"/settings", "/settings?q=none", "/settings/webhooks", "/settings/notifications", "/log", "/log?part=x",
		"/watchers", "/registries", "/triggers", "/triggers/smtp/main", "/triggers/smtp/other", "/plugins", "/policies", "/agents"} {
		mustBeGerman(t, u, path, others...)
	}
}

func TestWhyInGerman(t *testing.T) {
	u, _ := withStore(t, house()...)
	const path, wrong = "/containers/local/young?tab=why", "label dogwatch.link.template: it is not closed"
	fakes(u).explanation = &check.Explanation{
		Summary:  phrase.Texts(phrase.New("The check failed: %s.", phrase.Quote("no such host"))),
		Rules:    []labels.Rule{{Name: "tag.exclude", Value: "none", Source: "default"}},
		Warnings: phrase.Texts(phrase.Quote(wrong), phrase.New("no tag is left after the include and exclude rules")),
		Tags:     []check.Verdict{{Tag: "1.1", Reason: "not-version", Detail: phrase.Text{Phrase: phrase.New("it is no version")}}},
	}
	mustBeGerman(t, u, path)
	text := inGerman(t, u, path)
	for _, want := range []string{"Die Prüfung ist fehlgeschlagen:", "er ist keine Version", "bleibt kein Tag übrig"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if strings.Contains(text, wrong) {
		t.Error("others' words are not marked as English")
	}
}

func TestPlansInGerman(t *testing.T) {
	u, _ := withStore(t, webtest.Container("nginx", webtest.Newer("1.1.0", "minor")))
	f := fakes(u).fakeOperations
	f.plan = fullPlan()
	f.permission = service.Permission{Why: "its option update is false", Remedy: "set watcher.docker.local.update to true"}
	for _, blocks := range [][]watcher.Reason{nil, {
		{Code: "data.written", Text: "nginx has written 5.3 MiB into itself (up to 1 MiB is ignored), which would be lost: " +
			"move the data to a volume, or acknowledge data.written", Acknowledge: true},
	}, {{Code: "swarm", Text: "nginx belongs to Kubernetes, which would replace it again: change its workload"}}} {
		f.plan.Blocks = blocks
		f.plan.Warnings = []watcher.Reason{
			{Code: "no-healthcheck", Text: "nginx has no health check, so it counts as working when it stays up"},
			{Code: "own", Text: "the plugin says: tidy first"}, {Code: "image.user", Text: `nginx no longer sets "TZ"`},
			{Code: "major", Text: "nginx:2 is a major update. Back up its volumes first: a rollback brings back the old " +
				"container, but not the data as it was."},
		}
		for _, path := range []string{"/containers/local/nginx/update", "/containers/local/nginx/rollback",
			"/containers/local/nginx/diff", "/containers/local/nginx", "/update?c=local/nginx"} {
			mustBeGerman(t, u, path)
		}
	}
	text := inGerman(t, u, "/containers/local/nginx/update")
	for _, want := range []string{"nginx hat keinen Health-Check", "nginx gehört zu Kubernetes", "seine Option update ist false"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}

func TestMistakesInGerman(t *testing.T) {
	u := withFakes(t, func(f *fakeService) { f.fakeHistory.err = errors.New("disk") })
	mustBeGerman(t, u, "/history", "disk")
	u = withFakes(t, nil)
	for path, want := range map[string]string{
		"/operations?state=xyz": "Den Status \"xyz\" gibt es nicht", "/deliveries?state=xyz": "Den Status \"xyz\" gibt es nicht",
		"/history?topic=xyz": "Die Art von Ereignis \"xyz\" gibt es nicht",
		"/history?since=xyz": "\"xyz\" ist kein Tag der Form 2026-01-31: der erste Tag wird ignoriert",
	} {
		mustBeGerman(t, u, path)
		if text := inGerman(t, u, path); !strings.Contains(text, want) {
			t.Errorf("%s: %q is not in %s", path, want, text)
		}
	}
	for why, want := range map[string]string{
		"unknown or expired token": "Unbekanntes oder abgelaufenes Token.", "no provider": `<span lang="en">No provider</span>.`,
		"only people who are logged in may see tokens": "Nur angemeldete Benutzer dürfen Token sehen.",
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Language", "de")
		if u.Refuse(w, r, 401, why); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q is not in %s", want, w.Body)
		}
	}
}

func TestVulnerabilitiesInGerman(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
	f := fakes(u).fakeScans
	f.has, f.may = true, true
	f.status = scan.Status{State: scan.Done, Comparison: &scan.Comparison{
		At: sdk.TimeOf(webtest.Noon), Scanner: "trivy",
		Summary: vulnerability.Summary{
			Fixed: vulnerability.Counts{Critical: 3, High: 2, Low: 14}, Remaining: vulnerability.Counts{Medium: 1},
		},
		FixedFindings: []vulnerability.Finding{{ID: "CVE-2026-1", Severity: vulnerability.Critical, Package: "zlib"}},
	}}
	mustBeGerman(t, u, "/containers/local/web?tab=versions")
	text := strings.Join(strings.Fields(inGerman(t, u, "/containers/local/web?tab=versions")), " ")
	for _, want := range []string{"behebt 3 kritische, 2 hohe und 14 weitere, fügt keine hinzu", "Übrig: 1 mittlere Schwachstelle", "kritisch CVE-2026-1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	f.status = scan.Status{State: scan.Failed, Since: webtest.Noon, Error: "there is no program trivy"}
	mustBeGerman(t, u, "/containers/local/web?tab=versions")
}
