package protocol

import (
	"reflect"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

// The bounds of what a plugin may answer. "Bounds" in docs/plugins-writing.md has them for authors.
const (
	// MaxMessage bounds one message, in bytes, MaxComponentMessage one of the service Component,
	// which tells what a plugin holds and needs.
	MaxMessage          = 16 << 20
	MaxComponentMessage = 1 << 20
	// MaxText bounds a text, and a label of an image's configuration, in bytes.
	MaxText = 64 << 10
	// MaxContainers and MaxTags bound a list, over all messages of its stream.
	MaxContainers = 10_000
	MaxTags       = 100_000
	// MaxEntries bounds every other list.
	MaxEntries = 1000
	// MaxLabels bounds the labels of a container, and every other map; MaxLabel one of them, name
	// and value together, in bytes.
	MaxLabels = 256
	MaxLabel  = 16 << 10
	// MaxHeld bounds what the answers to the calls of one plugin that are under way occupy when
	// they are decoded, in bytes, with all messages of a list. 10,000 containers with 20 labels
	// and 2 KB of text each are 45 MB, and the host stays below 100 MB with them.
	MaxHeld = 48 << 20
	// maxDepth bounds how deep messages are nested: those of this protocol are five deep.
	maxDepth = 16
	// unknownRoom is what a message may have beyond what this version of the protocol knows.
	unknownRoom = 64 << 10
)

// maxEntries returns how many entries a list or a map may have, and how many a stream may have of
// what the host stores; 1 for any other field.
func maxEntries(f protoreflect.FieldDescriptor) int {
	switch f.FullName() {
	case "dogwatch.plugin.v1.ListResponse.containers", "dogwatch.plugin.v1.DescribeTagsResponse.tags",
		"dogwatch.plugin.v1.RunResponse.operations": // one for each container
		return MaxContainers
	case "dogwatch.plugin.v1.TagsResponse.tags":
		return MaxTags
	case "dogwatch.plugin.v1.UpdateResponse.begin", "dogwatch.plugin.v1.UpdateResponse.end": // one for each step
		return MaxEntries
	}
	switch {
	case f.IsMap():
		return MaxLabels
	case f.IsList():
		return MaxEntries
	}
	return 1
}

// maxText returns how many bytes the texts of a field may have: of a map those of an entry together.
func maxText(f protoreflect.FieldDescriptor) int {
	if f.IsMap() && f.FullName() != "dogwatch.plugin.v1.ImageConfig.labels" {
		return MaxLabel
	}
	return MaxText
}

// shape is what is known of a message before it is decoded. Shapes do not change.
type shape struct {
	// held is what a decoded message occupies without its texts and lists, in bytes.
	held int
	// texts bounds its texts together; 0 for no such bound.
	texts int
	// fields are in the order of their declaration, numbers has them by their number.
	fields  []*field
	numbers []*field
}

// field is a field of a shape.
type field struct {
	name    string
	index   int // in the shape
	kind    protoreflect.Kind
	wire    protowire.Type
	entries int
	text    int
	held    int    // what an entry of a list occupies in it
	message *shape // of messages and of the entries of maps
}

// What entries occupy beside their texts and messages: a string's header and a pointer, with
// what a list that grows keeps free; and in a map both headers, with what it keeps free.
const (
	heldEntry    = 24
	heldMapEntry = 64
)

// method is what is known of the answers to a method.
type method struct {
	*shape
	name string // "Watcher.List"
	most int    // bytes of one message
}

// methods are those of the protocol, by their full names. They do not change.
var methods = sync.OnceValue(func() map[string]*method {
	known, all := map[protoreflect.FullName]*shape{}, map[string]*method{}
	services := pluginv1.File_plugin_proto.Services()
	for i := range services.Len() {
		service, limit := services.Get(i), int64(MaxMessage)
		if service.Name() == "Component" {
			limit = MaxComponentMessage
		}
		for j := range service.Methods().Len() {
			m := service.Methods().Get(j)
			s := shapeOf(m.Output(), known)
			all["/"+string(service.FullName())+"/"+string(m.Name())] = &method{
				shape: s,
				name:  string(service.Name()) + "." + string(m.Name()),
				most:  int(min(s.largest(limit)+unknownRoom, limit)),
			}
		}
	}
	return all
})

// shapeOf returns the shape of a message, from those that are known if it is there.
func shapeOf(m protoreflect.MessageDescriptor, known map[protoreflect.FullName]*shape) *shape {
	if s := known[m.FullName()]; s != nil {
		return s
	}
	s := &shape{held: heldMapEntry}
	known[m.FullName()] = s
	if t, err := protoregistry.GlobalTypes.FindMessageByName(m.FullName()); err == nil {
		s.held = int(reflect.TypeOf(t.Zero().Interface()).Elem().Size())
	}
	for i := range m.Fields().Len() {
		d := m.Fields().Get(i)
		f := &field{name: string(d.Name()), index: i, kind: d.Kind(), wire: wireOf(d.Kind())}
		f.entries, f.text = maxEntries(d), maxText(d)
		if d.IsList() {
			f.held = heldEntry
		}
		if d.Message() != nil {
			f.message = shapeOf(d.Message(), known)
		}
		if d.IsMap() {
			f.message.texts = f.text
			for _, part := range f.message.fields {
				part.text = f.text
			}
		}
		s.fields = append(s.fields, f)
		for len(s.numbers) <= int(d.Number()) {
			s.numbers = append(s.numbers, nil)
		}
		s.numbers[d.Number()] = f
	}
	return s
}

// wireOf returns how values of a kind are on the wire. Lists of numbers, which may be packed, are
// not part of this protocol.
func wireOf(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.DoubleKind, protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		return protowire.Fixed64Type
	case protoreflect.FloatKind, protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		return protowire.Fixed32Type
	}
	return protowire.VarintType
}

// many reports whether there may be several of the field, which are kept until the answer is complete.
func (f *field) many() bool { return f.entries > 1 }

// field returns the one with a number that has the type on the wire; nil for what is not known.
func (s *shape) field(n protowire.Number, t protowire.Type) *field {
	if int(n) >= len(s.numbers) || s.numbers[n] == nil || s.numbers[n].wire != t {
		return nil
	}
	return s.numbers[n]
}

// largest returns how many bytes the message may have on the wire, at most limit.
func (s *shape) largest(limit int64) int64 {
	const head = 16 // the number of a field and the length of its value
	var sum int64
	for _, f := range s.fields {
		entry := int64(head)
		switch {
		case f.message != nil:
			entry += f.message.largest(limit)
		case f.kind == protoreflect.StringKind:
			entry += int64(f.text)
		}
		sum += int64(f.entries) * entry
	}
	return min(sum, limit)
}
