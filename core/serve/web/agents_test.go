package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
)

// fakeAgents are constant agents.
type fakeAgents struct {
	joined  []service.Agent
	address string // of these pages
	changed *[]string
	failure error
}

func (f fakeAgents) note(what string) error {
	if f.changed != nil {
		*f.changed = append(*f.changed, what)
	}
	return f.failure
}

func (f fakeAgents) Agents() []service.Agent { return f.joined }

func (f fakeAgents) CreateAgentToken(_ context.Context, _ auth.Actor, name string) (service.AgentToken, error) {
	return service.AgentToken{
		Token: madeSecret, ExpiresAt: sdk.TimeOf(webtest.Noon.Add(10 * time.Minute)), URL: f.address,
	}, f.note("token " + name)
}

func (f fakeAgents) ExamineAgent(_ context.Context, _ auth.Actor, name string) ([]service.AgentHop, error) {
	return []service.AgentHop{
		{Subject: "agent", Level: "ok", Detail: webtest.Evil},
		{Subject: "connection", Level: "fail", Detail: "the agent is not connected", Remedy: "run dogwatch agent doctor there"},
	}, f.note("examine " + name)
}

func (f fakeAgents) RenameAgent(_ context.Context, _ auth.Actor, name, to string) error {
	return f.note("rename " + name + " " + to)
}

func (f fakeAgents) RevokeAgent(_ context.Context, _ auth.Actor, name string) error {
	return f.note("revoke " + name)
}

// threeAgents are one that is connected, one that was, and one that never was.
func threeAgents() []service.Agent {
	at := func(ago time.Duration) sdk.Time { return sdk.TimeOf(webtest.Noon.Add(-ago)) }
	return []service.Agent{
		{
			Name: "attic", Watcher: "agent.attic", JoinedAt: at(72 * time.Hour), SeenAt: at(time.Hour), CreatedBy: "ana",
			Version: webtest.Evil,
		},
		{
			Name: "nas", Watcher: "agent.nas", Connected: true, JoinedAt: at(48 * time.Hour), SeenAt: at(time.Minute),
			Since: at(2 * time.Hour), Address: "10.0.0.7", Version: "1.2.3",
			Limits: &service.AgentLimits{Stacks: []string{"media", webtest.Evil}, Logs: true},
		},
		{Name: "pi", Watcher: "agent.pi", JoinedAt: at(time.Minute), CreatedBy: "ana"},
	}
}

func TestAgentsPage(t *testing.T) {
	u := withFakes(t, func(f *fakeService) { f.fakeAgents.joined = threeAgents() })
	_, body := get(t, u, "/agents")
	webtest.MustBeInert(t, body)
	webtest.Contains(t, body, "3 agents, 2 not connected", "Not connected", "Never connected", "from 10.0.0.7",
		"Its owner allows updates of these stacks: media", "Its owner allows reading the logs of its containers", `href="/base/watchers/agent/nas"`, "token from ana",
		`action="/base/agents/nas/doctor"`, `action="/base/agents/nas/rename"`, `action="/base/agents/nas/revoke"`)
	_, body = get(t, u, "/watchers")
	webtest.Contains(t, body, `href="/base/agents"`)

	u = withFakes(t, func(f *fakeService) { f.fakeAgents.joined = threeAgents()[:1] })
	status, body := respond(t, u, httptest.NewRequest("GET", "/agents", nil).WithContext(
		auth.With(t.Context(), auth.Identity{User: "bob", Method: "basic.main", Scope: auth.Read})))
	if status != http.StatusOK || strings.Contains(body, "/doctor") || strings.Contains(body, `<button class="danger"`) {
		t.Errorf("who may only read sees %s", body)
	}
	_, body = get(t, withFakes(t, nil), "/agents")
	webtest.Contains(t, body, "No agent has connected yet.", "Create a token")
}

func TestAgentToken(t *testing.T) {
	var calls []string
	u := withFakes(t, func(f *fakeService) {
		f.fakeAgents = fakeAgents{changed: &calls, address: "https://dogwatch.example.org"}
	})
	r, body := post(t, u, "/agents", url.Values{"name": {" nas "}})
	if r.StatusCode != http.StatusOK || r.Header.Get("Cache-Control") != "no-store" || calls[0] != "token nas" {
		t.Errorf("status %d, %v, %v", r.StatusCode, r.Header, calls)
	}
	webtest.Contains(t, body, "dogwatch agent join https://dogwatch.example.org --token "+madeSecret)
	if _, body = get(t, u, "/agents"); strings.Contains(body, madeSecret) {
		t.Error("the token is shown again")
	}
	u = withFakes(t, func(f *fakeService) { f.fakeAgents.address = "" })
	_, body = post(t, u, "/agents", nil)
	webtest.Contains(t, body, "dogwatch agent join URL --token "+madeSecret, "public.url sets it")

	u = withFakes(t, func(f *fakeService) { f.fakeAgents.failure = sdk.Invalid("name", "is taken") })
	r, body = post(t, u, "/agents", url.Values{"name": {webtest.Evil}})
	webtest.MustBeInert(t, body)
	if r.StatusCode != http.StatusBadRequest || strings.Contains(body, madeSecret) {
		t.Errorf("status %d: %s", r.StatusCode, body)
	}
	webtest.Contains(t, body, "No token was created", "is taken")
}

func TestAgentsAreExaminedRenamedAndRevoked(t *testing.T) {
	var calls []string
	u := withFakes(t, func(f *fakeService) { f.fakeAgents = fakeAgents{joined: threeAgents(), changed: &calls} })
	_, body := post(t, u, "/agents/attic/doctor", nil)
	webtest.MustBeInert(t, body)
	webtest.Contains(t, body, "the agent is not connected", "run dogwatch agent doctor there")
	for path, form := range map[string]url.Values{"/agents/attic/rename": {"to": {" loft "}}, "/agents/nas/revoke": nil} {
		if r, _ := post(t, u, path, form); r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/base/agents" {
			t.Errorf("%s: status %d to %s", path, r.StatusCode, r.Header.Get("Location"))
		}
	}
	for _, want := range []string{"examine attic", "rename attic loft", "revoke nas"} {
		if !strings.Contains(strings.Join(calls, ", "), want) {
			t.Errorf("%v lacks %s", calls, want)
		}
	}
	for failure, status := range map[error]int{
		service.ErrForbidden: http.StatusForbidden, service.ErrNotFound: http.StatusNotFound,
	} {
		u := withFakes(t, func(f *fakeService) { f.fakeAgents.failure = failure })
		for _, path := range []string{"/agents/x/doctor", "/agents/x/rename", "/agents/x/revoke"} {
			if r, _ := post(t, u, path, nil); r.StatusCode != status {
				t.Errorf("%s: status %d, want %d", path, r.StatusCode, status)
			}
		}
	}
	u = withFakes(t, func(f *fakeService) { f.fakeAgents.failure = sdk.Invalid("name", "another agent is called so") })
	r, body := post(t, u, "/agents/attic/rename", url.Values{"to": {"nas"}})
	if r.StatusCode != http.StatusConflict || !strings.Contains(body, "nother agent is called so") {
		t.Errorf("status %d: %s", r.StatusCode, body)
	}
}
