package protocol

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/dogwatch/dogwatch/sdk"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// One pair of pure functions per message: EncodeX makes the message, DecodeX reads
// it. Absent messages and zero values are the same thing on both sides, and so
// are nil and empty lists and maps, which arrive as nil.

// EncodeContainer makes the message of a container of the model.
func EncodeContainer(c sdk.Container) *pluginv1.Container {
	m := &pluginv1.Container{
		Id:              c.ID,
		Name:            c.Name,
		DisplayName:     c.DisplayName,
		DisplayIcon:     c.DisplayIcon,
		Status:          c.Status,
		Created:         encodeTime(c.Created),
		Watcher:         c.Watcher,
		IncludeTags:     c.IncludeTags,
		ExcludeTags:     c.ExcludeTags,
		TransformTags:   c.TransformTags,
		LinkTemplate:    c.LinkTemplate,
		Link:            c.Link,
		TriggerInclude:  c.TriggerInclude,
		TriggerExclude:  c.TriggerExclude,
		Image:           encodeImage(c.Image),
		Labels:          c.Labels,
		ImageLabels:     c.ImageLabels,
		Result:          encodeResult(c.Result),
		Check:           encodeCheck(c.Check),
		UpdateAvailable: c.UpdateAvailable,
		UpdateKind:      encodeUpdateKind(c.UpdateKind),

		Stack:            c.Stack,
		Skipped:          encodeSkipped(c.Skipped),
		Decision:         encodeDecision(c.Decision),
		IsSnoozed:        c.IsSnoozed,
		SnoozedUntil:     encodeTime(c.SnoozedUntil),
		IsCoolingDown:    c.IsCoolingDown,
		CoolingDownUntil: encodeTime(c.CoolingDownUntil),
		Delay:            c.Delay,
	}
	if c.Error != nil {
		m.Error, m.ErrorCause = c.Error.Message, c.Error.Cause
	}
	if c.Base != nil {
		m.Base = encodeImage(*c.Base)
	}
	return m
}

// DecodeContainer reads the message of a container of the model.
func DecodeContainer(m *pluginv1.Container) sdk.Container {
	c := sdk.Container{
		ID:              m.GetId(),
		Name:            m.GetName(),
		DisplayName:     m.GetDisplayName(),
		DisplayIcon:     m.GetDisplayIcon(),
		Status:          m.GetStatus(),
		Created:         decodeTime(m.GetCreated()),
		Watcher:         m.GetWatcher(),
		IncludeTags:     m.GetIncludeTags(),
		ExcludeTags:     m.GetExcludeTags(),
		TransformTags:   m.GetTransformTags(),
		LinkTemplate:    m.GetLinkTemplate(),
		Link:            m.GetLink(),
		TriggerInclude:  m.GetTriggerInclude(),
		TriggerExclude:  m.GetTriggerExclude(),
		Image:           decodeImage(m.GetImage()),
		Labels:          m.GetLabels(),
		ImageLabels:     m.GetImageLabels(),
		Result:          decodeResult(m.GetResult()),
		Check:           decodeCheck(m.GetCheck()),
		UpdateAvailable: m.GetUpdateAvailable(),
		UpdateKind:      decodeUpdateKind(m.GetUpdateKind()),

		Stack:            m.GetStack(),
		Skipped:          decodeSkipped(m.GetSkipped()),
		Decision:         decodeDecision(m.GetDecision()),
		IsSnoozed:        m.GetIsSnoozed(),
		SnoozedUntil:     decodeTime(m.GetSnoozedUntil()),
		IsCoolingDown:    m.GetIsCoolingDown(),
		CoolingDownUntil: decodeTime(m.GetCoolingDownUntil()),
		Delay:            m.GetDelay(),
	}
	if m.GetError() != "" {
		c.Error = &sdk.ContainerError{Message: m.GetError(), Cause: m.GetErrorCause()}
	}
	if m.GetBase() != nil {
		base := decodeImage(m.GetBase())
		c.Base = &base
	}
	return c
}

// EncodeListed makes the message of a container that a watcher lists: only what
// a watcher knows is set.
func EncodeListed(c watcher.Container) *pluginv1.Container {
	i := c.Image
	return &pluginv1.Container{
		Id:      c.ID,
		Name:    c.Name,
		Status:  c.Status,
		Created: encodeTime(c.Created),
		Labels:  c.Labels,

		ImageLabels: c.ImageLabels,
		Error:       c.Error,
		Image: &pluginv1.Image{
			Id:           i.ID,
			Registry:     &pluginv1.ImageRegistry{Host: i.Host},
			Name:         i.Name,
			Tag:          &pluginv1.Tag{Value: i.Tag},
			Digest:       &pluginv1.Digest{Repo: i.Digest, Repos: i.Digests, Pinned: i.Pinned},
			Architecture: i.Platform.Architecture,
			Os:           i.Platform.OS,
			Variant:      i.Platform.Variant,
			Created:      encodeTime(i.Created),
			Built:        i.Built,
		},
	}
}

// DecodeListed reads of a message what a watcher knows, and nothing else.
func DecodeListed(m *pluginv1.Container) watcher.Container {
	i := m.GetImage()
	return watcher.Container{
		ID:      m.GetId(),
		Name:    m.GetName(),
		Status:  m.GetStatus(),
		Created: decodeTime(m.GetCreated()),
		Labels:  m.GetLabels(),
		Error:   m.GetError(),

		ImageLabels: m.GetImageLabels(),
		Image: watcher.Image{
			ID:       i.GetId(),
			Host:     i.GetRegistry().GetHost(),
			Name:     i.GetName(),
			Tag:      i.GetTag().GetValue(),
			Digest:   i.GetDigest().GetRepo(),
			Pinned:   i.GetDigest().GetPinned(),
			Digests:  i.GetDigest().GetRepos(),
			Platform: sdk.Platform{OS: i.GetOs(), Architecture: i.GetArchitecture(), Variant: i.GetVariant()},
			Created:  decodeTime(i.GetCreated()),
			Built:    i.GetBuilt(),
		},
	}
}

func encodeImage(i sdk.Image) *pluginv1.Image {
	return &pluginv1.Image{
		Id:           i.ID,
		Registry:     &pluginv1.ImageRegistry{Name: i.Registry.Name, Url: i.Registry.URL, Host: i.Registry.Host},
		Name:         i.Name,
		Tag:          &pluginv1.Tag{Value: i.Tag.Value, Semver: i.Tag.Semver, Floating: i.Tag.Floating},
		Digest:       encodeDigest(i.Digest),
		Architecture: i.Architecture,
		Os:           i.OS,
		Variant:      i.Variant,
		Created:      encodeTime(i.Created),
		Version:      i.Version,
		Built:        i.Built,
	}
}

func decodeImage(m *pluginv1.Image) sdk.Image {
	r, t := m.GetRegistry(), m.GetTag()
	return sdk.Image{
		ID:           m.GetId(),
		Registry:     sdk.Registry{Name: r.GetName(), URL: r.GetUrl(), Host: r.GetHost()},
		Name:         m.GetName(),
		Tag:          sdk.Tag{Value: t.GetValue(), Semver: t.GetSemver(), Floating: t.GetFloating()},
		Digest:       decodeDigest(m.GetDigest()),
		Architecture: m.GetArchitecture(),
		OS:           m.GetOs(),
		Variant:      m.GetVariant(),
		Created:      decodeTime(m.GetCreated()),
		Version:      m.GetVersion(),
		Built:        m.GetBuilt(),
	}
}

func encodeDigest(d sdk.Digest) *pluginv1.Digest {
	return &pluginv1.Digest{Watch: d.Watch, Repo: d.Repo, Value: d.Value, Repos: d.Repos, Pinned: d.Pinned}
}

func decodeDigest(m *pluginv1.Digest) sdk.Digest {
	return sdk.Digest{
		Watch: m.GetWatch(), Repo: m.GetRepo(), Value: m.GetValue(), Repos: m.GetRepos(), Pinned: m.GetPinned(),
	}
}

func encodeResult(r *sdk.Result) *pluginv1.Result {
	if r == nil {
		return nil
	}
	return &pluginv1.Result{
		Tag: r.Tag, Digest: r.Digest, Created: encodeTime(r.Created), Link: r.Link, Levels: encodeLevels(r.Levels),
		Version: r.Version,
	}
}

func decodeResult(m *pluginv1.Result) *sdk.Result {
	if m == nil {
		return nil
	}
	return &sdk.Result{
		Tag: m.GetTag(), Digest: m.GetDigest(), Created: decodeTime(m.GetCreated()), Link: m.GetLink(),
		Levels: decodeLevels(m.GetLevels()), Version: m.GetVersion(),
	}
}

func encodeUpdateKind(k sdk.UpdateKind) *pluginv1.UpdateKind {
	return &pluginv1.UpdateKind{
		Kind:        k.Kind,
		LocalValue:  k.LocalValue,
		RemoteValue: k.RemoteValue,
		SemverDiff:  k.SemverDiff,
		Result:      encodeResult(k.Result),
	}
}

func decodeUpdateKind(m *pluginv1.UpdateKind) sdk.UpdateKind {
	return sdk.UpdateKind{
		Kind:        m.GetKind(),
		LocalValue:  m.GetLocalValue(),
		RemoteValue: m.GetRemoteValue(),
		SemverDiff:  m.GetSemverDiff(),
		Result:      decodeResult(m.GetResult()),
	}
}

// EncodePlatform makes the message of a platform.
func EncodePlatform(p sdk.Platform) *pluginv1.Platform {
	return &pluginv1.Platform{Os: p.OS, Architecture: p.Architecture, Variant: p.Variant}
}

// DecodePlatform reads the message of a platform.
func DecodePlatform(m *pluginv1.Platform) sdk.Platform {
	return sdk.Platform{OS: m.GetOs(), Architecture: m.GetArchitecture(), Variant: m.GetVariant()}
}

func encodeCheck(c sdk.CheckState) *pluginv1.CheckState {
	return &pluginv1.CheckState{
		State: c.State, Reason: c.Reason, At: encodeTime(c.At),
		PostponedUntil: encodeTime(c.PostponedUntil), PostponedReason: c.PostponedReason,
	}
}

func decodeCheck(m *pluginv1.CheckState) sdk.CheckState {
	return sdk.CheckState{
		State: m.GetState(), Reason: m.GetReason(), At: decodeTime(m.GetAt()),
		PostponedUntil: decodeTime(m.GetPostponedUntil()), PostponedReason: m.GetPostponedReason(),
	}
}

func encodeTime(t sdk.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t.Time)
}

// decodeTime takes a time that no calendar has for "not known".
func decodeTime(m *timestamppb.Timestamp) sdk.Time {
	if m.CheckValid() != nil {
		return sdk.Time{}
	}
	return sdk.TimeOf(m.AsTime())
}
