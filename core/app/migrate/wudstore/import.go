package wudstore

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// importSource is the mark of the import in the store.
const importSource = "wud.json"

// Store takes what is imported, once.
type Store interface {
	Imported(ctx context.Context, source string) (bool, error)
	Import(ctx context.Context, source string, containers []sdk.Container, notified []update.Notified) (imported bool,
		err error)
}

// Imported reports whether a file of What's Up Docker has been imported.
func Imported(ctx context.Context, from Store) (bool, error) { return from.Imported(ctx, importSource) }

// Import takes over what What's Up Docker left in the file at path, unless that was
// done before: its containers, and of which of their updates it notified users.
// watchers returns the names of the watchers there will be. A file that cannot be
// used is logged and left to the operator, as it is; there is no error to stop for.
func Import(ctx context.Context, to Store, path string, watchers func() []string, log hclog.Logger) {
	done, err := Imported(ctx, to)
	if err != nil {
		log.Error("look for what was imported", "error", err)
		return
	}
	if done {
		return
	}
	found, err := Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		log.Warn("nothing is imported from What's Up Docker, so updates that it notified of are sent again: "+
			"mend the file, or move it away, and start again", "error", err)
		return
	}
	containers, notified := importable(found.Containers, watchers())
	if _, err := to.Import(ctx, importSource, containers, notified); err != nil {
		log.Error("import from What's Up Docker; the next start tries again", "error", err)
		return
	}
	log.Info("imported from What's Up Docker, whose file stays as it is", "version", found.Version, "containers",
		len(containers), "notified", len(notified))
	if found.LeftOut > 0 {
		log.Warn("left out what is no container in the file of What's Up Docker", "records", found.LeftOut)
	}
}

// importable returns the containers of the watchers that are configured now, and
// the updates that users were notified of for all of them: a container keeps its
// id, whichever watcher has it. When both programs have one watcher, it is the same
// one under whatever name.
func importable(all []sdk.Container, watchers []string) (containers []sdk.Container, notified []update.Notified) {
	renamed := len(watchers) == 1 &&
		!slices.ContainsFunc(all, func(c sdk.Container) bool { return c.Watcher != all[0].Watcher })
	for _, c := range all {
		if renamed {
			c.Watcher = watchers[0]
		}
		if c.UpdateAvailable {
			notified = append(notified, update.Notified{
				Container: c.ID, Subject: event.Subject(c), Tag: c.Image.Tag.Value, Remote: c.UpdateKind.RemoteValue,
			})
		}
		if slices.Contains(watchers, c.Watcher) {
			containers = append(containers, c)
		}
	}
	return containers, notified
}
