package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dogwatch/dogwatch/core/app/oneshot"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// global are the flags of every command.
type global struct {
	file     string
	logLevel string
	stdout   io.Writer
	stderr   io.Writer
}

// exitError ends a command with a code of its own. An exitError without text
// has said everything already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitCode returns the exit code of a command's error, and whether the error needs no words any more.
func exitCode(err error) (code int, said bool) {
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.code, exit.err == nil
	}
	return exitFailure, false
}

// usage marks an error of the command line itself.
func usage(err error) error { return &exitError{code: exitUsage, err: err} }

// exit ends a command that has said everything already with a code.
func exit(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	g := &global{stdout: stdout, stderr: stderr}
	serve := newServe(g)
	root := &cobra.Command{
		Use:   "dogwatch",
		Short: "Watch containers for newer images",
		Long: `Dogwatch finds running containers, asks their registries whether something newer
exists, shows it, and notifies or acts. Without a command it serves.

New here? demo shows it without an engine, check looks once, and doctor says
what is missing. Every command explains itself: dogwatch help COMMAND.

Settings come from a YAML file and from variables (dogwatch config docs lists all);
without any it watches the local Docker socket.

Exit codes: 0 done, 1 failed, 2 wrong command line, 3 updates (check --exit-code)
or blocked (plan, update, rollback).`,
		Example: `  # what is out of date on this machine, or of these images
  dogwatch check
  dogwatch check nginx:1.25 postgres:15

  # serve on port 3000
  dogwatch serve --config dogwatch.yaml

  # complete commands with the Tab key, in bash (see: dogwatch completion --help)
  source <(dogwatch completion bash)`,
		Args:          unknownCommand,
		RunE:          serve.RunE,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.Flags().AddFlagSet(serve.Flags())
	root.PersistentFlags().StringVarP(&g.file, "config", "c", "",
		"configuration `file` (default: DOGWATCH_CONFIG, or dogwatch.yaml in /etc/dogwatch, /config or here); variables win over it")
	root.PersistentFlags().StringVar(&g.logLevel, "log-level", "",
		"least severe `level` that is logged: trace, debug, info, warn, error")
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(wrongFlag)
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Watch:", []*cobra.Command{serve, newCheck(g), newExplain(g), newNotes(g), newDemo(g)}},
		{"Update:", []*cobra.Command{newDiff(g), newScan(g), newPlan(g), newUpdate(g), newRollback(g), newOperations(g)}},
		{"Decide:", []*cobra.Command{newPolicy(g), newApprove(g), newSkip(g), newSnooze(g), newUndo(g)}},
		{"Set up:",
			[]*cobra.Command{newDoctor(g), newConfig(g), newReload(g), newPlugin(g), newWebhook(g), newToken(g),
				newHashPassword(g), newBackup(g), newRestore(g)}},
		{"Others:", []*cobra.Command{newHealthcheck(g), newVersion(g)}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.title
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("Others:")
	root.SetCompletionCommandGroupID("Others:")
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = func(_ *cobra.Command, args []string) error {
			found, rest, _ := root.Find(args) // what follows a command is none
			return unknownCommand(found, rest)
		}
		root.RemoveCommand(help) // which is added once the command line is read
	}
	_ = root.RegisterFlagCompletionFunc("log-level",
		cobra.FixedCompletions([]string{"trace", "debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp))
	_ = root.RegisterFlagCompletionFunc("config",
		cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt))
	return root
}

// newGroup returns a command that only holds others.
func newGroup(name, short, long, example string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use: name, Short: short, Long: long, Example: example, Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	group.AddCommand(commands...)
	return group
}

// unknownCommand refuses words that are no command, with the nearest that is one.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := fmt.Sprintf("unknown command %q", args[0])
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	if near := option.Suggest(args[0], names); near != "" {
		message += fmt.Sprintf(": did you mean %q?", near)
	}
	return usage(fmt.Errorf("%s (see: %s --help)", message, cmd.CommandPath()))
}

var unknownFlag = regexp.MustCompile(`^unknown (?:shorthand )?flag: (?:--)?(\S+)$`)

// wrongFlag explains a wrong flag, with the nearest that exists.
func wrongFlag(cmd *cobra.Command, err error) error {
	message := err.Error()
	if m := unknownFlag.FindStringSubmatch(message); m != nil {
		var names []string
		for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.InheritedFlags()} {
			flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		}
		if near := option.Suggest(m[1], names); near != "" {
			message += fmt.Sprintf(": did you mean --%s?", near)
		}
	}
	return usage(fmt.Errorf("%s (see: %s --help)", message, cmd.CommandPath()))
}

// arguments accepts from least to most arguments, without a bound when most is
// negative, and calls anything else a usage error.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage(fmt.Errorf("an argument is missing: %s (see: %s --help)", cmd.UseLine(), cmd.CommandPath()))
		case most >= 0 && len(args) > most:
			return usage(fmt.Errorf("unexpected argument %q: %s (see: %s --help)", args[most], cmd.UseLine(), cmd.CommandPath()))
		}
		return nil
	}
}

// exactly accepts n arguments.
func exactly(n int) cobra.PositionalArgs { return arguments(n, n) }

// load reads the configuration as the flags ask.
func (g *global) load(flags map[string]any) (*config.Config, error) {
	if flags == nil {
		flags = map[string]any{}
	}
	if g.logLevel != "" {
		if _, err := logging.ParseLevel(g.logLevel); err != nil {
			return &config.Config{}, usage(err)
		}
		flags["log.level"] = g.logLevel
	}
	return config.Load(config.Input{
		File: g.file, Environ: os.Environ(), Flags: flags, WatcherTypes: watcherTypes(), DockerOptions: dockerOptions(),
	})
}

func dockerOptions() option.Schema {
	schema, _ := schemaOf(kind.Watcher, "docker")
	return schema
}

func watcherTypes() []string {
	var names []string
	for _, t := range bundle(kind.Watcher).Types() {
		names = append(names, t.Name)
	}
	return names
}

// logger returns the root logger of a configuration, writing to stderr, and
// what keeps secrets out of it.
func (g *global) logger(c *config.Config) (hclog.Logger, *logging.Redactor, error) {
	redactor := &logging.Redactor{}
	log, err := logging.New(logging.Options{
		Level: c.Log.Level, Levels: c.Log.Levels, Format: c.Log.Format, Output: g.stderr, Redactor: redactor,
	})
	return log, redactor, err
}

// quietLogger is the logger of commands that say themselves what an operator
// should know: it is silent unless --log-level asks for more.
func (g *global) quietLogger(c *config.Config) (hclog.Logger, *logging.Redactor, error) {
	if g.logLevel == "" {
		return hclog.NewNullLogger(), &logging.Redactor{}, nil
	}
	return g.logger(c)
}

// newOneShot reads the configuration and builds what a command needs that uses
// components of some kinds. The caller closes it.
func (g *global) newOneShot(kinds ...kind.Kind) (*oneshot.Instance, *logging.Redactor, error) {
	cfg, err := g.load(nil)
	if err != nil {
		return nil, nil, err
	}
	return g.newOneShotWith(cfg, kinds...)
}

func (g *global) newOneShotWith(cfg *config.Config, kinds ...kind.Kind) (*oneshot.Instance, *logging.Redactor, error) {
	log, redactor, err := g.quietLogger(cfg)
	if err != nil {
		return nil, nil, err
	}
	if err := plugin.Harden(); err != nil {
		log.Warn("harden this process", "error", err)
	}
	o, err := oneshot.New(oneshot.Options{
		Config: cfg, Builtins: builtins(), Version: version, Log: log, Redactor: redactor,
	}, kinds...)
	return o, redactor, err
}

// printErrors writes the problems that switch something off to stderr.
func (g *global) printErrors(problems []config.Problem) {
	for _, p := range problems {
		if p.Level == config.Error {
			complain(g.stderr, p)
		}
	}
}

// schemaOf returns the options of a built-in type, those of the host included.
func schemaOf(k kind.Kind, typ string) (option.Schema, bool) {
	if k == "auth" {
		return auth.Schema(typ)
	}
	for _, t := range bundle(k).Types() {
		if t.Name == typ {
			return append(component.HostOptions(k), t.Options...), true
		}
	}
	return nil, false
}
