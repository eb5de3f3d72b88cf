package main

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/app/oneshot"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// registryLogins finds the logins of registries in the configuration. The registry
// plugin is started when the first is looked for.
type registryLogins struct {
	cfg      *config.Config
	log      hclog.Logger
	redactor *logging.Redactor

	mu       sync.Mutex
	instance *oneshot.Instance
}

func (g *global) registryLogins(cfg *config.Config) (*registryLogins, error) {
	log, redactor, err := g.quietLogger(cfg)
	return &registryLogins{cfg: cfg, log: log, redactor: redactor}, err
}

// Close stops the registry plugin.
func (l *registryLogins) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.instance != nil {
		l.instance.Close()
		l.instance = nil
	}
}

func (l *registryLogins) load(ctx context.Context) (*oneshot.Instance, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.instance != nil {
		return l.instance, nil
	}
	settings := *l.cfg
	settings.Plugins.Dir = "" // a third-party registry cannot help to fetch plugins
	instance, err := oneshot.New(madeOf(&settings, l.log, l.redactor), kind.Registry)
	if err != nil {
		return nil, err
	}
	if err := instance.Load(ctx); err != nil {
		instance.Close()
		return nil, err
	}
	l.instance = instance
	return instance, nil
}

// Login implements artifact.Logins.
func (l *registryLogins) Login(ctx context.Context, host, repository string) (artifact.Login, error) {
	instance, err := l.load(ctx)
	if err != nil {
		return artifact.Login{}, err
	}
	owner, base, served := instance.RegistryFor(host)
	if !served {
		return artifact.Login{}, nil
	}
	var login artifact.Login
	if u, err := url.Parse(base); err == nil && (u.Path == "/v2" || u.Path == "/v2/" || u.Path == "" || u.Path == "/") {
		login.Plain = u.Scheme == "http"
		if u.Host != host {
			login.Host = u.Host
		}
	}
	if login.Transport, err = l.transport(owner.FullID()); err != nil {
		return login, err
	}
	if !owner.Can(kind.CapCredentials) {
		return login, nil
	}
	cred, err := owner.Credentials(ctx, registry.Repository{Host: host, Name: repository})
	login.Username, login.Password = cred.Username, cred.Password
	l.redactor.Add(cred.Password)
	return login, err
}

// transport makes connections as the options of a registry component say.
func (l *registryLogins) transport(id string) (http.RoundTripper, error) {
	for _, c := range l.cfg.Components {
		if c.Key() != id {
			continue
		}
		raw := map[string]any{}
		for _, name := range []string{"proxy", "tls.cafile", "tls.certfile", "tls.keyfile", "tls.insecure",
			"tls.minversion"} {
			if v, set := c.Options[name]; set {
				raw[name] = v.V
			}
		}
		if len(raw) == 0 {
			return nil, nil
		}
		o, err := option.Decode[httpclient.Options](raw)
		if err != nil {
			return nil, err
		}
		t := http.DefaultTransport.(*http.Transport).Clone()
		if t.TLSClientConfig, err = o.TLS.Config(); err != nil {
			return nil, err
		}
		if o.Proxy != nil {
			t.Proxy = http.ProxyURL(o.Proxy)
		}
		return t, nil
	}
	return nil, nil
}
