package kubernetes

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/plugins/watchers/internal/mirrored"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/informer"
)

// concurrency bounds the requests that are made at a time for one list.
const concurrency = 8

// mirror is what the watcher reads of a cluster.
type mirror struct {
	workloads []*informer.Collection[workload]
	pods      []*informer.Collection[pod]
	resources []cluster.Resource
}

// newMirror returns a mirror that has nothing yet.
func (k *Kubernetes) newMirror() *mirror {
	m := &mirror{}
	workloads := func(kind string, r cluster.Resource) {
		r.Version, r.Labels = "v1", k.options.Selector
		for _, r := range k.options.resources(r) {
			m.resources = append(m.resources, r)
			reduce := reduceWorkload(kind, k.options.PullSecrets)
			m.workloads = append(m.workloads, informer.New(k.client, r, reduce, workload.equal, k.log))
		}
	}
	workloads("deployment", cluster.Resource{Group: "apps", Name: "deployments"})
	workloads("statefulset", cluster.Resource{Group: "apps", Name: "statefulsets"})
	workloads("daemonset", cluster.Resource{Group: "apps", Name: "daemonsets"})
	workloads("cronjob", cluster.Resource{Group: "batch", Name: "cronjobs"})
	if k.options.Pods {
		workloads(podKind, cluster.Resource{Name: "pods"})
	}
	// The pods of a workload need not have its labels.
	for _, r := range k.options.resources(cluster.Resource{Version: "v1", Name: "pods"}) {
		m.resources = append(m.resources, r)
		m.pods = append(m.pods, informer.New(k.client, r, reducePod, pod.equal, k.log))
	}
	return m
}

// collection is what the collections have in common.
type collection interface {
	mirrored.Source
	Load(ctx context.Context) error
}

func (m *mirror) collections() (all []collection) {
	for _, c := range m.workloads {
		all = append(all, c)
	}
	for _, c := range m.pods {
		all = append(all, c)
	}
	return all
}

// load lists everything once.
func (m *mirror) load(ctx context.Context) error {
	all := m.collections()
	return each(len(all), func(i int) error { return all[i].Load(ctx) })
}

// check finds out whether everything may be listed.
func (m *mirror) check(ctx context.Context, c *cluster.Client) error {
	return each(len(m.resources), func(i int) error { return c.Check(ctx, m.resources[i]) })
}

// watchable finds out whether everything may be watched.
func (m *mirror) watchable(ctx context.Context, c *cluster.Client) error {
	return each(len(m.resources), func(i int) error { return c.CheckWatch(ctx, m.resources[i]) })
}

// each calls do for 0 to n-1, some at a time.
func each(n int, do func(i int) error) error {
	errs := make([]error, n)
	var group errgroup.Group
	group.SetLimit(concurrency)
	for i := range n {
		group.Go(func() error {
			errs[i] = do(i)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return together(errs)
}

// together returns one error for several, of which some are nil. All denials are told in one; another error counts
// before them.
func together(errs []error) error {
	var denied []*cluster.DeniedError
	for _, err := range errs {
		var d *cluster.DeniedError
		switch {
		case errors.As(err, &d):
			denied = append(denied, d)
		case err != nil:
			return err
		}
	}
	return cluster.Denied(denied)
}
