package protocol

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/dogwatch/dogwatch/sdk"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

// Of the methods whose answers the tests look at.
const (
	describeMethod = MethodPrefix + "Component/Describe"
	listMethod     = MethodPrefix + "Watcher/List"
	updateMethod   = MethodPrefix + "Watcher/Update"
	tagsMethod     = MethodPrefix + "Registry/Tags"
)

func encoded(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := (proto.MarshalOptions{AllowPartial: true}).Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// labelsOf are n labels, and one more of so many bytes where that is no 0.
func labelsOf(n, large int) map[string]string {
	labels := map[string]string{}
	for i := range n {
		labels[fmt.Sprint("label", i)] = "x"
	}
	if large > 0 {
		labels["large"] = strings.Repeat("x", large-len("large"))
	}
	return labels
}

func containers(n int, c *pluginv1.Container) *pluginv1.ListResponse {
	return &pluginv1.ListResponse{Containers: slices.Repeat([]*pluginv1.Container{c}, n)}
}

func one(c *pluginv1.Container) *pluginv1.ListResponse { return containers(1, c) }

// nested is a message in a message and so on; field 1 of each has the next.
func nested(deep int) (b []byte) {
	for range deep {
		b = lengthDelimited(1, b)
	}
	return b
}

// pages are the messages of an answer.
func pages(t testing.TB, messages ...proto.Message) (all [][]byte) {
	for _, m := range messages {
		all = append(all, encoded(t, m))
	}
	return all
}

// repeated is the same message n times.
func repeated(n int, m proto.Message) []proto.Message { return slices.Repeat([]proto.Message{m}, n) }

// lengthDelimited is a field that has a text or a message.
func lengthDelimited(number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
}

// boundCase is an answer, and what is said of it; "" for one that is taken.
type boundCase struct {
	method string
	pages  [][]byte
	says   string
}

// listCases are answers with lists and texts.
func listCases(t *testing.T) map[string]boundCase {
	text, small := strings.Repeat("x", MaxText), &pluginv1.Container{Id: "a"}
	list := func(says string, messages ...proto.Message) boundCase {
		return boundCase{listMethod, pages(t, messages...), says}
	}
	tags := func(says string, n int, messages ...proto.Message) boundCase {
		all := pages(t, append(messages, &pluginv1.TagsResponse{Tags: make([]string, n), Validator: "a"})...)
		return boundCase{tagsMethod, all, says}
	}
	repos := &pluginv1.Digest{Repos: make([]string, MaxEntries+1)}
	large := &pluginv1.TagsResponse{Tags: slices.Repeat([]string{text}, 200)}
	const most = "containers has more than 10000 entries"
	const together = "it occupies more than 48 MiB, with what other calls under way were answered"
	return map[string]boundCase{
		"containers":       list("", containers(MaxContainers, small)),
		"a container more": list("Watcher.List is refused: "+most, containers(MaxContainers+1, small)),
		"of two pages":     list(most, containers(MaxContainers, small), one(small)),
		"empty containers": list(most, containers(MaxContainers+1, &pluginv1.Container{})),
		"labels":           list("", one(&pluginv1.Container{Labels: labelsOf(MaxLabels-1, MaxLabel)})),
		"a label more": list("containers[0].labels has more than 256 entries",
			one(&pluginv1.Container{Labels: labelsOf(MaxLabels+1, 0)})),
		"a larger label": list("containers[0].labels[0] has 16385 bytes; 16384 are the most",
			one(&pluginv1.Container{Labels: labelsOf(0, MaxLabel+1)})),
		"a large name of a label": list("containers[0].labels[0].key has 65536 bytes; 16384 are the most",
			one(&pluginv1.Container{Labels: map[string]string{text: ""}})),
		"a text": list("", one(&pluginv1.Container{Name: text})),
		"a larger text": list("containers[1].name has 65537 bytes; 65536 are the most",
			one(small), one(&pluginv1.Container{Name: text + "x"})),
		"a list within": list("containers[0].image.digest.repos has more than 1000 entries",
			one(&pluginv1.Container{Image: &pluginv1.Image{Digest: repos}})),
		"all together": list(together, repeated(31, containers(100, &pluginv1.Container{Labels: labelsOf(0, MaxLabel)}))...),
		"tags":         tags("", MaxTags),
		"a tag more":   tags("Registry.Tags is refused: tags has more than 100000 entries", MaxTags+1),
		"large tags":   tags(together, 1, repeated(4, large)...),
	}
}

// streamCases are answers that go on and on.
func streamCases(t *testing.T) map[string]boundCase {
	update := func(says string, n int, m *pluginv1.UpdateResponse) boundCase {
		return boundCase{updateMethod, pages(t, repeated(n, m)...), says}
	}
	begin := &pluginv1.UpdateResponse{Begin: &pluginv1.Step{Id: "a"}}
	end := &pluginv1.UpdateResponse{End: &pluginv1.StepRecord{Facts: labelsOf(0, MaxLabel)}}
	progress := &pluginv1.UpdateResponse{Progress: &pluginv1.StepProgress{Message: strings.Repeat("x", 6000)}}
	return map[string]boundCase{
		"steps":              update("", MaxEntries, begin),
		"a step more":        update("Watcher.Update is refused: begin has more than 1000 entries", MaxEntries+1, begin),
		"facts more":         update("end has more than 1000 entries", MaxEntries+1, end),
		"progress for hours": update("", 10_000, progress),
	}
}

// encodingCases are answers that are not as this protocol encodes them.
func encodingCases(t *testing.T) map[string]boundCase {
	number := func(says string, v float64) boundCase {
		types := []*pluginv1.TypeInfo{{Options: []*pluginv1.Option{{}, {Max: &v}}}}
		return boundCase{describeMethod, pages(t, &pluginv1.DescribeResponse{Types: types}), says}
	}
	describe := func(says string, b []byte) boundCase { return boundCase{describeMethod, [][]byte{b}, says} }
	list := func(says string, b []byte) boundCase { return boundCase{listMethod, [][]byte{b}, says} }
	version := encoded(t, &pluginv1.DescribeResponse{Version: "1"})
	image := encoded(t, &pluginv1.Container{Image: &pluginv1.Image{Name: "a"}})
	whole := encoded(t, one(&pluginv1.Container{Id: "a"}))
	groups := slices.Repeat(protowire.AppendTag(nil, 99, protowire.StartGroupType), 100_000)
	return map[string]boundCase{
		"a finite number":    number("", math.MaxFloat64),
		"NaN":                number("types[0].options[1].max is no finite number", math.NaN()),
		"infinity":           number("types[0].options[1].max is no finite number", math.Inf(-1)),
		"not UTF-8":          describe("version is not UTF-8", lengthDelimited(1, []byte("a\xff"))),
		"twice the same":     describe("version is there twice", slices.Repeat(version, 2)),
		"twice an image":     list("containers[0].image is there twice", lengthDelimited(1, slices.Repeat(image, 2))),
		"deep unknown":       describe("", lengthDelimited(99, nested(10_000))),
		"deep unknown group": describe("is no encoded message", groups),
		"cut off":            list("containers[0] is no encoded message: unexpected EOF", whole[:3]),
		"another wire type":  list("", protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 7)),
		"empty":              list("", nil),
	}
}

// TestAnswerHasBounds: what exceeds a bound by one is refused with a sentence, and what is at it is not.
func TestAnswerHasBounds(t *testing.T) {
	cases := listCases(t)
	maps.Copy(cases, streamCases(t))
	maps.Copy(cases, encodingCases(t))
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			held := new(Held)
			a := NewAnswer(test.method, held)
			var err error
			for _, page := range test.pages {
				if err = a.Unmarshal(page, a.new()); err != nil {
					break
				}
			}
			failed := status.Error(codes.Internal, "grpc: failed to unmarshal")
			says := ""
			if err != nil {
				says = err.Error()
			}
			refused := strings.HasPrefix(says, "what the plugin answered to ")
			switch {
			case !strings.Contains(says, test.says), (says == "") != (test.says == ""):
				t.Errorf("says %q, want %q in it", says, test.says)
			case err == nil:
			case !refused || !strings.Contains(sdk.Remedy(err), "docs/plugins-writing.md"):
				t.Errorf("says %v, and as its remedy %q", err, sdk.Remedy(err))
			case !errors.Is(a.Refused(failed), err):
				t.Errorf("the call failed with %v", a.Refused(failed))
			}
			if a.Release(); held.Load() != 0 {
				t.Errorf("%d bytes are held after the call", held.Load())
			}
		})
	}
}

// new returns an empty message of the answer.
func (a *Answer) new() proto.Message {
	m := map[string]proto.Message{
		describeMethod: &pluginv1.DescribeResponse{}, listMethod: &pluginv1.ListResponse{},
		updateMethod: &pluginv1.UpdateResponse{}, tagsMethod: &pluginv1.TagsResponse{},
	}
	return m[MethodPrefix+strings.Replace(a.name, ".", "/", 1)]
}

// TestAnswersUnderWayAreBoundedTogether: many calls at a time get no more than one.
func TestAnswersUnderWayAreBoundedTogether(t *testing.T) {
	held := new(Held)
	page := encoded(t, &pluginv1.TagsResponse{Tags: slices.Repeat([]string{strings.Repeat("x", MaxText)}, 200)})
	var taken []*Answer
	for {
		a := NewAnswer(tagsMethod, held)
		if err := a.Unmarshal(page, &pluginv1.TagsResponse{}); err != nil {
			break
		}
		taken = append(taken, a)
	}
	if n := len(taken); n < 2 || n*len(page) > MaxHeld {
		t.Errorf("%d answers of %d bytes were taken", n, len(page))
	}
	taken[0].Release()
	if err := NewAnswer(tagsMethod, held).Unmarshal(page, &pluginv1.TagsResponse{}); err != nil {
		t.Errorf("after one call has ended: %v", err)
	}
}

// TestTenThousandContainersAreTaken: those of the largest engine that is provided for, with what
// containers of compose projects have.
func TestTenThousandContainersAreTaken(t *testing.T) {
	page := listing(1)
	for _, c := range page.Containers {
		c.Labels["com.docker.compose.config"] = strings.Repeat("x", 700)
	}
	one := encoded(t, page)
	t.Logf("%d bytes each", len(one))
	held := new(Held)
	a := NewAnswer(listMethod, held)
	for range MaxContainers / 500 {
		if err := a.Unmarshal(slices.Repeat(one, 500), &pluginv1.ListResponse{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d MiB held", held.Load()>>20)
}

// TestEveryFieldOfAnswersHasABound: no field is of a kind whose size is not bounded, and the bound
// of a message leaves room for every other.
func TestEveryFieldOfAnswersHasABound(t *testing.T) {
	bound := map[protoreflect.Kind]bool{
		protoreflect.StringKind: true, protoreflect.MessageKind: true, protoreflect.BoolKind: true,
		protoreflect.DoubleKind: true, protoreflect.Int32Kind: true, protoreflect.Int64Kind: true,
	}
	seen := map[*shape]bool{}
	var look func(path string, s *shape, deep int)
	look = func(path string, s *shape, deep int) {
		if deep > maxDepth {
			t.Fatalf("%s is nested deeper than answers may be", path)
		}
		if seen[s] {
			return
		}
		seen[s] = true
		for _, f := range s.fields {
			at := path + "." + f.name
			listed := f.kind == protoreflect.StringKind || f.kind == protoreflect.MessageKind
			if !bound[f.kind] || f.many() && !listed {
				t.Errorf("%s is a %s, of which nothing is bounded", at, f.kind)
			}
			if f.message != nil {
				look(at, f.message, deep+1)
			}
		}
	}
	for name, m := range methods() {
		look(name, m.shape, 1)
		limit := MaxMessage
		if strings.HasPrefix(m.name, "Component.") {
			limit = MaxComponentMessage
		}
		if m.most > limit || m.most < unknownRoom {
			t.Errorf("a message of %s may have %d bytes", name, m.most)
		}
	}
	if most := methods()[MethodPrefix+"Registry/Resolve"].most; most > 4*MaxText {
		t.Errorf("the answer to Resolve, a digest, may have %d bytes", most)
	}
}
