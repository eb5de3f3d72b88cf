package triggertest

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/kittest"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// keeper is a post that subscribes.
type keeper struct {
	*post
	subscribe func(ctx context.Context, k *keeper, s trigger.StateStream) error
}

func (k *keeper) Subscribe(ctx context.Context, w trigger.StateStream) error {
	return k.subscribe(ctx, k, w)
}

func subscribes(subscribe func(context.Context, *keeper, trigger.StateStream) error) trigger.Type {
	return trigger.Define("post", "Posts to a URL", func(env sdk.Env, o postOptions) (*keeper, error) {
		if o.Topic == "a/b" {
			return nil, sdk.Invalid("topic", "must have no slash")
		}
		return &keeper{post: &post{env: env, o: o}, subscribe: subscribe}, nil
	})
}

// listen takes every change.
func listen(ctx context.Context, _ *keeper, w trigger.StateStream) error {
	for {
		if _, err := w.Next(ctx); err != nil {
			return err
		}
	}
}

func TestRunPassesValidSubscriber(t *testing.T) { Run(t, subscribes(listen), postCase()) }

func TestRunFailsInvalidSubscribers(t *testing.T) {
	bad := func(check, want string, subscribe func(context.Context, *keeper, trigger.StateStream) error) kittest.Bad {
		return kittest.Bad{
			Check: "subscribe/" + check, Want: want, Run: func(t *testing.T) { Run(t, subscribes(subscribe), postCase()) },
		}
	}
	kittest.MustFail(t, map[string]kittest.Bad{
		"ignores its context": bad("release", "Subscribe goes on in the plugin",
			func(ctx context.Context, k *keeper, w trigger.StateStream) error {
				_ = listen(ctx, k, w)
				select {}
			}),
		"takes nothing": bad("empty", "Subscribe does not request",
			func(ctx context.Context, _ *keeper, _ trigger.StateStream) error {
				<-ctx.Done()
				return ctx.Err()
			}),
		"gives up when the service is away": bad("500", "Subscribe returned while its context lives",
			func(ctx context.Context, k *keeper, w trigger.StateStream) error {
				if err := k.send(ctx, trigger.Request{}); err != nil {
					return err
				}
				return listen(ctx, k, w)
			}),
		"breaks on what is odd": bad("busy", "Subscribe returned while its context lives",
			func(ctx context.Context, _ *keeper, w trigger.StateStream) error {
				for {
					c, err := w.Next(ctx)
					if err != nil {
						return err
					}
					for _, is := range c.Put {
						if is.Name == "" {
							return errors.New("a container without a name")
						}
					}
				}
			}),
		"log shows a secret": bad("empty", `the log shows the secret option "token"`,
			func(ctx context.Context, k *keeper, w trigger.StateStream) error {
				k.env.Log.Warn("subscribed", "options", k.o)
				return listen(ctx, k, w)
			}),
	})
}

func TestRunWantsUnsupportedOfOtherTriggers(t *testing.T) {
	c := postCase()
	c.Options = func(t *testing.T) map[string]any { return options(plugintest.Responding(t, http.StatusOK)) }
	c.Skip = []string{"describe", "options", "replace", "release", "concurrent", "cancel", "errors", "secrets",
		"simple", "batch", "fields"}
	Run(t, define(unchanged), c)
}
