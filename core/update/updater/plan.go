package updater

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/update/operation"
	refs "github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Plan says what an operation would do: the image is resolved to a digest, and the
// watcher of the container looks. Nothing is changed, and only the digest is stored, so that Start can be asked for it.
// What keeps it from being carried out is in the plan's Blocks, as is a registry that gets no requests for now; an
// ErrForbidden, ErrUnsupported, ErrNoUpdate or ErrUnplanned means that it cannot be planned, and any other error that
// the registry or the engine could not be reached.
func (r *Runner) Plan(ctx context.Context, req Request) (watcher.Plan, error) {
	p, err := r.plan(ctx, req)
	if err == nil {
		r.issue(ctx, req, p.request.Image)
	}
	return p.plan, err
}

// planned is a plan with what it was made from.
type planned struct {
	watcher Watcher
	request watcher.UpdateRequest
	plan    watcher.Plan
}

func (r *Runner) plan(ctx context.Context, req Request) (p planned, err error) {
	c := req.Container
	if p.watcher, err = r.watcher(c.Watcher); err != nil {
		return p, err
	}
	rules := r.rules(p.watcher, req)
	p.request = watcher.UpdateRequest{ContainerID: c.ID, Rules: rules.UpdateRules}
	if req.Kind == operation.Rollback { // it may come right after the update, before the next check
		if p.request.ContainerID, err = r.currentID(ctx, c, ""); err != nil {
			return p, err
		}
	}
	var missing []watcher.Reason
	if p.request.Image, missing, err = r.image(ctx, req); err != nil {
		return p, err
	}
	p.request.Credentials = r.planCredentials(ctx, p.watcher, c, p.request.Image)
	p.plan, err = p.watcher.Updater.Plan(ctx, p.request)
	if err != nil {
		return p, fmt.Errorf("plan the %s of %s/%s: %w", req.Kind, c.Watcher, c.Name, err)
	}
	if p.request.Image.Digest == "" && len(missing) > 0 { // which says why
		p.plan.Blocks = slices.DeleteFunc(slices.Clone(p.plan.Blocks), func(b watcher.Reason) bool {
			return b.Code == blockNoDigest
		})
	}
	p.plan.Blocks = slices.Concat(r.proposed(c, p.plan.Blocks), missing, rules.blocks)
	p.plan.Warnings = slices.Concat(p.plan.Warnings, rules.warnings, r.major(req, p),
		r.vulnerabilities(req, p.request.Image.Digest))
	p.plan = withoutSecrets(p.plan)
	return p, nil
}

// proposed returns blocks that say which trigger proposes the update where that is left to others.
func (r *Runner) proposed(c sdk.Container, blocks []watcher.Reason) []watcher.Reason {
	blocks = slices.Clone(blocks)
	for i, b := range blocks {
		if r.opt.Proposes == nil || b.Code != watcher.BlockKept && b.Code != watcher.BlockApplied {
			continue
		}
		if trigger := r.opt.Proposes(c); trigger != "" {
			blocks[i].Text += "; a pull request is opened by " + trigger
		}
	}
	return blocks
}

// vulnerabilities returns how the image of an update compares with the one that runs, if
// both were scanned.
func (r *Runner) vulnerabilities(req Request, digest string) []watcher.Reason {
	if r.opt.Vulnerabilities == nil || req.Kind != operation.Update {
		return nil
	}
	text, known := r.opt.Vulnerabilities(req.Container, digest)
	if !known {
		return nil
	}
	return []watcher.Reason{{Code: WarnVulnerabilities, Text: text}}
}

// image returns the image that a container is to run, and why it cannot be pulled.
func (r *Runner) image(ctx context.Context, req Request) (watcher.TargetImage, []watcher.Reason, error) {
	if req.Kind == operation.Rollback {
		image, err := r.rollbackImage(ctx, req.Container)
		if err == nil && req.Digest != "" && req.Digest != image.Digest {
			err = unplanned(req)
		}
		return image, nil, err
	}
	c := req.Container
	if !c.UpdateAvailable {
		return watcher.TargetImage{}, nil, fmt.Errorf("%s/%s: %w: nothing newer is known", c.Watcher, c.Name, ErrNoUpdate)
	}
	if c.Base != nil {
		return watcher.TargetImage{}, nil, rebuild(c)
	}
	tag := update.KeyOf(&c).ToTag
	image := watcher.TargetImage{Reference: reference(c, tag), Digest: req.Digest}
	owner, repo, err := r.registry(ctx, c)
	if err != nil {
		return image, nil, err
	}
	known, err := r.issued(ctx, req, image)
	if err == nil && req.Digest == "" && r.opt.AgedDigest != nil {
		image.Digest, err = r.opt.AgedDigest(ctx, &c)
		known = image.Digest != ""
	}
	if err != nil {
		return image, nil, err
	}
	if !known {
		var later Postponed
		image.Digest, err = owner.Resolve(ctx, repo, tag)
		switch {
		case req.IdempotencyKey == "" && errors.As(err, &later): // a delivery is tried again
			return image, []watcher.Reason{postponed(image.Reference, later)}, nil
		case err != nil:
			return image, nil, fmt.Errorf("resolve %s: %w", image.Reference, err)
		case req.Digest != "" && req.Digest != image.Digest:
			return image, nil, unplanned(req)
		}
	}
	// The configuration only adds to what the plan shows; the plan is as good without it. An image that
	// is not there for the platform could not be pulled either.
	image.Config, err = owner.ImageConfig(ctx, repo, image.Digest, sdk.Platform{
		OS: c.Image.OS, Architecture: c.Image.Architecture, Variant: c.Image.Variant,
	})
	if errors.Is(err, sdk.ErrNotFound) {
		return image, []watcher.Reason{{Code: "image.platform", Text: r.opt.Redact(err.Error())}}, nil
	}
	if err != nil {
		r.log.Debug("read the configuration of an image", "image", image.Reference, "error", r.opt.Redact(err.Error()))
	}
	return image, nil, nil
}

// rebuild says that the update of a container is one of the image that its own is built on.
func rebuild(c sdk.Container) error {
	from, to := c.Base.Tag.Value, update.KeyOf(&c).To()
	return fmt.Errorf("%s/%s: %w: its base image %s:%s is newer (%s): rebuild it", c.Watcher, c.Name, ErrNoUpdate,
		refs.Short(c.Base.Registry.Host, c.Base.Name), from, to)
}

// Postponed is the error of a request that is not made since its host gets none for now.
type Postponed interface {
	error
	// Postponed returns why, with the name of the host, and from when on it gets some again.
	Postponed() (reason string, until time.Time)
}

func postponed(reference string, later Postponed) watcher.Reason {
	reason, until := later.Postponed()
	return watcher.Reason{
		Code: BlockPostponed,
		Text: fmt.Sprintf("which image %s is cannot be looked up now: %s; it is free again at %s", reference, reason,
			until.UTC().Format("2006-01-02 15:04:05 MST")),
	}
}

// reference names an image of a container's repository as engines pull it.
func reference(c sdk.Container, tag string) string {
	return c.Image.Registry.Host + "/" + c.Image.Name + ":" + tag
}

func (r *Runner) registry(ctx context.Context, c sdk.Container) (Registry, registry.Repository, error) {
	repo := registry.Repository{Host: c.Image.Registry.Host, Name: c.Image.Name, ScopeHints: []string{c.Image.Name}}
	owner, known := r.opt.Registries.For(repo.Host)
	if !known {
		return nil, repo,
			fmt.Errorf("%s/%s: no registry is configured for %s: %w", c.Watcher, c.Name, repo.Host, sdk.ErrNotFound)
	}
	if r.opt.PullCredentials != nil && c.Base == nil {
		repo.Credentials = r.opt.PullCredentials(ctx, c)
	}
	return owner, repo, nil
}

// credentials returns what the engine needs to pull an image. Without any, the pull
// is anonymous, and its error says so if that is not enough.
func (r *Runner) credentials(ctx context.Context, c sdk.Container, image watcher.TargetImage) sdk.Credentials {
	if image.Digest == "" {
		return sdk.Credentials{}
	}
	owner, repo, err := r.registry(ctx, c)
	if err != nil {
		return sdk.Credentials{}
	}
	cred, err := owner.Credentials(ctx, repo)
	if err != nil {
		r.log.Warn("get the credentials for a pull", "image", image.Reference, "error", r.opt.Redact(err.Error()))
	}
	return cred
}

// planCredentials are credentials for a plan. What is detached gets them with an operation only.
func (r *Runner) planCredentials(
	ctx context.Context, w Watcher, c sdk.Container, image watcher.TargetImage,
) sdk.Credentials {
	if w.Detached {
		return sdk.Credentials{}
	}
	return r.credentials(ctx, c, image)
}

// rollbackImage returns the image that a container ran before its last update that
// was not rolled back since.
func (r *Runner) rollbackImage(ctx context.Context, c sdk.Container) (watcher.TargetImage, error) {
	none := fmt.Errorf("%s/%s: %w: no update of it is known that could be rolled back", c.Watcher, c.Name, ErrNoUpdate)
	before, undone, updated := "", 0, false
	for {
		page, err := r.opt.Store.Operations(ctx, operation.Filter{
			Watcher: c.Watcher, Name: c.Name, States: []operation.State{operation.Succeeded}, Before: before,
		})
		if err != nil {
			return watcher.TargetImage{}, err
		}
		switch {
		case len(page) > 0:
		case updated:
			return watcher.TargetImage{}, none
		default:
			return watcher.TargetImage{}, fmt.Errorf("%s/%s: %w", c.Watcher, c.Name, ErrNeverUpdated)
		}
		for _, op := range page {
			before, updated = op.ID, updated || !op.Rules.DryRun
			switch {
			case op.Rules.DryRun:
			case op.Kind == operation.Rollback:
				undone++
			case undone > 0:
				undone--
			case op.Plan.From.ID == "":
				return watcher.TargetImage{}, none
			default:
				return watcher.TargetImage{Reference: op.Plan.From.Reference, ID: op.Plan.From.ID, Digest: op.Plan.From.Digest}, nil
			}
		}
	}
}

// withoutSecrets drops the values of a user's environment variables, which are never
// stored or shown.
func withoutSecrets(p watcher.Plan) watcher.Plan {
	carried := make([]watcher.Setting, len(p.Carried))
	for i, s := range p.Carried {
		if strings.HasPrefix(s.Name, "env ") {
			s.Value = ""
		}
		carried[i] = s
	}
	p.Carried = carried
	return p
}
