package notes

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/sdk"
)

// Simulated makes up notes, where the engine and the registries are simulated.
type Simulated struct{}

// Enabled returns true.
func (Simulated) Enabled() bool { return true }

// Of returns the notes of what a container is offered, without a request.
func (Simulated) Of(_ context.Context, c *sdk.Container) Notes {
	n := Notes{Notes: []Note{}, Reason: "there is no update"}
	if !c.UpdateAvailable || c.Result == nil {
		return n
	}
	r, by, found := Find(c, "", nil)
	if !found {
		r, by = Repository{Forge: GitHub, Host: "github.com", Path: "example/simulated"}, "image"
	}
	n = Notes{Repository: r.URL(), FoundBy: by, Running: running(c), Offered: offered(c), Notes: []Note{}}
	tag := n.Offered
	if tag == "" {
		n.Reason = "no release notes: neither the tag nor a label of the image says which version this is"
		return n
	}
	body := "### Fixed\n\n- A file that was open is no longer read twice.\n- The clock no longer stops overnight.\n\n*These notes are simulated.*\n"
	if c.UpdateKind.SemverDiff == sdk.DiffMajor {
		body = fmt.Sprintf("## Breaking changes\n\n- The settings of versions before **%s** are no longer read.\n- `/api/v1` was removed.\n\n## Before upgrading\n\nYou must run `migrate` once.\n\n%s", tag, body)
	}
	note := Note{Version: tag, Name: tag, Date: c.Result.Created, URL: r.pageURL(tag), Body: body}
	note.Breaking, note.Action = warnings(body)
	n.Notes = append(n.Notes, note)
	return n
}

// Known is Of.
func (s Simulated) Known(ctx context.Context, c *sdk.Container) Notes { return s.Of(ctx, c) }
