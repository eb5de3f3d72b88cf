package engine

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/client"

	"github.com/dogwatch/dogwatch/sdk"
)

// Service is a service of a swarm. Source is its specification as the engine wrote it, with what this version of
// the client library does not know.
type Service struct {
	swarm.Service
	Source json.RawMessage
}

// Services returns the services of the swarm that the engine manages, with how many of their tasks run.
func (e *Engine) Services(ctx context.Context) ([]swarm.Service, error) {
	return request(ctx, e, endpointCall{"list services", "SERVICES"},
		func(ctx context.Context, api *client.Client) ([]swarm.Service, error) {
			return api.ServiceList(ctx, swarm.ServiceListOptions{Status: true})
		})
}

// Service returns one service, by its id or name.
func (e *Engine) Service(ctx context.Context, id string) (Service, error) {
	return request(ctx, e, endpointCall{"inspect service " + Short(id), "SERVICES"},
		func(ctx context.Context, api *client.Client) (s Service, err error) {
			var document []byte
			if s.Service, document, err = api.ServiceInspectWithRaw(ctx, id, swarm.ServiceInspectOptions{}); err != nil {
				return s, err
			}
			var source struct{ Spec json.RawMessage }
			err = json.Unmarshal(document, &source)
			s.Source = source.Spec
			return s, err
		})
}

// Tasks returns the tasks of a service, also those that have ended as far as the swarm remembers them; of all
// services for "".
func (e *Engine) Tasks(ctx context.Context, service string) ([]swarm.Task, error) {
	return request(ctx, e, endpointCall{"list tasks", "TASKS"},
		func(ctx context.Context, api *client.Client) ([]swarm.Task, error) {
			args := filters.NewArgs()
			if service != "" {
				args.Add("service", service)
			}
			return api.TaskList(ctx, swarm.TaskListOptions{Filters: args})
		})
}

// Nodes returns the engines of the swarm.
func (e *Engine) Nodes(ctx context.Context) ([]swarm.Node, error) {
	return request(ctx, e, endpointCall{"list nodes", "NODES"},
		func(ctx context.Context, api *client.Client) ([]swarm.Node, error) {
			return api.NodeList(ctx, swarm.NodeListOptions{})
		})
}

// UpdateService gives a service another specification. The engine refuses it if the service has another version by
// then. The credentials are what its nodes pull with; the zero value leaves them those they have.
func (e *Engine) UpdateService(
	ctx context.Context, s Service, spec json.RawMessage, credentials sdk.Credentials,
) error {
	header, err := registryAuth(credentials)
	if err != nil {
		return err
	}
	return e.changeService(ctx, "update service "+s.Spec.Name, s, Query("registryAuthFrom", "spec"), spec, header)
}

// RollBackService has the engine return a service to the specification that it had before the last change.
func (e *Engine) RollBackService(ctx context.Context, s Service) error {
	values := Query("registryAuthFrom", "previous-spec", "rollback", "previous")
	return e.changeService(ctx, "roll service "+s.Spec.Name+" back", s, values, s.Source, nil)
}

func (e *Engine) changeService(
	ctx context.Context, what string, s Service, query map[string][]string, spec json.RawMessage, header http.Header,
) error {
	query["version"] = []string{strconv.FormatUint(s.Version.Index, 10)}
	return e.do(ctx, endpointCall{what, "SERVICES and POST"}, call{
		method: http.MethodPost, path: "/services/" + s.ID + "/update", query: query, header: header, in: spec,
		limit: changeLimit,
	})
}

// registryAuth is the header with credentials for a registry; nil for none.
func registryAuth(credentials sdk.Credentials) (http.Header, error) {
	if credentials == (sdk.Credentials{}) {
		return nil, nil
	}
	text, err := json.Marshal(map[string]string{"username": credentials.Username, "password": credentials.Password})
	if err != nil {
		return nil, fmt.Errorf("write the credentials of a registry: %w", err)
	}
	return http.Header{"X-Registry-Auth": {base64.URLEncoding.EncodeToString(text)}}, nil
}
