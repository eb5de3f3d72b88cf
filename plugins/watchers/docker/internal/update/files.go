package update

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
)

// maxFiles is how many files of a container are looked at. Those that are put there
// are near the root, where the look begins.
const maxFiles = 500

// withFiles adds what a container has written into itself. An engine, or a proxy
// before it, that does not tell is no error: the plan says so.
func (u *Updater) withFiles(ctx context.Context, c *replace.Container) error {
	if c.SizeRw != nil && *c.SizeRw == 0 {
		return nil
	}
	files, err := changedFiles(ctx, u.engine, c.InspectResponse)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		files.Hidden = err.Error()
	}
	c.Files = files
	return nil
}

// changedFiles lists what a container has in its own layer. Where volumes are mounted is no part of that.
func changedFiles(ctx context.Context, e *engine.Engine, c container.InspectResponse) (files replace.Files, err error) {
	differ, err := e.ChangedFiles(ctx, c.ID)
	if err != nil {
		return files, err
	}
	files.Paths = len(differ)
	differ = slices.DeleteFunc(differ, func(f container.FilesystemChange) bool {
		return f.Kind == container.ChangeDelete ||
			slices.ContainsFunc(c.Mounts, func(m container.MountPoint) bool { return m.Destination == f.Path })
	})
	slices.SortFunc(differ, func(a, b container.FilesystemChange) int { // the engine has no order
		return cmp.Or(strings.Count(a.Path, "/")-strings.Count(b.Path, "/"), strings.Compare(a.Path, b.Path))
	})
	differ = differ[:min(len(differ), maxFiles)]
	found := make([]container.PathStat, len(differ))
	group, limited := errgroup.WithContext(ctx)
	group.SetLimit(engine.Concurrency)
	for i, f := range differ {
		group.Go(func() (err error) {
			found[i], err = e.StatFile(limited, c.ID, f.Path)
			return err
		})
	}
	err = group.Wait()
	for i, f := range found {
		if f.Name != "" && f.Mode.IsRegular() {
			files.List = append(files.List, replace.File{Path: differ[i].Path, Size: f.Size, Modified: f.Mtime})
		}
	}
	return files, err
}

// placeFiles puts the files into the new container that were put into the old one
// before that was first started. Their content may be secret.
func (r *replacement) placeFiles(ctx context.Context, name string) error {
	files := replace.Placed(r.old[name])
	if len(files) == 0 {
		return nil
	}
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	for _, f := range files {
		if err := r.engine.CopyFile(ctx, r.old[name].ID, f.Path, w); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return r.engine.PutFiles(ctx, "put files into "+name, r.new(name), content.Bytes())
}
