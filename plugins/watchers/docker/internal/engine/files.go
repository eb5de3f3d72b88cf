package engine

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
)

// ChangedFiles lists what differs between a container's own layer and its image, in no order.
func (e *Engine) ChangedFiles(ctx context.Context, id string) (differ []container.FilesystemChange, err error) {
	err = e.do(ctx, endpointCall{"list the files that " + Short(id) + " has written", "CONTAINERS"}, call{
		method: http.MethodGet, path: "/containers/" + id + "/changes", out: &differ, limit: changeLimit,
	})
	return differ, err
}

// statHeader is where an engine describes a file.
const statHeader = "X-Docker-Container-Path-Stat"

// StatFile describes a file of a container; one without a name where there is none any more.
func (e *Engine) StatFile(ctx context.Context, id, path string) (stat container.PathStat, err error) {
	limited, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	op := endpointCall{"look at " + path + " in " + Short(id), "CONTAINERS"}
	response, err := attempt(limited, e, func(api *client.Client) (*http.Response, error) {
		return e.send(limited, api, call{method: http.MethodHead, path: archivePath(id), query: Query("path", path)})
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

// PutFiles unpacks a tar archive at the root of a container.
func (e *Engine) PutFiles(ctx context.Context, what, id string, archive []byte) error {
	return e.do(ctx, endpointCall{what, "POST"}, call{
		method: http.MethodPut, path: archivePath(id), query: Query("path", "/"), content: archive, limit: changeLimit,
	})
}

// CopyFile reads a file of a container and adds it to an archive, with its owner and
// mode. Its time is now, as compose has it, so that it is found again by the next update.
func (e *Engine) CopyFile(ctx context.Context, id, path string, to *tar.Writer) error {
	op := endpointCall{"read " + path + " of " + Short(id), "CONTAINERS"}
	var archive bytes.Buffer
	if err := e.do(ctx, op, call{
		method: http.MethodGet, path: archivePath(id), query: Query("path", path), out: &archive, limit: changeLimit,
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
