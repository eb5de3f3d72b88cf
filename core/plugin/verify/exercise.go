package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/sample"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// leaveTime is how long a call may go on in the plugin after it was cancelled.
const leaveTime = 5 * time.Second

// subject is a type under exam, in a process of its own.
type subject struct {
	*exam
	typ     kind.Type
	name    string
	id      string // of the instance that it is tried with
	process *plugin.Unsupervised
	config  configuration
	host    string // of a registry: one that it serves
	reached bool   // whether a call came to the server here
}

// exercise uses a type against servers that answer, fail and hang.
func (e *exam) exercise(ctx context.Context, t kind.Type) {
	s := &subject{exam: e, typ: t, name: fullName(t), id: fullName(t) + ".verify"}
	uses := []string{checkCall, checkErrors, checkCancel, checkRelease}
	if t.Kind == kind.Watcher {
		uses = []string{checkCall, checkErrors, checkCancel, checkWatch, checkWatchEnd, checkRelease}
	}
	all := slices.Concat([]string{checkOptions, checkConfigure}, uses, []string{checkSecrets})
	works, err := newServer(200, "{}")
	if err != nil {
		e.skip(all, s.name, err.Error())
		return
	}
	defer works.close()
	if s.config, err = e.configuration(t, works.url); err != nil {
		e.skip(all, s.name, "give what it needs with --set NAME=VALUE: "+err.Error())
		return
	}
	spec := s.instance(s.config)
	if s.process, err = e.host.Try(ctx, e.path, []pluginclient.Instance{spec}); err != nil {
		e.failed(checkConfigure, s.name, "it did not start a second time: "+err.Error(), "")
		return
	}
	s.wrongOptions(ctx)
	switch {
	case !s.configured(ctx, spec):
		e.skip(uses, s.name, "it is not configured")
	case t.Guarantee == kind.AtMostOnce && s.config.sampled:
		e.skip(uses, s.name,
			"it acts on something, and is not run with values that were guessed: give them with --set, of "+names(t.Options))
	default:
		s.responding(ctx, works)
		s.failing(ctx)
		s.cancelled(ctx)
		if t.Kind == kind.Watcher {
			s.watched(ctx)
		}
		s.released(ctx)
	}
	s.secrets()
}

func (s *subject) ok(check, text string) { s.exam.ok(check, s.name, text) }

func (s *subject) failed(check, text, remedy string) { s.exam.failed(check, s.name, text, remedy) }

func (s *subject) skip(check, why string) { s.exam.skip([]string{check}, s.name, why) }

func (s *subject) instance(c configuration) pluginclient.Instance {
	return pluginclient.Instance{ID: s.id, Kind: s.typ.Kind, Type: s.typ.Name, Options: c.values}
}

// against returns a server, and an instance whose addresses are those of the server. Its secrets must not show either.
func (s *subject) against(status int, body string) (*server, pluginclient.Instance, error) {
	to, err := newServer(status, body)
	if err != nil {
		return nil, pluginclient.Instance{}, err
	}
	config, err := s.configuration(s.typ, to.url)
	if err != nil {
		to.close()
		return nil, pluginclient.Instance{}, err
	}
	s.config.secrets = append(s.config.secrets, config.secrets...)
	return to, s.instance(config), nil
}

// use configures the instance and calls it once.
func (s *subject) use(ctx context.Context, in pluginclient.Instance) error {
	if _, err := s.configure(ctx, in); err != nil {
		return err
	}
	return s.call(ctx, callTime)
}

func (s *subject) configure(ctx context.Context, in pluginclient.Instance) (pluginclient.Configured, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	done, err := s.process.Client.Configure(ctx, in)
	s.transcript.add(fmt.Sprint(done.Warnings, err))
	return done, err
}

// wrongOptions takes each required option away. A plugin may leave that to the host,
// which knows the schema; if it refuses, it has to name the option.
func (s *subject) wrongOptions(ctx context.Context) {
	for _, o := range s.typ.Options {
		if !o.Required {
			continue
		}
		in := s.instance(s.config)
		in.Options, in.ValidateOnly = maps.Clone(in.Options), true
		delete(in.Options, o.Name)
		_, err := s.configure(ctx, in)
		var invalid *sdk.InvalidError
		switch {
		case err == nil, errors.As(err, &invalid) && strings.Contains(err.Error(), o.Name):
		default:
			s.failed(checkOptions, fmt.Sprintf("without its required option %s it answered %q", o.Name, err),
				"answer INVALID_ARGUMENT with a BadRequest that names the option")
			return
		}
	}
	s.ok(checkOptions, "")
}

// configured validates and configures the instance, and reports whether it is there.
func (s *subject) configured(ctx context.Context, in pluginclient.Instance) bool {
	check := in
	check.ValidateOnly = true
	if _, err := s.configure(ctx, check); err != nil {
		var invalid *sdk.InvalidError
		if errors.As(err, &invalid) && s.config.sampled {
			s.skip(checkConfigure, "options that were guessed are refused ("+err.Error()+"): give them with --set, of "+names(s.typ.Options))
			return false
		}
		s.failed(checkConfigure, "options that fit its own schema are refused: "+err.Error(), "")
		return false
	}
	if err := s.call(ctx, callTime); !errors.Is(err, protocol.ErrUnknownInstance) {
		s.failed(checkConfigure, fmt.Sprintf("an instance that was only validated can be used: the answer was %v", orNone(err)),
			"with validate_only, check the options and keep nothing; answer FAILED_PRECONDITION for an instance that is not configured")
		return false
	}
	done, err := s.configure(ctx, in)
	if err == nil {
		done, err = s.configure(ctx, in) // replaces it
	}
	if err != nil {
		s.failed(checkConfigure, "configured twice, it answered: "+err.Error(), "replace the instance of the same id")
		return false
	}
	s.host = "registry.example.org"
	for _, h := range done.Hosts {
		if !strings.Contains(h.Pattern, "*") {
			s.host = h.Pattern
			break
		}
	}
	s.ok(checkConfigure, "")
	return true
}

// call uses the instance once, within a time.
func (s *subject) call(ctx context.Context, within time.Duration) (err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	switch s.typ.Kind {
	case kind.Trigger:
		req := trigger.Request{
			Delivery: "verify", Title: "Title of a test", Body: "Body of a test", Containers: sample.Containers(), Test: true,
		}
		err = s.process.Client.Trigger(s.id).Run(ctx,
			req.WithReport(func(p trigger.Progress) { s.transcript.add(p.Phase + " " + p.Message) }))
	case kind.Watcher:
		_, err = s.process.Client.Watcher(s.id).List(ctx)
	case kind.Registry:
		_, err = s.process.Client.Registry(s.id).Tags(ctx, registry.Repository{Host: s.host, Name: "library/verify"}, "")
	}
	if err != nil {
		s.transcript.add(err.Error())
	}
	return err
}

// remedyBounds is what to do about an answer that the host refuses.
const remedyBounds = `answer within the bounds that "Bounds" in docs/plugins-writing.md lists, with long lists in several messages`

// responding calls it with a server that answers: with an object, or else with a list.
func (s *subject) responding(ctx context.Context, works *server) {
	err := s.call(ctx, callTime)
	s.reached = works.wasReached()
	if err != nil && s.reached && !errors.Is(err, context.DeadlineExceeded) {
		if lists, in, failed := s.against(200, "[]"); failed == nil {
			if s.use(ctx, in) == nil {
				err = nil
			}
			lists.close()
		}
	}
	switch {
	case err == nil:
		s.ok(checkCall, map[bool]string{true: "", false: "no server here was asked"}[s.reached])
	case errors.Is(err, context.DeadlineExceeded):
		s.failed(checkCall, fmt.Sprintf("it did not answer within %s", callTime), "")
	case errors.Is(err, protocol.ErrRefused):
		s.failed(checkCall, err.Error(), remedyBounds)
	case !hasKind(err):
		s.failed(checkCall, "the error has no kind: "+err.Error(),
			"mend the plugin's code if the mistake is there; what others do wrong it answers with a code that plugin.proto names, such as UNAVAILABLE or INVALID_ARGUMENT")
	case len(s.opt.Set) > 0 && !s.reached:
		s.failed(checkCall, err.Error(), "")
	default:
		s.skip(checkCall, "what answers here is no service of its sort ("+err.Error()+"): give options that work with --set")
	}
}

// failing calls it with a server that answers with errors.
func (s *subject) failing(ctx context.Context) {
	if !s.reached {
		s.skip(checkErrors, "it asks no server here")
		return
	}
	for _, status := range []int{500, 401, 404} {
		fails, in, err := s.against(status, "")
		if err != nil {
			s.skip(checkErrors, err.Error())
			return
		}
		err = s.use(ctx, in)
		fails.close()
		if !fails.wasReached() {
			continue
		}
		switch {
		case err == nil:
			s.failed(checkErrors, fmt.Sprintf("it reports success, though the server answered %d", status),
				"look at the status of the answer")
			return
		case !hasKind(err):
			s.failed(checkErrors, fmt.Sprintf("for an answer of %d the error has no kind: %v", status, err),
				"answer UNAVAILABLE, UNAUTHENTICATED or NOT_FOUND")
			return
		}
	}
	s.ok(checkErrors, "")
}

// cancelled gives up a call during which the server hangs.
func (s *subject) cancelled(ctx context.Context) {
	if !s.reached {
		s.skip(checkCancel, "it asks no server here")
		return
	}
	hanging, in, err := s.against(hangs, "")
	if err != nil {
		s.skip(checkCancel, err.Error())
		return
	}
	defer hanging.close()
	if _, err := s.configure(ctx, in); err != nil {
		s.skip(checkCancel, "it was not configured: "+err.Error())
		return
	}
	given, giveUp := context.WithCancel(ctx)
	defer giveUp()
	go func() { _ = s.call(given, 4*callTime) }()
	select {
	case <-hanging.reached:
	case <-time.After(leaveTime):
		s.skip(checkCancel, "it did not ask the server")
		return
	}
	giveUp()
	select {
	case <-hanging.left:
		s.ok(checkCancel, "")
	case <-time.After(leaveTime):
		s.failed(checkCancel, fmt.Sprintf("%s after the host had given up a call, its request went on", leaveTime),
			"end what you do for a call when gRPC cancels it")
	}
}

// released drops the instance.
func (s *subject) released(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	err := s.process.Client.Release(ctx, s.id)
	if err == nil {
		err = s.process.Client.Release(ctx, s.id) // an unknown instance is no error
	}
	if err != nil {
		s.failed(checkRelease, "released twice, it answered: "+err.Error(),
			"an unknown instance is no error of Release")
		return
	}
	s.ok(checkRelease, "")
}

// secrets looks for them in all that the plugin said.
func (s *subject) secrets() {
	s.process.Close() // what it has written is read now
	switch {
	case len(s.transcript.shown(s.config.secrets)) > 0:
		s.failed(checkSecrets, "the value of a secret option is in its log, its output or an error",
			"do not write options, addresses with secrets, or answers that repeat the request")
	case s.transcript.truncated():
		s.failed(checkSecrets, fmt.Sprintf("it wrote more than %d MiB to its log, which were not read", kept>>20), "write less")
	case len(s.config.secrets) == 0:
		s.skip(checkSecrets, "it has no secret options")
	default:
		s.ok(checkSecrets, "")
	}
}

// hasKind reports whether the host knows what an error means.
func hasKind(err error) bool {
	var invalid *sdk.InvalidError
	var limited *sdk.RateLimitedError
	if errors.As(err, &invalid) || errors.As(err, &limited) {
		return true
	}
	for _, k := range []error{sdk.ErrUnavailable, sdk.ErrUnauthorized, sdk.ErrNotFound, sdk.ErrUnsupported} {
		if errors.Is(err, k) {
			return !errors.Is(err, protocol.ErrGone)
		}
	}
	return false
}

func orNone(err error) any {
	if err == nil {
		return "success"
	}
	return err
}
