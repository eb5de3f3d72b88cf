package api

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	sdkplugin "github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The types of the test's bundle have the options, secrets and masks of the real ones.
type (
	dockerOptions struct {
		Socket string `option:"socket" default:"/var/run/docker.sock" help:"Path of the socket"`
		Port   int    `option:"port" default:"2375" help:"Port of the engine"`
	}
	ecrOptions struct {
		Region          string `option:"region" help:"Region"`
		AccessKeyID     string `option:"accesskeyid,secret" help:"Access key"`
		SecretAccessKey string `option:"secretaccesskey,secret" help:"Its secret"`
	}
	hubOptions struct {
		Login    string   `option:"login" help:"User name"`
		Password string   `option:"password,secret" help:"Password"`
		Auth     string   `option:"auth,secret,mask=none" help:"Base64 of user:password"`
		URL      *url.URL `option:"url" help:"Proxy"`
	}
	smtpOptions struct {
		Host string `option:"host,required" help:"Server"`
		Port int    `option:"port,required" min:"1" max:"65535" help:"Port"`
		User string `option:"user" help:"User"`
		Pass string `option:"pass,secret,mask=none" help:"Password"`
		From string `option:"from,required" help:"Sender"`
		To   string `option:"to,required" help:"Recipients"`
	}
	ntfyOptions struct {
		URL   *url.URL `option:"url,mask=url" default:"https://ntfy.sh" help:"Server"`
		Topic string   `option:"topic,required" help:"Topic"`
		Token string   `option:"auth.token,secret" help:"Token"`
	}
)

// idle implements all three kinds and does nothing.
type noopComponent struct{}

func (noopComponent) List(context.Context) ([]watcher.Container, error) { return nil, nil }
func (noopComponent) Hosts() []registry.Host {
	return []registry.Host{{Pattern: "example.org"}}
}
func (noopComponent) Run(context.Context, trigger.Request) error { return nil }
func (noopComponent) Tags(context.Context, registry.Repository, string) (registry.TagList, error) {
	return registry.TagList{}, nil
}
func (noopComponent) Resolve(context.Context, registry.Repository, string) (string, error) {
	return "", nil
}
func (noopComponent) Manifest(context.Context, registry.Repository, string, sdk.Platform) (registry.Manifest, error) {
	return registry.Manifest{}, nil
}

func create[O any](sdk.Env, O) (noopComponent, error) { return noopComponent{}, nil }

// limited is a registry whose hosts have limits.
type limited struct{ noopComponent }

func (limited) Limits() []registry.Limit {
	at := sdk.TimeOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	return []registry.Limit{
		{Host: "auth.docker.io", PausedUntil: at},
		{Host: "registry-1.docker.io", Limit: 100, Window: 6 * time.Hour, Source: "192.0.2.7 " + hubPass, At: at},
	}
}

func bundle() sdkplugin.Bundle {
	return sdkplugin.Bundle{
		Version: "1.2.3",
		Watchers: []watcher.Type{watcher.Define("docker", "Watches an engine", create[dockerOptions],
			kind.Default("local"), watcher.AttributesLabels())},
		Registries: []registry.Type{
			registry.Define("ecr", "Amazon ECR", create[ecrOptions]),
			registry.Define("hub", "Docker Hub", func(sdk.Env, hubOptions) (limited, error) {
				return limited{}, nil
			}, kind.Default("public"), kind.Docs("https://example.org/hub")),
		},
		Triggers: []trigger.Type{
			trigger.Define("ntfy", "Publishes", create[ntfyOptions]),
			trigger.Define("webpush", "Notifies devices", create[struct{}], kind.Needs(kind.CapDevices)),
			trigger.Define("smtp", "Sends mail", func(env sdk.Env, o smtpOptions) (noopComponent, error) {
				if o.User == "refused" {
					return noopComponent{}, fmt.Errorf("login of %s with %s refused", o.User, o.Pass)
				}
				if o.User == "warned" {
					env.Warn("the password " + o.Pass + " is weak")
				}
				return noopComponent{}, nil
			}),
		},
	}
}

// The secrets that the components below are configured with.
const (
	accessKey  = "AKIAIOSFODNN7EXAMPLE"
	secretKey  = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	hubAuth    = "am9objpkb2U="
	hubPass    = "correct-horse-battery"
	smtpPass   = "mail-p4ssw0rd"
	ntfyToken  = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"
	urlPass    = "in-the-url-55"
	failedPass = "shown-by-the-server"
)

// environ configures the components as an operator does.
func environ() []string {
	return []string{
		"DOGWATCH_WATCHER_LOCAL_SOCKET=/var/run/docker.sock",
		"DOGWATCH_REGISTRY_ECR_PRIVATE_REGION=eu-west-1",
		"DOGWATCH_REGISTRY_ECR_PRIVATE_ACCESSKEYID=" + accessKey,
		"DOGWATCH_REGISTRY_ECR_PRIVATE_SECRETACCESSKEY=" + secretKey,
		"DOGWATCH_REGISTRY_HUB_PRIVATE_AUTH=" + hubAuth,
		"DOGWATCH_REGISTRY_HUB_LOGIN_PASSWORD=" + hubPass,
		"DOGWATCH_REGISTRY_HUB_LOGIN_LOGIN=john",
		"DOGWATCH_TRIGGER_SMTP_GMAIL_HOST=smtp.example.org",
		"DOGWATCH_TRIGGER_SMTP_GMAIL_PORT=465",
		"DOGWATCH_TRIGGER_SMTP_GMAIL_USER=warned",
		"DOGWATCH_TRIGGER_SMTP_GMAIL_PASS=" + smtpPass,
		"DOGWATCH_TRIGGER_SMTP_GMAIL_FROM=john@example.org",
		"DOGWATCH_TRIGGER_SMTP_GMAIL_TO=jane@example.org",
		"DOGWATCH_TRIGGER_SMTP_REFUSED_HOST=smtp.example.org",
		"DOGWATCH_TRIGGER_SMTP_REFUSED_PORT=465",
		"DOGWATCH_TRIGGER_SMTP_REFUSED_USER=refused",
		"DOGWATCH_TRIGGER_SMTP_REFUSED_PASS=" + failedPass,
		"DOGWATCH_TRIGGER_SMTP_REFUSED_FROM=john@example.org",
		"DOGWATCH_TRIGGER_SMTP_REFUSED_TO=jane@example.org",
		"DOGWATCH_TRIGGER_NTFY_ONE_TOPIC=235ef38e-f1db-46c6-a6e9-f3b9d3d2b1ef",
		"DOGWATCH_TRIGGER_NTFY_ONE_THRESHOLD=major",
		"DOGWATCH_TRIGGER_NTFY_ONE_URL=https://john:" + urlPass + "@ntfy.example.org",
		"DOGWATCH_TRIGGER_NTFY_ONE_AUTH_TOKEN=" + ntfyToken,
		"DOGWATCH_TRIGGER_NTFY_OPTIN_TOPIC=t",
		"DOGWATCH_TRIGGER_NTFY_OPTIN_INCLUDEBYDEFAULT=false",
		"DOGWATCH_TRIGGER_ACME_X_KEY=whatever",
	}
}

// fixture are the real components and plugins that tests share.
type fixture struct {
	host     *plugin.Host
	manager  *component.Manager
	redactor *logging.Redactor
}

var (
	stopComponents []func()
	shown          = sync.OnceValues(func() (fixture, error) { return newFixture(false) })
	allMasked      = sync.OnceValues(func() (fixture, error) { return newFixture(true) })
)

// newFixture starts real plugins, which this binary is, and configures the components with them.
func newFixture(maskAll bool) (fixture, error) {
	conf, err := config.Load(config.Input{
		Environ: append(environ(), "HOME=/nonexistent"), WatcherTypes: []string{"docker"},
	})
	if err != nil {
		return fixture{}, err
	}
	p := fixture{redactor: &logging.Redactor{}}
	p.host, err = plugin.New(plugin.Options{
		Builtins: []plugin.Builtin{{Name: "test", Args: []string{"plugin"}, Types: bundle().Types()}},
		Log:      hclog.NewNullLogger(),
	})
	if err != nil {
		return fixture{}, err
	}
	stopComponents = append(stopComponents, p.host.Close)
	p.manager = component.New(component.Options{
		Plugins: p.host, Log: hclog.NewNullLogger(), Secrets: p.redactor.Add, MaskAll: maskAll,
	})
	p.manager.Load(conf.Components)
	p.manager.Finish()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return p, p.manager.Await(ctx)
}
