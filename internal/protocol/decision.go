package protocol

import (
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"

	"github.com/dogwatch/dogwatch/sdk"
)

func encodeDecision(d *sdk.Decision) *pluginv1.Decision {
	if d == nil {
		return nil
	}
	m := &pluginv1.Decision{State: d.State, Until: encodeTime(d.Until), OfferedAt: encodeTime(d.OfferedAt)}
	for _, r := range d.Reasons {
		m.Reasons = append(m.Reasons, &pluginv1.DecisionReason{
			Code: r.Code, Text: r.Text, Source: r.Source, Until: encodeTime(r.Until),
		})
	}
	return m
}

func decodeDecision(m *pluginv1.Decision) *sdk.Decision {
	if m == nil {
		return nil
	}
	d := &sdk.Decision{State: m.GetState(), Until: decodeTime(m.GetUntil()), OfferedAt: decodeTime(m.GetOfferedAt())}
	for _, r := range m.GetReasons() {
		d.Reasons = append(d.Reasons, sdk.Reason{
			Code: r.GetCode(), Text: r.GetText(), Source: r.GetSource(), Until: decodeTime(r.GetUntil()),
		})
	}
	return d
}

func encodeSkipped(all []sdk.Skipped) (messages []*pluginv1.Skipped) {
	for _, s := range all {
		messages = append(messages, &pluginv1.Skipped{Tag: s.Tag, Created: encodeTime(s.Created), Text: s.Text})
	}
	return messages
}

func decodeSkipped(messages []*pluginv1.Skipped) (all []sdk.Skipped) {
	for _, m := range messages {
		all = append(all, sdk.Skipped{Tag: m.GetTag(), Created: decodeTime(m.GetCreated()), Text: m.GetText()})
	}
	return all
}

func encodeLevels(l *sdk.Levels) *pluginv1.Levels {
	if l == nil {
		return nil
	}
	return &pluginv1.Levels{Patch: encodeRelease(l.Patch), Minor: encodeRelease(l.Minor), Major: encodeRelease(l.Major)}
}

func decodeLevels(m *pluginv1.Levels) *sdk.Levels {
	if m == nil {
		return nil
	}
	return &sdk.Levels{
		Patch: decodeRelease(m.GetPatch()), Minor: decodeRelease(m.GetMinor()), Major: decodeRelease(m.GetMajor()),
	}
}

func encodeRelease(r *sdk.Release) *pluginv1.Release {
	if r == nil {
		return nil
	}
	return &pluginv1.Release{Tag: r.Tag, Created: encodeTime(r.Created), FirstSeen: encodeTime(r.FirstSeen), Link: r.Link}
}

func decodeRelease(m *pluginv1.Release) *sdk.Release {
	if m == nil {
		return nil
	}
	return &sdk.Release{
		Tag: m.GetTag(), Created: decodeTime(m.GetCreated()), FirstSeen: decodeTime(m.GetFirstSeen()), Link: m.GetLink(),
	}
}
