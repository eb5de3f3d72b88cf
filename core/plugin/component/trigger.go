package component

import (
	"slices"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Trigger is a configured trigger. What it embeds of the plugin runs it.
type Trigger struct {
	Component
	plugin.TriggerHandle
	// Settings are the options that the host acts on.
	Settings TriggerOptions
	// Guarantee is whether its calls may be repeated.
	Guarantee kind.Guarantee
}

func (t *Trigger) attach(bundle *plugin.Supervisor, typ kind.Type) {
	t.TriggerHandle, t.Guarantee = bundle.Trigger(t.FullID()), typ.Guarantee
}

func (t *Trigger) setSettings(values option.Values, opt *Options) (_ []config.Problem, err error) {
	if t.Settings, err = option.Decode[TriggerOptions](values); err != nil {
		return nil, err
	}
	if len(t.Settings.Events) == 0 && t.Settings.Auto && slices.Contains(t.typ.Capabilities, kind.CapMessages) {
		t.Settings.Events = []string{EventOperation, EventPlugin}
	}
	if t.Settings.Backlog == "" {
		t.Settings.Backlog = BacklogEach
		if slices.Contains(t.typ.Capabilities, kind.CapMessages) {
			t.Settings.Backlog = BacklogSummary
		}
	}
	if t.Settings.Backlog == BacklogSummary && slices.Contains(t.typ.Capabilities, kind.CapOperate) {
		t.Settings.Backlog = BacklogEach // it has no reader
	}
	return opt.ValidateTrigger(t.Settings), nil
}
