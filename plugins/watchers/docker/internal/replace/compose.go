package replace

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/heldfile"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The codes of blocks and warnings about compose files, apart from those of compose.Error.
const (
	BlockCommand = "compose.command"
	// BlockComposeOff is a warning too, where nothing but the option keeps the file as it is.
	BlockComposeOff = "compose.off"
	WarnUnchanged   = "compose.unchanged"
	WarnAbsent      = watcher.BlockComposeAbsent
	WarnScaled      = "compose.scaled"
	WarnRecreates   = "compose.recreates"
)

// Compose says how the compose file of the target follows the update.
type Compose struct {
	// Rules are nil when the file is left alone; with Off no request can change that.
	Rules *watcher.ComposeRules `json:"-"`
	Off   bool                  `json:"-"`
	// Absent is true when the target belongs to no compose file.
	Absent bool `json:"-"`
	// Problem keeps the file from being changed, or the command from being used.
	Problem *watcher.Reason `json:"-"`
	// Siblings are the names of the other containers of the service.
	Siblings []string `json:"-"`
	// Guard refuses files that containers can write.
	Guard heldfile.Guard `json:"-"`
	// Edit is empty when the file names the new image already.
	Edit compose.Change
	// Command recreates the target; nil for the engine's API.
	Command *compose.Command `json:",omitempty"`
	// Unit is the systemd unit of the target's quadlet, which recreates it; "" for others. Then Edit is that of the
	// quadlet.
	Unit string `json:",omitempty"`
	// Number is that of the target among the containers of its service.
	Number string `json:",omitempty"`
}

// Recreates reports whether something else than the engine's API recreates the target: compose, or systemd.
func (c Compose) Recreates() bool { return c.Command != nil || c.Unit != "" }

// Remedy says how a user starts what the file says.
func (c Compose) Remedy() string {
	if c.Unit != "" {
		return "systemctl restart " + c.Unit
	}
	return "run " + c.Command.Text() + " in " + c.Command.WorkingDir
}

// follows reports whether anything is done about a compose file.
func (c Compose) follows() bool { return c.Rules != nil && !c.Absent && c.Problem == nil }

// Managed reports whether compose made a container.
func Managed(c Container) bool {
	return c.Labels[composeProject] != "" && c.Labels[composeService] != ""
}

// Renames reports whether the new image has another name or tag than the old
// reference, or the reference has a digest: then the text in a compose file changes.
func Renames(old, new string) bool {
	a, err := reference.Parse(old)
	b, err2 := reference.Parse(new)
	return err != nil || err2 != nil || a.Digest != "" || a.Name() != b.Name() || tag(a) != tag(b)
}

// withCompose adds to a plan what becomes of the compose file.
func withCompose(p *watcher.Plan, f Facts, req watcher.UpdateRequest) {
	c := f.Compose
	warn := func(code, text string, args ...any) {
		p.Warnings = append(p.Warnings, watcher.Reason{Code: code, Text: fmt.Sprintf(text, args...)})
	}
	switch {
	case c.Rules == nil:
		const text = "the compose file of %s is not changed, so the next docker compose up returns to the old image: " +
			"%s, or write %s there"
		switch {
		case !Managed(f.Target) || !Renames(f.Target.Config.Image, req.Image.Reference):
		case c.Off:
			warn(BlockComposeOff, text, p.Name, "set the watcher's option compose", req.Image.Reference)
		default:
			warn(WarnUnchanged, text, p.Name, "have it changed too", req.Image.Reference)
		}
	case c.Absent && c.Rules.Required:
		p.Blocks = append(p.Blocks, watcher.Reason{
			Code: watcher.BlockComposeAbsent,
			Text: fmt.Sprintf("%s belongs to no compose file, so this trigger leaves it alone: "+
				"name its file with the label dogwatch.compose.file, or use a docker trigger", p.Name),
		})
	case c.Absent:
		warn(WarnAbsent, "%s was not started by compose, so no compose file is changed", p.Name)
	case c.Problem != nil:
		p.Blocks = append(p.Blocks, *c.Problem)
	case len(c.Siblings) > 0 && c.Command != nil:
		warn(WarnScaled, "compose recreates the other containers of the service too: %s", strings.Join(c.Siblings, ", "))
	case len(c.Siblings) > 0:
		warn(WarnScaled, "other containers of the service keep the old image until they are updated too: %s",
			strings.Join(c.Siblings, ", "))
	}
	if !c.follows() || req.Rules.DryRun {
		return
	}
	if c.Unit != "" {
		p.Steps = commandSteps(p.Steps, p.Name, "systemctl restart "+c.Unit)
		for _, d := range p.Dependents {
			if d.Action == watcher.StepCreate {
				p.Blocks = append(p.Blocks, watcher.Reason{Code: BlockPodmanUnit, Text: fmt.Sprintf(
					"%s has to be recreated with %s, which the unit %s does not do: restart both units by hand", d.Name, p.Name, c.Unit)})
			}
		}
	}
	if c.Command != nil {
		p.Steps = commandSteps(p.Steps, p.Name, c.Command.Text())
		warn(WarnRecreates,
			"compose removes the old %s before the new one is known to work; if that fails, "+
				"it is made anew from the old image", p.Name)
		for _, d := range p.Dependents {
			if d.Action == watcher.StepCreate {
				p.Blocks = append(p.Blocks, watcher.Reason{Code: BlockCommand, Text: fmt.Sprintf(
					"%s has to be recreated with %s, which the compose command does not do: use compose=edit", d.Name, p.Name)})
			}
		}
	}
	if !c.Edit.Empty() {
		p.Files = append(p.Files, watcher.FileChange{Path: c.Edit.File, Line: c.Edit.Line, Diff: c.Edit.Diff})
		index := slices.IndexFunc(p.Steps, func(s watcher.Step) bool {
			return s.Code != watcher.StepPull && s.ID != PreHookID(p.Name)
		})
		p.Steps = slices.Insert(p.Steps, max(index, 0), watcher.Step{
			ID: watcher.StepEdit, Code: watcher.StepEdit,
			Text: fmt.Sprintf("write %s instead of %s into %s", c.Edit.New, c.Edit.Old, c.Edit.File),
		})
	}
	if !c.Edit.Empty() || c.Recreates() {
		p.State += ";" + c.encode()
	}
}

// commandSteps are the steps of a plan with the compose command in place of those
// that replace the container by the engine's API.
func commandSteps(steps []watcher.Step, name, command string) []watcher.Step {
	find := func(code string) int {
		return slices.IndexFunc(steps, func(s watcher.Step) bool { return s.Code == code && s.Container == name })
	}
	first := find(watcher.StepStop)
	if first < 0 {
		first = find(watcher.StepCreate)
	}
	var all []watcher.Step
	for i, s := range steps {
		if i == first {
			all = append(all, watcher.Step{
				ID: watcher.StepCreate + ":" + name, Code: watcher.StepCreate, Container: name,
				Text: "recreate " + name + " with " + command,
			})
		}
		switch s.Code {
		case watcher.StepRename, watcher.StepCreate, watcher.StepConnect, watcher.StepStop, watcher.StepStart,
			watcher.StepRemove:
		default:
			all = append(all, s)
		}
	}
	return all
}

// encode makes the part of a plan's state that says what becomes of the compose file,
// so that it is stored before anything is done and can be taken back after a crash.
func (c Compose) encode() string {
	c.Edit.Diff = ""
	text, _ := json.Marshal(c) // it has nothing that cannot be encoded
	return base64.RawURLEncoding.EncodeToString(text)
}

// ComposeOf returns what a plan does about a compose file; the zero value for nothing.
func ComposeOf(p watcher.Plan) (Compose, error) {
	var c Compose
	parts := strings.Split(p.State, ";")
	if len(parts) < 3 {
		return c, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return c, fmt.Errorf("the plan of %s does not say what becomes of its compose file: %w", p.Name, err)
	}
	return c, nil
}
