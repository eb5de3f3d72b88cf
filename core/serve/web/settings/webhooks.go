package settings

import (
	"net"
	"net/http"
	"net/url"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/watch/webhook"
)

// webhooksPage shows the webhooks and what they received.
type webhooksPage struct {
	Hooks []webhook.Status
	// Origin is where senders reach Dogwatch: scheme and host.
	Origin string
	// Senders are how to set each of them up.
	Senders []sender
}

// Loopback is the host of Origin if only this machine reaches it, otherwise "".
func (p webhooksPage) Loopback() string {
	u, err := url.Parse(p.Origin)
	if err != nil || u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback() {
		return ""
	}
	return u.Hostname()
}

// sender is where to enter the address and the secret of a webhook.
type sender struct {
	Name  string
	Where phrase.Phrase
	// Secret is the field for the secret; nil where only the address can have it.
	Secret phrase.Phrase
}

// senders are those whose forms are understood.
func senders() []sender {
	return []sender{
		{"Docker Hub", phrase.New("Repository → Webhooks"), nil},
		{"GitHub (ghcr.io)", phrase.New("Repository or organization → Settings → Webhooks; " +
			"content type application/json, only the event Packages"), phrase.Verbatim("Secret")},
		{"GitLab", phrase.New("Project → Settings → Webhooks; only Pipeline events"), phrase.Verbatim("Secret token")},
		{"Gitea, Forgejo", phrase.New("Repository, owner or site → Webhooks; only the event Package"),
			phrase.Verbatim("Secret")},
		{"Harbor", phrase.New("Project → Webhooks; Artifact pushed, either payload format"), phrase.Verbatim("Auth header")},
		{"Quay", phrase.New("Repository → Settings → %s",
			phrase.Quote("Events and notifications; Push to Repository, Webhook POST")), nil},
		{"Azure", phrase.New("Registry → Services → Webhooks, or an Event Grid subscription to Image Pushed"),
			phrase.New("custom header %s", "Authorization: Bearer …")},
		{"distribution (registry:2, registry:3)", phrase.New("notifications.endpoints of its configuration"),
			phrase.Verbatim("headers: Authorization: [Bearer …]")},
		{"scripts and CI", phrase.Verbatim(`POST {"image": "ghcr.io/owner/name"}`), phrase.Verbatim("Authorization: Bearer …")},
	}
}

// showWebhooks shows the webhooks.
func (h *Handler) showWebhooks(w http.ResponseWriter, r *http.Request) {
	h.Show(w, r, http.StatusOK, "webhooks", page.Page{
		Title: phrase.New("Webhooks"), Nav: "settings", Content: webhooksPage{h.service.Webhooks(), h.origin(r), senders()},
	})
}

// origin returns scheme and host of public.url, or those of a request, as far as they are known.
func (h *Handler) origin(r *http.Request) string {
	origin := url.URL{Scheme: "http", Host: r.Host}
	if r.TLS != nil {
		origin.Scheme = "https"
	}
	for _, s := range h.service.About().Settings {
		if u, err := url.Parse(s.Value); s.Name == "public.url" && err == nil && u.Host != "" {
			origin.Scheme, origin.Host = u.Scheme, u.Host
		}
	}
	return origin.String()
}
