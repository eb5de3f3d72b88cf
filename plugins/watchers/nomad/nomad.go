package nomad

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/mirrored"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/plugins/watchers/nomad/internal/api"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Options says where a cluster is and what of it to list.
type Options struct {
	URL        *url.URL `option:"url,required" help:"Address of a Nomad server or agent" example:"https://nomad.example:4646"`
	Token      string   `option:"token,secret" help:"Token with a policy that has the capabilities list-jobs and read-job"`
	Namespaces []string `option:"namespaces" default:"default" help:"Namespaces that are listed, or * for all that the token may list" example:"media,web"`
	Region     string   `option:"region" help:"Region of the jobs; without it that of the server"`
	Update     bool     `option:"update" default:"false" help:"Let Dogwatch change the image of jobs; the token must have the capability submit-job, too"`
	httpclient.Options
}

// maxNamespaces bounds the namespaces that are listed one by one: each costs a stream.
const maxNamespaces = 50

// namespaceForm is that of names: https://developer.hashicorp.com/nomad/docs/other-specifications/namespace.
var namespaceForm = lazyregexp.New(`^(\*|[A-Za-z0-9-]{1,128})$`)

// Type is the watcher, as a bundle lists it.
func Type() watcher.Type {
	return watcher.Define("nomad", "Jobs of a Nomad cluster", New,
		kind.Docs("https://developer.hashicorp.com/nomad/docs/job-specification"),
		watcher.AttributesLabels())
}

// Nomad watches one cluster. Its methods may be called concurrently.
type Nomad struct {
	orchestrated.Updater[live]
	client     *api.Client
	log        hclog.Logger
	namespaces []string
	update     bool
	notified   orchestrated.Notified

	current atomic.Pointer[[]*mirror] // those of Watch; nil while that does not run

	// poll is the time between two looks at a rollout, progressDeadline how long it may make no progress.
	poll, progressDeadline time.Duration
}

// New makes a watcher of the cluster that o names. It does not connect.
func New(env sdk.Env, o Options) (*Nomad, error) {
	names := slices.Compact(slices.Sorted(slices.Values(o.Namespaces)))
	for _, name := range names {
		if !namespaceForm().MatchString(name) {
			return nil, sdk.Invalid("namespaces",
				"%.70q is no name of a namespace: want letters, digits and hyphens, or *", name)
		}
	}
	switch {
	case len(names) == 0:
		return nil, sdk.Invalid("namespaces", "names none; want at least one, or * for all")
	case len(names) > 1 && slices.Contains(names, "*"):
		return nil, sdk.Invalid("namespaces", "* stands for all and is alone")
	case len(names) > maxNamespaces:
		return nil, sdk.Invalid("namespaces", "more than %d; * stands for all", maxNamespaces)
	case o.URL.Scheme != "http" && o.URL.Scheme != "https" || o.URL.Host == "":
		return nil, sdk.Invalid("url", "want http:// or https:// and a host, such as https://nomad.example:4646")
	case o.URL.User != nil || o.URL.RawQuery != "":
		return nil, sdk.Invalid("url", "must have no user and no query: the token is that of token")
	}
	client, err := api.New(env, o.URL, o.Region, o.Token, o.Options)
	if err != nil {
		return nil, err
	}
	n := &Nomad{
		client: client, log: env.Log, namespaces: names, update: o.Update,
		poll: 2 * time.Second, progressDeadline: 10 * time.Minute,
	}
	n.Cluster = "Nomad"
	n.Workload = func(t orchestrated.Task) orchestrated.Workload[live] { return &rollout{Nomad: n, Task: t} }
	return n, nil
}

// Close drops the connections that are not in use.
func (n *Nomad) Close() error {
	n.client.Close()
	return nil
}

// List returns the tasks with an image, sorted by id. While Watch runs and knows the jobs, it costs no request;
// otherwise one for each namespace and 500 jobs, and one for each job. Errors are of the kinds ErrUnavailable and
// ErrUnauthorized, whose remedy names the capability that the token lacks.
func (n *Nomad) List(ctx context.Context) ([]watcher.Container, error) {
	all, err := n.known(ctx)
	if err != nil {
		return nil, err
	}
	list := describe(all)
	n.notified.Listed(list)
	return list, nil
}

// known returns mirrors that have the jobs: those of Watch, or new ones.
func (n *Nomad) known(ctx context.Context) ([]*mirror, error) {
	if current := n.current.Load(); current != nil && mirrored.Synced(*current) {
		return *current, nil
	}
	all := n.mirrors()
	for _, m := range all {
		if _, err := m.load(ctx, 0); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// probing is how long Probe waits for the beginning of a stream, which has a heartbeat every 10 seconds.
const probing = 12 * time.Second

// Probe implements sdk.Prober: it lists once, and opens the streams. Errors are those of List.
func (n *Nomad) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	jobs := 0
	var result sdk.ProbeResult
	for _, m := range n.mirrors() {
		index, err := m.load(ctx, 0)
		if err != nil {
			return sdk.ProbeResult{}, err
		}
		jobs += m.Len()
		opening, cancel := context.WithTimeout(ctx, probing)
		stream, err := n.client.Events(opening, m.namespace, index)
		if err == nil {
			err = stream.Close()
		}
		cancel()
		if errors.Is(err, sdk.ErrUnauthorized) {
			result.Warnings = append(result.Warnings,
				"its jobs are asked for with blocking queries, since the events may not be read: "+orchestrated.Sentence(err))
		}
	}
	result.Summary = fmt.Sprintf("Nomad at %s, jobs: %d", n.client.Host(), jobs)
	return result, ctx.Err()
}
