package conform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
	"github.com/dogwatch/dogwatch/sdk/option"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// callers is how many calls are made at the same time.
const callers = 16

// describe: the description of a type is stable and complete.
func describe(t *testing.T, s Subject) {
	c := inprocess.Serve(t, s.Bundle, io.Discard)
	first, err := c.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(first, second) {
		t.Errorf("described twice, the bundle describes itself differently:\n%+v\n%+v", first, second)
	}
	if len(first.Types) != 1 || !reflect.DeepEqual(first.Types[0], s.Type) {
		t.Errorf("the description changes on its way to the host:\n%+v\n%+v", first.Types, s.Type)
	}
	for _, o := range s.Type.Options {
		if o.Help == "" {
			t.Errorf("option %q has no help", o.Name)
		}
	}
}

// options: whatever is wrong with the options is an *sdk.InvalidError that names the option.
func options(t *testing.T, s Subject) {
	log := &plugintest.Log{}
	c := inprocess.Serve(t, s.Bundle, log)
	valid := s.Working(t).Options
	w := newRecorder(s.Type.Options, valid)
	t.Cleanup(func() { w.inspect(t, log) })

	refused := func(what, field string, raw map[string]any) {
		t.Helper()
		_, err := c.Configure(t.Context(), pluginclient.Instance{
			ID: inprocess.ID(s.Type, "main"), Kind: s.Type.Kind, Type: s.Type.Name, Options: raw, ValidateOnly: true,
		})
		w.recordError("configure", err)
		var invalid *sdk.InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("%s: got %v, want an *sdk.InvalidError about %q", what, err, field)
			return
		}
		for _, f := range invalid.Fields {
			if f.Field == field && f.Detail != "" {
				return
			}
		}
		t.Errorf("%s: the error does not name %q: %v", what, field, err)
	}

	refused("unknown option", "nosuchoption", with(valid, map[string]any{"nosuchoption": "x"}))
	for _, o := range s.Type.Options {
		if o.Required {
			refused("missing "+o.Name, o.Name, with(valid, without(o)))
		}
		if bad, ok := malformed(o); ok {
			raw := with(valid, without(o))
			raw[o.Name] = bad
			refused(fmt.Sprintf("%s = %v", o.Name, bad), o.Name, raw)
		}
	}
	for _, i := range s.Invalid {
		refused(fmt.Sprintf("with %v", i.Set), i.Field, with(valid, i.Set))
	}
	if _, err := inprocess.Configure(t.Context(), c, s.Type, "main", valid); err != nil {
		t.Errorf("the valid options are refused: %v", err)
	}
}

// with returns options with changes; a changed value of nil takes the option away.
func with(options, changes map[string]any) map[string]any {
	changed := maps.Clone(options)
	if changed == nil {
		changed = map[string]any{}
	}
	for name, v := range changes {
		if v == nil {
			delete(changed, name)
		} else {
			changed[name] = v
		}
	}
	return changed
}

func without(o option.Option) map[string]any {
	gone := map[string]any{o.Name: nil}
	for _, alias := range o.Aliases {
		gone[alias] = nil
	}
	return gone
}

// malformed returns a value that an option cannot have, if there is one.
func malformed(o option.Option) (any, bool) {
	switch {
	case o.Type == option.Int, o.Type == option.Float:
		if o.Max != nil {
			return *o.Max + 1, true
		}
		return "many", true
	case o.Type == option.Bool:
		return "perhaps", true
	case o.Type == option.Duration:
		return "soon", true
	case o.Type == option.URL:
		return "not a url", true
	case len(o.Choices) > 0:
		return "nosuchchoice", true
	}
	return nil, false
}

// replace: an instance can be configured again and then works as before.
func replace(t *testing.T, s Subject) {
	in := s.Working(t)
	p := Start(t, s, in)
	p.MustWork()
	if _, err := inprocess.Configure(t.Context(), p.Client, s.Type, "main", in.Options); err != nil {
		t.Fatalf("configure again: %v", err)
	}
	p.MustWork()
}

// concurrent: one instance serves many calls at a time.
func concurrent(t *testing.T, s Subject) {
	p := Start(t, s, s.Working(t))
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for _, c := range p.calls {
				if err := p.Call(t.Context(), c); err != nil {
					t.Errorf("%s, one of %d at a time: %v", c.Name, callers, err)
				}
			}
		})
	}
	all.Wait()
}

// cancel: a call whose context ends comes back, in the plugin as well.
func cancel(t *testing.T, s Subject) {
	if s.Hanging == nil {
		t.Fatal(`say how to make a call hang in Hanging, or list "cancel" in Skip`)
	}
	in, reached := s.hang(t)
	for _, c := range in.Calls {
		s.Sub(t, "cancel", c.Name, func(t *testing.T) { cancelOne(t, s, in, c, reached) })
	}
}

// hang returns a situation that hangs, and a channel that has a value once a call is stuck in it.
func (s Subject) hang(t *testing.T) (Situation, <-chan struct{}) {
	reached := make(chan struct{}, callers)
	return s.Hanging(t, func() {
		select {
		case reached <- struct{}{}:
		default:
		}
	}), reached
}

func cancelOne(t *testing.T, s Subject, in Situation, c Call, reached <-chan struct{}) {
	for len(reached) > 0 {
		<-reached
	}
	p := Start(t, s, in)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- p.Call(ctx, c) }()
	select {
	case <-reached:
	case err := <-ended:
		t.Fatalf("the call ended instead of hanging: %v", err)
	case <-time.After(s.MaxWait()):
		t.Fatal("reached was not called: the call does not get to the service that hangs")
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call returned %v", err)
	}
	// The host's side of a call always comes back; that an instance can be
	// released shows that its own side did, too.
	ctx, stopWaiting := context.WithTimeout(t.Context(), s.MaxWait())
	defer stopWaiting()
	if err := p.Client.Release(ctx, p.ID); err != nil {
		t.Errorf("the call goes on in the plugin after its context ended: %v", err)
	}
}

// classify: failures are of the kind that tells the host what to do.
func classify(t *testing.T, s Subject) {
	if len(s.Failing) == 0 {
		t.Fatal(`say how calls can fail in Failing, or list "errors" in Skip`)
	}
	for _, f := range s.Failing {
		s.Sub(t, "errors", f.Name, func(t *testing.T) {
			p := Start(t, s, f.Make(t))
			for _, c := range p.calls {
				err := p.Call(t.Context(), c)
				if err == nil {
					t.Errorf("%s succeeded", c.Name)
				} else if !isKind(err, f.Kind) {
					t.Errorf("%s: %v: want an error of kind %s", c.Name, err, kindName(f.Kind))
				}
			}
		})
	}
}

// isKind is errors.Is for the sentinels and errors.As for the two kinds that
// carry something; a wanted delay must be the one that is asked for.
func isKind(err, kind error) bool {
	switch kind := kind.(type) {
	case nil:
		return true
	case *sdk.InvalidError:
		var invalid *sdk.InvalidError
		return errors.As(err, &invalid)
	case *sdk.RateLimitedError:
		var limited *sdk.RateLimitedError
		return errors.As(err, &limited) && (kind.After == 0 || limited.After == kind.After)
	}
	return errors.Is(err, kind)
}

func kindName(kind error) string {
	switch kind := kind.(type) {
	case *sdk.InvalidError:
		return "*sdk.InvalidError"
	case *sdk.RateLimitedError:
		return fmt.Sprintf("*sdk.RateLimitedError after %s", kind.After)
	}
	return fmt.Sprintf("%q", kind)
}

// secrets: with a recognisable value in every secret option, no call leaks one,
// whether it succeeds or fails. The recorder of Start inspects the texts.
func secrets(t *testing.T, s Subject) {
	// A URL that is made up leads away from the services of the other situations.
	situations := append([]Failure{{Name: "working", Make: s.Working}, {Name: "urls", Make: func(t *testing.T) Situation {
		in := s.Working(t)
		in.Options = planted(t, s, in.Options, func(o option.Option) bool { return o.Type == option.URL })
		return in
	}}}, s.Failing...)
	for _, f := range situations {
		s.Sub(t, "secrets", f.Name, func(t *testing.T) {
			in := f.Make(t)
			in.Options = planted(t, s, in.Options, func(o option.Option) bool { return o.Type != option.URL })
			p := Start(t, s, in)
			for _, c := range p.calls {
				// Whether it works with made-up secrets does not matter here.
				_ = p.Call(t.Context(), c)
			}
		})
	}
}

// plants are forms in which types accept a secret.
var plants = []string{"%s", "Name=%s", "http://user:%s@127.0.0.1:9/%[1]s"}

// planted returns options with a value in every secret option that is chosen,
// not set, and accepted beside the others.
func planted(t *testing.T, s Subject, options map[string]any, chosen func(option.Option) bool) map[string]any {
	c := inprocess.Serve(t, s.Bundle, io.Discard)
	for _, o := range s.Type.Options {
		values, _, _ := s.Type.Options.Resolve(options)
		if _, set := values[o.Name]; set || !o.Secret || !chosen(o) {
			continue
		}
		for _, form := range plants {
			more := with(options, map[string]any{o.Name: fmt.Sprintf(form, "pLanted-s3cret-"+o.Name)})
			if _, err := inprocess.Configure(t.Context(), c, s.Type, "planting", more); err == nil {
				options = more
				break
			}
		}
	}
	return options
}
