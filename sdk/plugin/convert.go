package plugin

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/dogwatch/dogwatch/sdk"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

// One pair of pure functions per message: wireX makes the message, sdkX reads
// it. Absent messages and zero values are the same thing on both sides, and so
// are nil and empty lists and maps, which arrive as nil.

func wireContainer(c sdk.Container) *pluginv1.Container {
	m := &pluginv1.Container{
		Id:              c.ID,
		Name:            c.Name,
		DisplayName:     c.DisplayName,
		DisplayIcon:     c.DisplayIcon,
		Status:          c.Status,
		Watcher:         c.Watcher,
		IncludeTags:     c.IncludeTags,
		ExcludeTags:     c.ExcludeTags,
		TransformTags:   c.TransformTags,
		LinkTemplate:    c.LinkTemplate,
		Link:            c.Link,
		TriggerInclude:  c.TriggerInclude,
		TriggerExclude:  c.TriggerExclude,
		Image:           wireImage(c.Image),
		Labels:          c.Labels,
		Result:          wireResult(c.Result),
		Check:           wireCheck(c.Check),
		UpdateAvailable: c.UpdateAvailable,
		UpdateKind:      wireUpdateKind(c.UpdateKind),
	}
	if c.Error != nil {
		m.Error = c.Error.Message
	}
	return m
}

func sdkContainer(m *pluginv1.Container) sdk.Container {
	c := sdk.Container{
		ID:              m.GetId(),
		Name:            m.GetName(),
		DisplayName:     m.GetDisplayName(),
		DisplayIcon:     m.GetDisplayIcon(),
		Status:          m.GetStatus(),
		Watcher:         m.GetWatcher(),
		IncludeTags:     m.GetIncludeTags(),
		ExcludeTags:     m.GetExcludeTags(),
		TransformTags:   m.GetTransformTags(),
		LinkTemplate:    m.GetLinkTemplate(),
		Link:            m.GetLink(),
		TriggerInclude:  m.GetTriggerInclude(),
		TriggerExclude:  m.GetTriggerExclude(),
		Image:           sdkImage(m.GetImage()),
		Labels:          m.GetLabels(),
		Result:          sdkResult(m.GetResult()),
		Check:           sdkCheck(m.GetCheck()),
		UpdateAvailable: m.GetUpdateAvailable(),
		UpdateKind:      sdkUpdateKind(m.GetUpdateKind()),
	}
	if m.GetError() != "" {
		c.Error = &sdk.ContainerError{Message: m.GetError()}
	}
	return c
}

func wireImage(i sdk.Image) *pluginv1.Image {
	return &pluginv1.Image{
		Id:           i.ID,
		Registry:     &pluginv1.ImageRegistry{Name: i.Registry.Name, Url: i.Registry.URL, Host: i.Registry.Host},
		Name:         i.Name,
		Tag:          &pluginv1.Tag{Value: i.Tag.Value, Semver: i.Tag.Semver, Floating: i.Tag.Floating},
		Digest:       wireDigest(i.Digest),
		Architecture: i.Architecture,
		Os:           i.OS,
		Variant:      i.Variant,
		Created:      wireTime(i.Created),
	}
}

func sdkImage(m *pluginv1.Image) sdk.Image {
	r, t := m.GetRegistry(), m.GetTag()
	return sdk.Image{
		ID:           m.GetId(),
		Registry:     sdk.Registry{Name: r.GetName(), URL: r.GetUrl(), Host: r.GetHost()},
		Name:         m.GetName(),
		Tag:          sdk.Tag{Value: t.GetValue(), Semver: t.GetSemver(), Floating: t.GetFloating()},
		Digest:       sdkDigest(m.GetDigest()),
		Architecture: m.GetArchitecture(),
		OS:           m.GetOs(),
		Variant:      m.GetVariant(),
		Created:      sdkTime(m.GetCreated()),
	}
}

func wireDigest(d sdk.Digest) *pluginv1.Digest {
	return &pluginv1.Digest{Watch: d.Watch, Repo: d.Repo, Value: d.Value, Repos: d.Repos, Pinned: d.Pinned}
}

func sdkDigest(m *pluginv1.Digest) sdk.Digest {
	return sdk.Digest{Watch: m.GetWatch(), Repo: m.GetRepo(), Value: m.GetValue(), Repos: m.GetRepos(), Pinned: m.GetPinned()}
}

func wireResult(r *sdk.Result) *pluginv1.Result {
	if r == nil {
		return nil
	}
	return &pluginv1.Result{Tag: r.Tag, Digest: r.Digest, Created: wireTime(r.Created), Link: r.Link}
}

func sdkResult(m *pluginv1.Result) *sdk.Result {
	if m == nil {
		return nil
	}
	return &sdk.Result{Tag: m.GetTag(), Digest: m.GetDigest(), Created: sdkTime(m.GetCreated()), Link: m.GetLink()}
}

func wireUpdateKind(k sdk.UpdateKind) *pluginv1.UpdateKind {
	return &pluginv1.UpdateKind{
		Kind:        k.Kind,
		LocalValue:  k.LocalValue,
		RemoteValue: k.RemoteValue,
		SemverDiff:  k.SemverDiff,
		Result:      wireResult(k.Result),
	}
}

func sdkUpdateKind(m *pluginv1.UpdateKind) sdk.UpdateKind {
	return sdk.UpdateKind{
		Kind:        m.GetKind(),
		LocalValue:  m.GetLocalValue(),
		RemoteValue: m.GetRemoteValue(),
		SemverDiff:  m.GetSemverDiff(),
		Result:      sdkResult(m.GetResult()),
	}
}

func wirePlatform(p sdk.Platform) *pluginv1.Platform {
	return &pluginv1.Platform{Os: p.OS, Architecture: p.Architecture, Variant: p.Variant}
}

func sdkPlatform(m *pluginv1.Platform) sdk.Platform {
	return sdk.Platform{OS: m.GetOs(), Architecture: m.GetArchitecture(), Variant: m.GetVariant()}
}

func wireCheck(c sdk.CheckState) *pluginv1.CheckState {
	return &pluginv1.CheckState{State: c.State, At: wireTime(c.At), PostponedUntil: wireTime(c.PostponedUntil), PostponedReason: c.PostponedReason}
}

func sdkCheck(m *pluginv1.CheckState) sdk.CheckState {
	return sdk.CheckState{
		State: m.GetState(), At: sdkTime(m.GetAt()),
		PostponedUntil: sdkTime(m.GetPostponedUntil()), PostponedReason: m.GetPostponedReason(),
	}
}

func wireTime(t sdk.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t.Time)
}

// sdkTime takes a time that no calendar has for "not known".
func sdkTime(m *timestamppb.Timestamp) sdk.Time {
	if m.CheckValid() != nil {
		return sdk.Time{}
	}
	return sdk.TimeOf(m.AsTime())
}
