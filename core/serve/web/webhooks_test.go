package web

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/watch/webhook"
)

func (fakeSettings) Webhooks() []webhook.Status {
	return []webhook.Status{
		{Name: "ghcr", URLToken: true, Recent: []webhook.Receipt{
			{
				At: webtest.Noon, Format: "ghcr", Images: []string{"ghcr.io/a/b" + webtest.Evil}, Containers: []string{"local/web"},
				State: webhook.Checked,
			},
			{At: webtest.Noon, State: webhook.Refused, Reason: "the secret is missing"},
		}},
		{Name: "quiet", Host: "localhost:5000"},
	}
}

func TestWebhooksPage(t *testing.T) {
	u, _ := withStore(t)
	page := request(u, "GET", "/settings/webhooks", nil).Body.String()
	webtest.Contains(t, page, "/api/webhooks/ghcr", "ghcr.io/a/b", "local/web", "checked", "the secret is missing",
		"it may be in the address", "localhost:5000", "None since Dogwatch started", "Docker Hub", "Put the secret into “Auth header”",
		`class="short">?token=SECRET</code> to the address, and set <code>DOGWATCH_WEBHOOKS_URLTOKEN</code>`)
}
