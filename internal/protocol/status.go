package protocol

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/dogwatch/dogwatch/sdk"
)

var (
	// ErrGone means that the plugin exited during the call: whether the call was
	// carried out is unknown. It is an sdk.ErrUnavailable too.
	ErrGone = sdk.WithKind(sdk.ErrUnavailable, errors.New("the plugin stopped before it answered"))
	// ErrUnknownInstance means that the plugin does not have the instance, as
	// after a restart: configure it, then call again. It is an sdk.ErrUnavailable too.
	ErrUnknownInstance = sdk.WithKind(sdk.ErrUnavailable, errors.New("not configured in this plugin"))
)

const (
	// maxErrorText bounds an error's text, which travels in a header, maxViolations the fields that it
	// names, and maxViolationText what is sent of them: a host reads headers of 256 KiB.
	maxErrorText     = 16 << 10
	maxViolations    = 256
	maxViolationText = 64 << 10
	// remedyKey is the metadata of an ErrorInfo that holds what to do about the error.
	remedyKey = "remedy"
	// fromPlugin marks, as the reason of an ErrorInfo, a status that the plugin
	// itself returned where gRPC has the same code for a connection that is lost.
	fromPlugin = "ANSWERED"
	domain     = "dogwatch"
)

// EncodeError puts an error on the wire: its kind as the code, its text as the
// message, and what belongs to its kind as the standard details.
func EncodeError(err error) *status.Status {
	var (
		invalid *sdk.InvalidError
		limited *sdk.RateLimitedError
	)
	switch {
	case errors.As(err, &invalid):
		return statusWith(codes.InvalidArgument, err, badRequest(invalid))
	case errors.As(err, &limited):
		return statusWith(codes.ResourceExhausted, err, &errdetails.RetryInfo{RetryDelay: durationpb.New(limited.After)})
	case errors.Is(err, ErrUnknownInstance):
		return statusWith(codes.FailedPrecondition, err)
	case errors.Is(err, sdk.ErrUnauthorized):
		return statusWith(codes.Unauthenticated, err)
	case errors.Is(err, sdk.ErrNotFound):
		return statusWith(codes.NotFound, err)
	case errors.Is(err, sdk.ErrUnsupported):
		return statusWith(codes.Unimplemented, err)
	case errors.Is(err, sdk.ErrUnavailable):
		return statusWith(codes.Unavailable, err)
	case errors.Is(err, context.DeadlineExceeded):
		return statusWith(codes.DeadlineExceeded, err)
	case errors.Is(err, context.Canceled):
		return statusWith(codes.Canceled, err)
	}
	return statusWith(codes.Internal, err)
}

func statusWith(code codes.Code, err error, details ...protoadapt.MessageV1) *status.Status {
	s := status.New(code, Clip(err.Error()))
	remedy := sdk.Remedy(err)
	if code == codes.Unavailable || code == codes.Canceled || remedy != "" {
		info := &errdetails.ErrorInfo{Reason: fromPlugin, Domain: domain}
		if remedy != "" {
			info.Metadata = map[string]string{remedyKey: Clip(remedy)}
		}
		details = append(details, info)
	}
	with, detailErr := s.WithDetails(details...)
	if detailErr != nil {
		return s
	}
	return with
}

func badRequest(e *sdk.InvalidError) *errdetails.BadRequest {
	d := &errdetails.BadRequest{}
	for _, f := range e.Fields[:min(len(e.Fields), maxViolations)] {
		d.FieldViolations = append(d.FieldViolations, &errdetails.BadRequest_FieldViolation{
			Field: Clip(f.Field), Description: Clip(f.Detail),
		})
		if proto.Size(d) > maxViolationText {
			break
		}
	}
	return d
}

// Clip makes a text fit for the wire.
func Clip(text string) string {
	if len(text) > maxErrorText {
		text = text[:maxErrorText] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// DecodeError turns what a call returned into an error of the sdk's kinds with the
// text it had in the plugin. ctx is the context of the call.
func DecodeError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	s := status.Convert(err)
	return sdk.WithRemedy(decodeStatus(ctx, s), remedyOf(s))
}

func decodeStatus(ctx context.Context, s *status.Status) error {
	text := Clip(s.Message())
	switch s.Code() {
	case codes.InvalidArgument:
		return withText(text, invalidOf(s, text))
	case codes.ResourceExhausted:
		return sdk.RateLimited(retryDelay(s), errors.New(text))
	case codes.FailedPrecondition:
		return withText(text, ErrUnknownInstance)
	case codes.Unauthenticated, codes.PermissionDenied:
		return withText(text, sdk.ErrUnauthorized)
	case codes.NotFound:
		return withText(text, sdk.ErrNotFound)
	case codes.Unimplemented:
		return withText(text, sdk.ErrUnsupported)
	case codes.DeadlineExceeded:
		return withText(text, context.DeadlineExceeded)
	case codes.Canceled:
		if isFromPlugin(s) || ctx.Err() != nil {
			return withText(text, context.Canceled)
		}
		return ErrGone
	case codes.Unavailable:
		if isFromPlugin(s) {
			return withText(text, sdk.ErrUnavailable)
		}
		return ErrGone
	}
	return errors.New(text)
}

// textError has the text of an error in the plugin and the kind it had there.
type textError struct {
	text string
	kind error
}

func (e *textError) Error() string { return e.text }
func (e *textError) Unwrap() error { return e.kind }

func withText(text string, kind error) error {
	if kind.Error() == text {
		return kind
	}
	return &textError{text, kind}
}

func invalidOf(s *status.Status, text string) *sdk.InvalidError {
	e := &sdk.InvalidError{}
	for _, d := range s.Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			all := bad.GetFieldViolations()
			for _, v := range all[:min(len(all), maxViolations)] {
				e.Fields = append(e.Fields, sdk.FieldError{Field: Clip(v.GetField()), Detail: Clip(v.GetDescription())})
			}
		}
	}
	if len(e.Fields) == 0 {
		e.Fields = []sdk.FieldError{{Detail: text}}
	}
	return e
}

func retryDelay(s *status.Status) time.Duration {
	for _, d := range s.Details() {
		if r, ok := d.(*errdetails.RetryInfo); ok {
			return decodeDuration(r.GetRetryDelay())
		}
	}
	return 0
}

func isFromPlugin(s *status.Status) bool { return infoOf(s).GetReason() == fromPlugin }

func remedyOf(s *status.Status) string { return Clip(infoOf(s).GetMetadata()[remedyKey]) }

// infoOf returns the ErrorInfo of this protocol; nil when there is none.
func infoOf(s *status.Status) *errdetails.ErrorInfo {
	for _, d := range s.Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok && i.GetDomain() == domain {
			return i
		}
	}
	return nil
}
