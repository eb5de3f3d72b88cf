package oci

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const (
	// hubAPI is the API of Docker Hub's web site (https://docs.docker.com/reference/api/hub/latest/),
	// which says what is behind tags. Its requests are no pulls. It has a limit of its own.
	hubAPI = "https://hub.docker.com/v2/namespaces"
	// hubPage is how many tags a page of that API has at most.
	hubPage = 100
	// maxHubPage is many times what a page with a hundred tags for twenty platforms each takes.
	maxHubPage = 4 << 20
	// hubTime is how long the API may take: reading manifests is there when it does not respond.
	hubTime = 10 * time.Second
	// hubPause is how long it gets no requests once it did not respond.
	hubPause = 15 * time.Minute
)

// Hub is a Registry of Docker Hub. It implements registry.TagDescriber, too, of public
// repositories, where requests go to Docker Hub itself and not to a mirror.
type Hub struct {
	*Registry

	mu          sync.Mutex
	pausedUntil time.Time
}

// DescribeTags implements registry.TagDescriber, without credentials: the API has another
// login than the registry.
func (h *Hub) DescribeTags(
	ctx context.Context, repo registry.Repository, tag string, platform sdk.Platform,
) ([]registry.DescribedTag, error) {
	address, err := h.tagsAddress(repo, tag)
	if err != nil {
		return nil, err
	}
	if err := h.paused(time.Now()); err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, hubTime)
	defer cancel()
	body, err := h.read(bounded, address)
	if err != nil && ctx.Err() != nil {
		return nil, contextError(ctx)
	}
	if h.pause(err, time.Now()); err != nil {
		return nil, h.wrap("describe tags of "+repo.Name, registry.Repository{Host: address.Host}, err)
	}
	return describedTags(body, tag, platform)
}

func (h *Hub) tagsAddress(repo registry.Repository, tag string) (*url.URL, error) {
	base, err := h.base(repo.Host)
	if err != nil {
		return nil, err
	}
	namespace, name, two := strings.Cut(repo.Name, "/")
	switch {
	case !strings.EqualFold(base.Host, dockerHub):
		return nil, unsupported("%s is a mirror of Docker Hub", base.Host)
	case !two || strings.Contains(name, "/") || !isRepository(repo.Name):
		return nil, unsupported("%.80q is no repository of Docker Hub", repo.Name)
	case tag != "" && !reference.IsTag(tag):
		return nil, sdk.Invalid("tag", "%.140q is not a tag", tag)
	}
	address, err := url.Parse(hubAPI)
	if err != nil {
		return nil, err
	}
	address = address.JoinPath(namespace, "repositories", name, "tags", tag)
	if tag == "" {
		address.RawQuery = fmt.Sprintf("page_size=%d", hubPage)
	}
	return address, nil
}

// read makes a request within the limits of its host, as to any registry.
func (h *Hub) read(ctx context.Context, address *url.URL) (body []byte, err error) {
	req := newRequest(ctx, http.MethodGet, address, http.Header{"Accept": {"application/json"}})
	err = h.exchange(req, sdk.Credentials{}, func(resp *http.Response) (err error) {
		if isWebPage(resp) {
			return webPage(resp)
		}
		body, err = httpclient.ReadAll(resp, maxHubPage)
		return err
	})
	return body, err
}

func (h *Hub) paused(now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Before(h.pausedUntil) {
		return sdk.WithKind(sdk.ErrUnavailable,
			errors.New("the API of Docker Hub did not respond, and gets no requests for some minutes"))
	}
	return nil
}

// pause keeps requests away from an API that does not respond. What it lacks or keeps private
// is a matter of the repository, and pauses that it asks for are those of its host.
func (h *Hub) pause(err error, now time.Time) {
	var status *statusError
	var limited *sdk.RateLimitedError
	if err == nil || errors.As(err, &limited) ||
		errors.As(err, &status) && (status.status/100 == 4 && !status.limited() || status.after > 0) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pausedUntil = now.Add(hubPause)
}

// hubTag is a tag as the API has it. Any field may be missing or null; older tags have no digest.
type hubTag struct {
	Name        string `json:"name"`
	Digest      string `json:"digest"`
	MediaType   string `json:"media_type"`
	ContentType string `json:"content_type"` // "image", "helm", "plugin" and others, or "unrecognized"
	Images      []struct {
		sdk.Platform
		Digest     string `json:"digest"`
		LastPushed string `json:"last_pushed"`
	} `json:"images"`
}

// describedTags reads the response about a tag, or with "" about a page of them.
func describedTags(body []byte, tag string, platform sdk.Platform) ([]registry.DescribedTag, error) {
	page := struct {
		Results []hubTag `json:"results"`
	}{make([]hubTag, 1)}
	var err error
	if tag == "" {
		err = json.Unmarshal(body, &page)
	} else {
		err = json.Unmarshal(body, &page.Results[0])
	}
	if err != nil {
		return nil, protocolError("answered something else than tags")
	}
	var tags []registry.DescribedTag
	for _, t := range page.Results[:min(len(page.Results), hubPage)] {
		d := t.describe(platform)
		if reference.IsTag(d.Name) && isDigest(d.Digest) && (tag == "" || d.Name == tag) {
			tags = append(tags, d)
		}
	}
	return tags, nil
}

// artifact returns the type of what is no image; "" for images and what is not known.
func (t hubTag) artifact() string {
	switch t.ContentType {
	case "", "image", "unrecognized":
		return ""
	}
	return cmp.Or(t.MediaType, t.ContentType)
}

// describe returns what a tag is for a platform. Where two images are for the same one, as
// those for versions of Windows are, it leaves open which is meant.
func (t hubTag) describe(platform sdk.Platform) registry.DescribedTag {
	d := registry.DescribedTag{Name: t.Name, Digest: t.Digest, Artifact: t.artifact()}
	var images []descriptor
	for i := range t.Images {
		if isDigest(t.Images[i].Digest) {
			images = append(images, descriptor{Digest: t.Images[i].Digest, Platform: &t.Images[i].Platform})
		}
	}
	if d.Digest == "" && len(t.Images) == 1 && len(images) == 1 {
		d.Digest = images[0].Digest // which is no index
	}
	chosen, err := choosePlatform(images, platform)
	if err != nil {
		return d
	}
	pushed := ""
	for i := range t.Images {
		image := &t.Images[i]
		switch {
		case image.Digest == chosen.Digest:
			pushed = image.LastPushed
		case isDigest(image.Digest) && normalizePlatform(image.Platform) == normalizePlatform(*chosen.Platform):
			return d
		}
	}
	// Not of the tag, which is pushed anew with an image for another platform.
	d.Image, d.Pushed = chosen.Digest, parseCreated(pushed)
	return d
}
