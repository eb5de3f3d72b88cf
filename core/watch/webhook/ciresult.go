package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// CIResult is what a check found of one container.
type CIResult struct {
	ID        string `json:"id"`
	Container string `json:"container"` // as watcher/name
	Image     string `json:"image"`
	// UpdateAvailable and Offered are what is offered now, "" for nothing.
	UpdateAvailable bool   `json:"updateAvailable"`
	Offered         string `json:"offered,omitempty"`
	Error           string `json:"error,omitempty"`
}

// CheckNow checks the containers that a body names, {"image": "ghcr.io/owner/name"} or
// {"container": "web"} (also as watcher/name), and returns what was found. It is for CI,
// which wants to know. The errors are those of Receive, or that of the check.
func (r *Receiver) CheckNow(
	ctx context.Context, name string, header http.Header, token string, body []byte,
) ([]CIResult, error) {
	if _, err := r.hook(name, header, token, body); err != nil {
		return nil, err
	}
	wanted, err := selection(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	select {
	case r.checks <- struct{}{}:
		defer func() { <-r.checks }()
	default:
		return nil, ErrBusy
	}
	all := slices.DeleteFunc(r.opt.Containers(), func(c sdk.Container) bool { return !wanted(c) })
	if err := r.check(ctx, all); err != nil {
		return nil, err
	}
	results := []CIResult{}
	for _, c := range r.opt.Containers() {
		if wanted(c) {
			results = append(results, resultOf(c))
		}
	}
	return results, nil
}

// selection reads which containers a body means.
func selection(body []byte) (func(sdk.Container) bool, error) {
	var want struct {
		Image     string `json:"image"`
		Container string `json:"container"`
	}
	if err := json.Unmarshal(body, &want); err != nil || (want.Image == "") == (want.Container == "") {
		return nil, fmt.Errorf(`want {"image": "ghcr.io/owner/name"} or {"container": "name"}`)
	}
	if want.Container != "" {
		return func(c sdk.Container) bool {
			return strings.EqualFold(c.Name, want.Container) || strings.EqualFold(c.Watcher+"/"+c.Name, want.Container)
		}, nil
	}
	image, err := named(want.Image)
	if err != nil {
		return nil, err
	}
	return func(c sdk.Container) bool { return image.concerns(c.Image.Registry.Host, c.Image.Name) }, nil
}

func resultOf(c sdk.Container) CIResult {
	result := CIResult{
		ID: c.ID, Container: c.Watcher + "/" + c.Name,
		Image:           c.Image.Registry.Host + "/" + c.Image.Name + ":" + c.Image.Tag.Value,
		UpdateAvailable: c.UpdateAvailable,
	}
	if c.UpdateAvailable {
		result.Offered = c.UpdateKind.RemoteValue
	}
	if c.Error != nil {
		result.Error = c.Error.Message
	}
	return result
}
