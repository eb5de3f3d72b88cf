package protocol

import (
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// MakeValid replaces what is not UTF-8 in the texts of m: one broken label or
// server message must not make a whole list impossible to encode.
func MakeValid(m proto.Message) { makeValidMessage(m.ProtoReflect()) }

func makeValidMessage(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
			makeValidMap(f, v.Map())
		case f.IsList():
			makeValidList(f, v.List())
		case f.Message() != nil:
			makeValidMessage(v.Message())
		case f.Kind() == protoreflect.StringKind:
			if text := v.String(); !utf8.ValidString(text) {
				m.Set(f, validValue(text))
			}
		}
		return true
	})
}

func makeValidList(f protoreflect.FieldDescriptor, list protoreflect.List) {
	for i := range list.Len() {
		switch {
		case f.Message() != nil:
			makeValidMessage(list.Get(i).Message())
		case f.Kind() == protoreflect.StringKind:
			if text := list.Get(i).String(); !utf8.ValidString(text) {
				list.Set(i, validValue(text))
			}
		}
	}
}

func makeValidMap(f protoreflect.FieldDescriptor, m protoreflect.Map) {
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		switch {
		case f.MapValue().Message() != nil:
			makeValidMessage(v.Message())
		case f.MapValue().Kind() == protoreflect.StringKind:
			if text := v.String(); !utf8.ValidString(text) {
				m.Set(k, validValue(text))
			}
		}
		if key, ok := k.Interface().(string); ok && !utf8.ValidString(key) {
			v = m.Get(k)
			m.Clear(k)
			m.Set(validValue(key).MapKey(), v)
		}
		return true
	})
}

func validValue(text string) protoreflect.Value {
	return protoreflect.ValueOfString(strings.ToValidUTF8(text, "\uFFFD"))
}
