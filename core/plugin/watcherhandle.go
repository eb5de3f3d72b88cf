package plugin

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// WatcherHandle is a configured watcher as the core calls it. It implements
// watcher.EventWatcher, watcher.Updater, watcher.LogReader and watcher.CredentialProvider.
type WatcherHandle struct{ handle }

// Watcher returns the handle of a watcher in this bundle.
func (s *Supervisor) Watcher(id string) WatcherHandle { return WatcherHandle{handle{id: id, s: s}} }

// Probe asks the watcher whether it can do its work; see sdk.Prober.
func (w WatcherHandle) Probe(ctx context.Context) (sdk.ProbeResult, error) {
	return w.probe(ctx, "", probeTimeout, sdk.ProbeRequest{})
}

// List returns the containers that the watcher sees, with what it knows of them
// and its name. Nothing else is set: labels are not interpreted yet. Labels of a watcher
// that does not tell whose they are count as those of the image.
func (w WatcherHandle) List(ctx context.Context) ([]sdk.Container, error) {
	found, err := w.ListRaw(ctx)
	if err != nil {
		return nil, err
	}
	name := w.id[strings.LastIndexByte(w.id, '.')+1:]
	all := make([]sdk.Container, len(found))
	for i, c := range found {
		all[i] = listed(c, name)
	}
	return all, nil
}

// ListRaw is List with the containers as watchers list them, for those that pass them on.
func (w WatcherHandle) ListRaw(ctx context.Context) (found []watcher.Container, err error) {
	err = w.call(ctx, "List", "", listTimeout, retryOnce, func(ctx context.Context, c *pluginclient.Client) (err error) {
		found, err = c.Watcher(w.id).List(ctx)
		return err
	})
	if !w.attributesLabels() {
		for i, c := range found {
			found[i].ImageLabels = slices.Sorted(maps.Keys(c.Labels))
		}
	}
	return found, err
}

// attributesLabels reports whether the watcher's type tells the labels of images from others.
func (w WatcherHandle) attributesLabels() bool {
	parts := strings.Split(w.id, ".") // watcher.docker.local
	return len(parts) == 3 && slices.ContainsFunc(w.s.types(), func(t kind.Type) bool {
		return t.Kind == kind.Watcher && t.Name == parts[1] && slices.Contains(t.Capabilities, kind.CapLabels)
	})
}

// listed makes the model's container of one that the watcher called name lists.
func listed(c watcher.Container, name string) sdk.Container {
	out := sdk.Container{
		ID:      c.ID,
		Name:    c.Name,
		Status:  c.Status,
		Created: c.Created,
		Watcher: name,
		Labels:  c.Labels,

		ImageLabels: c.ImageLabels,
		Image: sdk.Image{
			ID:           c.Image.ID,
			Registry:     sdk.Registry{Host: c.Image.Host},
			Name:         c.Image.Name,
			Tag:          sdk.Tag{Value: c.Image.Tag},
			Digest:       sdk.Digest{Repo: c.Image.Digest, Repos: c.Image.Digests, Pinned: c.Image.Pinned},
			Architecture: c.Image.Platform.Architecture,
			OS:           c.Image.Platform.OS,
			Variant:      c.Image.Platform.Variant,
			Created:      c.Image.Created,
			Built:        c.Image.Built,
		},
	}
	if c.Error != "" {
		out.Error = &sdk.ContainerError{Message: visible.Line(c.Error)}
	}
	readable(&out)
	return out
}

// Watch implements watcher.EventWatcher. It returns when ctx ends or the plugin stops.
func (w WatcherHandle) Watch(ctx context.Context, emit func(watcher.Event)) error {
	return w.call(ctx, "Watch", "", 0, awaiting, func(ctx context.Context, c *pluginclient.Client) error {
		return c.Watcher(w.id).Watch(ctx, emit)
	})
}

const (
	// logTimeout bounds the reading of a log.
	logTimeout = 20 * time.Second
	// maxLog is how much of the end of a log is kept, in bytes.
	maxLog = 64 << 10
)

// ReadLog implements watcher.LogReader. What a container wrote is made visible and bounded, whatever
// the plugin answers.
func (w WatcherHandle) ReadLog(ctx context.Context, req watcher.LogRequest) (log watcher.Log, err error) {
	err = w.call(ctx, "ReadLog", "", logTimeout, retryOnce, func(ctx context.Context, c *pluginclient.Client) (err error) {
		log, err = c.Watcher(w.id).ReadLog(ctx, req)
		return err
	})
	return boundedLog(log, req.Lines), err
}

// boundedLog returns the end of a log that can be seen: lines at most, of maxLog bytes together.
func boundedLog(log watcher.Log, lines int) watcher.Log {
	log.UnreadableDriver = visible.Line(log.UnreadableDriver)
	size, first := 0, len(log.Lines)
	for first > 0 && len(log.Lines)-first < min(lines, watcher.MaxLogLines) {
		line := &log.Lines[first-1]
		line.Text = visible.Line(line.Text)
		if size += len(line.Text); size > maxLog {
			break
		}
		first--
	}
	log.Lines = log.Lines[first:]
	return log
}

// PullCredentials implements watcher.CredentialProvider.
func (w WatcherHandle) PullCredentials(
	ctx context.Context, ids []string,
) (all map[string]watcher.PullCredentials, err error) {
	call := func(ctx context.Context, c *pluginclient.Client) (err error) {
		all, err = c.Watcher(w.id).PullCredentials(ctx, ids)
		return err
	}
	err = w.call(ctx, "PullCredentials", "", listTimeout, retryOnce, call)
	return all, err
}

// planTimeout bounds a plan: some reads of the engine.
const planTimeout = time.Minute

// Plan implements watcher.Updater.
func (w WatcherHandle) Plan(ctx context.Context, req watcher.UpdateRequest) (plan watcher.Plan, err error) {
	err = w.call(ctx, "Plan", "", planTimeout, retryOnce, func(ctx context.Context, c *pluginclient.Client) (err error) {
		plan, err = c.Watcher(w.id).Plan(ctx, req)
		return err
	})
	return plan, err
}

// Apply implements watcher.Updater. It is never repeated here: when the plugin's
// process exits the outcome is not known, and Recover finds it out.
func (w WatcherHandle) Apply(
	ctx context.Context, op watcher.Operation, journal watcher.Journal,
) (outcome watcher.Outcome, err error) {
	err = w.call(ctx, "Apply", "", 0, noRetry, func(ctx context.Context, c *pluginclient.Client) (err error) {
		outcome, err = c.Watcher(w.id).Apply(ctx, op, journal)
		return err
	})
	return outcome, err
}

// Recover implements watcher.Updater.
func (w WatcherHandle) Recover(
	ctx context.Context, op watcher.Operation, journal watcher.Journal,
) (outcome watcher.Outcome, err error) {
	err = w.call(ctx, "Recover", "", 0, noRetry, func(ctx context.Context, c *pluginclient.Client) (err error) {
		outcome, err = c.Watcher(w.id).Recover(ctx, op, journal)
		return err
	})
	return outcome, err
}
