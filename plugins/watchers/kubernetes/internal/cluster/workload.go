package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/dogwatch/dogwatch/sdk"
)

// Workload is a Deployment, StatefulSet, DaemonSet or CronJob with what its update needs.
type Workload struct {
	Metadata struct {
		Metadata
		UID string `json:"uid"`
		// Generation counts the changes of the specification.
		Generation    int64          `json:"generation"`
		ManagedFields []ManagedField `json:"managedFields"`
	} `json:"metadata"`
	Spec struct {
		Replicas        *int            `json:"replicas"`
		Paused          bool            `json:"paused"`
		MinReadySeconds int             `json:"minReadySeconds"`
		Template        json.RawMessage `json:"template"`
		JobTemplate     struct {
			Spec struct {
				Template json.RawMessage `json:"template"`
			} `json:"spec"`
		} `json:"jobTemplate"`
		UpdateStrategy struct {
			// Type is OnDelete where pods are replaced only once somebody deletes them.
			Type          string `json:"type"`
			RollingUpdate struct {
				// Partition is the first pod of a StatefulSet that is replaced.
				Partition int `json:"partition"`
			} `json:"rollingUpdate"`
		} `json:"updateStrategy"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration     int64       `json:"observedGeneration"`
		Replicas               int         `json:"replicas"`
		UpdatedReplicas        int         `json:"updatedReplicas"`
		ReadyReplicas          int         `json:"readyReplicas"`
		AvailableReplicas      int         `json:"availableReplicas"`
		CurrentRevision        string      `json:"currentRevision"`
		UpdateRevision         string      `json:"updateRevision"`
		DesiredNumberScheduled int         `json:"desiredNumberScheduled"`
		UpdatedNumberScheduled int         `json:"updatedNumberScheduled"`
		NumberAvailable        int         `json:"numberAvailable"`
		Conditions             []Condition `json:"conditions"`
	} `json:"status"`
}

// Condition is what a controller, or a node, says of one aspect of an object.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"` // "True", "False" or "Unknown"
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Updated is when that was said first, in RFC 3339; "" where that is not kept.
	Updated string `json:"lastUpdateTime"`
}

// ManagedField says which fields a manager has set:
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
type ManagedField struct {
	Manager string `json:"manager"`
	// Operation is "Apply" for fields that the manager owns, and "Update" for those that it wrote once.
	Operation string `json:"operation"`
	// Fields are nested objects: {"f:spec": {"f:replicas": {}}}.
	Fields json.RawMessage `json:"fieldsV1"`
}

// Has reports whether a field is among those of the manager: "f:spec", "f:replicas".
func (m ManagedField) Has(path ...string) bool {
	fields := m.Fields
	for _, name := range path {
		var inside map[string]json.RawMessage
		if json.Unmarshal(fields, &inside) != nil {
			return false
		}
		next, has := inside[name]
		if !has {
			return false
		}
		fields = next
	}
	return true
}

// Workload returns the object of a resource in one namespace. It asks for a list of that one, since a role that lets
// Dogwatch list need not let it get. Of what does not exist, or has not the labels of the resource, the error is an
// sdk.ErrNotFound.
func (c *Client) Workload(ctx context.Context, r Resource, name string) (*Workload, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	r.Fields = "metadata.name=" + name
	resp, err := c.get(ctx, "list", r, r.query().Encode())
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var list struct {
		Items []*Workload `json:"items"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxEvent)).Decode(&list); err != nil {
		return nil, c.unreachable("list", r, err)
	}
	for _, w := range list.Items {
		if w != nil && w.Metadata.Name == name && w.Metadata.Namespace == r.Namespace {
			return w, nil
		}
	}
	return nil, sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("%s %s: there is no %s any more", r.Type(), r.Scope(), name))
}

// ErrConflict means that the object has changed since it was read, or that another manager owns a field of it.
var ErrConflict = errors.New("it has changed meanwhile")

// Apply applies a configuration, which is JSON with the fields that the manager is to own, by server-side apply:
// https://kubernetes.io/docs/reference/using-api/server-side-apply/. With force it takes them from other managers. With
// dryRun the server does everything but store it. The error is an ErrConflict where the configuration has a
// resourceVersion that is not that of the object any more.
func (c *Client) Apply(ctx context.Context, r Resource, name string, a Application) error {
	return c.apply(ctx, r, name, a, nil)
}

// apply is Apply, which reads what the object is then.
func (c *Client) apply(ctx context.Context, r Resource, name string, a Application, into any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	query := Resource{}.query()
	query.Set("fieldManager", a.Manager)
	if a.Force {
		query.Set("force", "true")
	}
	if a.DryRun {
		query.Set("dryRun", "All")
	}
	resp, err := c.send(ctx, request{path: r.path() + "/" + name, query: query.Encode(), patch: a.Config})
	if err != nil {
		return c.unreachable(patch, r, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return c.failure(patch, r, resp)
	}
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxEvent)).Decode(into); err != nil {
		return c.unreachable(patch, r, err)
	}
	return nil
}

// Application is a configuration that is applied.
type Application struct {
	Manager       string
	Config        []byte
	Force, DryRun bool
}
