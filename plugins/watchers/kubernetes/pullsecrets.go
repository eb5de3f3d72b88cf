package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// pulls is where the workloads of the last list have what their images are pulled with. It has no credentials.
type pulls struct {
	mu     sync.Mutex
	of     map[owner]workload
	warned map[string]bool
}

// listed records the workloads that the host knows.
func (p *pulls) listed(m *mirror) {
	of := map[owner]workload{}
	for _, c := range m.workloads {
		c.Each(func(_ string, w workload) { of[owner{w.namespace, w.kind, w.name}] = w })
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of = of
}

// warnOnce reports whether a warning is new.
func (p *pulls) warnOnce(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.warned == nil || len(p.warned) > 1000 {
		p.warned = map[string]bool{}
	}
	isNew := !p.warned[text]
	p.warned[text] = true
	return isNew
}

// PullCredentials implements watcher.CredentialProvider: for each container the credentials that the secrets of its
// pods have for the repository of its image. They are those that the pods name, or those of their service account. Each
// account and secret costs a request for each call, and is not kept. What cannot be read is left out, and logged once
// with the rule that the role lacks; the error is that of ctx, or of a list.
func (k *Kubernetes) PullCredentials(ctx context.Context, ids []string) (map[string]watcher.PullCredentials, error) {
	if !k.options.PullSecrets {
		return nil, nil
	}
	wanted, err := k.pulled(ctx, ids)
	if err != nil {
		return nil, err
	}
	r := pullReader{Kubernetes: k, names: map[string][]string{}, configs: map[string]dockerConfig{}}
	if err := r.read(ctx, wanted); err != nil {
		return nil, err
	}
	all := map[string]watcher.PullCredentials{}
	for id, p := range wanted {
		for _, name := range r.secretsOf(p.workload) {
			if found, has := r.configs[p.workload.namespace+"/"+name].find(p.host, p.repository); has {
				source := "secret " + p.workload.namespace + "/" + name
				all[id] = watcher.PullCredentials{Credentials: found, Host: p.host, Source: source}
				break
			}
		}
	}
	return all, nil
}

// checkPullSecrets finds out whether secrets and accounts may be read.
func (k *Kubernetes) checkPullSecrets(ctx context.Context) error {
	names := k.options.namespaces()
	isWhole := len(names) == 0
	if isWhole {
		names = []string{"default"} // which each cluster has
	}
	var errs []error
	for _, namespace := range names {
		_, ofAccount := k.client.PullSecretsOf(ctx, namespace, "")
		_, ofSecret := k.client.PullSecret(ctx, namespace, "dogwatch") // which need not exist
		for _, err := range []error{ofAccount, ofSecret} {
			var denied *cluster.DeniedError
			if errors.As(err, &denied) && isWhole {
				denied.Resource.Namespace = ""
			}
			if !errors.Is(err, sdk.ErrNotFound) {
				errs = append(errs, err)
			}
		}
	}
	return together(errs)
}

// pulled is a container whose image is looked up.
type pulled struct {
	workload         workload
	host, repository string
}

// pulled returns the containers of ids.
func (k *Kubernetes) pulled(ctx context.Context, ids []string) (map[string]pulled, error) {
	k.pulls.mu.Lock()
	of := k.pulls.of
	k.pulls.mu.Unlock()
	if of == nil { // the process is younger than the list that the host has
		if _, err := k.List(ctx); err != nil {
			return nil, err
		}
		k.pulls.mu.Lock()
		of = k.pulls.of
		k.pulls.mu.Unlock()
	}
	wanted := map[string]pulled{}
	for _, id := range ids {
		t, err := k.target(id)
		if err != nil {
			continue
		}
		w := of[t.owner()]
		for _, c := range w.containers {
			if host, repository, ok := imageName(c.image); ok && c.name == t.container {
				wanted[id] = pulled{w, host, repository}
			}
		}
	}
	return wanted, nil
}

// pullReader reads the accounts and secrets of one call.
type pullReader struct {
	*Kubernetes
	names   map[string][]string     // the secrets of accounts, by namespace/name
	configs map[string]dockerConfig // by namespace/name
}

// secretsOf returns the names of the secrets of a workload, those that count first first.
func (r *pullReader) secretsOf(w workload) []string {
	if len(w.secrets) > 0 { // https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/
		return w.secrets
	}
	return r.names[w.namespace+"/"+w.account]
}

// read reads what the workloads need.
func (r *pullReader) read(ctx context.Context, wanted map[string]pulled) error {
	var accounts, secrets []string
	for _, p := range wanted {
		if len(p.workload.secrets) == 0 {
			accounts = append(accounts, p.workload.namespace+"/"+p.workload.account)
		}
	}
	accounts = distinct(accounts)
	names := make([][]cluster.Reference, len(accounts))
	err := r.each(ctx, accounts, func(i int, namespace, name string) (err error) {
		names[i], err = r.client.PullSecretsOf(ctx, namespace, name)
		return err
	})
	if err != nil {
		return err
	}
	for i, account := range accounts {
		for _, s := range names[i] {
			r.names[account] = append(r.names[account], s.Name)
		}
	}
	for _, p := range wanted {
		for _, name := range r.secretsOf(p.workload) {
			if objectForm().MatchString(name) {
				secrets = append(secrets, p.workload.namespace+"/"+name)
			}
		}
	}
	secrets = distinct(secrets)
	configs := make([]dockerConfig, len(secrets))
	err = r.each(ctx, secrets, func(i int, namespace, name string) error {
		s, err := r.client.PullSecret(ctx, namespace, name)
		if err == nil {
			configs[i], err = parseSecret(s)
		}
		return err
	})
	for i, name := range secrets {
		r.configs[name] = configs[i]
	}
	return err
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// each calls do for objects, some at a time, and logs what fails. The error is that of ctx.
func (r *pullReader) each(ctx context.Context, objects []string, do func(i int, namespace, name string) error) error {
	errs := make([]error, len(objects))
	_ = each(len(objects), func(i int) error { // which would be one error for all
		namespace, name, _ := strings.Cut(objects[i], "/")
		errs[i] = do(i, namespace, name)
		return nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var denied []*cluster.DeniedError
	for i, err := range errs {
		var d *cluster.DeniedError
		switch {
		case err == nil:
		case errors.As(err, &d):
			denied = append(denied, d)
		default:
			if errors.Is(err, sdk.ErrNotFound) { // as the kubelet, which pulls without it
				err = errors.New("it does not exist")
			}
			r.warn(fmt.Errorf("read the pull secrets: %s: %w", objects[i], err))
		}
	}
	if len(denied) > 0 {
		r.warn(fmt.Errorf("read the pull secrets: %w", cluster.Denied(denied)))
	}
	return nil
}

func (r *pullReader) warn(err error) {
	if text := orchestrated.Sentence(err); r.pulls.warnOnce(text) {
		r.log.Warn("images are looked up without the credentials of their workloads", "error", text)
	}
}
