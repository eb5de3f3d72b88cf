package protocol

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/dogwatch/dogwatch/sdk"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// EncodeUpdateRequest returns what to run where.
func EncodeUpdateRequest(r watcher.UpdateRequest) *pluginv1.ImageUpdate {
	return &pluginv1.ImageUpdate{
		ContainerId: r.ContainerID,
		Image: &pluginv1.TargetImage{
			Reference: r.Image.Reference, Digest: r.Image.Digest, Id: r.Image.ID, Config: EncodeImageConfig(r.Image.Config),
		},
		Rules:       encodeRules(r.Rules),
		Credentials: EncodeCredentials(r.Credentials),
	}
}

// DecodeUpdateRequest reverses EncodeUpdateRequest.
func DecodeUpdateRequest(m *pluginv1.ImageUpdate) watcher.UpdateRequest {
	i := m.GetImage()
	return watcher.UpdateRequest{
		ContainerID: m.GetContainerId(),
		Image: watcher.TargetImage{
			Reference: i.GetReference(), Digest: i.GetDigest(), ID: i.GetId(), Config: DecodeImageConfig(i.GetConfig()),
		},
		Rules:       decodeRules(m.GetRules()),
		Credentials: DecodeCredentials(m.GetCredentials()),
	}
}

func encodeRules(r watcher.UpdateRules) *pluginv1.UpdateRules {
	h := r.Health
	m := &pluginv1.UpdateRules{
		Keep: int32(r.Keep), Prune: r.Prune, DryRun: r.DryRun, Acknowledged: r.Acknowledged, StopSignal: r.StopSignal,
		Health: &pluginv1.HealthGate{
			Http: h.HTTP, Tcp: h.TCP, Command: h.Command, Window: encodeDuration(h.Window), Interval: encodeDuration(h.Interval),
		},
		Hooks: &pluginv1.Hooks{Pre: r.Hooks.Pre, Post: r.Hooks.Post, Timeout: encodeDuration(r.Hooks.Timeout)},
	}
	if c := r.Compose; c != nil {
		m.Compose = &pluginv1.ComposeRules{
			File: c.File, Label: c.Label, Backup: c.Backup, Command: c.Command, Required: c.Required,
		}
	}
	return m
}

func decodeRules(m *pluginv1.UpdateRules) watcher.UpdateRules {
	h, hooks := m.GetHealth(), m.GetHooks()
	r := watcher.UpdateRules{
		Keep: int(m.GetKeep()), Prune: m.GetPrune(), DryRun: m.GetDryRun(), Acknowledged: m.GetAcknowledged(),
		StopSignal: m.GetStopSignal(),
		Health: watcher.HealthGate{
			HTTP: h.GetHttp(), TCP: h.GetTcp(), Command: h.GetCommand(), Window: decodeDuration(h.GetWindow()),
			Interval: decodeDuration(h.GetInterval()),
		},
		Hooks: watcher.Hooks{Pre: hooks.GetPre(), Post: hooks.GetPost(), Timeout: decodeDuration(hooks.GetTimeout())},
	}
	if c := m.GetCompose(); c != nil {
		r.Compose = &watcher.ComposeRules{
			File: c.GetFile(), Label: c.GetLabel(), Backup: c.GetBackup(), Command: c.GetCommand(), Required: c.GetRequired(),
		}
	}
	return r
}

// EncodeImageConfig returns what an image gives to containers; nil for nil.
func EncodeImageConfig(c *sdk.ImageConfig) *pluginv1.ImageConfig {
	if c == nil {
		return nil
	}
	m := &pluginv1.ImageConfig{
		User: c.User, Env: c.Env, Entrypoint: c.Entrypoint, Cmd: c.Cmd, WorkingDir: c.WorkingDir, Labels: c.Labels,
		ExposedPorts: c.ExposedPorts,
		Volumes:      c.Volumes, StopSignal: c.StopSignal, Healthcheck: c.Healthcheck,
		Platform: EncodePlatform(c.Platform), Size: c.Size, Base: c.Base,
	}
	for _, l := range c.Layers {
		m.Layers = append(m.Layers, &pluginv1.Layer{Digest: l.Digest, Size: l.Size})
	}
	return m
}

// DecodeImageConfig reverses EncodeImageConfig.
func DecodeImageConfig(m *pluginv1.ImageConfig) *sdk.ImageConfig {
	if m == nil {
		return nil
	}
	c := &sdk.ImageConfig{
		User: m.GetUser(), Env: m.GetEnv(), Entrypoint: m.GetEntrypoint(), Cmd: m.GetCmd(),
		WorkingDir: m.GetWorkingDir(), Labels: m.GetLabels(),
		ExposedPorts: m.GetExposedPorts(), Volumes: m.GetVolumes(), StopSignal: m.GetStopSignal(),
		Healthcheck: m.GetHealthcheck(), Platform: DecodePlatform(m.GetPlatform()), Size: m.GetSize(), Base: m.GetBase(),
	}
	for _, l := range m.GetLayers() {
		c.Layers = append(c.Layers, sdk.Layer{Digest: l.GetDigest(), Size: l.GetSize()})
	}
	return c
}

// EncodePlan returns a plan on the wire.
func EncodePlan(p watcher.Plan) *pluginv1.Plan {
	return &pluginv1.Plan{
		ContainerId: p.ContainerID, Name: p.Name, State: p.State, From: encodePlannedImage(p.From),
		To:    encodePlannedImage(p.To),
		Steps: each(p.Steps, EncodeStep),
		Carried: each(p.Carried, func(s watcher.Setting) *pluginv1.PlanSetting {
			return &pluginv1.PlanSetting{Name: s.Name, Value: s.Value}
		}),
		Changes:    each(p.Changes, encodePlanChange),
		Warnings:   each(p.Warnings, encodeReason),
		Blocks:     each(p.Blocks, encodeReason),
		Dependents: each(p.Dependents, encodeDependent), DownloadBytes: p.Space.Download, WritableBytes: p.Space.Writable,
		Files:   each(p.Files, encodeFileChange),
		Backups: each(p.Backups, encodeBackup),
	}
}

// DecodePlan reverses EncodePlan.
func DecodePlan(m *pluginv1.Plan) watcher.Plan {
	return watcher.Plan{
		ContainerID: m.GetContainerId(), Name: m.GetName(), State: m.GetState(), From: decodePlannedImage(m.GetFrom()),
		To:    decodePlannedImage(m.GetTo()),
		Steps: each(m.GetSteps(), DecodeStep),
		Carried: each(m.GetCarried(), func(s *pluginv1.PlanSetting) watcher.Setting {
			return watcher.Setting{Name: s.GetName(), Value: s.GetValue()}
		}),
		Changes:    each(m.GetChanges(), decodePlanChange),
		Warnings:   each(m.GetWarnings(), decodeReason),
		Blocks:     each(m.GetBlocks(), decodeReason),
		Dependents: each(m.GetDependents(), decodeDependent),
		Files:      each(m.GetFiles(), decodeFileChange),
		Backups:    each(m.GetBackups(), decodeBackup),
		Space:      watcher.Space{Download: m.GetDownloadBytes(), Writable: m.GetWritableBytes()},
	}
}

func encodePlannedImage(i watcher.PlannedImage) *pluginv1.PlannedImage {
	return &pluginv1.PlannedImage{Reference: i.Reference, Digest: i.Digest, Id: i.ID}
}

func decodePlannedImage(m *pluginv1.PlannedImage) watcher.PlannedImage {
	return watcher.PlannedImage{Reference: m.GetReference(), Digest: m.GetDigest(), ID: m.GetId()}
}

func encodePlanChange(c watcher.Change) *pluginv1.PlanChange {
	return &pluginv1.PlanChange{Name: c.Name, Before: c.Before, After: c.After}
}

func decodePlanChange(m *pluginv1.PlanChange) watcher.Change {
	return watcher.Change{Name: m.GetName(), Before: m.GetBefore(), After: m.GetAfter()}
}

func encodeReason(r watcher.Reason) *pluginv1.Reason {
	return &pluginv1.Reason{Code: r.Code, Text: r.Text, Acknowledge: r.Acknowledge}
}

func decodeReason(m *pluginv1.Reason) watcher.Reason {
	return watcher.Reason{Code: m.GetCode(), Text: m.GetText(), Acknowledge: m.GetAcknowledge()}
}

func encodeDependent(d watcher.Dependent) *pluginv1.Dependent {
	return &pluginv1.Dependent{ContainerId: d.ContainerID, Name: d.Name, Relation: d.Relation, Action: d.Action}
}

func decodeDependent(m *pluginv1.Dependent) watcher.Dependent {
	return watcher.Dependent{
		ContainerID: m.GetContainerId(), Name: m.GetName(), Relation: m.GetRelation(), Action: m.GetAction(),
	}
}

func encodeFileChange(c watcher.FileChange) *pluginv1.FileChange {
	return &pluginv1.FileChange{Path: c.Path, Line: int32(c.Line), Diff: c.Diff}
}

func decodeFileChange(m *pluginv1.FileChange) watcher.FileChange {
	return watcher.FileChange{Path: m.GetPath(), Line: int(m.GetLine()), Diff: m.GetDiff()}
}

func encodeBackup(b watcher.Backup) *pluginv1.Backup {
	return &pluginv1.Backup{
		ContainerId: b.ContainerID, Name: b.Name, Image: b.Image, Created: encodeTime(b.Created), Size: b.Size,
	}
}

func decodeBackup(m *pluginv1.Backup) watcher.Backup {
	return watcher.Backup{
		ContainerID: m.GetContainerId(), Name: m.GetName(), Image: m.GetImage(), Created: decodeTime(m.GetCreated()),
		Size: m.GetSize(),
	}
}

// EncodeStep returns a step on the wire.
func EncodeStep(s watcher.Step) *pluginv1.Step {
	return &pluginv1.Step{Id: s.ID, Code: s.Code, Container: s.Container, Text: s.Text}
}

// DecodeStep reverses EncodeStep.
func DecodeStep(m *pluginv1.Step) watcher.Step {
	return watcher.Step{ID: m.GetId(), Code: m.GetCode(), Container: m.GetContainer(), Text: m.GetText()}
}

// EncodeStepRecord returns what is stored of a step.
func EncodeStepRecord(r watcher.StepRecord) *pluginv1.StepRecord {
	return &pluginv1.StepRecord{Step: EncodeStep(r.Step), Ended: r.Ended, Error: r.Error, Facts: r.Facts}
}

// DecodeStepRecord reverses EncodeStepRecord.
func DecodeStepRecord(m *pluginv1.StepRecord) watcher.StepRecord {
	return watcher.StepRecord{Step: DecodeStep(m.GetStep()), Ended: m.GetEnded(), Error: m.GetError(), Facts: m.GetFacts()}
}

// EncodeOperation returns an operation on the wire.
func EncodeOperation(o watcher.Operation) *pluginv1.Operation {
	return &pluginv1.Operation{
		Id: o.ID, Update: EncodeUpdateRequest(o.Request), Plan: EncodePlan(o.Plan), Steps: each(o.Steps, EncodeStepRecord),
		Cancelled: o.Cancelled,
	}
}

// DecodeOperation reverses EncodeOperation.
func DecodeOperation(m *pluginv1.Operation) watcher.Operation {
	return watcher.Operation{
		ID: m.GetId(), Request: DecodeUpdateRequest(m.GetUpdate()), Plan: DecodePlan(m.GetPlan()),
		Steps: each(m.GetSteps(), DecodeStepRecord), Cancelled: m.GetCancelled(),
	}
}

// EncodeStepProgress returns how far a step is.
func EncodeStepProgress(p watcher.StepProgress) *pluginv1.StepProgress {
	return &pluginv1.StepProgress{Message: p.Message, Current: p.Current, Total: p.Total}
}

// DecodeStepProgress reverses EncodeStepProgress.
func DecodeStepProgress(m *pluginv1.StepProgress) watcher.StepProgress {
	return watcher.StepProgress{Message: m.GetMessage(), Current: m.GetCurrent(), Total: m.GetTotal()}
}

// EncodeOutcome returns how an operation ended.
func EncodeOutcome(o watcher.Outcome) *pluginv1.Outcome {
	return &pluginv1.Outcome{
		State: string(o.State), Reason: encodeReason(o.Reason), ContainerId: o.ContainerID,
		Downtime: encodeDuration(o.Downtime),
		Kept:     o.Kept, Warnings: each(o.Warnings, encodeReason), Evidence: encodeEvidence(o.Evidence),
	}
}

// DecodeOutcome reverses EncodeOutcome.
func DecodeOutcome(m *pluginv1.Outcome) watcher.Outcome {
	return watcher.Outcome{
		State: watcher.OutcomeState(m.GetState()), Reason: decodeReason(m.GetReason()), ContainerID: m.GetContainerId(),
		Downtime: decodeDuration(m.GetDowntime()),
		Kept:     m.GetKept(), Warnings: each(m.GetWarnings(), decodeReason), Evidence: decodeEvidence(m.GetEvidence()),
	}
}

func encodeEvidence(e *watcher.Evidence) *pluginv1.Evidence {
	if e == nil {
		return nil
	}
	return &pluginv1.Evidence{
		Container: e.Container, Status: e.Status, ExitCode: int32(e.ExitCode), Error: e.Error, Log: e.Log,
		Health: each(e.Health, func(h watcher.HealthResult) *pluginv1.HealthResult {
			return &pluginv1.HealthResult{At: encodeTime(h.At), ExitCode: int32(h.ExitCode), Output: h.Output}
		}),
	}
}

func decodeEvidence(m *pluginv1.Evidence) *watcher.Evidence {
	if m == nil {
		return nil
	}
	return &watcher.Evidence{
		Container: m.GetContainer(), Status: m.GetStatus(), ExitCode: int(m.GetExitCode()), Error: m.GetError(),
		Log: m.GetLog(),
		Health: each(m.GetHealth(), func(h *pluginv1.HealthResult) watcher.HealthResult {
			return watcher.HealthResult{At: decodeTime(h.GetAt()), ExitCode: int(h.GetExitCode()),
				Output: h.GetOutput()}
		}),
	}
}

func encodeDuration(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}

// decodeDuration takes one that is invalid or negative for none.
func decodeDuration(m *durationpb.Duration) time.Duration {
	if m.CheckValid() != nil {
		return 0
	}
	return max(m.AsDuration(), 0)
}
