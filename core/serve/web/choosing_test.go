package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
)

// levelled adds the newest versions of other steps.
func levelled(patch, minor, major string) func(*sdk.Container) {
	return func(c *sdk.Container) {
		release := func(tag string) *sdk.Release {
			if tag == "" {
				return nil
			}
			return &sdk.Release{Tag: tag}
		}
		c.Result.Levels = &sdk.Levels{Patch: release(patch), Minor: release(minor), Major: release(major)}
	}
}

// chosenOf returns a choice about the update of a container that a made.
func chosenOf(name string, kind choice.Kind, tag string, until time.Time) choice.Choice {
	c := choice.Choice{
		Subject: "local/" + name, Kind: kind, Actor: "ana", At: sdk.TimeOf(webtest.Noon.Add(-time.Hour)), Until: sdk.TimeOf(until),
	}
	if tag != "" {
		c.Update = update.Key{Subject: c.Subject, Kind: sdk.KindTag, FromTag: "1.0.0", ToTag: tag}
	}
	return c
}

// TestSkippedVersionsAreNotOffered in rows, and marked on the page of their container, the smallest step first.
func TestSkippedVersionsAreNotOffered(t *testing.T) {
	u, _ := withStore(t, webtest.Container("db", webtest.Newer("8.2.1", "minor"), levelled("8.1.9", "8.2.1", "9.0.0")))
	fakes(u).fakeChoices.all = []choice.Choice{chosenOf("db", choice.Skip, "9.0.0", time.Time{})}
	body := request(u, "GET", "/containers", nil).Body.String()
	webtest.Contains(t, body, `<span class="tag">8.1.9</span>`)
	if strings.Contains(body, "9.0.0") {
		t.Error("the list offers a version that was skipped")
	}
	body = request(u, "GET", "/containers/local/db", nil).Body.String()
	_, levels, _ := strings.Cut(body, `aria-label="Versions to choose from"`)
	for _, next := range []string{">8.1.9<", ">8.2.1<", ">9.0.0<", "skipped by ana", "</ul>"} {
		var found bool
		if _, levels, found = strings.Cut(levels, next); !found {
			t.Errorf("%q is not where it should be", next)
		}
	}
}

func TestChooserOnThePageOfAContainer(t *testing.T) {
	u, _ := withStore(t, webtest.Container("db", webtest.Newer("9.0.0", "major"), levelled("", "8.2.1", "9.0.0")),
		webtest.Container("one", webtest.Newer("2.0.0", "major")), webtest.Container("current"))
	_, body := get(t, u, "/containers/local/db")
	webtest.Contains(t, body, `action="/base/choose"`, `<input type="hidden" name="version:local/db" value="9.0.0">`,
		`<button name="do" value="skip">Skip 9.0.0</button>`, `<button name="until" value="7">Snooze for a week</button>`,
		`name="do" value="snooze-day"`, `name="do" value="approve"`,
		`min="`+webtest.Noon.AddDate(0, 0, 1).Format(time.DateOnly)+`"`)
	_, date, _ := strings.Cut(body, `type="date"`)
	if date, _, _ = strings.Cut(date, "</form>"); strings.Count(date, "<button") != 1 ||
		!strings.Contains(date, `value="snooze-day"`) {
		t.Error("enter in the field of the date does something else")
	}
	_, body = get(t, u, "/choose?c=local/db")
	webtest.Contains(t, body, `<select name="version:local/db"`, `<option value="9.0.0">9.0.0 (major)</option>`,
		`<option value="8.2.1">8.2.1 (minor)</option>`, `<option value="7" selected>for a week</option>`)
	if first := strings.Index(body, `name="do"`); !strings.HasPrefix(body[first:], `name="do" value="snooze-day"`) {
		t.Error("enter in the field of the date does something else than to snooze until then")
	}
	_, body = get(t, u, "/containers/local/one")
	webtest.Contains(t, body, `<input type="hidden" name="version:local/one" value="2.0.0">`)
	if _, body = get(t, u, "/containers/local/current"); strings.Contains(body, "Not now") {
		t.Error("there is something to decide about a container without an update")
	}
	for _, path := range []string{"/containers/local/db", "/containers", "/policies"} {
		if body := request(u, "GET", path, nil).Body.String(); strings.Contains(body, "/base/choose") ||
			strings.Contains(body, `value="decide"`) {
			t.Errorf("%s: one who may only read can decide", path)
		}
	}
}

func TestChoose(t *testing.T) {
	date := webtest.Noon.AddDate(0, 0, 3).Format(time.DateOnly)
	midnight, err := time.ParseInLocation(time.DateOnly, date, webtest.Noon.Location())
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		form url.Values
		want service.Choice
		said string
	}{
		"skip": {url.Values{"do": {"skip"}, "version:local/db": {"9.0.0"}}, service.Choice{
			Kind: choice.Skip, Version: "9.0.0",
		}, "Skipped: db"},
		"approve another level": {url.Values{"do": {"approve"}, "version:local/db": {"8.2.1"}}, service.Choice{
			Kind: choice.Approved, Version: "8.2.1",
		}, "Approved: db"},
		"snooze for a week": {url.Values{"do": {"snooze"}, "until": {"7"}, "version:local/db": {"9.0.0"}},
			service.Choice{Kind: choice.Snooze, Until: webtest.Noon.AddDate(0, 0, 7)}, "Snoozed: db"},
		"snooze by the button of a week": {url.Values{"until": {"7"}, "version:local/db": {"9.0.0"}},
			service.Choice{Kind: choice.Snooze, Until: webtest.Noon.AddDate(0, 0, 7)}, "Snoozed: db"},
		"snooze until a day": {url.Values{"do": {"snooze-day"}, "until": {"7"}, "date": {date}}, service.Choice{
			Kind: choice.Snooze, Until: midnight,
		}, "Snoozed: db"},
		"snooze for a week, with a day filled in": {url.Values{"do": {"snooze"}, "until": {"7"}, "date": {date}},
			service.Choice{Kind: choice.Snooze, Until: webtest.Noon.AddDate(0, 0, 7)}, "Snoozed: db"},
		"snooze to the next version": {url.Values{"do": {"snooze"}, "until": {"next"}, "version:local/db": {"9.0.0"}},
			service.Choice{Kind: choice.Snooze, Version: "9.0.0"}, "with the next version"},
	} {
		t.Run(name, func(t *testing.T) {
			u, _ := withStore(t, webtest.Container("db", webtest.Newer("9.0.0", "major"), levelled("", "8.2.1", "9.0.0")))
			test.form.Set("c", "local/db")
			test.form.Set("back", "/containers/local/db")
			test.want.Container = "id-db"
			r, _ := post(t, u, "/choose", test.form)
			if to := r.Header.Get("Location"); r.StatusCode != http.StatusSeeOther || to != "/base/containers/local/db" {
				t.Errorf("%d, leads to %q", r.StatusCode, to)
			}
			if got := fakes(u).chosen; !slices.Equal(got, []service.Choice{test.want}) {
				t.Errorf("chosen is %+v, want %+v", got, test.want)
			}
			_, body := get(t, u, "/containers/local/db")
			webtest.Contains(t, body, test.said,
				`<input type="hidden" name="task" value="1"><input type="hidden" name="c" value="local/db">`)
			if body := request(u, "GET", "/work", nil, "HX-Request", "true").Body.String(); strings.Contains(body, "Undo") {
				t.Error("one who may only read can undo it")
			}
		})
	}
}

func TestChooseRefusesWhatCannotBe(t *testing.T) {
	u, _ := withStore(t, webtest.Container("db", webtest.Newer("9.0.0", "major")))
	fakes(u).fakeChoices.err = map[string]error{"id-db": sdk.Invalid("version", "%q is none of the newer versions", webtest.Evil)}
	for name, test := range map[string]struct {
		form url.Values
		want string
	}{
		"nothing":            {url.Values{"do": {"skip"}}, "Nothing was chosen"},
		"gone":               {url.Values{"do": {"skip"}, "c": {"local/gone"}}, "Nothing was chosen"},
		"another action":     {url.Values{"do": {"dance"}, "c": {"local/db"}}, "not understood"},
		"a day that is over": {url.Values{"do": {"snooze-day"}, "c": {"local/db"}, "date": {"2001-01-01"}}, "a day to come"},
		"no day":             {url.Values{"do": {"snooze-day"}, "c": {"local/db"}, "date": {"soon"}}, "want a day such as"},
		"no end":             {url.Values{"do": {"snooze"}, "c": {"local/db"}}, "until when"},
		"an end too far":     {url.Values{"do": {"snooze"}, "c": {"local/db"}, "until": {"99999"}}, "until when"},
		"what the service does": {url.Values{"do": {"skip"}, "c": {"local/db"}, "version:local/db": {webtest.Evil}},
			"none of the newer versions"},
	} {
		t.Run(name, func(t *testing.T) {
			r, body := post(t, u, "/choose", test.form)
			if r.StatusCode != http.StatusUnprocessableEntity {
				t.Errorf("status %d", r.StatusCode)
			}
			webtest.Contains(t, body, test.want)
			webtest.MustBeInert(t, body)
		})
	}
	fakes(u).fakeChoices.err["id-db"] = sdk.WithKind(service.ErrForbidden, errors.New("only a login allows it"))
	if r, _ := post(t, u, "/choose", url.Values{"do": {"skip"}, "c": {"local/db"}}); r.StatusCode != http.StatusForbidden {
		t.Errorf("what is forbidden responds %d", r.StatusCode)
	}
	if len(fakes(u).chosen) > 0 {
		t.Errorf("chosen is %+v", fakes(u).chosen)
	}
}

// TestApproveIsConfirmedWhereItUpdates is the question before an update may begin.
func TestApproveIsConfirmedWhereItUpdates(t *testing.T) {
	u, _ := withStore(t, webtest.Container("db", webtest.Newer("9.0.0", "major"), levelled("", "8.2.1", "9.0.0")))
	fakes(u).permission = service.Permission{Allowed: true}
	form := url.Values{
		"do": {"approve"}, "c": {"local/db"}, "version:local/db": {"8.2.1"}, "back": {"/containers?state=held"},
	}
	r, _ := post(t, u, "/choose", form)
	to := strings.TrimPrefix(r.Header.Get("Location"), "/base")
	if r.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/choose?") || len(fakes(u).chosen) > 0 {
		t.Fatalf("%d, leads to %q, and chosen is %+v", r.StatusCode, to, fakes(u).chosen)
	}
	_, body := get(t, u, to)
	webtest.Contains(t, body, "Decide about the update of db", `<option value="8.2.1" selected>`, `name="sure" value="1"`,
		`name="back" value="/containers?state=held"`, "Dogwatch installs what you approve")
	form.Set("sure", "1")
	if r, _ = post(t, u, "/choose", form); r.Header.Get("Location") != "/base/containers?state=held" ||
		len(fakes(u).chosen) != 1 {
		t.Errorf("leads to %q, and chosen is %+v", r.Header.Get("Location"), fakes(u).chosen)
	}
	htmx := httptest.NewRequest(http.MethodPost, "/choose", strings.NewReader("do=approve&c=local/db"))
	htmx.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	htmx.Header.Set("HX-Request", "true")
	w := httptest.NewRecorder()
	u.ServeHTTP(w, asOperator(htmx))
	if to := w.Header().Get("HX-Redirect"); !strings.HasPrefix(to, "/base/choose?") {
		t.Errorf("htmx is led to %q", to)
	}
}

func TestDecideAboutASelection(t *testing.T) {
	u, _ := withStore(t, webtest.Container("db", webtest.Newer("9.0.0", "major")),
		webtest.Container("web", webtest.Newer("1.1.0", "minor")), webtest.Container("current"))
	r, _ := post(t, u, "/containers/act", url.Values{
		"do": {"decide"}, "c": {"local/db", "local/web", "local/current"}, "back": {"/containers?q=b"},
	})
	to := strings.TrimPrefix(r.Header.Get("Location"), "/base")
	_, body := get(t, u, to)
	webtest.Contains(t, body, "Decide about 2 updates", `name="c" value="local/db" checked`,
		`name="c" value="local/web" checked`, `name="back" value="/containers?q=b"`)

	fakes(u).fakeChoices.err = map[string]error{"id-web": errors.New("disk is full")}
	form := url.Values{
		"do": {"skip"}, "c": {"local/db", "local/web"}, "version:local/db": {"9.0.0"}, "version:local/web": {"1.1.0"},
	}
	post(t, u, "/choose", form)
	if got := fakes(u).chosen; len(got) != 1 || got[0].Version != "9.0.0" {
		t.Errorf("chosen is %+v", got)
	}
	_, body = get(t, u, "/containers")
	webtest.Contains(t, body, "Skipped: 2 containers", "It failed for web: disk is full",
		`name="task" value="1"><input type="hidden" name="c" value="local/db"><button`)

	post(t, u, "/choose", url.Values{"do": {"undo"}, "c": {"local/db"}, "task": {"1"}})
	_, body = get(t, u, "/containers")
	if webtest.Contains(t, body, "Undone for db"); strings.Contains(body, "Skipped: 2 containers") {
		t.Error("what was undone is still shown")
	}
	if got := fakes(u).undone; !slices.Equal(got, []string{"id-db"}) {
		t.Errorf("undone is %q", got)
	}
	for path, want := range map[string]string{
		"/choose?c=local/current": "Nothing newer is known", "/choose": "Nothing was chosen",
	} {
		if code, body := get(t, u, path); code != http.StatusUnprocessableEntity || !strings.Contains(body, want) {
			t.Errorf("%s: %d", path, code)
		}
	}
}

func TestListOfChoices(t *testing.T) {
	u, _ := withStore(t, webtest.Container("db", webtest.Newer("9.0.0", "major")))
	fakes(u).fakeChoices.all = []choice.Choice{
		chosenOf("db", choice.Skip, "9.0.0", time.Time{}), chosenOf("db", choice.Snooze, "", webtest.Noon.AddDate(0, 0, 2)),
		chosenOf("db", choice.Snooze, "", webtest.Noon.Add(-time.Minute)),
		chosenOf("db", choice.Approved, "1.0.0", time.Time{}), chosenOf("gone", choice.Snooze, "3.0.0", time.Time{}),
	}
	_, body := get(t, u, "/policies")
	webtest.Contains(t, body, "Skipped 9.0.0, by ana, <time", "<br>Snoozed until ",
		"Snoozed 3.0.0 until the next version, by ana", "gone <span class=\"second\">is gone</span>",
		`aria-label="Undo what was decided about db"`)
	if strings.Contains(body, "Approved 1.0.0") || strings.Count(body, "Snoozed until ") != 1 ||
		strings.Contains(body, "about gone") {
		t.Errorf("it shows what has ended, or undoes what is gone: %s", body)
	}
	_, body = get(t, u, "/containers/local/db")
	webtest.Contains(t, body, "Skipped 9.0.0, by ana", `aria-label="Undo what was decided about db"`)
	if body := request(u, "GET", "/policies", nil).Body.String(); strings.Contains(body, "Undo") {
		t.Error("one who may only read can undo it")
	}
}

// fakeChoices has constant choices, and records what is chosen and undone.
type fakeChoices struct {
	all    []choice.Choice
	chosen []service.Choice
	undone []string
	err    map[string]error // by id of the container
}

func (f *fakeChoices) Choose(_ context.Context, _ auth.Actor, c service.Choice) error {
	if err := f.err[c.Container]; err != nil {
		return err
	}
	f.chosen = append(f.chosen, c)
	return nil
}

func (f *fakeChoices) UndoChoices(_ context.Context, _ auth.Actor, container string) (int, error) {
	f.undone = append(f.undone, container)
	return 1, f.err[container]
}

func (f *fakeChoices) SkippedBy(c *sdk.Container, version string) string {
	for _, made := range f.ChoicesOf(event.Subject(*c)) {
		if made.Kind == choice.Skip && made.Version() == version {
			return made.Actor
		}
	}
	return ""
}

func (f *fakeChoices) ChoicesOf(subject string) (of []choice.Choice) {
	for _, c := range f.all {
		if c.Subject == subject {
			of = append(of, c)
		}
	}
	return of
}

func (f *fakeChoices) AllChoices() []choice.Choice { return f.all }
