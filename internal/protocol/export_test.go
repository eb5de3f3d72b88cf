package protocol

import "google.golang.org/protobuf/proto"

// Fill gives every field of m a value of its own.
func Fill(m proto.Message) { fillMessage(m.ProtoReflect(), new(int)) }
