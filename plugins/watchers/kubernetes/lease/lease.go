// Package lease makes one of several programs that run in a Kubernetes cluster the one that acts: the holder of a
// Lease, which it renews. What comes in is where the lease is; what goes out is that it was acquired, and that it was
// lost. It works as the leader election of client-go does, and excludes a clock from it: a holder counts as gone once
// its lease has not changed for as long as it lasts, by the clock of who looks. What a lease is:
// https://kubernetes.io/docs/concepts/architecture/leases/
package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

const (
	// account is the folder in which a pod has its token, and its namespace.
	account = "/var/run/secrets/kubernetes.io/serviceaccount"
	// fieldManager is the name under which leases are applied. It must never change: fields belong to it.
	fieldManager = "dogwatch"
	// micro is the form of times in a lease.
	micro = "2006-01-02T15:04:05.000000Z07:00"
)

// ErrLost means that the lease is held by another program, or may be soon.
var ErrLost = errors.New("the lease was lost")

// Options say which lease, and where.
type Options struct {
	// Name is that of a lease which exists: it is never created.
	Name string
	// Namespace is "" for that of the pod.
	Namespace string
	// Kubeconfig is a file that says where the cluster is; "" for the cluster of the pod.
	Kubeconfig string
	// Duration is how long the lease lasts after a renewal. A sixth of it is between two renewals.
	Duration time.Duration
	// UserAgent names the program to the server.
	UserAgent string
	Log       hclog.Logger
}

// Lease is a lease as one program sees it. Its methods must not be called concurrently.
type Lease struct {
	options Options
	client  *cluster.Client
	holder  string
	current *cluster.Lease // as it was written last
	until   time.Time
}

// New returns a lease that is not held yet. It reads files, but does not connect. An error is an *sdk.InvalidError
// whose fields are those of the configuration.
func New(o Options) (*Lease, error) {
	endpoint, err := o.locate()
	if err != nil {
		return nil, err
	}
	if o.Namespace == "" {
		text, err := os.ReadFile(filepath.Join(account, "namespace"))
		if err != nil {
			return nil, sdk.Invalid("lease.namespace", "is not set, and this is no pod that has one: %v", err)
		}
		o.Namespace = strings.TrimSpace(string(text))
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &Lease{options: o, client: cluster.New(endpoint, o.UserAgent), holder: host + "_" + rand.Text()[:8]}, nil
}

// locate finds the cluster.
func (o Options) locate() (e cluster.Endpoint, err error) {
	var wrong *sdk.InvalidError
	if o.Kubeconfig != "" {
		e, _, err = cluster.FromKubeconfig(o.Kubeconfig, "")
	} else {
		e, err = cluster.FromAccount(&url.URL{Scheme: "https", Host: "kubernetes.default.svc"}, account)
	}
	if errors.As(err, &wrong) {
		return e, sdk.Invalid("lease.kubeconfig", "%s", wrong.Fields[0].Detail)
	}
	return e, err
}

// String returns "dogwatch in namespace tools".
func (l *Lease) String() string { return l.options.Name + " in namespace " + l.options.Namespace }

// Acquire waits until the lease is held: since nobody does, or its holder has not renewed it for as long as it lasts.
// Who holds it is logged, and why the server cannot be asked, which may change. The error is that of ctx.
func (l *Lease) Acquire(ctx context.Context) error {
	var seen cluster.LeaseSpec
	var since time.Time
	said := ""
	for {
		now, err := l.read(ctx)
		if err == nil {
			if now.Spec != seen {
				seen, since = now.Spec, time.Now()
			}
			if seen.Holder == "" || time.Since(since) >= l.lasts(seen) {
				err = l.write(ctx, now, l.holding(now.Spec))
				if err == nil {
					l.options.Log.Info("holds the lease", "lease", l.String(), "holder", l.holder)
					return nil
				}
			}
		}
		switch holder := httpclient.Clean(seen.Holder); {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, cluster.ErrConflict): // another one was faster
		case err != nil && said != err.Error():
			said = err.Error()
			l.options.Log.Warn("the lease cannot be had, trying again until it can", "lease", l.String(), "error", orchestrated.Sentence(err))
		case err == nil && said != holder:
			said = holder
			l.options.Log.Info("waits until another one gives up the lease, or does not renew it any more",
				"lease", l.String(), "holder", holder, "lasts", l.lasts(seen).String())
		}
		if err := backoff.Wait(ctx, l.options.Duration/6); err != nil {
			return err
		}
	}
}

// lasts is how long a lease lasts after a renewal.
func (l *Lease) lasts(spec cluster.LeaseSpec) time.Duration {
	if spec.Seconds <= 0 {
		return l.options.Duration
	}
	return time.Duration(spec.Seconds) * time.Second
}

// Until is until when nobody else holds the lease, by the clock of this machine: other programs take a lease for
// expired later than its holder does.
func (l *Lease) Until() time.Time { return l.until }

// Hold renews the lease that was acquired until ctx ends, and returns nil then. The error is an ErrLost: when another
// program holds it, or when it could not be renewed for two thirds of its duration; until Until there is time to end
// what is under way.
func (l *Lease) Hold(ctx context.Context) error {
	var last error
	for {
		bounded, cancel := context.WithDeadline(ctx, l.until.Add(-l.options.Duration/3))
		err := backoff.Wait(bounded, l.options.Duration/6)
		if err == nil {
			err = l.rewrite(bounded, l.holding)
		}
		late := bounded.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			last = nil
		case errors.Is(err, ErrLost):
			return err
		case late:
			if last == nil {
				last = err
			}
			return fmt.Errorf("%w: %s could not be renewed for %s: %s", ErrLost, l, l.options.Duration*2/3, orchestrated.Sentence(last))
		default:
			if last == nil {
				l.options.Log.Warn("renew the lease", "lease", l.String(), "error", orchestrated.Sentence(err))
			}
			last = err
		}
	}
}

// rewrite changes the lease that is held.
func (l *Lease) rewrite(ctx context.Context, spec func(was cluster.LeaseSpec) cluster.LeaseSpec) error {
	err := l.write(ctx, l.current, spec(l.current.Spec))
	if !errors.Is(err, cluster.ErrConflict) {
		return err
	}
	// A renewal may have arrived although its answer did not, and others may annotate the lease.
	now, err := l.read(ctx)
	switch {
	case err != nil:
		return err
	case now.Spec.Holder != l.holder:
		return fmt.Errorf("%w: %s is held by %q", ErrLost, l, httpclient.Clean(now.Spec.Holder))
	}
	return l.write(ctx, now, spec(now.Spec))
}

// Release gives up the lease, so that another program need not wait until it expires.
func (l *Lease) Release(ctx context.Context) error {
	return l.rewrite(ctx, func(was cluster.LeaseSpec) cluster.LeaseSpec {
		return cluster.LeaseSpec{Transitions: was.Transitions}
	})
}

// holding is what this program makes of a lease.
func (l *Lease) holding(was cluster.LeaseSpec) cluster.LeaseSpec {
	now := time.Now().UTC().Format(micro)
	spec := cluster.LeaseSpec{
		Holder: l.holder, Seconds: int(math.Ceil(l.options.Duration.Seconds())), Acquired: was.Acquired, Renewed: now,
		Transitions: was.Transitions,
	}
	if was.Holder != l.holder {
		spec.Acquired = now
		spec.Transitions++
	}
	return spec
}

// Inspect says who holds the lease and since when, by the clock of its holder. It changes nothing, and has the server
// try whether the account may hold it. expired is true while its holder does not renew it, by the clock of here.
func (l *Lease) Inspect(ctx context.Context) (text string, expired bool, err error) {
	now, err := l.read(ctx)
	if err != nil {
		return "", false, err
	}
	_, err = l.client.ApplyLease(ctx, l.options.Namespace, l.options.Name, fieldManager, now, now.Spec, true)
	if err != nil && !errors.Is(err, cluster.ErrConflict) { // which is a renewal
		return "", false, l.denial(err)
	}
	spec := now.Spec
	if spec.Holder == "" {
		return fmt.Sprintf("%s is held by nobody: the next Dogwatch that asks for it acts", l), false, nil
	}
	renewed, err := time.Parse(time.RFC3339, spec.Renewed)
	expired = err == nil && time.Since(renewed) > l.lasts(spec)
	return fmt.Sprintf("%s is held by %s since %s, and was renewed at %s", l, httpclient.Clean(spec.Holder),
		httpclient.Clean(spec.Acquired), httpclient.Clean(spec.Renewed)), expired, nil
}

// read asks for the lease.
func (l *Lease) read(ctx context.Context) (*cluster.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, l.options.Duration/6)
	defer cancel()
	now, err := l.client.Lease(ctx, l.options.Namespace, l.options.Name)
	if errors.Is(err, sdk.ErrNotFound) {
		err = sdk.WithRemedy(sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("there is no lease %s", l)),
			"create it, as docs/kubernetes.md says")
	}
	return now, l.denial(err)
}

// write changes the lease, unless somebody else has since it was read.
func (l *Lease) write(ctx context.Context, was *cluster.Lease, spec cluster.LeaseSpec) error {
	began := time.Now() // before anybody else can see the renewal
	ctx, cancel := context.WithTimeout(ctx, l.options.Duration/6)
	defer cancel()
	now, err := l.client.ApplyLease(ctx, l.options.Namespace, l.options.Name, fieldManager, was, spec, false)
	if err != nil {
		return l.denial(err)
	}
	l.current, l.until = now, began.Add(l.options.Duration)
	return nil
}

// denial names the rule that the role lacks, where the account may not do something.
func (l *Lease) denial(err error) error {
	var denied *cluster.DeniedError
	if !errors.As(err, &denied) {
		return err
	}
	return sdk.WithRemedy(err, fmt.Sprintf("add to the rules of a Role in namespace %s that is bound to it: "+
		`{apiGroups: ["coordination.k8s.io"], resources: [leases], resourceNames: [%s], verbs: [get, patch]}`,
		l.options.Namespace, l.options.Name))
}
