package protocol

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// pair is the two directions of one conversion, as functions of any.
type pair struct {
	zero any           // of the sdk type
	wire proto.Message // of the message type
	to   func(any) proto.Message
	from func(proto.Message) any
}

func both[S any, M proto.Message](to func(S) M, from func(M) S) pair {
	var (
		s S
		m M
	)
	return pair{
		zero: s,
		wire: reflect.New(reflect.TypeOf(m).Elem()).Interface().(proto.Message),
		to:   func(v any) proto.Message { return to(v.(S)) },
		from: func(p proto.Message) any { return from(p.(M)) },
	}
}

func pairs() map[string]pair {
	return map[string]pair{
		"container":        both(EncodeContainer, DecodeContainer),
		"image":            both(encodeImage, decodeImage),
		"digest":           both(encodeDigest, decodeDigest),
		"result":           both(encodeResult, decodeResult),
		"updateKind":       both(encodeUpdateKind, decodeUpdateKind),
		"platform":         both(EncodePlatform, DecodePlatform),
		"type":             both(EncodeType, DecodeType),
		"option":           both(encodeOption, decodeOption),
		"event":            both(EncodeEvent, DecodeEvent),
		"repository":       both(EncodeRepository, DecodeRepository),
		"manifest":         both(EncodeManifest, DecodeManifest),
		"tag":              both(encodeTag, decodeTag),
		"credentials":      both(EncodeCredentials, DecodeCredentials),
		"pull credentials": both(EncodePullCredentials, DecodePullCredentials),
		"limit":            both(encodeLimit, decodeLimit),
		"progress":         both(EncodeProgress, DecodeProgress),
		"plan":             both(EncodePlan, DecodePlan),
		"log":              both(EncodeLog, DecodeLog),
		"operation":        both(EncodeOperation, DecodeOperation),
		"step":             both(EncodeStepProgress, DecodeStepProgress),
		"outcome":          both(EncodeOutcome, DecodeOutcome),
		"requested":        both(EncodeOperationRequest, DecodeOperationRequest),
		"request": both(func(r trigger.Request) *pluginv1.RunRequest {
			m, err := EncodeRequest("instance 0", r)
			if err != nil {
				panic(err)
			}
			return m
		}, DecodeRequest),
	}
}

// Every field that the sdk has crosses the wire, also one that is added later.
func TestEncodeKeepsEveryField(t *testing.T) {
	for name, p := range pairs() {
		t.Run(name, func(t *testing.T) {
			full := reflect.New(reflect.TypeOf(p.zero)).Elem()
			(&filler{t: t}).fill(full, name)
			m := p.to(full.Interface())
			b, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			read := m.ProtoReflect().New().Interface()
			if err := proto.Unmarshal(b, read); err != nil {
				t.Fatal(err)
			}
			if got := p.from(read); !reflect.DeepEqual(got, full.Interface()) {
				t.Errorf("sent %+v\ngot  %+v", full.Interface(), got)
			}
		})
	}
}

// A watcher's container is part of the message: it sets and reads no other field.
func TestListedContainerHasWatcherFieldsOnly(t *testing.T) {
	full := watcher.Container{}
	(&filler{t: t}).fill(reflect.ValueOf(&full).Elem(), "listed")
	m := EncodeListed(full)
	if got := DecodeListed(m); !reflect.DeepEqual(got, full) {
		t.Errorf("sent %+v\ngot  %+v", full, got)
	}
	everything := &pluginv1.Container{}
	fillMessage(everything.ProtoReflect(), new(int))
	if got := EncodeListed(DecodeListed(everything)); proto.Equal(got, everything) || got.Result != nil ||
		got.UpdateKind != nil {
		t.Errorf("a watcher reports %v", got)
	}
	var set []string
	m.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		set = append(set, string(f.Name()))
		return true
	})
	slices.Sort(set)
	if want := []string{"created", "error", "id", "image", "image_labels", "labels", "name",
		"status"}; !slices.Equal(set, want) {
		t.Errorf("a watcher sets %v, want %v", set, want)
	}
	if got := DecodeListed(EncodeListed(watcher.Container{})); !reflect.DeepEqual(got, watcher.Container{}) {
		t.Errorf("sent the zero value, got %+v", got)
	}
}

// Every field that the messages have is read, also one that is added later.
func TestDecodeReadsEveryField(t *testing.T) {
	for name, p := range pairs() {
		t.Run(name, func(t *testing.T) {
			m := p.wire
			fillMessage(m.ProtoReflect(), new(int))
			if name == "request" {
				// The instance stands in the request but is no part of it.
				m.(*pluginv1.RunRequest).Instance = "instance 0"
			}
			if got := p.to(p.from(m)); !proto.Equal(got, m) {
				t.Errorf("sent %v\ngot  %v", m, got)
			}
		})
	}
}

func TestZeroValuesRoundTrip(t *testing.T) {
	for name, p := range pairs() {
		t.Run(name, func(t *testing.T) {
			if got := p.from(p.to(p.zero)); !reflect.DeepEqual(got, p.zero) {
				t.Errorf("sent the zero value, got %#v", got)
			}
		})
	}
}

func TestEmptyListsDecodeAsNil(t *testing.T) {
	sent := sdk.Container{
		Labels: map[string]string{}, Image: sdk.Image{Digest: sdk.Digest{Repos: []string{}}}, Error: &sdk.ContainerError{},
	}
	b, err := proto.Marshal(EncodeContainer(sent))
	if err != nil {
		t.Fatal(err)
	}
	m := &pluginv1.Container{}
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	got := DecodeContainer(m)
	if got.Labels != nil || got.Image.Digest.Repos != nil || got.Error != nil {
		t.Errorf("got %+v", got)
	}
}

func TestInvalidTimeDecodesAsZero(t *testing.T) {
	m := encodeTime(sdk.TimeOf(time.Unix(0, 0)))
	m.Nanos = -1
	if got := decodeTime(m); !got.IsZero() {
		t.Errorf("got %v", got)
	}
}

// The options of an instance arrive as option.Decode reads them.
func TestValuesRoundTripThroughOptionDecode(t *testing.T) {
	type options struct {
		Text  string        `option:"text" help:"x"`
		Whole int64         `option:"whole" help:"x"`
		Big   int64         `option:"big" help:"x"`
		Small int64         `option:"small" help:"x"`
		Float float64       `option:"float" help:"x"`
		Bool  bool          `option:"bool" help:"x"`
		Wait  time.Duration `option:"wait" help:"x"`
		List  []string      `option:"list" help:"x"`
	}
	want := options{"a, b", 42, 1<<63 - 1, -1 << 63, 0.1, true, 1500 * time.Microsecond, []string{"a,b", "c"}}
	sent, err := EncodeValues(option.Values{
		"text": want.Text, "whole": want.Whole, "big": want.Big, "small": want.Small,
		"float": want.Float, "bool": want.Bool, "wait": want.Wait, "list": want.List,
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := proto.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	read := &structpb.Struct{}
	if err := proto.Unmarshal(b, read); err != nil {
		t.Fatal(err)
	}
	got, err := option.Decode[options](DecodeValues(read))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestEncodeValuesNamesInvalidOption(t *testing.T) {
	for name, v := range map[string]any{
		"struct": struct{}{}, "notext": "\xff", "item": []string{"\xff"}, "any": []any{"\xff"},
	} {
		_, err := EncodeValues(map[string]any{name: v})
		if fields := fieldsOf(err); len(fields) != 1 || fields[0].Field != name {
			t.Errorf("%v: got %v", v, err)
		}
	}
}

// filler gives each field a value of its own. It fails the test for a field of
// a type it does not know, so that none is left out.
type filler struct {
	t *testing.T
	n int
}

func (f *filler) fill(v reflect.Value, path string) {
	f.n++
	switch v.Interface().(type) {
	case sdk.Time:
		v.Set(reflect.ValueOf(sdk.TimeOf(time.UnixMilli(1700000000000 + int64(f.n)))))
		return
	case time.Duration:
		v.SetInt(int64(time.Duration(f.n) * time.Second)) // windows have whole seconds
		return
	case option.Type, option.Mask, kind.Kind, kind.Guarantee:
		v.SetString(fmt.Sprintf("%s %d", path, f.n))
		return
	case map[string]any:
		// What arrives of an engine's options is what a Struct holds.
		v.Set(reflect.ValueOf(map[string]any{"socket": "/s", "n": float64(f.n), "on": true, "list": []any{"a"}}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%s é %d", path, f.n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.n))
	case reflect.Float64:
		v.SetFloat(float64(f.n) + 0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0), path+"[0]")
		f.fill(v.Index(1), path+"[1]")
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key, path+".key")
		f.fill(elem, path+".elem")
		v.SetMapIndex(key, elem)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				f.fill(v.Field(i), path+"."+field.Name)
			}
		}
	default:
		f.t.Fatalf("%s: no way to fill a %s", path, v.Type())
	}
}

// fillMessage gives every field of m a value of its own.
func fillMessage(m protoreflect.Message, n *int) {
	if s, ok := m.Interface().(*structpb.Struct); ok {
		s.Fields = map[string]*structpb.Value{"socket": structpb.NewStringValue("/s"), "n": structpb.NewNumberValue(2)}
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsMap():
			m.Mutable(f).Map().Set(scalar(f.MapKey(), n).MapKey(), element(f.MapValue(), m.Mutable(f).Map().NewValue, n))
		case f.IsList():
			list := m.Mutable(f).List()
			list.Append(element(f, list.NewElement, n))
			list.Append(element(f, list.NewElement, n))
		default:
			m.Set(f, element(f, func() protoreflect.Value { return m.NewField(f) }, n))
		}
	}
}

func element(f protoreflect.FieldDescriptor, make func() protoreflect.Value, n *int) protoreflect.Value {
	if f.Message() == nil {
		return scalar(f, n)
	}
	v := make()
	switch f.Message().FullName() {
	case "google.protobuf.Timestamp":
		*n++
		return protoreflect.ValueOfMessage(encodeTime(sdk.TimeOf(time.UnixMilli(1700000000000 + int64(*n)))).ProtoReflect())
	case "google.protobuf.Duration":
		*n++
		return protoreflect.ValueOfMessage(encodeDuration(time.Duration(*n) * time.Second).ProtoReflect())
	default:
		fillMessage(v.Message(), n)
	}
	return v
}

func scalar(f protoreflect.FieldDescriptor, n *int) protoreflect.Value {
	*n++
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(fmt.Sprintf("%s %d", f.Name(), *n))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(*n))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(*n))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(*n))
	}
	panic("no way to fill a " + f.Kind().String())
}
