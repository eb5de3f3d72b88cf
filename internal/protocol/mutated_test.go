package protocol_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// hostMemory is the most that the host, and here the server too, may take of wrong messages, in MiB.
const hostMemory = 100

var mutations = flag.Int("mutations", 1000, "how many wrong messages plugins send; 10000 is the soak form")

// rawServer answers every call with the same encoded messages, whatever they are.
type rawServer struct{ messages atomic.Pointer[[][]byte] }

// rawCodec sends bytes as they are, and reads nothing.
type rawCodec struct{}

func (rawCodec) Name() string                         { return "proto" }
func (rawCodec) Unmarshal(mem.BufferSlice, any) error { return nil }
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (s *rawServer) answer(_ any, stream grpc.ServerStream) error {
	if err := stream.RecvMsg(nil); err != nil {
		return err
	}
	for _, m := range *s.messages.Load() {
		if err := stream.SendMsg(m); err != nil {
			return err
		}
	}
	return nil
}

// serveRaw returns a client of a server that answers with what is stored in it.
func serveRaw(t testing.TB) (*pluginclient.Client, *rawServer) {
	t.Helper()
	raw, listener := &rawServer{}, bufconn.Listen(64<<10)
	s := grpc.NewServer(grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(raw.answer))
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	dial := append(pluginclient.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	conn, err := grpc.NewClient("passthrough:///raw", dial...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return pluginclient.NewClient(conn), raw
}

// received is what came of a call: everything that the host is given.
type received []any

func (r *received) add(v any) { *r = append(*r, v) }

// Begin, End and Progress are those of a watcher.Journal.
func (r *received) Begin(_ context.Context, s watcher.Step) error { r.add(s); return nil }
func (r *received) Progress(p watcher.StepProgress)               { r.add(p) }
func (r *received) End(_ context.Context, s watcher.Step, facts map[string]string, _ error) error {
	r.add(s)
	r.add(facts)
	return nil
}

// requests is a state stream whose subscriber requests runs.
type requests struct{ n atomic.Int64 }

func (r *requests) Run(context.Context, string, string) error    { r.n.Add(1); return nil }
func (r *requests) Decide(context.Context, string, string) error { r.n.Add(1); return nil }
func (r *requests) Next(ctx context.Context) (trigger.Change, error) {
	<-ctx.Done()
	return trigger.Change{}, ctx.Err()
}

// call makes a call and returns what the host is given.
type call func(context.Context, *pluginclient.Client) (received, error)

// calls are those of every method of the protocol.
func calls() map[string]call {
	repo := registry.Repository{Host: "docker.io", Name: "library/app"}
	platform := sdk.Platform{OS: "linux", Architecture: "amd64"}
	of := func(v any, err error) (received, error) { return received{v}, err }
	update := func(ctx context.Context, c *pluginclient.Client) (received, error) {
		var got received
		outcome, err := c.Watcher("w").Apply(ctx, watcher.Operation{ID: "a"}, &got)
		got.add(outcome)
		return got, err
	}
	run := func(ctx context.Context, c *pluginclient.Client) (received, error) {
		var got received
		req := trigger.Request{Containers: []sdk.Container{{ID: "id 1"}}}.WithReport(func(p trigger.Progress) { got.add(p) })
		err := c.Trigger("t").Run(ctx, req.WithOperate(func(o trigger.OperationRequest) error { got.add(o); return nil }))
		return got, err
	}
	watch := func(ctx context.Context, c *pluginclient.Client) (received, error) {
		var got received
		err := c.Watcher("w").Watch(ctx, func(e watcher.Event) { got.add(e) })
		return got, err
	}
	type client = *pluginclient.Client
	return map[string]call{
		"Component/Describe": func(ctx context.Context, c client) (received, error) { return of(c.Describe(ctx)) },
		"Component/Configure": func(ctx context.Context, c client) (received, error) {
			return of(c.Configure(ctx, pluginclient.Instance{ID: "w"}))
		},
		"Component/Release": func(ctx context.Context, c client) (received, error) { return nil, c.Release(ctx, "w") },
		"Component/Probe": func(ctx context.Context, c client) (received, error) {
			return of(c.Probe(ctx, "w", sdk.ProbeRequest{}))
		},
		"Watcher/List":  func(ctx context.Context, c client) (received, error) { return of(c.Watcher("w").List(ctx)) },
		"Watcher/Watch": watch,
		"Watcher/Plan": func(ctx context.Context, c client) (received, error) {
			return of(c.Watcher("w").Plan(ctx, watcher.UpdateRequest{}))
		},
		"Watcher/Update": update,
		"Watcher/ReadLog": func(ctx context.Context, c client) (received, error) {
			return of(c.Watcher("w").ReadLog(ctx, watcher.LogRequest{Lines: 1}))
		},
		"Watcher/PullCredentials": func(ctx context.Context, c client) (received, error) {
			return of(c.Watcher("w").PullCredentials(ctx, []string{"c1"}))
		},
		"Registry/Tags": func(ctx context.Context, c client) (received, error) {
			return of(c.Registry("r").Tags(ctx, repo, ""))
		},
		"Registry/Resolve": func(ctx context.Context, c client) (received, error) {
			return of(c.Registry("r").Resolve(ctx, repo, "1"))
		},
		"Registry/Manifest": func(ctx context.Context, c client) (received, error) {
			return of(c.Registry("r").Manifest(ctx, repo, "sha256:1", platform))
		},
		"Registry/Credentials": func(ctx context.Context, c client) (received, error) {
			return of(c.Registry("r").Credentials(ctx, repo))
		},
		"Registry/Limits": func(ctx context.Context, c client) (received, error) { return of(c.Registry("r").Limits(ctx)) },
		"Registry/ImageConfig": func(ctx context.Context, c client) (received, error) {
			return of(c.Registry("r").ImageConfig(ctx, repo, "sha256:1", platform))
		},
		"Registry/DescribeTags": func(ctx context.Context, c client) (received, error) {
			return of(c.Registry("r").DescribeTags(ctx, repo, "", platform))
		},
		"Trigger/Run": run,
		"Trigger/Follow": func(ctx context.Context, c client) (received, error) {
			return nil, c.Trigger("t").Subscribe(ctx, &requests{})
		},
	}
}

// method is one of the protocol, and a right answer to it.
type method struct {
	name  string
	call  call
	right []byte
	// fields are the numbers of those that an answer has, and of one that none has.
	fields []protowire.Number
}

// everyMethod returns all of the protocol.
func everyMethod(t testing.TB) (all []method) {
	t.Helper()
	known := calls()
	services := pluginv1.File_plugin_proto.Services()
	for i := range services.Len() {
		for j := range services.Get(i).Methods().Len() {
			m := services.Get(i).Methods().Get(j)
			name := string(services.Get(i).Name()) + "/" + string(m.Name())
			if known[name] == nil {
				t.Fatalf("nothing calls %s", name)
			}
			typ, err := protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
			if err != nil {
				t.Fatal(err)
			}
			answer := typ.New().Interface()
			protocol.Fill(answer)
			b, err := proto.MarshalOptions{Deterministic: true}.Marshal(answer)
			if err != nil {
				t.Fatal(err)
			}
			of := method{name, known[name], b, []protowire.Number{15}}
			for k := range m.Output().Fields().Len() {
				of.fields = append(of.fields, m.Output().Fields().Get(k).Number())
			}
			all = append(all, of)
		}
	}
	return all
}

// sane returns what is wrong with something that the host is given.
func sane(v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		if text := v.String(); !utf8.ValidString(text) || len(text) > protocol.MaxText {
			return fmt.Errorf("a text of %d bytes, UTF-8: %t", len(text), utf8.ValidString(text))
		}
	case reflect.Float64:
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			return fmt.Errorf("the number %v", v.Float())
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return sane(v.Elem())
		}
	case reflect.Slice:
		if v.Len() > protocol.MaxTags {
			return fmt.Errorf("a list of %d", v.Len())
		}
		for i := range v.Len() {
			if err := sane(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		if v.Len() > protocol.MaxLabels {
			return fmt.Errorf("a map of %d", v.Len())
		}
		for key, value := range v.Seq2() {
			if err := errors.Join(sane(key), sane(value)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return saneStruct(v)
	}
	return nil
}

func saneStruct(v reflect.Value) error {
	if at, ok := v.Interface().(sdk.Time); ok {
		if at.Year() < 0 || at.Year() > 9999 {
			return fmt.Errorf("the time %v", at)
		}
		return nil
	}
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if err := sane(v.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", v.Type().Field(i).Name, err)
		}
	}
	return nil
}

// occupied returns what this process has of memory for Go, in bytes.
func occupied() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// peak samples the memory until it is stopped, with the collector of the host.
func peak(t testing.TB) (stop func() uint64) {
	before := debug.SetGCPercent(40)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	debug.FreeOSMemory()
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		highest := uint64(0)
		for {
			highest = max(highest, occupied())
			select {
			case <-done:
				most <- highest
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(done); return <-most }
}

// TestMutatedAnswersDoNoHarm: whatever the messages of a plugin are, each call ends with an error or
// something sane, and the host neither panics nor grows.
func TestMutatedAnswersDoNoHarm(t *testing.T) {
	client, server := serveRaw(t)
	all := everyMethod(t)
	r := mutator{Rand: rand.New(rand.NewPCG(23, 5))}
	for _, m := range all {
		r.others = append(r.others, m.right)
	}
	goroutines := runtime.NumGoroutine()
	stop, taken, refused := peak(t), 0, map[string]int{}
	for sent := 0; sent < *mutations; {
		m := all[sent%len(all)]
		messages := make([][]byte, 1+r.IntN(5)/4) // two are wrong where there is no stream
		for i := range messages {
			messages[i] = r.mutated(m.right)
		}
		if sent++; r.IntN(8) == 0 {
			messages = append([][]byte{m.right}, messages...)
		}
		got, err := m.ask(t, client, server, messages)
		if err == nil {
			taken++
		} else {
			refused[m.name]++
		}
		if err := sane(reflect.ValueOf([]any(got))); err != nil {
			t.Fatalf("message %d, %s: the host is given %v", sent, m.name, err)
		}
	}
	most := stop() >> 20
	t.Logf("%d messages: %d calls succeeded, others failed: %v; %d MiB at most", *mutations, taken, refused, most)
	if most > hostMemory {
		t.Errorf("the host takes %d MiB, want %d at most", most, hostMemory)
	}
	if taken < *mutations/50 || taken > *mutations/2 {
		t.Errorf("%d of %d messages were taken: they are not as wrong as they should be", taken, *mutations)
	}
	if n := runtime.NumGoroutine(); n > goroutines+50 {
		t.Errorf("%d goroutines, and %d before", n, goroutines)
	}
}

// ask makes the call with these messages as the answer.
func (m method) ask(
	t *testing.T, client *pluginclient.Client, server *rawServer, messages [][]byte,
) (got received, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server.messages.Store(&messages)
	got, err = m.call(ctx, client)
	if ctx.Err() != nil {
		t.Fatalf("%s does not end: %v", m.name, err)
	}
	return got, err
}

// TestRightAnswersAreTaken: those that are mutated are right themselves.
func TestRightAnswersAreTaken(t *testing.T) {
	client, server := serveRaw(t)
	for _, m := range everyMethod(t) {
		if _, err := m.ask(t, client, server, [][]byte{m.right}); err != nil && m.name != "Trigger/Run" {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// TestLargeAnswersDoNoHarm: large messages of what becomes largest when it is decoded: empty entries.
func TestLargeAnswersDoNoHarm(t *testing.T) {
	client, server := serveRaw(t)
	stop := peak(t)
	for _, m := range everyMethod(t) {
		for _, number := range m.fields {
			for _, value := range [][]byte{{}, {0x0a, 0}, slices.Repeat([]byte{0x0a, 0}, 60)} {
				field := protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
				message := slices.Repeat(field, protocol.MaxComponentMessage/len(field))
				if got, err := m.ask(t, client, server, [][]byte{message}); err == nil && len(got) > 0 {
					if err := sane(reflect.ValueOf([]any(got))); err != nil {
						t.Errorf("%s: the host is given %v", m.name, err)
					}
				}
			}
		}
	}
	most := stop() >> 20
	t.Logf("%d MiB at most", most)
	if most > hostMemory {
		t.Errorf("the host takes %d MiB, want %d at most", most, hostMemory)
	}
}
