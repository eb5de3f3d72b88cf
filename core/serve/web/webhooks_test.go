package web

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/watch/webhook"
)

func (fakeSettings) Webhooks() []webhook.Status {
	return []webhook.Status{
		{Name: "ghcr", URLToken: true, Recent: []webhook.Receipt{
			{
				At: noon, Format: "ghcr", Images: []string{"ghcr.io/a/b" + evil}, Containers: []string{"local/web"},
				State: webhook.Checked,
			},
			{At: noon, State: webhook.Refused, Reason: "the secret is missing"},
		}},
		{Name: "quiet", Host: "localhost:5000"},
	}
}

func TestWebhooksPage(t *testing.T) {
	u, _ := withStore(t)
	page := request(u, "GET", "/settings/webhooks", nil).Body.String()
	contains(t, page, "/api/webhooks/ghcr", "ghcr.io/a/b", "local/web", "checked", "the secret is missing",
		"it may be in the address", "localhost:5000", "None since Dogwatch started", "Docker Hub")
}
