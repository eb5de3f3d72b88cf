package notes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/visible"
)

const (
	// maxResponse bounds what is read of the list of releases, in bytes.
	maxResponse = 16 << 20
	// maxPages is how many pages of that list are read.
	maxPages = 5
	// maxReleases is how many releases of a repository are kept, maxBody how long the text
	// of each may be, and maxTotal of all: 200 KB stored, whatever they are. In bytes.
	maxReleases = 300
	maxBody     = 16 << 10
	maxTotal    = 160 << 10
	maxName     = 200
	// sizeOfRelease is about what a release takes besides its texts.
	sizeOfRelease = 64
)

// release is a release as it is kept.
type release struct {
	Tag        string    `json:"tag"`
	Name       string    `json:"name,omitempty"`
	Body       string    `json:"body,omitempty"`
	At         time.Time `json:"at,omitzero"`
	Prerelease bool      `json:"prerelease,omitempty"`
	Cut        bool      `json:"cut,omitempty"`
	// Breaking and Action are found once, since that takes longer than all else.
	Breaking []string `json:"breaking,omitempty"`
	Action   []string `json:"action,omitempty"`
}

// listURL returns the address of a page of the list of releases, the newest first; the first is 1.
// Sources: https://docs.github.com/en/rest/releases/releases, https://docs.gitlab.com/api/releases/
// and https://codeberg.org/api/swagger.
func (r Repository) listURL(page int) string {
	address := r.firstURL()
	if page > 1 {
		address += "&page=" + strconv.Itoa(page)
	}
	return address
}

func (r Repository) firstURL() string {
	switch r.Forge {
	case GitHub:
		base := "https://api.github.com"
		if r.Host != "github.com" {
			base = "https://" + r.Host + "/api/v3"
		}
		return base + "/repos/" + r.Path + "/releases?per_page=100"
	case GitLab:
		return "https://" + r.Host + "/api/v4/projects/" + url.PathEscape(r.Path) + "/releases?per_page=100"
	}
	return "https://" + r.Host + "/api/v1/repos/" + r.Path + "/releases?limit=50&draft=false"
}

// pageURL returns the address of the page of a release.
func (r Repository) pageURL(tag string) string {
	if r.Forge == GitLab {
		return r.URL() + "/-/releases/" + url.PathEscape(tag)
	}
	return r.URL() + "/releases/tag/" + url.PathEscape(tag)
}

// limitError says until when a host accepts no more requests.
type limitError struct{ until time.Time }

func (e *limitError) Error() string {
	return "its limit of requests is used up until " + e.until.UTC().Format("15:04 UTC")
}

// The reasons for which there are no releases.
var (
	errNotModified = errors.New("not modified")
	errMissing     = errors.New("it does not exist, or is private")
)

// page is what a response with a page of the list of releases says.
type page struct {
	releases []release
	// more is whether there are pages after it.
	more bool
	etag string
	// until is when the host may be asked again, if this response used up what it allows.
	until time.Time
}

// fetch returns a page of the releases of a repository, of texts as long as room in bytes. The
// error is errNotModified when the page is as it was with validator, errMissing, or a *limitError.
func (r *Reader) fetch(
	ctx context.Context, of Repository, number, room int, validator string, now time.Time,
) (p page, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, of.listURL(number), nil)
	if err != nil {
		return p, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", r.opt.Agent)
	if validator != "" {
		req.Header.Set("If-None-Match", validator)
	}
	switch token := r.opt.Tokens[of.Host]; {
	case token != "" && of.Forge == GitLab:
		req.Header.Set("PRIVATE-TOKEN", token)
	case token != "":
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := r.client.Do(req)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // the address is known
		}
		if errors.Is(err, errInside) {
			err = errInside
		}
		return p, err
	}
	defer res.Body.Close()
	p.until = limitedUntil(res, now)
	switch {
	case res.StatusCode == http.StatusNotModified:
		return p, errNotModified
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusForbidden && !p.until.IsZero():
		if p.until.IsZero() {
			p.until = now.Add(time.Minute)
		}
		return p, &limitError{until: p.until}
	case res.StatusCode == http.StatusUnauthorized:
		return p, fmt.Errorf("it wants a login: see notes.tokens")
	case res.StatusCode == http.StatusNotFound, res.StatusCode == http.StatusForbidden, res.StatusCode == http.StatusGone:
		return p, errMissing
	case res.StatusCode != http.StatusOK:
		return p, fmt.Errorf("it answered %s", res.Status)
	}
	p.etag, p.more = res.Header.Get("ETag"), hasNext(res.Header)
	p.releases, err = decodeReleases(io.LimitReader(res.Body, maxResponse), room)
	return p, err
}

// hasNext reports whether a response names a page after it, as all forges do:
// https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api.
func hasNext(header http.Header) bool {
	return slices.ContainsFunc(header.Values("Link"), func(link string) bool {
		return strings.Contains(link, `rel="next"`)
	})
}

// maxLimit bounds for how long a host is left alone.
const maxLimit = 2 * time.Hour

// limitedUntil returns until when a response says that no more requests are accepted; zero when
// it does not. Sources: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api,
// https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/.
func limitedUntil(res *http.Response, now time.Time) time.Time {
	var until time.Time
	if seconds, err := strconv.ParseInt(res.Header.Get("Retry-After"), 10, 32); err == nil && seconds > 0 {
		until = now.Add(time.Duration(seconds) * time.Second)
	}
	for _, prefix := range []string{"X-RateLimit-", "RateLimit-"} {
		if res.Header.Get(prefix+"Remaining") != "0" {
			continue
		}
		if reset, err := strconv.ParseInt(res.Header.Get(prefix+"Reset"), 10, 64); err == nil &&
			time.Unix(reset, 0).After(now) {
			until = time.Unix(reset, 0)
		}
	}
	if most := now.Add(maxLimit); until.After(most) {
		return most
	}
	return until
}

// wireRelease has what the forges say of a release; each uses a part of the names.
type wireRelease struct {
	Tag         string    `json:"tag_name"`
	Name        string    `json:"name"`
	Body        string    `json:"body"`        // GitHub, Gitea
	Description string    `json:"description"` // GitLab
	Draft       bool      `json:"draft"`
	Prerelease  bool      `json:"prerelease"`
	Upcoming    bool      `json:"upcoming_release"` // GitLab
	Published   time.Time `json:"published_at"`     // GitHub, Gitea
	Released    time.Time `json:"released_at"`      // GitLab
}

// decodeReleases reads the list of releases one by one, cutting each, and all to about the room
// in bytes.
func decodeReleases(in io.Reader, room int) ([]release, error) {
	decoder := json.NewDecoder(in)
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		return nil, errors.New("its list of releases is not understood")
	}
	var all []release
	for decoder.More() && len(all) < maxReleases {
		var w wireRelease
		if err := decoder.Decode(&w); err != nil {
			if len(all) > 0 && errors.Is(err, io.ErrUnexpectedEOF) { // longer than what is read
				break
			}
			return nil, errors.New("its list of releases is not understood, or longer than 16 MB")
		}
		if w.Tag = visible.Line(w.Tag); w.Draft || w.Upcoming || w.Tag == "" || len(w.Tag) > maxName {
			continue
		}
		r := release{Tag: w.Tag, Name: cut(visible.Line(w.Name), maxName), At: w.Published, Prerelease: w.Prerelease}
		if r.At.IsZero() {
			r.At = w.Released
		}
		text := strings.TrimSpace(visible.Text(w.Body + w.Description))
		r.Body = cut(text, max(0, min(maxBody, room)))
		r.Cut = len(r.Body) < len(text)
		r.Breaking, r.Action = warnings(r.Body)
		room -= r.size()
		all = append(all, r)
	}
	return all, nil
}

// size is about what a release takes in the cache, in bytes.
func (r *release) size() int {
	size := sizeOfRelease + len(r.Tag) + len(r.Name) + len(r.Body)
	for _, line := range slices.Concat(r.Breaking, r.Action) {
		size += len(line)
	}
	return size
}

// cut shortens a text to a number of bytes, at the end of a line if one is near.
func cut(text string, most int) string {
	if len(text) <= most {
		return strings.ToValidUTF8(text, "")
	}
	text = text[:most]
	if end := strings.LastIndexByte(text, '\n'); end > most/2 {
		text = text[:end]
	}
	return strings.ToValidUTF8(text, "")
}
