package kafka

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func TestConformance(t *testing.T) {
	refusing := func(name string, refusal *kerr.Error, kind error) triggertest.Failure {
		return triggertest.Failure{Name: name, Kind: kind, Options: func(t *testing.T) map[string]any {
			c, o := withLogin(t, "PLAIN")
			refuseRecords(c, refusal)
			return o
		}}
	}
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any {
			_, o := withLogin(t, "SCRAM-SHA-256")
			return o
		},
		Hanging: func(t *testing.T, reached func()) map[string]any {
			return map[string]any{
				"brokers": sink.Script(t, "", "", reached).String(), "authentication.user": account,
				"authentication.password": password,
			}
		},
		Failing: []triggertest.Failure{
			{Name: "unreachable", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
				return map[string]any{"brokers": strings.TrimPrefix(plugintest.Unreachable(t), "http://")}
			}},
			{Name: "unknown topic", Kind: &sdk.InvalidError{}, Options: func(t *testing.T) map[string]any {
				_, o := withLogin(t, "PLAIN")
				o["topic"] = "nosuchtopic"
				return o
			}},
			{Name: "wrong password", Kind: sdk.ErrUnauthorized, Options: func(t *testing.T) map[string]any {
				c, o := withLogin(t, "PLAIN")
				refuseLogins(c)
				return o
			}},
			{Name: "another mechanism", Kind: &sdk.InvalidError{}, Options: func(t *testing.T) map[string]any {
				c, o := withLogin(t, "PLAIN")
				c.ControlKey(kmsg.SASLHandshake.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
					c.KeepControl()
					response := r.(*kmsg.SASLHandshakeRequest).ResponseKind().(*kmsg.SASLHandshakeResponse)
					response.ErrorCode, response.SupportedMechanisms = kerr.UnsupportedSaslMechanism.Code, []string{"OAUTHBEARER"}
					return response, nil, true
				})
				return o
			}},
			{Name: "not allowed", Kind: sdk.ErrUnauthorized, Options: func(t *testing.T) map[string]any {
				_, o := withLogin(t, "PLAIN", kfake.EnableACLs(), kfake.User("PLAIN", "eve", password))
				o["authentication.user"] = "eve"
				return o
			}},
			refusing("not allowed to write", kerr.TopicAuthorizationFailed, sdk.ErrUnauthorized),
			refusing("too large", kerr.MessageTooLarge, &sdk.InvalidError{}),
			refusing("too few replicas", kerr.NotEnoughReplicas, sdk.ErrUnavailable),
			{Name: "untrusted", Kind: &sdk.InvalidError{}, Options: func(t *testing.T) map[string]any {
				o := options(cluster(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{sink.Identify(t).Certificate}})))
				o["ssl"] = true
				return o
			}},
		},
		Invalid: []triggertest.Invalid{
			{Field: "brokers", Set: map[string]any{"brokers": "kafka:port"}},
			{Field: "topic", Set: map[string]any{"topic": "a topic"}},
			{Field: "topic", Set: map[string]any{"topic": ".."}},
			{Field: "topic", Set: map[string]any{"topic": strings.Repeat("x", 250)}},
			{Field: "ssl", Set: map[string]any{"tls.cafile": "ca.pem"}},
			{Field: "ssl", Set: map[string]any{"tls.insecure": "true"}},
			{Field: "tls.cafile", Set: map[string]any{"ssl": true, "tls.cafile": "nosuchfile"}},
			{Field: "authentication.type", Set: map[string]any{"authentication.type": "SCRAM-SHA-12"}},
			{Field: "authentication.user", Set: map[string]any{"authentication.user": nil}},
			{Field: "authentication.password", Set: map[string]any{"authentication.password": nil}},
		},
	})
}

func start(t *testing.T, set map[string]any) *kafka {
	t.Helper()
	made, err := Type().New(sdk.Env{}, set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := made.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	})
	return made.(*kafka)
}

func TestRecords(t *testing.T) {
	for name, req := range golden.Requests() {
		t.Run(name, func(t *testing.T) {
			c := cluster(t)
			if err := start(t, options(c)).Run(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			records := read(t, c, max(1, len(req.Containers)))
			slices.SortFunc(records, func(a, b *kgo.Record) int { return bytes.Compare(a.Key, b.Key) })
			var all strings.Builder
			for i, r := range records {
				var pretty bytes.Buffer
				if err := json.Indent(&pretty, r.Value, "", "  "); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&all, "key: %s\n", r.Key)
				for _, h := range r.Headers {
					fmt.Fprintf(&all, "%s: %s\n", h.Key, h.Value)
				}
				fmt.Fprintf(&all, "%s\n", &pretty)
				if req.Event != nil {
					continue
				}
				if want, _ := json.Marshal(req.Containers[i]); !sameJSON(r.Value, want) {
					t.Errorf("%s\nwant %s", r.Value, want)
				}
			}
			if name != "long" {
				golden.Check(t, name+".records", all.String())
			}
		})
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	a, _ = json.Marshal(x)
	b, _ = json.Marshal(y)
	return bytes.Equal(a, b)
}

// All records of a container are in one partition, in order.
func TestKeys(t *testing.T) {
	c := cluster(t)
	k := start(t, options(c))
	const rounds = 5
	for i := range rounds {
		req := triggertest.Request("nginx", "redis", "traefik")
		req.Delivery = fmt.Sprint(i)
		for j := range req.Containers {
			req.Containers[j].ID = fmt.Sprint("recreated", i) // which an update changes
		}
		if err := k.Run(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	partitions, ids := map[string]int32{}, map[string][]string{}
	for _, r := range read(t, c, 3*rounds) {
		key := string(r.Key)
		if p, seen := partitions[key]; seen && p != r.Partition {
			t.Errorf("%s is in partitions %d and %d", key, p, r.Partition)
		}
		partitions[key] = r.Partition
		ids[key] = append(ids[key], string(r.Headers[0].Value))
	}
	want := []string{"0/recreated0", "1/recreated1", "2/recreated2", "3/recreated3", "4/recreated4"}
	for _, key := range []string{"local/nginx", "local/redis", "local/traefik"} {
		if !slices.Equal(ids[key], want) {
			t.Errorf("%s: %v", key, ids[key])
		}
	}
}

func TestLoginMechanisms(t *testing.T) {
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		c, o := withLogin(t, mechanism)
		o["authentication.type"] = strings.ToLower(mechanism)
		if err := start(t, o).Run(t.Context(), triggertest.Request("nginx")); err != nil {
			t.Errorf("%s: %v", mechanism, err)
		}
		refuseLogins(c)
		err := start(t, o).Run(t.Context(), triggertest.Request("nginx"))
		if !errors.Is(err, sdk.ErrUnauthorized) || strings.Contains(err.Error(), password) ||
			!strings.Contains(err.Error(), "check authentication.user") {
			t.Errorf("%s, refused: %v", mechanism, err)
		}
	}
	// Without a type it is PLAIN; brokers that only close the connection leave the reason open.
	_, o := withLogin(t, "PLAIN")
	delete(o, "authentication.type")
	if err := start(t, o).Run(t.Context(), triggertest.Request("nginx")); err != nil {
		t.Error(err)
	}
	for _, set := range []map[string]any{{"authentication.password": "wr0ng-s3cret"}, {
		"authentication.user": nil, "authentication.password": nil,
	}} {
		all := maps.Clone(o)
		maps.Copy(all, set)
		err := start(t, all).Run(t.Context(), triggertest.Request("nginx"))
		if !errors.Is(err, sdk.ErrUnavailable) || !strings.Contains(err.Error(), "check ssl and authentication") ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v: %v", set, err)
		}
	}
}

func TestEncryption(t *testing.T) {
	own := sink.Identify(t)
	certificates, ca := []tls.Certificate{own.Certificate}, own.CertFile
	encrypted := options(cluster(t, kfake.TLS(&tls.Config{Certificates: certificates})))
	mutual := options(cluster(t, kfake.TLS(&tls.Config{Certificates: certificates, ClientAuth: tls.RequireAnyClientCert})))
	tests := []struct {
		name  string
		on    map[string]any
		set   map[string]any
		field string // of the error; "" for success
	}{
		{"trusted", encrypted, map[string]any{"ssl": true, "tls.cafile": ca}, ""},
		{"not verified", encrypted, map[string]any{"ssl": "true", "tls.insecure": true}, ""},
		{"unknown authority", encrypted, map[string]any{"ssl": true}, "tls.cafile"},
		{"other name", encrypted, map[string]any{
			"ssl": true, "tls.cafile": ca,
			"brokers": strings.ReplaceAll(encrypted["brokers"].(string), "127.0.0.1", "localhost"),
		}, "brokers"},
		{"no client certificate", mutual, map[string]any{"ssl": true, "tls.cafile": ca}, "tls.certfile"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all := maps.Clone(test.on)
			maps.Copy(all, test.set)
			err := start(t, all).Run(t.Context(), triggertest.Request("nginx"))
			var invalid *sdk.InvalidError
			switch {
			case test.field == "" && err != nil:
				t.Error(err)
			case test.field != "" && (!errors.As(err, &invalid) || invalid.Fields[0].Field != test.field):
				t.Errorf("%v, want an InvalidError about %s", err, test.field)
			}
		})
	}
}

// Deliveries share connections, also when they are made at the same time.
func TestConnectionsAreShared(t *testing.T) {
	c := cluster(t)
	var connections atomic.Int64
	c.ControlKey(kmsg.ApiVersions.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		connections.Add(1) // each starts with this request
		return nil, nil, false
	})
	k := start(t, options(c))
	const deliveries = 20
	var all sync.WaitGroup
	for range deliveries {
		all.Go(func() {
			if err := k.Run(t.Context(), triggertest.Request("nginx")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := connections.Load(); n > 8 {
		t.Errorf("%d connections for %d deliveries", n, deliveries)
	}
}

// One that gives up leaves the others alone.
func TestRunIsCancelled(t *testing.T) {
	reached := make(chan struct{}, 100)
	k := start(t, map[string]any{"brokers": sink.Script(t, "", "", func() { reached <- struct{}{} }).String()})
	first, giveUp := context.WithCancel(t.Context())
	second, giveUpToo := context.WithCancel(t.Context())
	defer giveUp()
	run := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() { done <- k.Run(ctx, triggertest.Request("nginx")) }()
		return done
	}
	one := run(first)
	<-reached
	two := run(second)
	giveUp()
	if err := <-one; !errors.Is(err, context.Canceled) || sdk.Retryable(err) {
		t.Errorf("the first: %v, want only context.Canceled", err)
	}
	<-reached // the second goes on, with a connection of its own
	giveUpToo()
	if err := <-two; !errors.Is(err, context.Canceled) {
		t.Errorf("the second: %v, want context.Canceled", err)
	}
}

func TestDeadline(t *testing.T) {
	err := start(t, map[string]any{
		"brokers": sink.Script(t, "", "", func() {}).String(), "timeout": "50ms",
	}).Run(t.Context(), triggertest.Request("nginx"))
	if !errors.Is(err, sdk.ErrUnavailable) || !strings.Contains(err.Error(), "no answer in time") {
		t.Error(err)
	}
}

// The addresses that brokers advertise are often not those that lead there.
func TestAdvertisedAddress(t *testing.T) {
	c := cluster(t)
	elsewhere := strings.TrimPrefix(plugintest.Unreachable(t), "http://")
	c.ControlKey(kmsg.Metadata.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		response := r.(*kmsg.MetadataRequest).ResponseKind().(*kmsg.MetadataResponse)
		host, port, _ := strings.Cut(elsewhere, ":")
		broker := kmsg.NewMetadataResponseBroker()
		broker.Host = host
		if _, err := fmt.Sscan(port, &broker.Port); err != nil {
			t.Error(err)
		}
		response.Brokers = append(response.Brokers, broker)
		of := kmsg.NewMetadataResponseTopic()
		of.Topic = kmsg.StringPtr(topic)
		partition := kmsg.NewMetadataResponseTopicPartition()
		partition.Replicas, partition.ISR = []int32{0}, []int32{0}
		of.Partitions = append(of.Partitions, partition)
		response.Topics = append(response.Topics, of)
		return response, nil, true
	})
	err := start(t, options(c)).Run(t.Context(), triggertest.Request("nginx"))
	if !errors.Is(err, sdk.ErrUnavailable) || !strings.Contains(err.Error(), elsewhere) ||
		!strings.Contains(err.Error(), "advertise") {
		t.Error(err)
	}
}

func TestEmptyMessage(t *testing.T) {
	c := cluster(t)
	k := start(t, options(c))
	if err := k.Run(t.Context(), trigger.Request{Batch: true}); err != nil {
		t.Error(err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	if err := k.Run(t.Context(), triggertest.Request("nginx")); err == nil {
		t.Error("a closed trigger writes")
	}
}

func BenchmarkRun(b *testing.B) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	k, err := Type().New(sdk.Env{}, options(c))
	if err != nil {
		b.Fatal(err)
	}
	defer k.(io.Closer).Close()
	req := triggertest.Request("nginx")
	for b.Loop() {
		if err := k.Run(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
