package protocol

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// recorded returns the messages that SDK 1.0.0 sent, as its code encoded them at
// commit 4a6dbcf: lines of a name and of bytes in base64. It is never written anew.
func recorded(t *testing.T) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile("testdata/sdk1.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for line := range strings.Lines(string(text)) {
		name, code, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if all[name], err = base64.StdEncoding.DecodeString(code); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return all
}

var sdk1Time = sdk.TimeOf(time.UnixMilli(1700000000123))

func sdk1Container() sdk.Container {
	result := sdk.Result{Tag: "2.0", Digest: "sha256:r", Created: sdk1Time, Link: "https://example.org/2.0"}
	return sdk.Container{
		ID: "c1", Name: "web", DisplayName: "Web", DisplayIcon: "mdi:web", Status: "running", Watcher: "local",
		IncludeTags: `^\d`, ExcludeTags: "rc", TransformTags: "a => b", LinkTemplate: "https://example.org/${raw}",
		Link:           "https://example.org/1.0",
		TriggerInclude: "smtp.main", TriggerExclude: "mock.main",
		Image: sdk.Image{
			ID:       "sha256:i",
			Registry: sdk.Registry{Name: "hub.public", URL: "https://registry-1.docker.io/v2", Host: "docker.io"},
			Name:     "library/nginx",
			Tag:      sdk.Tag{Value: "1.0", Semver: true, Floating: true},
			Digest: sdk.Digest{
				Watch: true, Repo: "sha256:d", Pinned: true, Value: "sha256:v", Repos: []string{"nginx@sha256:d"},
			},
			Architecture: "arm", OS: "linux", Variant: "v7", Created: sdk1Time,
		},
		Labels: map[string]string{"team": "web"}, Result: &result, Error: &sdk.ContainerError{Message: "no access"},
		Check: sdk.CheckState{
			State: sdk.CheckFailed, At: sdk1Time, PostponedUntil: sdk1Time, PostponedReason: "docker.io asks for a pause",
		},
		UpdateAvailable: true,
		UpdateKind: sdk.UpdateKind{
			Kind: sdk.KindTag, LocalValue: "1.0", RemoteValue: "2.0", SemverDiff: sdk.DiffMajor, Result: &result,
		},
	}
}

func sdk1Type() kind.Type {
	text, low, high := "x", 1.0, 5.0
	return kind.Type{
		Kind: kind.Trigger, Name: "chat", Summary: "Write", DocsURL: "https://example.org",
		Capabilities: []string{"follow", "run"},
		Guarantee:    kind.AtMostOnce, DefaultName: "main",
		Options: option.Schema{{Name: "level", Type: option.Int, Help: "How loud", Default: &text, Required: true,
			Secret: true, Mask: option.MaskFirst,
			Choices: []string{"1", "5"}, Aliases: []string{"lvl"}, Min: &low, Max: &high, Deprecated: "volume", Example: "3"}},
	}
}

func sdk1Request() trigger.Request {
	return trigger.Request{
		Delivery: "d1", Title: "title", Body: "body", Containers: []sdk.Container{sdk1Container()}, Batch: true, Test: true,
		Event: &trigger.Event{
			Type: trigger.WatcherFailed, Watcher: "local", Error: "gone", Since: sdk1Time, At: sdk1Time,
		},
		Credentials: map[string]sdk.Credentials{"docker.io": {Username: "u", Password: "p"}},
		Engines: map[string]trigger.Engine{
			"local": {Type: "docker", Options: map[string]any{"socket": "/s", "timeout": "1m30s"}},
		},
	}
}

// A plugin that was built with SDK 1.0.0 reads what this host sends, and is read by it.
func TestMessagesOfSDK1(t *testing.T) {
	all := recorded(t)
	for name, test := range map[string]struct {
		want any
		pair
	}{
		"type":      {sdk1Type(), both(EncodeType, DecodeType)},
		"container": {sdk1Container(), both(EncodeContainer, DecodeContainer)},
		"host": {registry.Host{Pattern: "*.example.org", URL: "https://api.example.org/v2"},
			both(encodeHost, decodeHost)},
		"event": {watcher.Event{ContainerID: "c1", Action: watcher.ActionStatus, Status: "exited", At: sdk1Time},
			both(EncodeEvent, DecodeEvent)},
		"repository": {registry.Repository{
			Host: "docker.io", Name: "library/nginx", ScopeHints: []string{"library/nginx", "library/redis"},
		}, both(EncodeRepository, DecodeRepository)},
		"manifest": {registry.Manifest{Digest: "sha256:d", Config: "sha256:c", Created: sdk1Time},
			both(EncodeManifest, DecodeManifest)},
		"credentials": {sdk.Credentials{Username: "u", Password: "p"}, both(EncodeCredentials, DecodeCredentials)},
		"limit": {registry.Limit{
			Host: "docker.io", Limit: 100, Remaining: 7, Window: 6 * time.Hour, Source: "192.0.2.1", At: sdk1Time,
			PausedUntil: sdk1Time,
		},
			both(encodeLimit, decodeLimit)},
		"run": {sdk1Request(), both(func(r trigger.Request) *pluginv1.RunRequest {
			m, err := EncodeRequest("trigger.a.b", r)
			if err != nil {
				panic(err)
			}
			return m
		}, DecodeRequest)},
		"progress": {trigger.Progress{ContainerID: "c1", Phase: "pull", Message: "half", Current: 1, Total: 2},
			both(EncodeProgress, DecodeProgress)},
		"change": {trigger.Change{All: true, Removed: []sdk.Container{{ID: "c0"}}, Put: []sdk.Container{sdk1Container()},
			Watchers: []trigger.WatcherState{{Name: "local", Checking: true}}}, both(EncodeChange, DecodeChange)},
	} {
		t.Run(name, func(t *testing.T) {
			if err := proto.Unmarshal(all[name], test.wire); err != nil || len(all[name]) == 0 {
				t.Fatalf("%d bytes: %v", len(all[name]), err)
			}
			if got := test.from(test.wire); !reflect.DeepEqual(got, test.want) {
				t.Errorf("the host reads  %+v\nthe plugin sent %+v", got, test.want)
			}
			if got := test.to(test.want); !proto.Equal(got, test.wire) {
				t.Errorf("the host sends   %v\nthe plugin reads %v", got, test.wire)
			}
		})
	}
}

// A watcher that was built with SDK 1.0.0 could fill every field of a container.
func TestListedContainerOfSDK1(t *testing.T) {
	m := &pluginv1.Container{}
	if err := proto.Unmarshal(recorded(t)["container"], m); err != nil {
		t.Fatal(err)
	}
	want := watcher.Container{
		ID: "c1", Name: "web", Status: "running", Labels: map[string]string{"team": "web"}, Error: "no access",
		Image: watcher.Image{
			ID: "sha256:i", Host: "docker.io", Name: "library/nginx", Tag: "1.0", Digest: "sha256:d", Pinned: true,
			Digests:  []string{"nginx@sha256:d"},
			Platform: sdk.Platform{OS: "linux", Architecture: "arm", Variant: "v7"}, Created: sdk1Time,
		},
	}
	if got := DecodeListed(m); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestErrorsOfSDK1(t *testing.T) {
	all := recorded(t)
	read := func(name string) error {
		p := &spb.Status{}
		if err := proto.Unmarshal(all["status "+name], p); err != nil || len(all["status "+name]) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		return DecodeError(context.Background(), status.ErrorProto(p))
	}
	if got := fieldsOf(read("invalid")); !reflect.DeepEqual(got, []sdk.FieldError{{Field: "url", Detail: "want a URL"}}) {
		t.Errorf("invalid: %v", got)
	}
	var limited *sdk.RateLimitedError
	if err := read("limited"); !errors.As(err, &limited) || limited.After != 90*time.Second || err.Error() != "slow down" {
		t.Errorf("limited: %v", err)
	}
	if err := read("unavailable"); !errors.Is(err, sdk.ErrUnavailable) || errors.Is(err, ErrGone) ||
		err.Error() != "away" {
		t.Errorf("unavailable: %v", err)
	}
	if err := read("unknown"); !errors.Is(err, ErrUnknownInstance) {
		t.Errorf("unknown instance: %v", err)
	}
}
