package engine

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
)

// Containers leaves out what has no id: it could not be identified.
func (e *Engine) Containers(ctx context.Context, all bool) ([]container.Summary, error) {
	list, err := request(ctx, e, endpointCall{"list containers", "CONTAINERS"},
		func(ctx context.Context, api *client.Client) ([]container.Summary, error) {
			return api.ContainerList(ctx, container.ListOptions{All: all})
		})
	return slices.DeleteFunc(list, func(c container.Summary) bool { return c.ID == "" }), err
}

func (e *Engine) Container(ctx context.Context, id string) (container.InspectResponse, error) {
	return request(ctx, e, endpointCall{"inspect container " + Short(id), "CONTAINERS"},
		func(ctx context.Context, api *client.Client) (container.InspectResponse, error) {
			return api.ContainerInspect(ctx, id)
		})
}

// Sized inspects a container with the size of what it has written into itself, and
// with the MAC address that a user gave it.
func (e *Engine) Sized(ctx context.Context, id string) (container.InspectResponse, error) {
	got, err := request(ctx, e, endpointCall{"inspect container " + Short(id), "CONTAINERS"},
		func(ctx context.Context, api *client.Client) (container.InspectResponse, error) {
			got, _, err := api.ContainerInspectWithRaw(ctx, id, true)
			return got, err
		})
	if err != nil || got.Config == nil {
		return got, err
	}
	api, err := e.Connect(ctx)
	if err != nil || versions.LessThan(api.ClientVersion(), "1.44") {
		return got, err
	}
	// Newer versions do not distinguish it from one that the engine made; not all engines speak an older one.
	var older container.InspectResponse
	if err := e.do(ctx, endpointCall{"inspect container " + Short(id), "CONTAINERS"}, call{
		method: http.MethodGet, path: "/containers/" + id + "/json", version: "1.43", out: &older,
	}); err == nil && older.Config != nil {
		got.Config.MacAddress = older.Config.MacAddress //lint:ignore SA1019 which is why the older version is used
	}
	return got, nil
}

func (e *Engine) Networks(ctx context.Context) ([]string, error) {
	list, err := request(ctx, e, endpointCall{"list networks", "NETWORKS"},
		func(ctx context.Context, api *client.Client) ([]network.Summary, error) {
			return api.NetworkList(ctx, network.ListOptions{})
		})
	var all []string
	for _, n := range list {
		all = append(all, n.Name)
	}
	return all, err
}

// Stop stops a container, which may take limit.
func (e *Engine) Stop(ctx context.Context, name, id string, limit time.Duration) error {
	return e.do(ctx, endpointCall{"stop " + name, "POST"},
		call{method: http.MethodPost, path: "/containers/" + id + "/stop", limit: limit})
}

// Exec describes a command that runs, or ran, in a container.
func (e *Engine) Exec(ctx context.Context, what, id string) (state container.ExecInspect, err error) {
	err = e.do(ctx, endpointCall{"inspect " + what, "EXEC"}, call{
		method: http.MethodGet, path: "/exec/" + id + "/json", out: &state,
	})
	return state, err
}

// Remove removes a container, and with volumes those without a name that only it uses.
// That it does not exist is no error.
func (e *Engine) Remove(ctx context.Context, id string, force, volumes bool) error {
	values := url.Values{}
	if force {
		values.Set("force", "1")
	}
	if volumes {
		values.Set("v", "1")
	}
	err := e.do(ctx, endpointCall{"remove container " + Short(id), "DELETE"}, call{
		method: http.MethodDelete, path: "/containers/" + id, query: values, limit: changeLimit,
	})
	if HasStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}
