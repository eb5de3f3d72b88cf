package protocol

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/dogwatch/dogwatch/sdk"
)

// maxExact is the largest whole number up to which a Struct's numbers, which
// are floating, hold every whole number.
const maxExact = 1 << 53

// EncodeValues puts options into a Struct. What a Struct cannot hold exactly
// travels as the text that a user would have written: option.Decode reads either.
func EncodeValues(values map[string]any) (*structpb.Struct, error) {
	s := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v, err := encodeValue(values[name])
		if err != nil {
			return nil, sdk.Invalid(name, "%v", err)
		}
		s.Fields[name] = v
	}
	return s, nil
}

func encodeValue(v any) (*structpb.Value, error) {
	switch v := v.(type) {
	case time.Duration:
		return structpb.NewStringValue(v.String()), nil
	case int:
		return encodeValue(int64(v))
	case int64:
		if v < -maxExact || v > maxExact {
			return structpb.NewStringValue(strconv.FormatInt(v, 10)), nil
		}
		return structpb.NewNumberValue(float64(v)), nil
	case string:
		if !utf8.ValidString(v) {
			return nil, fmt.Errorf("want UTF-8 text")
		}
		return structpb.NewStringValue(v), nil
	case []string:
		return encodeList(v)
	case []any:
		return encodeList(v)
	case nil, bool, float64:
		return structpb.NewValue(v)
	}
	return nil, fmt.Errorf("a %T cannot be sent to a plugin", v)
}

func encodeList[T any](items []T) (*structpb.Value, error) {
	list := &structpb.ListValue{}
	for _, item := range items {
		v, err := encodeValue(item)
		if err != nil {
			return nil, err
		}
		list.Values = append(list.Values, v)
	}
	return structpb.NewListValue(list), nil
}

// DecodeValues reads what EncodeValues made: texts, float64, bool and []any.
func DecodeValues(s *structpb.Struct) map[string]any {
	if len(s.GetFields()) == 0 {
		return nil
	}
	return s.AsMap()
}
