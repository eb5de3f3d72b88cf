// Package sdk is what Dogwatch promises to plugins: the container model, the
// kinds of errors, and, in the packages below it, everything else that a plugin
// needs. A plugin is an executable that serves one or more types of watchers,
// registries or triggers; Dogwatch starts it, configures instances of its types
// and calls them.
//
// # A plugin in five minutes
//
// Say what a user may configure. The tags are the schema from which Dogwatch
// validates, documents, masks and draws forms (package option):
//
//	type Options struct {
//		URL   *url.URL `option:"url,required" help:"Address of the chat's web hook"`
//		Token string   `option:"token,secret" help:"Token of the chat"`
//		httpclient.Options
//	}
//
// Name the type, and make an instance of it. What the schema can check has been
// checked; the rest is refused with the name of the option:
//
//	func Type() trigger.Type { return trigger.Define("chat", "Write to a chat", New) }
//
//	func New(env sdk.Env, o Options) (*Chat, error) {
//		if o.URL.Path == "" {
//			return nil, sdk.Invalid("url", "want the whole address of the hook, with its path")
//		}
//		client, err := httpclient.New(env, o.Options, o.Token, o.URL.Path)
//		if err != nil {
//			return nil, err
//		}
//		return &Chat{client, o}, nil
//	}
//
// Do the work. Dogwatch decides what to say, to whom and when to try again; the
// kind of the error tells it whether that may help:
//
//	func (c *Chat) Run(ctx context.Context, req trigger.Request) error {
//		header := http.Header{"Authorization": {"Bearer " + c.o.Token}}
//		message := map[string]string{"text": req.Title + "\n" + req.Body}
//		return c.client.JSON(ctx, http.MethodPost, c.o.URL.String(), header, message, nil)
//	}
//
// Serve it:
//
//	func main() {
//		plugin.Serve(plugin.Bundle{Version: "1.0.0", Triggers: []trigger.Type{Type()}})
//	}
//
// Let the conformance kit find what you forgot:
//
//	func TestConformance(t *testing.T) {
//		options := func(url string) map[string]any {
//			return map[string]any{"url": url + "/hook", "token": "recognisable"}
//		}
//		triggertest.Run(t, Type(), triggertest.Case{
//			Options: func(t *testing.T) map[string]any { return options(plugintest.Responding(t, 200)) },
//			Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
//			Failing: triggertest.HTTPFailures(options),
//		})
//	}
//
// Build it, put the executable into the folder that plugins.dir names, and
// configure trigger.chat.main.url. The folder examples/trigger-file of the
// repository is a whole plugin to start from.
//
// # What to know
//
// A watcher returns a watcher.Container: what its engine knows. The host adds
// what labels and checks say and makes a Container of it, which triggers receive.
//
// A trigger that mirrors the state of all containers to another system, rather
// than notify of updates, implements trigger.Subscriber besides.
//
// A type that can try its service without side effects implements Prober: users
// see the result when they test a component and in dogwatch doctor.
//
// Instances are called by many goroutines at a time. A call ends soon after its
// context does. An instance that holds something, such as a connection, has a
// Close method, which is called once, after its last call.
//
// No secret may be written anywhere: not in an error, not in a log line, not in
// progress. Package httpclient sees to it for HTTP.
//
// A wrong option, and only that, is an *InvalidError. A panic ends its call, not the plugin.
//
// # Stability
//
// Everything below sdk but sdk/proto follows semantic versioning; Version is
// the version. Fields may be added to structs: name the fields in literals.
// The plugin protocol has a version of its own, which is 1: a plugin built with
// any SDK of this protocol runs with any Dogwatch of it.
//
// Version 2.1.0 adds to 2.0.0: watcher.Updater, registry.ConfigReader, operations and
// actions of triggers, events about updates, what containers say of their
// stack, decision and waiting time, watcher.ParseImage and kind.Messages.
// kind.Guarantee is what kind.Delivery was: rename it where a plugin is built anew.
//
// Version 2.0.0 leaves out what only the host uses, and takes the field's words.
// A plugin built with 1.0.0 runs as before; to build it anew:
//
//   - Watcher.List returns []watcher.Container instead of []sdk.Container. Its
//     Image has Host, Tag, Digest, Pinned, Digests and Platform in place of
//     Registry.Host, Tag.Value, Digest.Repo, Digest.Pinned, Digest.Repos and of
//     OS, Architecture and Variant. Error is a string. Watcher is left to the host.
//   - trigger.Follower is trigger.Subscriber, its method Follow is Subscribe, and
//     trigger.World is trigger.StateStream. kind.CapFollow is kind.CapStateStream.
//   - registry.Repository.Together is ScopeHints.
//   - kind.Once() is kind.Deliver(kind.AtMostOnce).
//   - plugintest.Serve and Configure are plugintest.Watcher, Registry and Trigger,
//     which return a configured instance.
//   - plugintest.Answering is plugintest.Responding.
//   - Where Case.Skip names them: the check "follow" of triggertest is "subscribe",
//     the part "simple/trial" is "simple/test", and "answers" of registrytest is "responses".
//   - plugin.Client, ClientPlugins, NewClient, HostTLS, ServeOn, Handshake, GiveBack and
//     what belongs to them are gone: they are the host's, or plugintest serves in their place.
package sdk
