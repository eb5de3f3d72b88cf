package cluster

import (
	"net/url"
	"strings"
)

// Resource names objects of one type, in one namespace or in all.
type Resource struct {
	// Group is the API group, "" for the core one; Version is its version.
	Group, Version string
	// Name is the plural name: "deployments".
	Name string
	// Namespace is "" for all namespaces, and for objects that are in none.
	Namespace string
	// Labels and Fields are selectors as the API has them; "" for all objects.
	Labels, Fields string
}

// Type returns how roles and kubectl name the type: "deployments.apps", "pods".
func (r Resource) Type() string {
	if r.Group == "" {
		return r.Name
	}
	return r.Name + "." + r.Group
}

// Scope returns "in namespace media" or "in all namespaces".
func (r Resource) Scope() string {
	if r.Namespace == "" {
		return "in all namespaces"
	}
	return "in namespace " + r.Namespace
}

// String returns the type with its scope.
func (r Resource) String() string { return r.Type() + " " + r.Scope() }

// path is that of the list, see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris.
func (r Resource) path() string {
	parts := []string{"apis", r.Group, r.Version}
	if r.Group == "" {
		parts = []string{"api", r.Version}
	}
	if r.Namespace != "" {
		parts = append(parts, "namespaces", r.Namespace)
	}
	return strings.Join(append(parts, r.Name), "/")
}

// query are the selectors.
func (r Resource) query() url.Values {
	q := url.Values{}
	if r.Labels != "" {
		q.Set("labelSelector", r.Labels)
	}
	if r.Fields != "" {
		q.Set("fieldSelector", r.Fields)
	}
	return q
}
