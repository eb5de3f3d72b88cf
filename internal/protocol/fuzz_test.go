package protocol

import (
	"maps"
	"slices"
	"testing"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/dogwatch/dogwatch/sdk"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

// outputs are empty messages of the answers to every method, by its full name.
func outputs(t testing.TB) map[string]protoreflect.MessageType {
	t.Helper()
	all := map[string]protoreflect.MessageType{}
	services := pluginv1.File_plugin_proto.Services()
	for i := range services.Len() {
		for j := range services.Get(i).Methods().Len() {
			m := services.Get(i).Methods().Get(j)
			typ, err := protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
			if err != nil {
				t.Fatal(err)
			}
			all["/"+string(services.Get(i).FullName())+"/"+string(m.Name())] = typ
		}
	}
	return all
}

// decode has the host read a message.
func decode(m proto.Message) {
	switch m := m.(type) {
	case *pluginv1.DescribeResponse:
		each(m.GetTypes(), DecodeType)
	case *pluginv1.ConfigureResponse:
		DecodeHosts(m.GetHosts())
	case *pluginv1.ProbeResponse:
		DecodeProbed(m)
	case *pluginv1.ListResponse:
		each(m.GetContainers(), DecodeListed)
	case *pluginv1.WatchResponse:
		DecodeEvent(m)
	case *pluginv1.PlanResponse:
		DecodePlan(m.GetPlan())
	case *pluginv1.ReadLogResponse:
		DecodeLog(m)
	case *pluginv1.PullCredentialsResponse:
		DecodePullCredentials(m)
	case *pluginv1.UpdateResponse:
		DecodeStep(m.GetBegin())
		DecodeStepRecord(m.GetEnd())
		DecodeStepProgress(m.GetProgress())
		DecodeOutcome(m.GetOutcome())
	case *pluginv1.ManifestResponse:
		DecodeManifest(m)
	case *pluginv1.CredentialsResponse:
		DecodeCredentials(m)
	case *pluginv1.LimitsResponse:
		DecodeLimits(m.GetLimits())
	case *pluginv1.ImageConfigResponse:
		DecodeImageConfig(m.GetConfig())
	case *pluginv1.DescribeTagsResponse:
		DecodeTags(m.GetTags())
	case *pluginv1.RunResponse:
		DecodeProgress(m.GetProgress())
		each(m.GetOperations(), DecodeOperationRequest)
	}
}

// FuzzAnswer: every message is refused, or is one that is taken again when it is encoded anew.
func FuzzAnswer(f *testing.F) {
	types := outputs(f)
	names := slices.Sorted(maps.Keys(types))
	for i, name := range names {
		m := types[name].New().Interface()
		f.Add(uint8(i), []byte{})
		fillMessage(m.ProtoReflect(), new(int))
		f.Add(uint8(i), encoded(f, m))
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		name := names[int(which)%len(names)]
		held := new(Held)
		a, m := NewAnswer(name, held), types[name].New().Interface()
		if err := a.Unmarshal(b, m); err != nil {
			if a.Refused(nil) == nil {
				t.Error("the answer was refused without a reason")
			}
			return
		}
		decode(m)
		again := encoded(t, m)
		if len(again) > a.size {
			t.Errorf("%d bytes, and %d are said to be held", len(again), a.size)
		}
		if err := NewAnswer(name, new(Held)).Unmarshal(again, types[name].New().Interface()); err != nil {
			t.Errorf("encoded anew: %v", err)
		}
	})
}

// FuzzDecodeError: whatever the details of a status are, the error that it becomes is bounded.
func FuzzDecodeError(f *testing.F) {
	for _, err := range []error{
		sdk.ErrNotFound, sdk.Invalid("url", "is none"), sdk.RateLimited(7, sdk.ErrUnavailable),
		sdk.WithRemedy(ErrGone, "wait"),
	} {
		f.Add(encoded(f, EncodeError(err).Proto()))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &spb.Status{}
		if proto.Unmarshal(b, s) != nil || codes.Code(s.GetCode()) == codes.OK {
			return
		}
		err := DecodeError(t.Context(), status.ErrorProto(s))
		if err == nil {
			t.Fatal("a status that is an error is none")
		}
		most := maxErrorText + len("…")
		if len(sdk.Remedy(err)) > most || len(fieldsOf(err)) > maxViolations {
			t.Errorf("%d fields, and a remedy of %d bytes", len(fieldsOf(err)), len(sdk.Remedy(err)))
		}
		for _, f := range fieldsOf(err) {
			if len(f.Field) > most || len(f.Detail) > most {
				t.Errorf("a field with %d and %d bytes", len(f.Field), len(f.Detail))
			}
		}
	})
}
