package update

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/internal/heldfile"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The values of the option compose. Without one it is off.
const (
	ComposeRequest = "request"
	ComposeEdit    = "edit"
	ComposeCommand = "command"
)

// composeRules are what a request asks for, or else what the watcher's option says. The
// option is the most that any request gets: refused says what is beyond it, "" for nothing.
func (u *Updater) composeRules(asked *watcher.ComposeRules) (rules *watcher.ComposeRules, refused string) {
	rules = asked
	switch u.Compose {
	case ComposeRequest:
	case ComposeEdit, ComposeCommand:
		command := u.Compose == ComposeCommand
		if asked == nil {
			rules = &watcher.ComposeRules{Command: command}
		}
		if rules.Command && !command {
			refused = "the watcher's option compose is edit, so compose recreates no container: " +
				"set it to command or request, or leave that to the engine's API"
		}
	default:
		if asked != nil {
			refused = "the watcher's option compose is off, so no compose file is changed: set it to request, edit or command"
		}
	}
	return rules, refused
}

// withCompose finds out how the compose file of the target follows. What keeps it
// from following is part of the facts; the error is the engine's.
func (u *Updater) withCompose(ctx context.Context, f *replace.Facts, req watcher.UpdateRequest) error {
	rules, refused := u.composeRules(req.Rules.Compose)
	c := &f.Compose
	if c.Off = u.Compose != ComposeRequest; rules == nil {
		return nil
	}
	c.Rules = rules
	labels := f.Target.Labels
	managed := replace.Managed(f.Target)
	named := labels[compose.LabelFile] != "" || labels[compose.LabelFileWUD] != "" ||
		rules.Label != "" && labels[rules.Label] != ""
	if c.Absent = !managed && !named && rules.File == ""; c.Absent {
		return nil
	}
	if refused != "" {
		c.Problem = &watcher.Reason{Code: replace.BlockComposeOff, Text: refused}
		return nil
	}
	err := u.edit(ctx, f, req)
	var problematic *compose.Error
	switch {
	case errors.As(err, &problematic) && problematic.Code == compose.ServiceUnknown && !managed && !named:
		c.Absent = true // the configured file is for other containers
		return nil
	case errors.As(err, &problematic):
		problem := problematic.Reason()
		c.Problem = &problem
		return nil
	case err != nil || !managed:
		if err == nil && rules.Command {
			c.Problem = &watcher.Reason{
				Code: replace.BlockCommand,
				Text: f.Target.Name() + " was not started by compose, so compose cannot recreate it: use compose=edit",
			}
		}
		return err
	}
	return u.recreation(ctx, f)
}

// edit makes the change of the file, if its text changes.
func (u *Updater) edit(ctx context.Context, f *replace.Facts, req watcher.UpdateRequest) error {
	c, old := &f.Compose, f.Target.Config.Image
	if !replace.Renames(old, req.Image.Reference) {
		return nil
	}
	if u.engine.Endpoint.SSH != nil { // a file of the same path here would be another one
		return compose.Remote(u.engine.Endpoint.Host())
	}
	wanted, err := u.exact(ctx, req.Image)
	if err != nil {
		return err
	}
	labels := f.Target.Labels
	if file := labels[c.Rules.Label]; c.Rules.Label != "" && file != "" {
		labels = maps.Clone(labels)
		labels[compose.LabelFile] = file
	}
	read := compose.Guarded(c.Guard)
	project, err := compose.Locate(labels, c.Rules.File, read)
	var refused *compose.Error
	if errors.As(err, &refused) && refused.Code == compose.FileMissing && c.Rules.File != "" {
		// The configured file may be the same one at another path.
		service := map[string]string{compose.LabelService: labels[compose.LabelService]}
		other, problem := compose.Locate(service, c.Rules.File, read)
		if problem == nil {
			project, err = other, nil
		}
	}
	if err != nil {
		return err
	}
	if c.Edit, err = compose.Edit(project, old, wanted, read); err != nil || c.Edit.Empty() {
		return err
	}
	c.Edit, err = c.Edit.Prepared(c.Guard)
	return err
}

// recreation finds the other containers of the service, and how compose is called if it is to recreate the target.
func (u *Updater) recreation(ctx context.Context, f *replace.Facts) error {
	c, labels := &f.Compose, f.Target.Labels
	service, err := u.service(ctx, labels)
	if err != nil {
		return err
	}
	for _, s := range service {
		if s.ID != f.Target.ID {
			c.Siblings = append(c.Siblings, engine.Name(s))
		}
	}
	if !c.Rules.Command {
		return nil
	}
	if replace.NeedsHelper(*f) {
		c.Problem = &watcher.Reason{
			Code: replace.BlockCommand,
			Text: "Dogwatch runs in " + f.Target.Name() + " or needs it, so compose would end in the middle: use compose=edit",
		}
		return nil
	}
	block := func(text string) error {
		c.Problem = &watcher.Reason{Code: replace.BlockCommand, Text: text}
		return nil
	}
	if _, err := u.engine.Endpoint.DockerHost(); err != nil {
		return block(err.Error())
	}
	command, err := u.composeFor(ctx, labels, len(service), c.Guard)
	var refused *compose.Error
	switch {
	case errors.As(err, &refused):
		problem := refused.Reason()
		c.Problem = &problem
	case err != nil:
		return block(err.Error())
	case command.Misfit(f.Engine.ManyNetworks) != "":
		return block(command.Misfit(f.Engine.ManyNetworks))
	}
	c.Command, c.Number = command, labels[compose.LabelNumber]
	return nil
}

// composeFor returns the compose command for the project of a container.
func (u *Updater) composeFor(
	ctx context.Context, labels map[string]string, scale int, guard heldfile.Guard,
) (*compose.Command, error) {
	labels = maps.Clone(labels)
	delete(labels, compose.LabelFile) // which is the one to edit, not all that the project has
	delete(labels, compose.LabelFileWUD)
	read := compose.Guarded(guard)
	project, err := compose.Locate(labels, "", read)
	if err != nil {
		return nil, err
	}
	tool, err := compose.FindTool(ctx)
	if err != nil {
		return nil, err
	}
	command := compose.NewCommand(tool, project, labels[compose.LabelProject], scale)
	command.First = compose.IsFirst(ctx, tool)
	command.Profiles = project.Profiles(read)
	return &command, command.Check(read)
}

// service returns the containers of a compose service with the labels that count, except
// those of "compose run" and kept predecessors.
func (u *Updater) service(ctx context.Context, labels map[string]string) ([]container.Summary, error) {
	all, err := u.engine.Containers(ctx, true)
	if err != nil {
		return nil, err
	}
	var found []container.Summary
	for _, c := range all {
		same := func() bool {
			return c.Labels[compose.LabelProject] == labels[compose.LabelProject] &&
				c.Labels[compose.LabelService] == labels[compose.LabelService]
		}
		if !same() {
			continue
		}
		if c.Labels, err = u.images.Counting(ctx, c.Labels, c.ImageID, c.ImageManifestDescriptor); err != nil {
			return nil, err
		}
		if same() && c.Labels[compose.LabelOneOff] != "True" {
			found = append(found, c)
		}
	}
	var kept []string
	for _, c := range found {
		kept = append(kept, replace.Predecessors(c.Labels)...)
	}
	return slices.DeleteFunc(found, func(c container.Summary) bool { return slices.Contains(kept, c.ID) }), nil
}

// editFile takes the step that changes the compose file.
func (r *replacement) editFile() (map[string]string, error) {
	c := r.files.Edit
	rules := r.files.Rules
	result, err := c.Apply(rules != nil && rules.Backup, r.files.Guard)
	facts := map[string]string{"file": c.File, "inplace": strconv.FormatBool(result.InPlace)}
	if result.Backup != "" {
		facts["backup"] = result.Backup
	}
	return facts, withCode(err)
}

// withCode gives an error of package compose its code.
func withCode(err error) error {
	var refused *compose.Error
	if errors.As(err, &refused) {
		return &coded{refused.Code, refused.Error()}
	}
	return err
}

// ensureEdited repeats the edit before the operation ends well after a crash.
func (r *replacement) ensureEdited() {
	if _, err := r.files.Edit.Apply(false, r.files.Guard); err != nil {
		r.warn(watcher.Step{Code: watcher.StepEdit, Text: "change " + r.files.Edit.File}, withCode(err))
	}
}

// edited reports whether the step that changes the compose file was begun.
func edited(op watcher.Operation) bool {
	return slices.ContainsFunc(op.Steps, func(s watcher.StepRecord) bool { return s.ID == watcher.StepEdit })
}

// unedit gives the compose file its old text back, and says in out if that failed:
// the old container runs then all the same.
func (r *replacement) unedit(ctx context.Context, out *watcher.Outcome) error {
	c := r.files.Edit
	if c.Empty() || !r.editBegun {
		return nil
	}
	s := watcher.Step{
		ID: rollBackPrefix + watcher.StepEdit, Code: watcher.StepEdit, Text: "write " + c.Old + " into " + c.File + " again",
	}
	if err := r.journal.Begin(ctx, s); err != nil && !errors.Is(err, watcher.ErrStop) {
		return &journalError{err}
	}
	failed := withCode(c.Undo(r.files.Guard))
	if err := r.journal.End(ctx, s, nil, failed); err != nil {
		return &journalError{err}
	}
	r.editBegun = false
	if failed != nil {
		r.warn(s, failed)
		out.Warnings = r.warnings
		out.Reason.Text += "; and the file still has the new image: " + failed.Error()
	}
	return nil
}

// uneditUnlessUpdated takes the edit back after an operation that a helper carried out.
func (r *replacement) uneditUnlessUpdated(
	ctx context.Context, out watcher.Outcome, err error,
) (watcher.Outcome, error) {
	if err != nil || out.State == watcher.Updated {
		return out, err
	}
	err = r.unedit(ctx, &out)
	return out, err
}

// composeHash runs "compose config --hash" before anything changes. Only if it is what the
// old container's label says, the label of the new one can be made in the same way.
func (r *replacement) composeHash(ctx context.Context) {
	labels := r.old[r.op.Plan.Name].Labels
	if r.files.Rules == nil || r.files.Command != nil || labels[compose.LabelHash] == "" {
		return
	}
	host, err := r.engine.Endpoint.DockerHost()
	if err != nil {
		return
	}
	command, err := r.composeFor(ctx, labels, 1, r.files.Guard)
	if err != nil {
		return
	}
	if hash, err := command.Hash(ctx, host); err == nil && hash == labels[compose.LabelHash] {
		r.hash = func(ctx context.Context) (string, error) { return command.Hash(ctx, host) }
	}
}

// labelCompose gives the new container the hash of its configuration, so that compose
// takes it for its own. Without compose it keeps the old one, and the next
// "compose up" recreates it once.
func (r *replacement) labelCompose(ctx context.Context, labels map[string]string) {
	if r.hash == nil {
		return
	}
	hash, err := r.hash(ctx)
	if err != nil {
		r.log.Debug("compose says no hash of the new configuration", "error", err)
		return
	}
	labels[compose.LabelHash] = hash
}

// slot returns the containers that have the same number in the same service.
func (r *replacement) slot(ctx context.Context, labels map[string]string) ([]container.Summary, error) {
	all, err := r.service(ctx, labels)
	return slices.DeleteFunc(all, func(c container.Summary) bool {
		return c.Labels[compose.LabelNumber] != labels[compose.LabelNumber]
	}), err
}
