package docker

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
)

// maxFiles is how many files of a container are looked at. Those that are put there
// are near the root, where the look begins.
const maxFiles = 500

// withFiles adds what a container has written into itself. An engine, or a proxy
// before it, that does not tell is no error: the plan says so.
func (u *updater) withFiles(ctx context.Context, c *replace.Container) error {
	if c.SizeRw != nil && *c.SizeRw == 0 {
		return nil
	}
	written, err := written(ctx, u.engine, c.InspectResponse)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		written.Hidden = err.Error()
	}
	c.Written = written
	return nil
}

// written lists what a container has in its own layer. Where volumes are mounted is no part of that.
func written(ctx context.Context, e *engine, c container.InspectResponse) (w replace.Written, err error) {
	differ, err := e.changedFiles(ctx, c.ID)
	if err != nil {
		return w, err
	}
	w.Paths = len(differ)
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
	group.SetLimit(concurrency)
	for i, f := range differ {
		group.Go(func() (err error) {
			found[i], err = e.statFile(limited, c.ID, f.Path)
			return err
		})
	}
	err = group.Wait()
	for i, f := range found {
		if f.Name != "" && f.Mode.IsRegular() {
			w.Files = append(w.Files, replace.File{Path: differ[i].Path, Size: f.Size, Modified: f.Mtime})
		}
	}
	return w, err
}

// changedFiles lists what differs between a container's own layer and its image, in no order.
func (e *engine) changedFiles(ctx context.Context, id string) (differ []container.FilesystemChange, err error) {
	err = e.change(ctx, operation{"list the files that " + short(id) + " has written", "CONTAINERS"}, change{
		method: http.MethodGet, path: "/containers/" + id + "/changes", out: &differ, limit: changeLimit,
	})
	return differ, err
}

// statHeader is where an engine describes a file.
const statHeader = "X-Docker-Container-Path-Stat"

// statFile describes a file of a container; one without a name where there is none any more.
func (e *engine) statFile(ctx context.Context, id, path string) (stat container.PathStat, err error) {
	limited, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	op := operation{"look at " + path + " in " + short(id), "CONTAINERS"}
	response, err := attempt(limited, e, func(api *client.Client) (*http.Response, error) {
		return e.send(limited, api, change{method: http.MethodHead, path: archivePath(id), query: query("path", path)})
	})
	if err != nil {
		return stat, e.explain(op, err)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound:
		return stat, nil
	case response.StatusCode >= http.StatusMultipleChoices:
		return stat, e.explain(op, &failure{status: response.StatusCode, text: response.Status})
	}
	text, err := base64.StdEncoding.DecodeString(response.Header.Get(statHeader))
	if err == nil {
		err = json.Unmarshal(text, &stat)
	}
	if err != nil {
		return stat, e.explain(op, &failure{text: "the engine does not describe the file: " + err.Error()})
	}
	return stat, nil
}

func archivePath(id string) string { return "/containers/" + id + "/archive" }

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
		if err := r.engine.copyFile(ctx, r.old[name].ID, f.Path, w); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return r.engine.putFiles(ctx, "put files into "+name, r.new(name), content.Bytes())
}

// putFiles unpacks a tar archive at the root of a container.
func (e *engine) putFiles(ctx context.Context, what, id string, archive []byte) error {
	return e.change(ctx, operation{what, "POST"}, change{
		method: http.MethodPut, path: archivePath(id), query: query("path", "/"), content: archive, limit: changeLimit,
	})
}

// copyFile reads a file of a container and adds it to an archive, with its owner and
// mode. Its time is now, as compose has it, so that it is found again by the next update.
func (e *engine) copyFile(ctx context.Context, id, path string, to *tar.Writer) error {
	op := operation{"read " + path + " of " + short(id), "CONTAINERS"}
	var archive bytes.Buffer
	if err := e.change(ctx, op, change{
		method: http.MethodGet, path: archivePath(id), query: query("path", path), out: &archive, limit: changeLimit,
	}); err != nil {
		return err
	}
	from := tar.NewReader(&archive)
	header, err := from.Next()
	if errors.Is(err, io.EOF) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op.what, err)
	}
	if header.Typeflag != tar.TypeReg {
		return fmt.Errorf("%s: it is no file any more", op.what)
	}
	if err := to.WriteHeader(&tar.Header{
		Name: strings.TrimPrefix(path, "/"), Size: header.Size, Mode: header.Mode, Uid: header.Uid, Gid: header.Gid,
		ModTime: time.Now(),
	}); err != nil {
		return fmt.Errorf("%s: %w", op.what, err)
	}
	if _, err := io.Copy(to, from); err != nil {
		return fmt.Errorf("%s: %w", op.what, err)
	}
	return nil
}
