package teams

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

const hook = "/automations/recognisable-workflow?api-version=1&sig=recognisable-signature"

func options(url string) map[string]any { return map[string]any{"url": url + hook} }

func subject() sink.Subject {
	return sink.Subject{Type: Type(), Options: options, Service: service}
}

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), subject().Case([]triggertest.Invalid{
		{Field: "url", Set: map[string]any{"url": "ftp://host/recognisable-workflow"}},
		{Field: "cardversion", Set: map[string]any{"cardversion": "9.9"}},
		{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nosuchfile"}},
	}))
}

// service plays a workflow: it refuses what Teams refuses.
func service(t testing.TB) *sink.Sink {
	return sink.New(t, func(c sink.Call) (int, string) {
		switch problem := wrong(c); {
		case len(c.Body) > 28*1024:
			return http.StatusRequestEntityTooLarge,
				`{"error":{"code":"RequestEntityTooLarge","message":"Request entity too large"}}`
		case problem != "":
			return http.StatusBadRequest, `{"error":{"code":"InvalidRequestContent","message":"` + problem + `"}}`
		}
		return http.StatusAccepted, ""
	})
}

// wrong says what is wrong with a request, by the schema of Adaptive Cards and
// what a workflow expects around one.
func wrong(c sink.Call) string {
	var m struct {
		Type        string `json:"type"`
		Attachments []struct {
			ContentType string `json:"contentType"`
			Content     struct {
				Schema  string `json:"$schema"`
				Type    string `json:"type"`
				Version string `json:"version"`
				Body    []struct {
					Type   string `json:"type"`
					Text   string `json:"text"`
					Size   string `json:"size"`
					Weight string `json:"weight"`
					Wrap   bool   `json:"wrap"`
				} `json:"body"`
				Actions []struct{ Type, Title, URL string } `json:"actions"`
				Teams   struct {
					Width string `json:"width"`
				} `json:"msteams"`
			} `json:"content"`
		} `json:"attachments"`
	}
	switch problem := c.Strict(&m); {
	case problem != "":
		return problem
	case c.Method != "POST" || c.URI != hook || m.Type != "message" || len(m.Attachments) != 1:
		return "message"
	case m.Attachments[0].ContentType != "application/vnd.microsoft.card.adaptive":
		return "contentType"
	}
	card := m.Attachments[0].Content
	if card.Type != "AdaptiveCard" || card.Version == "" || len(card.Body) == 0 || card.Teams.Width != "Full" {
		return "card"
	}
	for _, block := range card.Body {
		if block.Type != "TextBlock" || strings.TrimSpace(block.Text) == "" || !block.Wrap ||
			!strings.Contains(" Medium ", block.Size) || !strings.Contains(" Bolder ", block.Weight) {
			return "TextBlock"
		}
		if strings.Contains(strings.ReplaceAll(block.Text, "\n\n", ""), "\n") {
			return "a line end that is not shown"
		}
	}
	for _, action := range card.Actions {
		if u, err := url.Parse(action.URL); err != nil || u.Host == "" || action.Type != "Action.OpenUrl" ||
			action.Title == "" {
			return "Action"
		}
	}
	return ""
}

func TestPayloads(t *testing.T) { subject().Payloads(t, "*.json") }

func TestLimits(t *testing.T) {
	for name, body := range map[string]string{
		"ascii":  strings.Repeat("x", 30_000),
		"lines":  strings.Repeat("x\n", 30_000),
		"quotes": strings.Repeat(`"`, 30_000),
		"dogs":   strings.Repeat("🐕", 30_000),
	} {
		p, err := Options{CardVersion: "1.4"}.payload(trigger.Request{Title: strings.Repeat("é", 300), Body: body})
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := httpclient.EncodeJSON(p)
		if err != nil || len(encoded) > maxPayloadBytes || len(encoded) < maxPayloadBytes-10 {
			t.Errorf("%s: %d bytes, %v", name, len(encoded), err)
		}
		if text := p.Attachments[0].Content.Body[1].Text; !strings.HasSuffix(text, "…") {
			t.Errorf("%s: ends with %q", name, text[len(text)-10:])
		}
	}
	p, err := Options{}.payload(trigger.Request{Body: "short"})
	if err != nil || len(p.Attachments[0].Content.Body) != 1 || p.Attachments[0].Content.Body[0].Text != "short" {
		t.Errorf("%+v %v", p, err)
	}
}

func TestParagraphs(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "a\nb": "a\n\nb", "- a\nlink\n\n- b\n": "- a\n\nlink\n\n- b",
	} {
		if got := paragraphs(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestLink(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.org/1": "https://example.org/1", "": "", "https://": "", "https://a b/": "", "javascript:1": "",
	} {
		req := trigger.Request{Containers: []sdk.Container{{Result: &sdk.Result{Link: text}}}}
		if got := link(req); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestRetiredConnectorIsAnError(t *testing.T) {
	for address, warned := range map[string]bool{
		"https://example.webhook.office.com/webhookb2/x": true, "https://outlook.office.com/webhook/x": true,
		"https://prod-1.westeurope.logic.azure.com/workflows/x": false, "https://evilwebhook.office.com/x": false,
	} {
		var said []string
		_, err := Type().New(sdk.Env{Warn: func(text string) { said = append(said, text) }}, map[string]any{"url": address})
		if err != nil || (len(said) == 1) != warned {
			t.Errorf("%s: %q %v", address, said, err)
		}
	}
}

func TestServiceErrors(t *testing.T) {
	subject().ServiceErrors(t, map[string]sink.ServiceError{
		"signature": {
			Status:   401,
			Response: `{"error":{"code":"DirectApiInvalidAuthorizationScheme","message":"The request has SAS authentication that is invalid."}}`, Kind: sdk.ErrUnauthorized, Want: "DirectApiInvalidAuthorizationScheme: The request has SAS authentication that is invalid.; check url",
		},
		"gone": {
			Status: 404, Response: `{"error":{"code":"WorkflowNotFound","message":"The workflow could not be found."}}`,
			Option: "url", Want: "WorkflowNotFound",
		},
		"switched off": {
			Status:   400,
			Response: `{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"The trigger is not enabled."}}`,
			Option:   "url", Want: "not enabled",
		},
		"content": {
			Status: 400, Response: `{"error":{"code":"TriggerInputSchemaMismatch","message":"The input is wrong."}}`,
			Want: "TriggerInputSchemaMismatch",
		},
		"too large": {
			Status: 413, Response: `{"error":{"code":"RequestEntityTooLarge","message":"Too large."}}`, Want: "413",
		},
		"busy": {
			Status: 503, Response: `{"error":{"code":"ServiceUnavailable","message":"Try again."}}`,
			Kind: sdk.ErrUnavailable, Want: "503",
		},
	})
}

func FuzzPayload(f *testing.F) {
	f.Add("title", "body\n\nline", "https://a")
	f.Add(" ", strings.Repeat("\"\n", 9000), "http://%zz")
	f.Fuzz(func(t *testing.T, title, body, link string) {
		req := trigger.Request{Title: title, Body: body, Containers: []sdk.Container{{Result: &sdk.Result{Link: link}}}}
		p, err := Options{CardVersion: "1.4"}.payload(req)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		// json.Marshal escapes more than what is sent.
		if sent, _ := httpclient.EncodeJSON(p); len(sent) > maxPayloadBytes {
			t.Errorf("%d bytes", len(sent))
		}
		if problem := wrong(sink.Call{Method: "POST", URI: hook, Body: encoded}); problem != "" {
			t.Errorf("%s: %s", problem, encoded)
		}
	})
}
