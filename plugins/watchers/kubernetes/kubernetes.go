package kubernetes

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/mirrored"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Options says where a cluster is and what of it to list.
type Options struct {
	Kubeconfig  string   `option:"kubeconfig" help:"Absolute path of a kubeconfig; without it the service account of the pod in which Dogwatch runs" example:"/config/kubeconfig"`
	Context     string   `option:"context" help:"Context of the kubeconfig; without it the current one"`
	Namespaces  []string `option:"namespaces" help:"Namespaces that are listed, each with requests of its own, so that a Role in each is enough; all namespaces without any" example:"media,web"`
	Exclude     []string `option:"exclude" help:"Namespaces that are not listed"`
	Selector    string   `option:"selector" help:"Label selector that workloads must match, as kubectl has it: tier=web,env!=test"`
	Pods        bool     `option:"pods" default:"false" help:"List pods too that belong to no workload"`
	Server      *url.URL `option:"server" default:"https://kubernetes.default.svc" help:"Address of the API server where no kubeconfig has one; over http://, as of kubectl proxy, no token is sent"`
	Update      bool     `option:"update" default:"false" help:"Let Dogwatch change the image of workloads; the role of its account must allow patch"`
	PullSecrets bool     `option:"pullsecrets" default:"false" help:"Look images up with the credentials that their workloads pull them with (imagePullSecrets); the role of its account must allow get of secrets and serviceaccounts"`
	Account     string   `option:"account" default:"/var/run/secrets/kubernetes.io/serviceaccount" help:"Folder with the token and ca.crt of the service account where there is no kubeconfig"`
}

// maxNamespaces bounds the namespaces that are listed one by one: each costs five watches.
const maxNamespaces = 50

// namespaceForm is a DNS label, as names of namespaces are.
var namespaceForm = lazyregexp.New(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// objectForm is a DNS subdomain, as names of objects are.
var objectForm = lazyregexp.New(`^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$`)

// Type is the watcher, as a bundle lists it.
func Type() watcher.Type {
	return watcher.Define("kubernetes", "Workloads of a Kubernetes cluster", New,
		kind.Docs("https://kubernetes.io/docs/concepts/workloads/"),
		watcher.AttributesLabels())
}

// Kubernetes watches one cluster. Its methods may be called concurrently.
type Kubernetes struct {
	orchestrated.Updater[live]
	options  Options
	client   *cluster.Client
	log      hclog.Logger
	nodes    nodes
	notified orchestrated.Notified
	pulls    pulls

	current atomic.Pointer[mirror] // that of Watch; nil while that does not run

	// poll is the time between two looks at a rollout, progressDeadline how long it may make no progress.
	poll, progressDeadline time.Duration
}

// New makes a watcher of the cluster that o names. It reads the files but does not connect.
func New(env sdk.Env, o Options) (*Kubernetes, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	endpoint, warnings, err := o.locate()
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		env.Warn(w)
	}
	client := cluster.New(endpoint, env.UserAgent)
	k := &Kubernetes{
		options: o, client: client, log: env.Log, nodes: nodes{client: client, log: env.Log},
		poll: 2 * time.Second, progressDeadline: 10 * time.Minute,
	}
	k.Cluster = "Kubernetes"
	k.Workload = func(t orchestrated.Task) orchestrated.Workload[live] { return &rollout{Kubernetes: k, Task: t} }
	return k, nil
}

// check refuses what no cluster could have.
func (o Options) check() error {
	for option, names := range map[string][]string{"namespaces": o.Namespaces, "exclude": o.Exclude} {
		for _, name := range names {
			if !namespaceForm().MatchString(name) {
				return sdk.Invalid(option, "%.70q is no name of a namespace: want small letters, digits and hyphens", name)
			}
		}
	}
	switch {
	case len(o.Namespaces) > maxNamespaces:
		return sdk.Invalid("namespaces", "more than %d; without any all are listed, but for those of exclude", maxNamespaces)
	case len(o.Namespaces) > 0 && len(o.namespaces()) == 0:
		return sdk.Invalid("exclude", "leaves out all of namespaces")
	case o.Kubeconfig != "" && !filepath.IsAbs(o.Kubeconfig):
		return sdk.Invalid("kubeconfig", "want an absolute path, such as /config/kubeconfig, got %q", o.Kubeconfig)
	case o.Kubeconfig == "" && o.Context != "":
		return sdk.Invalid("context", "is that of a kubeconfig, which is not set")
	}
	return nil
}

// locate reads the kubeconfig, or the account.
func (o Options) locate() (cluster.Endpoint, []string, error) {
	if o.Kubeconfig != "" {
		return cluster.FromKubeconfig(o.Kubeconfig, o.Context)
	}
	server, err := cluster.ParseServer(o.Server.String())
	if err != nil {
		return cluster.Endpoint{}, nil, sdk.Invalid("server", "%v", err)
	}
	endpoint, err := cluster.FromAccount(server, o.Account)
	return endpoint, nil, err
}

// namespaces are those that are listed, sorted; none for all.
func (o Options) namespaces() []string {
	names := slices.DeleteFunc(slices.Clone(o.Namespaces), func(name string) bool {
		return slices.Contains(o.Exclude, name)
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// resources returns a resource in each of the namespaces, or in all but those that are left out.
func (o Options) resources(r cluster.Resource) []cluster.Resource {
	names := o.namespaces()
	if len(names) == 0 {
		var without []string
		for _, name := range o.Exclude {
			without = append(without, "metadata.namespace!="+name)
		}
		r.Fields = strings.Join(without, ",")
		return []cluster.Resource{r}
	}
	all := make([]cluster.Resource, len(names))
	for i, name := range names {
		all[i] = r
		all[i].Namespace = name
	}
	return all
}

// Close drops the connections that are not in use.
func (k *Kubernetes) Close() error {
	k.client.Close()
	return nil
}

// List returns the containers of the workloads, sorted by id. While Watch runs and knows the cluster, it costs no
// request; otherwise one for each type of workload and 500 objects. Errors are of the kinds ErrUnavailable and
// ErrUnauthorized; of what the account may not list the remedy names the rules that its role lacks.
func (k *Kubernetes) List(ctx context.Context) ([]watcher.Container, error) {
	m := k.current.Load()
	if m == nil || !mirrored.Synced(m.collections()) {
		m = k.newMirror()
		if err := m.load(ctx); err != nil {
			return nil, err
		}
	}
	list, err := k.describe(ctx, m)
	if err != nil {
		return nil, err
	}
	k.notified.Listed(list)
	if k.options.PullSecrets {
		k.pulls.listed(m)
	}
	return list, nil
}

// Probe implements sdk.Prober: it asks for one object of each type, and for its version. Errors are those of List.
func (k *Kubernetes) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	m := k.newMirror()
	if err := m.check(ctx, k.client); err != nil {
		return sdk.ProbeResult{}, err
	}
	result := sdk.ProbeResult{Summary: "Kubernetes at " + k.client.Host()}
	if version := k.client.Version(ctx); version != "" {
		result.Summary = fmt.Sprintf("Kubernetes %s at %s", strings.TrimPrefix(version, "v"), k.client.Host())
	}
	if err := m.watchable(ctx, k.client); err != nil {
		if ctx.Err() != nil {
			return sdk.ProbeResult{}, ctx.Err()
		}
		result.Warnings = append(result.Warnings, "changes are not noticed until the next check: "+orchestrated.Sentence(err))
	}
	if k.options.PullSecrets {
		if err := k.checkPullSecrets(ctx); err != nil {
			result.Warnings = append(result.Warnings, "images are looked up without the credentials of workloads: "+orchestrated.Sentence(err))
		}
	}
	return result, ctx.Err()
}
