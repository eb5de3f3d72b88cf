package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/doctor"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/internal/contained"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// defaultTimeout is how long doctor waits for one response.
const defaultTimeout = 10 * time.Second

// doctorFlags are the flags of doctor.
type doctorFlags struct {
	json, quiet bool
	timeout     time.Duration
}

func newDoctor(g *global) *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out what keeps Dogwatch from working",
		Long: `Examines everything that Dogwatch needs: the configuration, the folder of the
database, plugins, the engine and its socket, the labels of the containers, the
clock, name lookup, each registry that is used with its login and its limits, and
the triggers. For whatever is wrong it says what to do.

It changes nothing and sends nothing, and works beside a Dogwatch that serves.
In a container: docker exec dogwatch dogwatch doctor

Exit code 0: all works, though there may be warnings. 1: something does not work.`,
		Example: `  # everything there is to know
  dogwatch doctor

  # what is wrong only, with time for slow registries
  dogwatch doctor --quiet --timeout 30s

  # for a script
  dogwatch doctor --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.timeout <= 0 {
				return usage(errors.New("--timeout must be longer than nothing, such as 10s"))
			}
			return exactly(0)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return g.examine(cmd.Context(), f) },
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print the findings as a list of subject, level, detail and remedy")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print warnings and failures only")
	cmd.Flags().DurationVar(&f.timeout, "timeout", defaultTimeout, "how long to wait for each answer")
	cmd.AddCommand(newDoctorAgent(g))
	return cmd
}

func newDoctorAgent(g *global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "agent NAME",
		Short: "Find out what keeps an agent from working",
		Long: `Has the Dogwatch that is serving go the way to one of its agents, and says which part does
not work: over the connection to the engine of the host and what its owner allows there,
or, while the agent is not connected, from public.url back to here, as the agent comes.
What only the host can see, dogwatch agent doctor says there.

Exit code 0: all of it works. 1: a part does not.`,
		Example: `  # why is the agent of the attic offline?
  dogwatch doctor agent attic

  # for a script
  dogwatch doctor agent attic --json`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error { return g.examineAgent(cmd.Context(), args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as a list of subject, level, detail and remedy")
	return cmd
}

func (g *global) examineAgent(ctx context.Context, name string, asJSON bool) error {
	c, err := g.trustedClient()
	if err != nil {
		return err
	}
	began := time.Now()
	var found []doctor.Finding
	if err := c.post(ctx, "/api/agents/"+url.PathEscape(name)+"/doctor", struct{}{}, &found); err != nil {
		return err
	}
	return g.printFindings(found, asJSON, false, time.Since(began))
}

// printFindings prints what was found; the error has the exit code when something does not work.
func (g *global) printFindings(found []doctor.Finding, asJSON, quiet bool, took time.Duration) error {
	var err error
	if asJSON {
		err = printJSON(g.stdout, append([]doctor.Finding{}, found...))
	} else {
		err = styleOf(g.stdout).writeFindings(g.stdout, found, quiet, took)
	}
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	if doctor.Count(found)[doctor.Fail] > 0 {
		return exit(exitFailure)
	}
	return nil
}

func (g *global) examine(ctx context.Context, f doctorFlags) error {
	cfg, fit, err := g.loadWhatever()
	if err != nil {
		return err
	}
	began := time.Now()
	found, err := g.findings(ctx, cfg, fit, f)
	if ctx.Err() != nil {
		return errors.New("stopped before the examination was over")
	}
	if err != nil {
		return err
	}
	return g.printFindings(found, f.json, f.quiet, time.Since(began))
}

func (g *global) findings(ctx context.Context, cfg *config.Config, fit bool, f doctorFlags) ([]doctor.Finding, error) {
	var responses atomic.Int64
	began := time.Now()
	stop := spinner(g.stderr, func() string {
		return fmt.Sprintf("Examining: %s in %s", phrase.Count(int(responses.Load()), "answer"), words.Took(time.Since(began)))
	})
	defer stop()
	opt := doctor.Options{
		Config: cfg, Version: version, Limit: f.timeout, Contained: contained.Here(),
		Observe: func(string) { responses.Add(1) },
	}
	if cfg.Lease.Name != "" {
		opt.Lease = func(ctx context.Context) (string, bool, error) {
			l, err := leaseOf(cfg, hclog.NewNullLogger())
			if err != nil {
				return "", false, err
			}
			return l.Inspect(ctx)
		}
	}
	fetch, err := g.registryLogins(cfg)
	if err != nil {
		return nil, err
	}
	defer fetch.Close()
	opt.Fetchable = func(ctx context.Context, d config.Install) error {
		holders, err := g.typeHolders(ctx, cfg)
		if err != nil {
			return err
		}
		wanted := install.Wanted{Name: d.Name, Ref: d.Ref, Digest: d.Digest, Key: d.Key}
		return install.Try(ctx, fetcher(fetch), wanted, holders.MayHold)
	}
	logins := auth.New(auth.Options{Config: cfg, Log: hclog.NewNullLogger()})
	policies := policiesOf(cfg)
	opt.Rules = policies.Rules
	cfg.Problems = append(append(cfg.Problems, logins.Problems()...), policies.Problems(began)...)
	for _, method := range logins.Methods() {
		if !logins.Open() {
			opt.Logins = append(opt.Logins, method.ID())
		}
	}
	if fit {
		instance, redactor, err := g.newOneShotWith(cfg, kind.Kinds()...)
		if err != nil {
			return nil, err
		}
		defer instance.Close()
		opt.Installation, opt.Redact = subject{instance, cfg}, redactor.String
	}
	return doctor.Examine(ctx, opt), nil
}

// marks are the SGR parameters of levels.
var marks = map[doctor.Level]string{doctor.OK: "32", doctor.Warn: "33", doctor.Fail: "31"}

// writeFindings writes findings as a table, what to do below each.
func (s style) writeFindings(w io.Writer, found []doctor.Finding, quiet bool, took time.Duration) error {
	n := doctor.Count(found)
	if quiet {
		found = slices.DeleteFunc(slices.Clone(found), func(f doctor.Finding) bool { return f.Level == doctor.OK })
	}
	var b strings.Builder
	width := 0
	for _, f := range found {
		width = max(width, utf8.RuneCountInString(printable(f.Subject)))
	}
	const level = 4 // the longest word is four letters
	indent := level + gap + width + gap
	beside := s.width == 0 || s.width-indent >= 2*narrowest
	if !beside {
		indent = level + gap
	}
	for _, f := range found {
		subject := printable(f.Subject)
		if !beside {
			subject = clip(subject, s.width-indent)
		}
		lines := wrap(printable(f.Detail), max(s.width-indent, min(s.width, narrowest)))
		if beside {
			subject += strings.Repeat(" ", width-utf8.RuneCountInString(subject)+gap)
			if len(lines) > 0 {
				subject, lines = subject+lines[0], lines[1:]
			}
		}
		mark := s.paint(string(f.Level), marks[f.Level]) + strings.Repeat(" ", level-len(f.Level)+gap)
		b.WriteString(mark + strings.TrimRight(subject, " ") + "\n")
		for _, line := range lines {
			b.WriteString(strings.Repeat(" ", indent) + line + "\n")
		}
		for i, line := range wrap(printable(f.Remedy), max(s.width-indent-gap, min(s.width, narrowest))) {
			arrow := "→ "
			if i > 0 {
				arrow = "  "
			}
			b.WriteString(strings.Repeat(" ", indent) + s.paint(arrow+line, "1") + "\n")
		}
	}
	if len(found) > 0 {
		b.WriteString("\n")
	}
	if !quiet || len(found) > 0 {
		last := fmt.Sprintf("Examined in %s: %s, %s, %d ok", words.Took(took), phrase.Count(n[doctor.Fail], "failure"),
			phrase.Count(n[doctor.Warn], "warning").String(), n[doctor.OK])
		for _, line := range wrap(last, s.width) {
			b.WriteString(s.paint(line, "1") + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
