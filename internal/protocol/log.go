package protocol

import (
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// EncodeLog returns the end of a log on the wire.
func EncodeLog(l watcher.Log) *pluginv1.ReadLogResponse {
	return &pluginv1.ReadLogResponse{
		UnreadableDriver: l.UnreadableDriver,
		Lines: each(l.Lines, func(l watcher.LogLine) *pluginv1.LogLine {
			return &pluginv1.LogLine{At: encodeTime(l.At), Stderr: l.Stderr, Text: l.Text[:min(len(l.Text), MaxText)]}
		}),
	}
}

// DecodeLog reverses EncodeLog.
func DecodeLog(m *pluginv1.ReadLogResponse) watcher.Log {
	return watcher.Log{
		UnreadableDriver: m.GetUnreadableDriver(),
		Lines: each(m.GetLines(), func(m *pluginv1.LogLine) watcher.LogLine {
			return watcher.LogLine{At: decodeTime(m.GetAt()), Stderr: m.GetStderr(), Text: m.GetText()}
		}),
	}
}
