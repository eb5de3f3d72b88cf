package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot(stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code, printed := exitCode(err)
	if !printed {
		complain(stderr, err)
	}
	return code
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
			[]*cobra.Command{newDoctor(g), newConfig(g), newReload(g), newPlugin(g), newAgent(g), newWebhook(g), newToken(g),
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
