package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app"
	"github.com/dogwatch/dogwatch/core/app/oneshot"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// checkFlags are the flags of check.
type checkFlags struct {
	watchers []string
	format   string
	json     bool
	trigger  bool
	exitCode bool
	quiet    bool
}

func newCheck(g *global) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [CONTAINER|IMAGE...]",
		Short: "Look for updates once and print them",
		Long: `Checks every container of the configured watchers once, or of the local Docker
socket when none is configured. The database is not touched and nobody is told,
unless --trigger asks for it. With arguments it checks these: containers by name,
display name, id or the beginning of it, or image; and images that run nowhere,
which with a tag need no engine. What is most urgent stands first, and what could
not be checked last, with the reason. Colours are for terminals; NO_COLOR switches
them off.

Exit code 0: the check took place. 1: a watcher could not be asked, nothing could
be checked, or something that an argument names could not. With --exit-code also
3: there are updates, and 1: something could not be checked.`,
		Example: `  # what is out of date on this machine
  dogwatch check

  # one container, by any of its names
  dogwatch check nextcloud

  # two images, without an engine
  dogwatch check nginx:1.25 ghcr.io/home-assistant/home-assistant:2024.1

  # in a script: print updates only, and end with 3 when there are any
  dogwatch check --quiet --exit-code

  # for a ticket, and for jq
  dogwatch check --format markdown --watcher local
  dogwatch check --json

  # from cron, instead of a daemon: store what is found and run the triggers
  dogwatch check --trigger`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && (f.trigger || len(f.watchers) > 0) {
				return usage(errors.New("--trigger and --watcher are for all containers of a watcher, not for those given as arguments"))
			}
			if f.json {
				f.format = "json"
			}
			if !slices.Contains(formats, f.format) {
				return usage(fmt.Errorf("unknown format %q: use table, json or markdown", f.format))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return g.check(cmd.Context(), f, args) },
	}
	cmd.Flags().StringSliceVarP(&f.watchers, "watcher", "w", nil,
		"check the containers of this `watcher` only; may be repeated")
	cmd.Flags().StringVar(&f.format, "format", "table", "how to print: table, json or markdown")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the containers as the API shows them; the same as --format json")
	cmd.Flags().BoolVar(&f.trigger, "trigger", false,
		"store what is found and run the triggers; a Dogwatch that is serving is asked to do it")
	cmd.Flags().BoolVar(&f.exitCode, "exit-code", false,
		"end with 3 when there are updates, and with 1 when something could not be checked")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print updates and failures only, and nothing when there are none")
	cmd.ValidArgsFunction = completeFlag(g.containerNames)
	_ = cmd.RegisterFlagCompletionFunc("watcher", completeFlag(g.watcherNames))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

var formats = []string{"table", "json", "markdown"}

// outcome is what a check led to.
type outcome struct {
	found    []sdk.Container
	failures []error // watchers that could not be asked, and words that stand for nothing
	took     time.Duration
	named    bool // what was found was asked for by name
}

func (g *global) check(ctx context.Context, f checkFlags, words []string) error {
	cfg, err := g.load(nil)
	if err != nil {
		return err
	}
	g.printErrors(cfg.Problems)
	if err := knownWatchers(cfg, f.watchers); err != nil {
		return err
	}
	began := time.Now()
	var o outcome
	switch {
	case len(words) > 0:
		o, err = g.checkNamed(ctx, cfg, words)
	case f.trigger:
		o, err = g.checkAndTrigger(ctx, cfg, f.watchers)
	default:
		o, err = g.checkContainers(ctx, cfg, f.watchers)
	}
	if ctx.Err() != nil {
		return errors.New("stopped before the check was over")
	}
	if err != nil {
		return err
	}
	o.took = time.Since(began)
	return g.report(o, f)
}

// knownWatchers refuses names of watchers that are not configured.
func knownWatchers(cfg *config.Config, names []string) error {
	var known []string
	for _, c := range cfg.Components {
		if c.Kind == kind.Watcher {
			known = append(known, c.Name)
		}
	}
	if len(known) == 0 {
		for _, t := range bundle(kind.Watcher).Types() {
			known = append(known, t.DefaultName)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return usage(fmt.Errorf("there is no watcher %q%s", name,
				cmp.Or(nearest(name, known), ": there is "+enumerate(known))))
		}
	}
	return nil
}

// checkNamed checks what words stand for.
func (g *global) checkNamed(ctx context.Context, cfg *config.Config, words []string) (outcome, error) {
	o := outcome{named: true}
	redactor, err := g.withLoaded(ctx, cfg, neededFor(words), func(instance *oneshot.Instance) {
		var n named
		n, o.failures = g.find(ctx, instance, words)
		if len(n.containers) > 0 {
			var failures []error
			o.found, failures = instance.CheckThese(ctx, n.containers)
			o.failures = append(o.failures, failures...)
		}
		if len(n.images) > 0 {
			o.found = append(o.found, instance.Images(ctx, n.images)...)
		}
	})
	o.found = blank(o.found, redactor)
	return o, err
}

func (g *global) checkContainers(ctx context.Context, cfg *config.Config, names []string) (o outcome, err error) {
	redactor, err := g.withLoaded(ctx, cfg, []kind.Kind{kind.Watcher, kind.Registry}, func(instance *oneshot.Instance) {
		o.found, o.failures = instance.Check(ctx, names)
	})
	o.found = blank(o.found, redactor)
	return o, err
}

// withLoaded has use look at what the configuration names, while a terminal shows how far that is, and prints what is
// wrong with it.
func (g *global) withLoaded(
	ctx context.Context, cfg *config.Config, kinds []kind.Kind, use func(*oneshot.Instance),
) (*logging.Redactor, error) {
	instance, redactor, err := g.newOneShotWith(cfg, kinds...)
	if err != nil {
		return redactor, err
	}
	defer instance.Close()
	stop := spinner(g.stderr, progressText(instance))
	defer stop()
	if err := instance.Load(ctx); err != nil {
		return redactor, err
	}
	use(instance)
	stop()
	g.printErrors(instance.Problems())
	return redactor, nil
}

// blank takes secrets out of what others said.
func blank(found []sdk.Container, redactor *logging.Redactor) []sdk.Container {
	for i := range found {
		if e := found[i].Error; e != nil {
			found[i].Error = &sdk.ContainerError{Message: redactor.String(e.Message), Cause: e.Cause}
		}
	}
	return found
}

// progressText returns a function that renders how far the checks are, or else how many
// responses have come in.
func progressText(instance *oneshot.Instance) func() string {
	began := time.Now()
	return func() string {
		if checked := words.Checked(instance.Progress()...); checked != nil {
			return fmt.Sprintf("Checking: %s in %s", checked, words.Took(time.Since(began)))
		}
		if n := instance.Calls(); n > 0 {
			return fmt.Sprintf("Checking: %s in %s", phrase.Count(n, "answer"), words.Took(time.Since(began)))
		}
		return "Checking: waiting for the first answer"
	}
}

// checkAndTrigger has the Dogwatch that is serving check and deliver, if there is one,
// since the store is its own. Without one it does the same in this process.
func (g *global) checkAndTrigger(ctx context.Context, cfg *config.Config, names []string) (outcome, error) {
	var o outcome
	c, err := newTrustedClient(cfg)
	if err == nil {
		stop := spinner(g.stderr, func() string { return "Waiting for the Dogwatch at " + c.base })
		err = c.call(ctx, http.MethodPost, "/api/containers/watch", &o.found)
		stop()
	}
	if err == nil {
		o.found = slices.DeleteFunc(o.found, func(c sdk.Container) bool {
			return len(names) > 0 && !slices.Contains(names, c.Watcher)
		})
		return o, nil
	}
	if !errors.Is(err, errNotServing) {
		return o, err
	}
	log, redactor, err := g.quietLogger(cfg)
	if err != nil {
		return o, err
	}
	host, err := app.New(ctx, app.Options{Options: madeOf(cfg, log, redactor)})
	if err != nil {
		return o, err
	}
	defer host.Close()
	stop := spinner(g.stderr, func() string {
		return words.Joined(": ", "Checking and delivering", phrase.English(words.Progress(host.Progress()...)))
	})
	done, err := host.CheckAndDeliver(ctx, names)
	stop()
	g.printErrors(done.Problems)
	for _, pending := range done.Pending {
		complain(g.stderr, pending.Trigger+" is not delivered yet: "+redactor.String(pending.Error))
	}
	return outcome{found: blank(done.Containers, redactor), failures: done.Failures}, err
}

// report prints what a check led to and chooses the exit code.
func (g *global) report(o outcome, f checkFlags) error {
	for _, err := range o.failures {
		complain(g.stderr, err)
	}
	rows := rowsOf(o.found)
	sum := summarise(rows, len(o.failures))
	if err := g.print(o, rows, sum, f); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	switch {
	case f.exitCode && sum.Updates > 0:
		return exit(exitUpdates)
	case len(o.failures) > 0,
		(f.exitCode || o.named) && sum.missed > 0,
		sum.missed > 0 && sum.missed == len(rows):
		return exit(exitFailure)
	}
	return nil
}

func (g *global) print(o outcome, rows []row, sum summary, f checkFlags) error {
	if f.format == "json" {
		return printJSON(g.stdout, append([]sdk.Container{}, o.found...))
	}
	if f.quiet {
		rows = slices.DeleteFunc(rows, func(r row) bool { return r.standing.Class == "ok" && r.note == "" })
		if len(rows) == 0 {
			return nil
		}
	}
	last := sum.sentence(o.took)
	if len(o.found)+len(o.failures) == 0 {
		last = nothingFound
	}
	if f.format == "markdown" {
		return writeMarkdown(g.stdout, rows, last)
	}
	return styleOf(g.stdout).writeTable(g.stdout, rows, last)
}
