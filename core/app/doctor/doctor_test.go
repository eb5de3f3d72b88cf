package doctor

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// fake is an installation in which all is well, unless a test says otherwise.
func TestExamineHealthyInstallation(t *testing.T) {
	_, opt := healthy(t)
	got := text(Examine(t.Context(), opt), opt.Config.Store.Path)
	want := `ok configuration: 2 components in the environment
ok login: asked for: basic.ana
ok server: not serving now
ok store: DIR can be written, no database yet, 3.2 GB free
ok plugins: 1 built in, 0 in DIR/plugins
ok watcher.docker.local: 2 containers of Docker/28.5.1 (linux), API 1.51
ok labels: understood those of 2 containers
ok clock: agrees with 2 registry hosts
ok host ghcr.io: answers in 0 ms
ok host registry-1.docker.io: answers in 0 ms
ok registry.hub.public: answers without options of its own for docker.io/library/nginx:1.0; 62 of 100 requests left per 6 h
ok registry.ghcr.private: answers with its options for ghcr.io/me/app:1.0
ok trigger.ntfy.phone: configured; to send a sample: dogwatch plugin test trigger.ntfy.phone
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if left, err := os.ReadDir(opt.Config.Store.Path); err != nil || len(left) > 0 {
		t.Errorf("the examination left %v behind: %v", left, err)
	}
}

// TestExamineFindsWhatIsBroken breaks one thing at a time.
func TestExamineFindsWhatIsBroken(t *testing.T) {
	unauthorized := sdk.WithKind(sdk.ErrUnauthorized,
		errors.New("registry.ghcr.private: find the digest of me/app: 401 (password hunter2)"))
	for name, c := range map[string]struct {
		change func(*fake, *Options)
		want   []string // lines that must be there
		gone   string   // a subject that must not be
	}{
		"clock behind": {func(_ *fake, o *Options) { o.Transport = dated(noon.Add(time.Hour)) },
			[]string{"fail clock: 1h0m0s behind that of 2 registry hosts > set the clock"}, ""},
		"clock ahead": {func(_ *fake, o *Options) { o.Transport = dated(noon.Add(-2 * time.Minute)) },
			[]string{"warn clock: 2m0s ahead of that of 2 registry hosts"}, ""},
		"no DNS": {func(_ *fake, o *Options) {
			o.Lookup = func(context.Context, string) ([]string, error) { return nil, errors.New("lookup: no such host") }
		}, []string{"fail host ghcr.io: the name cannot be looked up: lookup: no such host > check the DNS"}, "clock"},
		"no DNS, and a proxy that has": {func(_ *fake, o *Options) {
			o.Lookup = func(context.Context, string) ([]string, error) { return nil, errors.New("lookup: no such host") }
			o.Proxy = func(*http.Request) (*url.URL, error) {
				return &url.URL{Scheme: "http", Host: "proxy:3128", User: url.UserPassword("me", "hunter2")}, nil
			}
		}, []string{"ok host ghcr.io: through the proxy proxy:3128, answers in"}, ""},
		"an engine that hangs": {func(f *fake, _ *Options) {
			f.watchers[0].Options = map[string]any{"host": "nas.lan"}
			f.watchers[0].List = func(ctx context.Context) ([]sdk.Container, error) { <-ctx.Done(); return nil, ctx.Err() }
		}, []string{"fail watcher.docker.local: no answer of the engine at nas.lan within 5s"}, ""},
		"a registry of the machine, from a container": {func(_ *fake, o *Options) {
			o.Contained = true
			o.Transport = respond(func(*http.Request) (*http.Response, error) {
				return nil, errors.New("dial tcp 127.0.0.1:5000: connect: connection refused")
			})
		},
			[]string{"fail host ghcr.io: cannot be reached: dial tcp 127.0.0.1:5000: connect: connection refused > 127.0.0.1 means Dogwatch's own container: use the other container's name"}, ""},
		"no network": {func(_ *fake, o *Options) {
			o.Transport = respond(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })
		}, []string{"fail host ghcr.io: cannot be reached: connection refused > check the network"}, "clock"},
		"wrong login": {func(f *fake, _ *Options) {
			f.registries[1].Resolve = func(context.Context, string, string, string) error { return unauthorized }
		}, []string{"fail registry.ghcr.private: find the digest of me/app: 401 (password ***) > correct its login"}, ""},
		"no login": {func(f *fake, _ *Options) {
			f.registries[0].Resolve = func(context.Context, string, string, string) error { return unauthorized }
		}, []string{"> give it a login: dogwatch config docs registry.hub shows how"}, ""},
		"an error with a remedy of its plugin": {func(f *fake, _ *Options) {
			f.registries[0].Resolve = func(context.Context, string, string, string) error {
				return sdk.WithRemedy(sdk.WithKind(sdk.ErrUnauthorized, errors.New("401")), "log in anew")
			}
		}, []string{"fail registry.hub.public: 401 > log in anew"}, ""},
		"image built here": {func(f *fake, _ *Options) {
			f.registries[0].Resolve = func(context.Context, string, string, string) error {
				return sdk.WithKind(sdk.ErrNotFound, errors.New("404"))
			}
		}, []string{"warn registry.hub.public: 404 > it answers"}, ""},
		"images built here": {func(f *fake, _ *Options) {
			f.registries[0].Resolve = func(context.Context, string, string, string) error { return errors.New("asked") }
			f.watchers[0].List = func(context.Context) ([]sdk.Container, error) {
				c := container("web", "", "shop-web", nil)
				c.Image.Built = true
				return []sdk.Container{c}, nil
			}
		}, []string{"ok watcher.docker.local: 1 container of Docker/28.5.1"}, "registry.hub.public"},
		"limit reached": {func(f *fake, _ *Options) {
			f.registries[0].Resolve = func(context.Context, string, string, string) error {
				return sdk.RateLimited(time.Hour, errors.New("429"))
			}
		}, []string{"warn registry.hub.public: 429 > check less often"}, ""},
		"little budget": {func(f *fake, _ *Options) {
			f.registries[0].Limits = func(context.Context) []registry.Limit {
				return []registry.Limit{{Limit: 100, Remaining: 3}}
			}
		},
			[]string{"warn registry.hub.public: answers without options of its own for docker.io/library/nginx:1.0; 3 of 100 requests left > check less often"}, ""},
		"registry misconfigured": {func(f *fake, _ *Options) {
			f.registries[1].Err = errors.New("registry.ghcr.private.token: is required")
		},
			[]string{"fail registry.ghcr.private: registry.ghcr.private.token: is required"}, ""},
		"a configured registry that is not used": {func(f *fake, _ *Options) {
			f.registries[2].Default = false
			f.registries[2].Limits = func(context.Context) []registry.Limit { return nil }
			f.registries[2].Probe = probed("it answers")
		}, []string{"ok registry.quay.public: it answers"}, ""},
		"a host that nothing serves": {func(f *fake, _ *Options) {
			f.watchers[0].List = func(context.Context) ([]sdk.Container, error) {
				return []sdk.Container{container("odd", "nowhere.example.org", "odd", nil)}, nil
			}
		}, []string{"fail host nowhere.example.org: no registry serves it"}, "registry.hub.public"},
		"no engine": {func(f *fake, _ *Options) {
			f.watchers[0].List = func(context.Context) ([]sdk.Container, error) {
				return nil, errors.New("watcher.docker.local: connect: refused")
			}
		}, []string{"fail watcher.docker.local: connect: refused"}, "labels"},
		"no engine and no registry": {func(f *fake, _ *Options) {
			f.registries = f.registries[:1]
			f.watchers[0].List = func(context.Context) ([]sdk.Container, error) { return nil, errors.New("refused") }
		}, []string{"ok host registry-1.docker.io: answers", "ok clock: agrees with 1 registry host"}, "host ghcr.io"},
		"no socket": {func(f *fake, _ *Options) {
			f.watchers[0].List = func(context.Context) ([]sdk.Container, error) {
				return nil, sdk.WithRemedy(errors.New("no such socket"), "start the engine")
			}
		}, []string{"fail watcher.docker.local: no such socket > start the engine"}, ""},
		"an engine with a warning": {func(f *fake, _ *Options) {
			f.watchers[0].Probe = func(context.Context) (sdk.ProbeResult, error) {
				return sdk.ProbeResult{Summary: "Old/1", Warnings: []string{"too old"}}, nil
			}
		}, []string{"ok watcher.docker.local: 2 containers of Old/1", "warn watcher.docker.local: too old"}, ""},
		"a watcher that may update": {func(f *fake, _ *Options) {
			f.watchers[0].MayUpdate, f.watchers[0].Updates = true, "its option update is true"
		},
			[]string{"ok watcher.docker.local: 2 containers of Docker/28.5.1 (linux), API 1.51; it may update them, since its option update is true"}, ""},
		"a watcher that may not update": {func(f *fake, _ *Options) { f.watchers[0].Updates = "its option update is false" },
			[]string{"ok watcher.docker.local: 2 containers of Docker/28.5.1 (linux), API 1.51; it may not update them, since its option update is false"}, ""},
		"a trigger whose service is down": {func(f *fake, _ *Options) {
			f.triggers[0].Probe = func(context.Context) (sdk.ProbeResult, error) {
				return sdk.ProbeResult{}, sdk.WithRemedy(errors.New("refused"), "start it")
			}
		}, []string{"fail trigger.ntfy.phone: refused > start it"}, ""},
		"a trigger whose service responds": {func(f *fake, _ *Options) {
			f.triggers[0].Probe = func(context.Context) (sdk.ProbeResult, error) {
				return sdk.ProbeResult{Summary: "connected", Warnings: []string{"slow"}}, nil
			}
		},
			[]string{"ok trigger.ntfy.phone: connected; to send a sample: dogwatch plugin test trigger.ntfy.phone",
				"warn trigger.ntfy.phone: slow"}, ""},
		"a trigger whose service hangs": {func(f *fake, _ *Options) {
			f.triggers[0].Probe = func(ctx context.Context) (sdk.ProbeResult, error) {
				<-ctx.Done()
				return sdk.ProbeResult{}, ctx.Err()
			}
		}, []string{"fail trigger.ntfy.phone: no answer of its service within 5s"}, ""},
		"no containers": {func(f *fake, _ *Options) {
			f.watchers[0].List = func(context.Context) ([]sdk.Container, error) { return nil, nil }
		}, []string{"warn watcher.docker.local: no containers of Docker/28.5.1"}, "labels"},
		"labels": {func(f *fake, _ *Options) {
			f.watchers[0].List = func(context.Context) ([]sdk.Container, error) {
				return []sdk.Container{container("web", "docker.io", "library/nginx", map[string]string{
					"dogwatch.tag.inclde": "1", "wud.tag.include": "^(", "wud.trigger.include": "ntfy.fone:minor"})}, nil
			}
		}, []string{
			"warn container local/web: unknown label dogwatch.tag.inclde, ignored: did you mean dogwatch.tag.include?",
			"fail container local/web: label wud.tag.include: ",
			`warn container local/web: label wud.trigger.include names the trigger "ntfy.fone", which is not configured: did you mean ntfy.phone?`,
		}, "labels"},
		"a container that cannot be described": {func(f *fake, _ *Options) {
			f.watchers[0].List = func(context.Context) ([]sdk.Container, error) {
				c := container("web", "", "nginx", nil)
				c.Error = &sdk.ContainerError{Message: "its image has no name"}
				return []sdk.Container{c}, nil
			}
		}, []string{"fail container local/web: its image has no name"}, ""},
		"variables": {func(_ *fake, o *Options) {
			o.Config.Problems = []config.Problem{{Key: "server.prt", Message: "unknown setting: did you mean server.port?"}, {
				Key: "x", Message: "y", Level: config.Error,
			}}
		},
			[]string{"warn configuration: server.prt: unknown setting: did you mean server.port?",
				"fail configuration: x: y"}, ""},
		"trigger": {func(f *fake, _ *Options) {
			f.triggers = []Component{{ID: "trigger.smtp.a", Err: errors.New("trigger.smtp.a.host: is required")}, {
				ID: "trigger.smtp.b", Warnings: []string{"trigger.smtp.b.prt: unknown option: did you mean port?"},
			}}
		},
			[]string{"fail trigger.smtp.a: trigger.smtp.a.host: is required",
				"warn trigger.smtp.b: prt: unknown option: did you mean port?"}, ""},
		"no trigger": {func(f *fake, _ *Options) {
			f.triggers = nil
		}, []string{"warn triggers: none is configured: nobody is told of updates"}, ""},
		"plugins": {func(f *fake, _ *Options) {
			f.bundles = append(f.bundles, plugin.Status{
				Name: "mine", State: plugin.Untrusted, Error: "its file changed: run: dogwatch plugin trust mine",
			}, plugin.Status{Name: "other", State: plugin.Stopped, Types: make([]plugin.TypeName, 1)},
				plugin.Status{Name: "old", State: plugin.Stopped, Types: make([]plugin.TypeName, 2), Note: "built with SDK 1.0.0"})
		},
			[]string{"ok plugins: 1 built in, 3 in DIR/plugins",
				"fail plugin mine: untrusted: its file changed: run: dogwatch plugin trust mine",
				"ok plugin other: may run, and holds 1 type",
				"ok plugin old: may run, and holds 2 types; built with SDK 1.0.0"}, ""},
		"plugins that are declared": {func(_ *fake, o *Options) {
			o.Config.Plugins.Dir = t.TempDir()
			o.Config.Plugins.Installs = []string{"name=lamp ref=ghcr.io/me/lamp:2", "name=none ref=me/none:1",
				"name=same ref=me/same:1"}
			pins := `{"lamp": {"ref": "ghcr.io/me/lamp:1"}, "same": {"ref": "docker.io/me/same:1"}}`
			if err := os.WriteFile(filepath.Join(o.Config.Plugins.Dir, ".installed.json"), []byte(pins), 0o600); err != nil {
				panic(err)
			}
		},
			[]string{"warn plugin lamp: ghcr.io/me/lamp:1 is installed, and plugins.install says ghcr.io/me/lamp:2 > restart", "fail plugin none: is in plugins.install, and not installed > restart"}, "plugin same"},
		"a plugin that cannot be installed": {func(_ *fake, o *Options) {
			o.Config.Plugins.Dir = t.TempDir()
			o.Config.Plugins.Installs = []string{"name=lamp ref=ghcr.io/me/lamp:2"}
			o.Fetchable = func(_ context.Context, d config.Install) error {
				return errors.New(d.Ref + ": there is no such tag")
			}
		},
			[]string{"fail plugin lamp: is in plugins.install, and not installed: ghcr.io/me/lamp:2: there is no such tag"}, ""},
		"plugins that do not start": {func(f *fake, _ *Options) {
			f.load = func(context.Context) error { return errors.New("no memory") }
		},
			[]string{"fail plugins: the plugins do not start: no memory"}, "watcher.docker.local"},
		"a plugin that hangs": {func(f *fake, _ *Options) {
			f.load = func(context.Context) error { return context.DeadlineExceeded }
			f.bundles = append(f.bundles, plugin.Status{
				Name: "mine", State: plugin.Starting, Error: "it has not said what it is within 5s",
			})
			f.triggers[0].Err = errors.New("its plugin has not answered")
		},
			[]string{"fail plugin mine: starting: it has not said what it is within 5s", "ok watcher.docker.local",
				"its plugin has not answered"}, ""},
		"beside another": {func(f *fake, _ *Options) {
			f.serving = func() (string, string, error) { return "http://127.0.0.1:3000", "1.0", nil }
		},
			[]string{"ok server: serves at http://127.0.0.1:3000"}, ""},
		"beside an old one": {func(f *fake, _ *Options) {
			f.serving = func() (string, string, error) { return "http://127.0.0.1:3000", "0.9", nil }
		},
			[]string{"warn server: version 0.9 serves at http://127.0.0.1:3000, and this is 1.0 > restart it"}, ""},
		"beside something else": {func(f *fake, _ *Options) {
			f.serving = func() (string, string, error) { return "", "", errors.New("not Dogwatch") }
		},
			[]string{"fail server: not Dogwatch > set server.port"}, ""},
		"open to all": {func(_ *fake, o *Options) {
			o.Logins = nil
		}, []string{"warn login: none: whoever reaches port 3000 may use the server > set auth.basic"}, ""},
		"open to this machine": {func(_ *fake, o *Options) {
			o.Logins, o.Config.Server.Host = nil, "127.0.0.1"
		}, []string{"ok login: none, and only"}, ""},
		"no server": {func(_ *fake, o *Options) {
			o.Config.Server.Enabled = false
		}, []string{"ok server: not serving now"}, "login"},
		"full disk": {func(_ *fake, o *Options) {
			o.Free = func(string) (uint64, error) { return 3 << 20, nil }
		}, []string{"fail store: DIR has only 3.1 MB left > free space"}, ""},
		"little room": {func(_ *fake, o *Options) {
			o.Free = func(string) (uint64, error) { return 100 << 20, nil }
		}, []string{"warn store: DIR has only 104.9 MB left > free space"}, ""},
		"store to come": {func(_ *fake, o *Options) { o.Config.Store.Path = filepath.Join(o.Config.Store.Path, "a", "b") },
			[]string{"ok store: DIR will be made at the first start"}, ""},
		"store is a file": {func(_ *fake, o *Options) {
			o.Config.Store.Path = filepath.Join(o.Config.Store.Path, "file")
			if err := os.WriteFile(o.Config.Store.Path, nil, 0o600); err != nil {
				panic(err)
			}
		}, []string{"fail store: DIR is no folder"}, ""},
		"configuration not fit": {func(_ *fake, o *Options) { o.Installation = nil }, []string{"ok store: "}, "server"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // what hangs has a limit of 5 s
				f, opt := healthy(t)
				opt.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
				c.change(f, &opt)
				got := text(Examine(t.Context(), opt), opt.Config.Store.Path)
				for _, want := range c.want {
					if !strings.Contains(got, want) {
						t.Errorf("there is no %q in\n%s", want, got)
					}
				}
				if c.gone != "" && strings.Contains(got, " "+c.gone+": ") {
					t.Errorf("%s is a finding in\n%s", c.gone, got)
				}
				if strings.Contains(got, "hunter2") {
					t.Errorf("a secret in\n%s", got)
				}
			})
		})
	}
}

// TestExamineEndsAfterItsLimits: what does not answer costs its limit and hides nothing else, even
// when it does not heed its context.
func TestExamineEndsAfterItsLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, opt := healthy(t)
		end := make(chan struct{})
		defer close(end)
		f.watchers[0].List = func(context.Context) ([]sdk.Container, error) { <-end; return nil, nil }
		f.watchers = append(f.watchers, Watcher{Component: Component{ID: "watcher.docker.nas"}, Name: "nas",
			List: func(context.Context) ([]sdk.Container, error) {
				return []sdk.Container{container("web", "", "nginx", nil)}, nil
			}})
		f.registries[0].Resolve = func(ctx context.Context, _, _, _ string) error { <-ctx.Done(); return ctx.Err() }
		began := time.Now()
		got := text(Examine(t.Context(), opt), opt.Config.Store.Path)
		for _, want := range []string{
			"fail watcher.docker.local: no answer within 5s > try again with a longer --timeout",
			"ok watcher.docker.nas: 1 container", "fail registry.hub.public: no answer of docker.io within 5s",
			"ok host registry-1.docker.io: answers",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("there is no %q in\n%s", want, got)
			}
		}
		if took := time.Since(began); took > 2*(opt.Limit+grace) {
			t.Errorf("took %s", took)
		}
	})
}

// TestStoreOfSomethingElse: the next start would not take it.
func TestStoreOfSomethingElse(t *testing.T) {
	_, opt := healthy(t)
	file := filepath.Join(opt.Config.Store.Path, opt.Config.Store.File)
	for content, want := range map[string]string{
		"": "ok store: DIR can be written, database of 0 bytes, 3.2 GB free",
		strings.Repeat("{}\n",
			500): "fail store: DIR/dogwatch.db: open: not a usable dogwatch store: stop dogwatch and restore",
		"SQLite format 3\x00 and no more": "fail store: DIR/dogwatch.db: open: not a usable dogwatch store: stop dogwatch and restore",
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := text(Examine(t.Context(), opt), opt.Config.Store.Path); !strings.Contains(got, want) {
			t.Errorf("%.20q: want %q in\n%s", content, want, got)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != content {
			t.Errorf("%.20q was changed: %v", content, err)
		}
	}
}

func TestStoreRemedy(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.ENOSPC: "free space", syscall.EROFS: "without :ro", syscall.EIO: "check its disk", syscall.EACCES: "chown -R",
	} {
		if got := storeRemedy(&os.PathError{Op: "write", Path: "/store/x", Err: cause},
			"/store"); !strings.Contains(got, want) {
			t.Errorf("%v: %q, want %q", cause, got, want)
		}
	}
}
