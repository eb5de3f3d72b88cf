package main

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dogwatch/dogwatch/sdk/option"
)

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

var unknownFlag = regexp.MustCompile(`^unknown (?:shorthand )?flag: (?:--)?(\S+)$`)
