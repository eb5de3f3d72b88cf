package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/oneshot"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

func newConfig(g *global) *cobra.Command {
	return newGroup("config", "Check, print and document the configuration",
		`Looks after the configuration, which is a YAML file, variables, or both: a setting
such as server.port in the file is DOGWATCH_SERVER_PORT in the environment, which
wins. The variables of What's Up Docker (WUD_…) are understood, too.`,
		`  # what can be set, and what is set by whom
  dogwatch config docs
  dogwatch config show --all

  # find mistakes before the next start does
  dogwatch config validate --config dogwatch.yaml

  # move a compose file of another tool over
  dogwatch config migrate compose.yaml`,
		newConfigValidate(g), newConfigDiff(g), newConfigShow(g), newConfigDocs(g), newConfigMigrate(g))
}

func newConfigValidate(g *global) *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Find every mistake in the configuration",
		Long: `Reads the file and the environment and gives every component to its plugin, which
checks its options; nothing is connected to. Everything found is printed. An error
makes the exit code 1; a warning, such as a misspelt option, does so with --strict.`,
		Example: `  # what the next dogwatch serve would read
  dogwatch config validate

  # a file before it is put in place, without a daemon
  dogwatch config validate --config dogwatch.yaml

  # in a pipeline that is to find every misspelt name
  dogwatch config validate --strict --config dogwatch.yaml`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, _, err := g.loadWhatever()
			if err != nil {
				return err
			}
			problems := append(cfg.Problems, auth.New(auth.Options{Config: cfg, Log: hclog.NewNullLogger()}).Problems()...)
			problems = append(problems, policiesOf(cfg).Problems(time.Now())...)
			instance, redactor, err := g.newOneShotWith(cfg, kind.Kinds()...)
			r := problemReport{w: g.stdout, printed: map[string]bool{}}
			if err == nil {
				r.redact = redactor.String
				err = g.loadReporting(cmd.Context(), instance, func() { r.add(slices.Concat(problems, instance.Problems())) })
				problems = append(problems, instance.Problems()...)
				instance.Close()
			}
			if err != nil {
				problems = append(problems, config.Problem{Message: err.Error(), Level: config.Error})
			}
			r.add(problems)
			return g.verdict(cfg, problems, strict)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 1 for warnings, too")
	return cmd
}

// loadWhatever reads a configuration that is to be reported on, even one that
// is not fit to run; fit tells.
func (g *global) loadWhatever() (cfg *config.Config, fit bool, err error) {
	cfg, err = g.load(nil)
	var invalid *config.InvalidError
	if errors.As(err, &invalid) {
		return cfg, false, nil
	}
	return cfg, true, err
}

// reportAfter is how long all plugins are waited for before it is said what is known of some.
const reportAfter = 1500 * time.Millisecond

// loadReporting loads the components. If a plugin takes its time, it calls report and says
// which components wait for theirs.
func (g *global) loadReporting(ctx context.Context, instance *oneshot.Instance, report func()) error {
	loaded := make(chan error, 1)
	go func() { loaded <- instance.Load(ctx) }()
	select {
	case err := <-loaded:
		return err
	case <-time.After(reportAfter):
	}
	report()
	if waiting := instance.Waiting(); len(waiting) > 0 {
		text := "waiting for the plugins of " + strings.Join(waiting, ", ")
		if why := instance.UnusablePlugins(); why != "" {
			text += "; " + why
		}
		fmt.Fprintln(g.stderr, printable(text))
	}
	return <-loaded
}

// problemReport prints problems, each once.
type problemReport struct {
	w       io.Writer
	redact  func(string) string
	printed map[string]bool
}

// add prints those of the problems that are new, errors first.
func (r problemReport) add(problems []config.Problem) {
	slices.SortStableFunc(problems, func(a, b config.Problem) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), strings.Compare(a.Key, b.Key))
	})
	for _, p := range problems {
		text := p.String()
		if r.redact != nil {
			text = r.redact(text)
		}
		if line := fmt.Sprintf("%s: %s\n", p.Level, logging.Sanitize(text)); !r.printed[line] {
			r.printed[line] = true
			fmt.Fprint(r.w, line)
		}
	}
}

// verdict says how many problems there are. It fails for errors and, if strict, for warnings.
func (g *global) verdict(cfg *config.Config, problems []config.Problem, strict bool) error {
	errs := 0
	for _, p := range problems {
		if p.Level == config.Error {
			errs++
		}
	}
	if len(problems) > 0 {
		fmt.Fprintf(g.stdout, "%s, %s\n", phrase.Count(errs, "error"), phrase.Count(len(problems)-errs, "warning"))
		if errs > 0 || strict {
			return exit(exitFailure)
		}
		return nil
	}
	where := "environment"
	if cfg.File != "" {
		where = cfg.File + " and the environment"
	}
	fmt.Fprintf(g.stdout, "no problems in %s: %s configured\n", where, phrase.Count(len(cfg.Components), "component"))
	return nil
}

func newConfigShow(g *global) *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the configuration with the place each value comes from",
		Long: `Prints what was configured as YAML, each value with the place it comes from: a line
of the file, a variable, or a file that holds a secret. Secrets are masked. So is
every value of a type that is not known: executables in plugins.dir that may run are
started for a moment when something of theirs is configured.`,
		Example: `  # what was set
  dogwatch config show

  # everything that can be set, defaults too, for a script
  dogwatch config show --all --json`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, fit, err := g.loadWhatever()
			if err != nil {
				return err
			}
			schema := schemaOf
			if fit {
				schema = g.schemaWithPlugins(cmd.Context(), cfg)
			}
			if asJSON {
				err = printJSON(g.stdout, config.List(cfg, schema, all))
			} else {
				err = g.show(cfg, schema, all)
			}
			if err == nil && !fit {
				g.printErrors(cfg.Problems)
				return exit(exitFailure)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a list of path, value and source")
	cmd.Flags().BoolVar(&all, "all", false, "print defaults too")
	return cmd
}

// schemaWithPlugins is schemaOf that knows the types of third parties, too. A plugin
// that cannot be started is none: what is written then is masked.
func (g *global) schemaWithPlugins(ctx context.Context, cfg *config.Config) config.SchemaOf {
	foreign := slices.ContainsFunc(cfg.Components, func(c config.Component) bool {
		_, builtin := schemaOf(c.Kind, c.Type)
		return !builtin
	})
	if !foreign {
		return schemaOf
	}
	instance, _, err := g.newOneShotWith(cfg, kind.Kinds()...)
	if err != nil {
		return schemaOf
	}
	defer instance.Close()
	known := map[string]option.Schema{}
	learn := func() (all bool) {
		for _, k := range kind.Kinds() {
			for _, t := range instance.Types(k) {
				known[string(k)+"."+t.Name] = append(component.HostOptions(k), t.Options...)
			}
		}
		missing := func(c config.Component) bool { return known[string(c.Kind)+"."+c.Type] == nil }
		return !slices.ContainsFunc(cfg.Components, missing)
	}
	_ = instance.DiscoverUntil(ctx, learn)
	learn()
	return func(k kind.Kind, typ string) (option.Schema, bool) {
		if s, builtin := schemaOf(k, typ); builtin {
			return s, true
		}
		s, found := known[string(k)+"."+typ]
		return s, found
	}
}

func (g *global) show(cfg *config.Config, schema config.SchemaOf, all bool) error {
	text, err := config.Show(cfg, schema, all)
	if err != nil {
		return err
	}
	text = cmp.Or(text, "# nothing is configured: every setting has its default (--all prints them)\n")
	_, err = fmt.Fprint(g.stdout, text)
	return err
}
