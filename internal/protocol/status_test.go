package protocol

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/dogwatch/dogwatch/sdk"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

func fieldsOf(err error) []sdk.FieldError {
	var invalid *sdk.InvalidError
	if errors.As(err, &invalid) {
		return invalid.Fields
	}
	return nil
}

// there returns what err becomes on its way from a plugin to the host.
func there(t *testing.T, err error) error {
	t.Helper()
	b, marshalErr := proto.Marshal(EncodeError(err).Proto())
	if marshalErr != nil {
		t.Fatal(marshalErr)
	}
	p := &spb.Status{}
	if err := proto.Unmarshal(b, p); err != nil {
		t.Fatal(err)
	}
	return DecodeError(context.Background(), status.ErrorProto(p))
}

func TestErrorRoundTripKeepsKindAndText(t *testing.T) {
	cause := errors.New("dial mx: refused")
	for name, c := range map[string]struct {
		err  error
		code codes.Code
		is   error
	}{
		"unauthorized":         {sdk.WithKind(sdk.ErrUnauthorized, cause), codes.Unauthenticated, sdk.ErrUnauthorized},
		"wrapped unauthorized": {fmt.Errorf("log in: %w", sdk.ErrUnauthorized), codes.Unauthenticated, sdk.ErrUnauthorized},
		"bare":                 {sdk.ErrNotFound, codes.NotFound, sdk.ErrNotFound},
		"not found":            {sdk.WithKind(sdk.ErrNotFound, cause), codes.NotFound, sdk.ErrNotFound},
		"unavailable":          {sdk.WithKind(sdk.ErrUnavailable, cause), codes.Unavailable, sdk.ErrUnavailable},
		"unsupported":          {sdk.WithKind(sdk.ErrUnsupported, cause), codes.Unimplemented, sdk.ErrUnsupported},
		"deadline": {fmt.Errorf("send: %w", context.DeadlineExceeded), codes.DeadlineExceeded,
			context.DeadlineExceeded},
		"slow and unavailable": {sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("send: %w", context.DeadlineExceeded)),
			codes.Unavailable, sdk.ErrUnavailable},
		"canceled":         {fmt.Errorf("send: %w", context.Canceled), codes.Canceled, context.Canceled},
		"unknown instance": {fmt.Errorf("trigger.a.b: %w", ErrUnknownInstance), codes.FailedPrecondition, ErrUnknownInstance},
		"no kind":          {cause, codes.Internal, nil},
		"not UTF-8":        {errors.New("caf\xe9"), codes.Internal, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := EncodeError(c.err).Code(); got != c.code {
				t.Errorf("the code is %s, want %s", got, c.code)
			}
			got := there(t, c.err)
			if want := strings.ToValidUTF8(c.err.Error(), "\uFFFD"); got.Error() != want {
				t.Errorf("the text is %q, want %q", got, want)
			}
			if c.is != nil && !errors.Is(got, c.is) {
				t.Errorf("%v is no %v", got, c.is)
			}
			for _, kind := range []error{sdk.ErrUnauthorized, sdk.ErrNotFound, sdk.ErrUnsupported, ErrGone, ErrUnknownInstance} {
				if kind != c.is && errors.Is(got, kind) {
					t.Errorf("%v is a %v too", got, kind)
				}
			}
		})
	}
}

func TestErrorRoundTripKeepsFields(t *testing.T) {
	sent := &sdk.InvalidError{Fields: []sdk.FieldError{{Field: "path", Detail: "want é"}, {Detail: "no field"}}}
	for _, err := range []error{sent, fmt.Errorf("file: %w", sent)} {
		got := there(t, err)
		if got.Error() != err.Error() || !reflect.DeepEqual(fieldsOf(got), sent.Fields) {
			t.Errorf("sent %v, got %v with %v", err, got, fieldsOf(got))
		}
	}
}

func TestErrorRoundTripKeepsRetryDelay(t *testing.T) {
	for _, after := range []time.Duration{0, 1500 * time.Millisecond, 24 * time.Hour} {
		got := there(t,
			fmt.Errorf("push: %w", sdk.RateLimited(after, sdk.WithKind(sdk.ErrUnavailable, errors.New("slow down")))))
		var limited *sdk.RateLimitedError
		if !errors.As(got, &limited) || limited.After != after || limited.Error() != "push: slow down" ||
			!sdk.Retryable(got) {
			t.Errorf("after %s: got %v", after, got)
		}
	}
}

// A plugin in another language may leave out the details.
func TestDecodeErrorWithoutDetails(t *testing.T) {
	ctx := context.Background()
	if got := DecodeError(ctx, status.Error(codes.InvalidArgument, "bad")); !reflect.DeepEqual(fieldsOf(got),
		[]sdk.FieldError{{Detail: "bad"}}) {
		t.Errorf("invalid: %v", got)
	}
	var limited *sdk.RateLimitedError
	if got := DecodeError(ctx, status.Error(codes.ResourceExhausted, "slow")); !errors.As(got, &limited) ||
		limited.After != 0 {
		t.Errorf("rate limited: %v", got)
	}
	if got := DecodeError(ctx, status.Error(codes.PermissionDenied, "no")); !errors.Is(got, sdk.ErrUnauthorized) {
		t.Errorf("permission denied: %v", got)
	}
	if got := DecodeError(ctx, nil); got != nil {
		t.Errorf("no error: %v", got)
	}
}

// A status of gRPC itself is neither the plugin's nor of the caller's context.
func TestLostConnectionIsErrGone(t *testing.T) {
	for _, code := range []codes.Code{codes.Unavailable, codes.Canceled} {
		got := DecodeError(context.Background(), status.Error(code, "connection error: dial unix: no such file"))
		if !errors.Is(got, ErrGone) || !errors.Is(got, sdk.ErrUnavailable) || !sdk.Retryable(got) {
			t.Errorf("%s: got %v", code, got)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := DecodeError(ctx, status.FromContextError(ctx.Err()).Err()); !errors.Is(got, context.Canceled) ||
		errors.Is(got, ErrGone) {
		t.Errorf("canceled by the caller: got %v", got)
	}
}

func TestEncodeErrorTruncatesText(t *testing.T) {
	got := there(t, sdk.Invalid("f", "%s", strings.Repeat("é", maxErrorText)))
	if n := len(got.Error()); n > maxErrorText+8 || !utf8.ValidString(got.Error()) {
		t.Errorf("the text has %d bytes", n)
	}
}

// FuzzErrors sends errors of every kind there and back.
func FuzzErrors(f *testing.F) {
	f.Add("text", "field", "detail", int64(1), byte(0))
	f.Add("", "", "", int64(-1), byte(1))
	f.Add("caf\xe9\x00", "\xff", "ü", int64(1)<<62, byte(2))
	f.Fuzz(func(t *testing.T, text, field, detail string, after int64, which byte) {
		cause := errors.New(text)
		all := []error{
			cause,
			fmt.Errorf("%s: %w", text, sdk.Invalid(field, "%s", detail)),
			sdk.RateLimited(time.Duration(after), cause),
			sdk.WithKind(sdk.ErrUnauthorized, cause),
			sdk.WithKind(sdk.ErrNotFound, cause),
			sdk.WithKind(sdk.ErrUnavailable, cause),
			sdk.WithKind(sdk.ErrUnsupported, cause),
			fmt.Errorf("%s: %w", text, context.Canceled),
			fmt.Errorf("%s: %w", text, context.DeadlineExceeded),
			fmt.Errorf("%s: %w", text, ErrUnknownInstance),
		}
		sent := all[int(which)%len(all)]
		got := there(t, sent)
		if want := Clip(sent.Error()); got.Error() != want {
			t.Errorf("sent %q, got %q", want, got)
		}
		if EncodeError(got).Code() != EncodeError(sent).Code() {
			t.Errorf("sent %s, got %s", EncodeError(sent).Code(), EncodeError(got).Code())
		}
		if sdk.Retryable(sent) != sdk.Retryable(got) {
			t.Errorf("%v: retryable %t, then %t", sent, sdk.Retryable(sent), sdk.Retryable(got))
		}
	})
}

// FuzzStatus reads statuses that no plugin of ours would send.
func FuzzStatus(f *testing.F) {
	for _, err := range []error{sdk.Invalid("a", "b"), sdk.RateLimited(time.Second, sdk.ErrUnavailable),
		sdk.ErrUnavailable} {
		b, marshalErr := proto.Marshal(EncodeError(err).Proto())
		if marshalErr != nil {
			f.Fatal(marshalErr)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := &spb.Status{}
		if proto.Unmarshal(b, p) != nil || codes.Code(p.GetCode()) == codes.OK {
			t.Skip()
		}
		err := DecodeError(context.Background(), status.ErrorProto(p))
		if err == nil {
			t.Fatal("an error became none")
		}
		_ = err.Error()
		_ = there(t, err)
	})
}

// TestErrorsArriveBounded: what a plugin says of an error is kept in part.
func TestErrorsArriveBounded(t *testing.T) {
	long := strings.Repeat("x", 10*maxErrorText)
	bad := &errdetails.BadRequest{
		FieldViolations: slices.Repeat([]*errdetails.BadRequest_FieldViolation{{Field: long, Description: long}},
			2*maxViolations),
	}
	info := &errdetails.ErrorInfo{Domain: domain, Metadata: map[string]string{remedyKey: long}}
	s, err := status.New(codes.InvalidArgument, long).WithDetails(bad, info)
	if err != nil {
		t.Fatal(err)
	}
	got := DecodeError(t.Context(), s.Err())
	fields := fieldsOf(got)
	if len(fields) != maxViolations || len(fields[0].Field) > 2*maxErrorText ||
		len(fields[0].Detail) > 2*maxErrorText || len(sdk.Remedy(got)) > 2*maxErrorText {
		t.Errorf("%d fields; the first has %d and %d bytes, the remedy %d", len(fields), len(fields[0].Field),
			len(fields[0].Detail), len(sdk.Remedy(got)))
	}
	if got := DecodeError(t.Context(), status.Error(codes.Internal, long)); len(got.Error()) > 2*maxErrorText {
		t.Errorf("a text has %d bytes", len(got.Error()))
	}
}

// TestDurationsArriveSane: what is negative, or no duration at all, is none.
func TestDurationsArriveSane(t *testing.T) {
	for _, d := range []*durationpb.Duration{nil, {Seconds: -1}, {Seconds: math.MaxInt64}, {Seconds: 1, Nanos: -1}, {
		Nanos: math.MaxInt32,
	}} {
		if got := decodeDuration(d); got != 0 {
			t.Errorf("%v arrives as %s", d, got)
		}
	}
	if got := decodeLimit(&pluginv1.Limit{WindowSeconds: math.MaxInt64}); got.Window != 0 {
		t.Errorf("a window arrives as %s", got.Window)
	}
}
