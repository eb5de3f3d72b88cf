package notes

import (
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// Forge is the interface of a host of repositories.
type Forge string

// The forges. Gitea is also that of Forgejo and Codeberg.
const (
	GitHub Forge = "github"
	GitLab Forge = "gitlab"
	Gitea  Forge = "gitea"
)

// Repository is where the source of an image is kept.
type Repository struct {
	Forge Forge
	// Host is the name of the forge, with its port if it has one of its own.
	Host string
	// Path is "owner/name"; at GitLab there may be groups in front.
	Path string
}

// URL returns the address of the page of the repository.
func (r Repository) URL() string { return "https://" + r.Host + "/" + r.Path }

// The labels that say where the source of an image is, the most certain first:
// https://github.com/opencontainers/image-spec/blob/main/annotations.md, and the label
// schema that came before it (http://label-schema.org/rc1).
var sourceLabels = []string{"org.opencontainers.image.source", "org.opencontainers.image.url",
	"org.label-schema.vcs-url", "org.opencontainers.image.documentation", "org.label-schema.url"}

// oldVersionLabel says which version an image is, in the schema that came before that of the
// OCI; see sdk.Image.Version for that one.
const oldVersionLabel = "org.label-schema.version"

// Find returns where the source of an image of a container is, and what says so: "link" for the
// link to its release notes, which the operator or a label of the image writes; "image" for known, the address that is
// known of the image, and for the table of well-known images; or the name of a label. It is false when nothing names a
// repository of a forge. forges are those of hosts that the operator names.
func Find(c *sdk.Container, known string, forges map[string]Forge) (r Repository, by string, found bool) {
	links := []string{c.Link}
	if c.Result != nil {
		links = append(links, c.Result.Link)
	}
	for _, link := range links {
		if r, found = parseRepository(link, forges); found {
			return r, "link", true
		}
	}
	if r, found = parseRepository(known, forges); found {
		return r, "image", true
	}
	img := c.Watched()
	if path := wellKnownRepository(reference.Short(img.Registry.Host, img.Name)); path != "" {
		return Repository{Forge: GitHub, Host: "github.com", Path: path}, "image", true
	}
	if c.Base != nil { // of which the labels say nothing
		return Repository{}, "", false
	}
	for _, label := range sourceLabels {
		if r, found = parseRepository(c.Labels[label], forges); found {
			return r, label, true
		}
	}
	return Repository{}, "", false
}

// maxAddress bounds what is read as the address of a repository.
const maxAddress = 2048

// parseRepository reads the address of a repository, or of a page below it.
func parseRepository(text string, forges map[string]Forge) (Repository, bool) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "git+")
	if rest, found := strings.CutPrefix(text, "git@"); found && !strings.Contains(text, "://") {
		text = "https://" + strings.Replace(rest, ":", "/", 1)
	}
	if strings.HasPrefix(text, "github.com/") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || len(text) > maxAddress || !slices.Contains([]string{"https", "http", "git", "ssh"}, u.Scheme) {
		return Repository{}, false
	}
	host := strings.ToLower(u.Host)
	host = strings.TrimPrefix(host, "www.")
	forge := forgeOf(host, forges)
	path, ok := repositoryPath(u.Path, forge)
	return Repository{Forge: forge, Host: host, Path: path}, ok
}

// forgeOf returns which forge a host is; "" when that is not known.
func forgeOf(host string, forges map[string]Forge) Forge {
	if forge, named := forges[host]; named {
		return forge
	}
	switch {
	case host == "github.com":
		return GitHub
	case host == "codeberg.org", host == "gitea.com", host == "code.forgejo.org", strings.HasPrefix(host, "gitea."),
		strings.HasPrefix(host, "forgejo."):
		return Gitea
	case host == "gitlab.com", strings.HasPrefix(host, "gitlab."):
		return GitLab
	}
	return ""
}

// notOwners are first segments of pages of GitHub that are no repositories.
var notOwners = []string{"orgs", "users", "sponsors", "marketplace", "features", "about", "apps", "topics"}

func repositoryPath(path string, forge Forge) (string, bool) {
	if forge == "" {
		return "", false
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if forge == GitLab {
		if end := slices.Index(parts, "-"); end >= 0 { // what follows is a page of the repository
			parts = parts[:end]
		}
	} else if len(parts) > 2 {
		parts = parts[:2]
	}
	if len(parts) < 2 || slices.Contains(notOwners, parts[0]) {
		return "", false
	}
	last := len(parts) - 1
	parts[last] = strings.TrimSuffix(parts[last], ".git")
	for _, part := range parts {
		if part == "" || part == "." || part == ".." ||
			strings.Trim(strings.ToLower(part), "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
			return "", false
		}
	}
	return strings.Join(parts, "/"), true
}
