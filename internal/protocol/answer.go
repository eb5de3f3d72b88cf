package protocol

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/dogwatch/dogwatch/sdk"
)

// Held counts what the answers to the calls of a plugin that are under way occupy, in bytes.
type Held = atomic.Int64

// Answer is what a plugin answers to one call. It refuses what exceeds the bounds before it
// is decoded: on the wire an empty message has two bytes, and decoded some hundreds. It is
// not for concurrent use.
type Answer struct {
	*method
	held *Held
	mine int64 // what it has added to held
	// counts has the entries of each field so far; of what the answer may have several, in all its messages.
	counts []int32
	size   int // what the message that is looked at occupies when it is decoded
	err    error
}

// NewAnswer returns the answer to a call of the method with this full name, which has to be one of
// this protocol. It is counted in held until it is released.
func NewAnswer(fullMethod string, held *Held) *Answer {
	m := methods()[fullMethod]
	return &Answer{method: m, held: held, counts: make([]int32, len(m.fields), 64)}
}

// MaxMessage returns how many bytes one message may have.
func (a *Answer) MaxMessage() int { return a.most }

// Release ends the call: what it was answered belongs to its caller.
func (a *Answer) Release() {
	a.held.Add(-a.mine)
	a.mine = 0
}

// Unmarshal decodes the next message of the answer into m. What this version of the protocol does
// not know is dropped.
func (a *Answer) Unmarshal(b []byte, m proto.Message) error {
	a.err = a.take(b)
	if a.err == nil {
		if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, m); err != nil {
			a.err = a.refuse(err.Error())
		}
	}
	return a.err
}

// Refused returns why the answer was refused, where that is the reason of err, with which its call
// failed; else nil. It is an ErrRefused, and of none of the sdk's kinds.
func (a *Answer) Refused(err error) error {
	if a.err != nil {
		return a.err
	}
	if s := status.Convert(err); s.Code() == codes.ResourceExhausted && strings.HasPrefix(s.Message(), tooLarge) {
		return a.refuse(fmt.Sprintf("a message of it has more than %d bytes", a.most))
	}
	return nil
}

// tooLarge begins what gRPC says of a message that exceeds grpc.MaxCallRecvMsgSize.
const tooLarge = "grpc: received message larger than max"

// ErrRefused is of a call whose answer exceeds the bounds, which is a mistake in the plugin.
var ErrRefused = errors.New("answer refused")

func (a *Answer) refuse(why string) error {
	err := sdk.WithKind(ErrRefused, fmt.Errorf("what the plugin answered to %s is refused: %s", a.name, why))
	return sdk.WithRemedy(err, `tell the author of the plugin; "Bounds" in docs/plugins-writing.md has what a plugin may answer`)
}

// take checks the next message, and counts what is kept of it until the answer is complete: what it
// may have several of.
func (a *Answer) take(b []byte) error {
	before := a.listed()
	for _, f := range a.fields {
		if !f.many() {
			a.counts[f.index] = 0 // each message may have it
		}
	}
	a.size = 0
	if err := a.message(a.shape, 0, b, 1); err != nil {
		return a.refuse(err.Error())
	}
	switch {
	case a.held.Load()+int64(a.size+len(b)) > MaxHeld: // both are there while it is decoded
		const why = "it occupies more than %d MiB, with what other calls under way were answered"
		return a.refuse(fmt.Sprintf(why, MaxHeld>>20))
	case a.listed() > before:
		a.mine += int64(a.size)
		a.held.Add(int64(a.size))
	}
	return nil
}

// listed returns how many entries the answer has so far of what it may have several of.
func (a *Answer) listed() (n int32) {
	for _, f := range a.fields {
		if f.many() {
			n += a.counts[f.index]
		}
	}
	return n
}

// problem is what is wrong with a message: where, from the inside to the outside, and what.
type problem struct{ path, what string }

func (p *problem) Error() string {
	if p.path == "" {
		return p.what
	}
	return p.path + " " + p.what
}

// in returns the problem err of the entry n of a field as one of the message that has it.
func in(f *field, n int32, err error) error {
	path := f.name
	if f.many() {
		path += "[" + strconv.Itoa(int(n)-1) + "]"
	}
	inner := &problem{what: err.Error()}
	if errors.As(err, &inner) && inner.path != "" {
		path += "." + inner.path
	}
	return &problem{path, inner.what}
}

// message checks the encoded message b of a shape. The counts of its fields begin at base.
func (a *Answer) message(s *shape, base int, b []byte, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("is nested more than %d deep", maxDepth)
	}
	a.size += s.held
	texts := 0
	for len(b) > 0 {
		number, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return malformed(n)
		}
		b = b[n:]
		f := s.field(number, typ)
		if f == nil {
			if n = protowire.ConsumeFieldValue(number, typ, b); n < 0 {
				return malformed(n)
			}
			b = b[n:]
			continue
		}
		a.counts[base+f.index]++
		count := a.counts[base+f.index]
		if int(count) > f.entries {
			return tooMany(f)
		}
		a.size += f.held
		n, text, err := a.value(f, base+len(s.fields), b, depth)
		if err != nil {
			return in(f, count, err)
		}
		if texts += text; s.texts > 0 && texts > s.texts {
			return fmt.Errorf("has %d bytes; %d are the most", texts, s.texts)
		}
		b = b[n:]
	}
	return nil
}

func tooMany(f *field) error {
	if f.many() {
		return &problem{f.name, fmt.Sprintf("has more than %d entries", f.entries)}
	}
	return &problem{f.name, "is there twice"}
}

// value checks one value of a field at the beginning of b. It returns its size there, and that
// of its text. Counts from base on are free.
func (a *Answer) value(f *field, base int, b []byte, depth int) (size, text int, err error) {
	switch f.wire {
	case protowire.VarintType:
		_, size = protowire.ConsumeVarint(b)
	case protowire.Fixed32Type:
		var bits uint32
		bits, size = protowire.ConsumeFixed32(b)
		if f.kind == protoreflect.FloatKind {
			err = finite(float64(math.Float32frombits(bits)))
		}
	case protowire.Fixed64Type:
		var bits uint64
		bits, size = protowire.ConsumeFixed64(b)
		if f.kind == protoreflect.DoubleKind {
			err = finite(math.Float64frombits(bits))
		}
	default:
		var v []byte
		v, size = protowire.ConsumeBytes(b)
		switch {
		case size < 0:
		case f.message != nil:
			a.counts = append(a.counts[:base], make([]int32, len(f.message.fields))...)
			err = a.message(f.message, base, v, depth+1)
		case len(v) > f.text:
			err = fmt.Errorf("has %d bytes; %d are the most", len(v), f.text)
		case f.kind == protoreflect.StringKind && !utf8.Valid(v):
			err = errors.New("is not UTF-8")
		default:
			text = len(v)
			a.size += text
		}
	}
	if size < 0 {
		err = malformed(size)
	}
	return size, text, err
}

// malformed is what is wrong where protowire returns n.
func malformed(n int) error { return fmt.Errorf("is no encoded message: %w", protowire.ParseError(n)) }

func finite(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return errors.New("is no finite number")
	}
	return nil
}
