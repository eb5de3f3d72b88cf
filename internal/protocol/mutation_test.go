package protocol_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// mutator makes wrong messages of right ones, the same ones from the same seed.
type mutator struct {
	*rand.Rand
	others [][]byte // messages of other calls
}

// mutated returns a copy of a message with one to three mutations.
func (r mutator) mutated(message []byte) []byte {
	b := bytes.Clone(message)
	for range 1 + r.IntN(3) {
		all := []func([]byte) []byte{
			r.flipBits, r.cutOff, r.repeatField, r.claimLength, r.changeType, r.breakText, r.nest, r.notANumber,
			r.unknownField, r.enlargeText, r.splice, r.overwrite, r.manyEntries,
		}
		b = all[r.IntN(len(all))](b)
	}
	return b
}

// span is where a field is in a message: its tag, and its value with the length before it.
type span struct {
	from, value, end int
	number           protowire.Number
	typ              protowire.Type
}

// fields returns those of a message, and of the messages within as far as they look like some.
func fields(b []byte, at, deep int) (all []span) {
	for from := 0; from < len(b); {
		number, typ, tag := protowire.ConsumeTag(b[from:])
		if tag < 0 {
			return all
		}
		size := protowire.ConsumeFieldValue(number, typ, b[from+tag:])
		if size < 0 {
			return all
		}
		end := from + tag + size
		all = append(all, span{at + from, at + from + tag, at + end, number, typ})
		if typ == protowire.BytesType && deep > 0 {
			v, _ := protowire.ConsumeBytes(b[from+tag:])
			all = append(all, fields(v, at+end-len(v), deep-1)...)
		}
		from = end
	}
	return all
}

// pick returns a field of a message at random; of an empty one there is none.
func (r mutator) pick(b []byte, right func(span) bool) (span, bool) {
	all := slices.DeleteFunc(fields(b, 0, 4), func(s span) bool { return !right(s) })
	if len(all) == 0 {
		return span{}, false
	}
	return all[r.IntN(len(all))], true
}

func anyField(span) bool { return true }

func isBytes(s span) bool { return s.typ == protowire.BytesType }

func (r mutator) flipBits(b []byte) []byte {
	for range 1 + r.IntN(8) {
		if len(b) > 0 {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
	}
	return b
}

func (r mutator) cutOff(b []byte) []byte { return b[:r.IntN(len(b)+1)] }

// repeatField has a field, with the same ids, many times.
func (r mutator) repeatField(b []byte) []byte {
	s, found := r.pick(b, anyField)
	if !found {
		return b
	}
	field, most := b[s.from:s.end], 1+(64<<10)/(s.end-s.from)
	return slices.Concat(b[:s.end], bytes.Repeat(field, 1+r.IntN(min(2000, most))), b[s.end:])
}

// claimLength has a text or a message claim another length than it has.
func (r mutator) claimLength(b []byte) []byte {
	s, found := r.pick(b, isBytes)
	if !found {
		return b
	}
	claims := []uint64{0, 1, uint64(r.IntN(300)), 1 << 24, math.MaxInt32, math.MaxInt64, math.MaxUint64}
	_, size := protowire.ConsumeVarint(b[s.value:])
	return slices.Concat(b[:s.value], protowire.AppendVarint(nil, claims[r.IntN(len(claims))]), b[s.value+size:])
}

// changeType gives a field another type on the wire.
func (r mutator) changeType(b []byte) []byte {
	if s, found := r.pick(b, anyField); found {
		b[s.from] = b[s.from]&^7 | byte(r.IntN(8))
	}
	return b
}

// breakText puts what is no UTF-8, or a control character, into a text.
func (r mutator) breakText(b []byte) []byte {
	s, found := r.pick(b, isBytes)
	if !found || s.end-s.value < 2 {
		return b
	}
	wrong := []byte{0xff, 0xc0, 0x80, 0xed, 0xf8, 0, 0x1b, 0x7f}
	b[s.value+1+r.IntN(s.end-s.value-1)] = wrong[r.IntN(len(wrong))]
	return b
}

// nest puts a message into a message and so on, or begins group after group.
func (r mutator) nest(b []byte) []byte {
	number := protowire.Number(1 + r.IntN(30))
	deep := 1 + r.IntN(3000)
	if r.IntN(4) == 0 {
		return append(b, bytes.Repeat(protowire.AppendTag(nil, number, protowire.StartGroupType), deep)...)
	}
	sizes := []int{len(b)} // from the inside to the outside
	for range deep {
		inner := sizes[len(sizes)-1]
		sizes = append(sizes, protowire.SizeTag(number)+protowire.SizeBytes(inner))
	}
	var around []byte
	for _, inner := range slices.Backward(sizes[:deep]) {
		around = protowire.AppendTag(around, number, protowire.BytesType)
		around = protowire.AppendVarint(around, uint64(inner))
	}
	return append(around, b...)
}

// notANumber gives a number a value that is none, or the largest one.
func (r mutator) notANumber(b []byte) []byte {
	number := protowire.Number(1 + r.IntN(20))
	values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64}
	if s, found := r.pick(b, func(s span) bool { return s.typ == protowire.VarintType }); found && r.IntN(2) == 0 {
		return slices.Concat(b[:s.value], protowire.AppendVarint(nil, math.MaxUint64-r.Uint64N(3)), b[s.end:])
	}
	bits := math.Float64bits(values[r.IntN(len(values))])
	if s, found := r.pick(b, func(s span) bool { return s.typ == protowire.Fixed64Type }); found {
		return slices.Concat(b[:s.value], protowire.AppendFixed64(nil, bits), b[s.end:])
	}
	return protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), bits)
}

// unknownField adds a field of any number and type.
func (r mutator) unknownField(b []byte) []byte {
	number := protowire.Number(1 + r.IntN(1<<r.IntN(29)))
	switch r.IntN(4) {
	case 0:
		return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), r.Uint64())
	case 1:
		return protowire.AppendFixed32(protowire.AppendTag(b, number, protowire.Fixed32Type), r.Uint32())
	case 2:
		b = protowire.AppendTag(b, number, protowire.StartGroupType)
		return protowire.AppendTag(b, number, protowire.EndGroupType)
	}
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), make([]byte, r.IntN(4096)))
}

// enlargeText makes a text long; what is around it has the wrong length then, half of the time.
func (r mutator) enlargeText(b []byte) []byte {
	text := bytes.Repeat([]byte("x"), r.IntN(100<<10))
	if s, found := r.pick(b, isBytes); found && r.IntN(2) == 0 {
		return slices.Concat(b[:s.value], protowire.AppendBytes(nil, text), b[s.end:])
	}
	return protowire.AppendBytes(protowire.AppendTag(b, protowire.Number(1+r.IntN(12)), protowire.BytesType), text)
}

// splice continues with the end of a message of another call.
func (r mutator) splice(b []byte) []byte {
	other := r.others[r.IntN(len(r.others))]
	return append(b[:r.IntN(len(b)+1)], other[r.IntN(len(other)+1):]...)
}

func (r mutator) overwrite(b []byte) []byte {
	for at := r.IntN(len(b) + 1); at < len(b) && r.IntN(8) > 0; at++ {
		b[at] = byte(r.Uint32())
	}
	return b
}

// manyEntries adds empty entries to a list, each of two bytes.
func (r mutator) manyEntries(b []byte) []byte {
	empty := protowire.AppendBytes(protowire.AppendTag(nil, protowire.Number(1+r.IntN(15)), protowire.BytesType), nil)
	return append(b, bytes.Repeat(empty, r.IntN(20_000))...)
}
