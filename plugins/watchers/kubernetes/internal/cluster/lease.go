package cluster

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
)

// Lease is an object by which one of several programs knows that it is the one to act:
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/
type Lease struct {
	Metadata struct {
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Spec LeaseSpec `json:"spec"`
}

// LeaseSpec is who holds a lease.
type LeaseSpec struct {
	// Holder is "" while nobody holds it.
	Holder string `json:"holderIdentity,omitempty"`
	// Seconds is how long it lasts after a renewal.
	Seconds int `json:"leaseDurationSeconds,omitempty"`
	// Acquired and Renewed are of the clock of the holder, in RFC 3339 with microseconds.
	Acquired string `json:"acquireTime,omitempty"`
	Renewed  string `json:"renewTime,omitempty"`
	// Transitions counts the holders.
	Transitions int `json:"leaseTransitions"`
}

// leases is the resource of the leases of a namespace.
func leases(namespace string) Resource {
	return Resource{Group: "coordination.k8s.io", Version: "v1", Name: "leases", Namespace: namespace}
}

// Lease returns a lease; the error is an sdk.ErrNotFound where there is none of that name.
func (c *Client) Lease(ctx context.Context, namespace, name string) (*Lease, error) {
	return object[Lease](ctx, c, leases(namespace), name)
}

// ApplyLease gives a lease another specification by server-side apply, or has the server only try that, and returns
// what it is then. The error is an ErrConflict where the lease is not any more what was read.
func (c *Client) ApplyLease(
	ctx context.Context, namespace, name, manager string, was *Lease, spec LeaseSpec, dryRun bool,
) (*Lease, error) {
	config, err := json.Marshal(map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": spec,
		"metadata": map[string]string{"name": name, "namespace": namespace, "uid": was.Metadata.UID,
			"resourceVersion": was.Metadata.ResourceVersion},
	})
	if err != nil {
		return nil, err
	}
	l := &Lease{}
	a := Application{Manager: manager, Config: config, Force: true, DryRun: dryRun}
	return l, c.apply(ctx, leases(namespace), name, a, l)
}

// object gets one object by its name.
func object[T any](ctx context.Context, c *Client, r Resource, name string) (*T, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	resp, err := c.send(ctx, request{path: r.path() + "/" + name})
	if err != nil {
		return nil, c.unreachable("get", r, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, c.failure("get", r, resp)
	}
	o := new(T)
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxEvent)).Decode(o); err != nil {
		return nil, c.unreachable("get", r, err)
	}
	return o, nil
}
