package settings

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/watch/webhook"
)

// webhooksPage shows the webhooks and what they received.
type webhooksPage struct {
	Hooks []webhook.Status
	// Senders are how to set each of them up.
	Senders []sender
}

// sender is where to enter the address and the secret of a webhook.
type sender struct{ Name, Where, Secret string }

var senders = []sender{
	{"Docker Hub", "repository, Webhooks", "in the address, ?token=… (webhooks.urltoken)"},
	{"GitHub (ghcr.io)",
		"repository or organization, Settings, Webhooks; content type application/json, only the event Packages", "Secret"},
	{"GitLab", "project, Settings, Webhooks; only Pipeline events", "Secret token"},
	{"Gitea, Forgejo", "repository, owner or site, Webhooks; only the event Package", "Secret"},
	{"Harbor", "project, Webhooks; Artifact pushed, either payload format", "Auth header"},
	{"Quay", "repository, Settings, Events and notifications; Push to Repository, Webhook POST",
		"in the address, ?token=… (webhooks.urltoken)"},
	{"Azure", "registry, Services, Webhooks, or an Event Grid subscription to Image Pushed",
		"custom header Authorization: Bearer …"},
	{"distribution (registry:2, registry:3)", "notifications.endpoints of its configuration",
		"headers: Authorization: [Bearer …]"},
	{"scripts and CI", `POST {"image": "ghcr.io/owner/name"}`, "Authorization: Bearer …"},
}

// showWebhooks shows the webhooks.
func (h *Handler) showWebhooks(w http.ResponseWriter, r *http.Request) {
	h.Show(w, r, http.StatusOK, "webhooks", page.Page{
		Title: phrase.New("Webhooks"), Nav: "settings", Content: webhooksPage{h.service.Webhooks(), senders},
	})
}
