//go:build !386 && !amd64 && !arm

package sandbox

func legacyDenied() []uint32 { return nil }

func legacyModes() []moded { return nil }
