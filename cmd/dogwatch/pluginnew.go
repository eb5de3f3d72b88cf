package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/internal/scaffold"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func newPluginNew(g *global) *cobra.Command {
	var language, dir, source string
	cmd := &cobra.Command{
		Use:   "new KIND NAME",
		Short: "Start a plugin of your own",
		Long: `Writes the folder of a new plugin with one type: a project that builds, passes its
tests and runs at once. It holds the conformance kit, a service to try it with, a
script that builds releases, and a README with its configuration. KIND is trigger,
registry or watcher; NAME is the name of the type, as in trigger.NAME.main.

A module of Go takes the SDK from the checkout that this program was built from,
from that of --sdk, or from the release that this program is. A plugin in another
language carries a copy of its helper, which is in this program.`,
		Example: `  # the folder trigger-lamp
  dogwatch plugin new trigger lamp

  # in another language
  dogwatch plugin new registry feed --lang python

  # with a checkout of Dogwatch, and elsewhere
  dogwatch plugin new watcher shelf --sdk ~/src/dogwatch --dir ~/src/shelf`,
		Args: exactly(2),
		ValidArgsFunction: first(func(context.Context) []cobra.Completion {
			var kinds []cobra.Completion
			for _, k := range kind.Kinds() {
				kinds = append(kinds, string(k))
			}
			return kinds
		}),
		RunE: func(_ *cobra.Command, args []string) error {
			return g.newPluginFolder(args[0], args[1], language, dir, source)
		},
	}
	languages := scaffold.Languages()
	cmd.Flags().StringVar(&language, "lang", languages[0], "`language`: "+strings.Join(languages, ", "))
	cmd.Flags().StringVar(&dir, "dir", "", "`folder` to make (default: KIND-NAME)")
	cmd.Flags().StringVar(&source, "sdk", "", "`folder` with a checkout of Dogwatch, whose SDK the plugin uses")
	_ = cmd.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions(languages, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.MarkFlagDirname("dir")
	_ = cmd.MarkFlagDirname("sdk")
	return cmd
}

func (g *global) newPluginFolder(kindName, name, language, dir, source string) error {
	k, err := scaffold.ParseKind(kindName)
	if err != nil {
		return usage(err)
	}
	language = scaffold.ParseLanguage(language)
	p := scaffold.Plugin{Kind: k, Name: name, Language: language, Dir: dir}
	var taken []string
	for _, t := range bundle(k).Types() {
		taken = append(taken, t.Name)
	}
	if err := p.Check(taken); err != nil {
		return usage(err)
	}
	p.Dir = cmp.Or(p.Dir, p.ID())
	switch {
	case language == scaffold.Languages()[0]:
		if p.SDK, err = scaffold.FindSDK(source); err != nil {
			return err
		}
	case source != "":
		return usage(fmt.Errorf("--sdk is for modules of Go: a plugin in %s carries a copy of its helper, which is in this program", language))
	}
	files, err := p.Write()
	if err != nil {
		return err
	}
	fmt.Fprintf(g.stdout, "made %s with %s\n\nnext:\n  cd %s\n", p.Dir, strings.Join(files, ", "), p.Dir)
	for _, command := range p.Next(ownPath()) {
		fmt.Fprintf(g.stdout, "  %s\n", command)
	}
	return nil
}

// ownPath returns the path of this program as other folders have to write it; "" where
// "dogwatch" is enough, and for one that go run made and removes.
func ownPath() string {
	called := os.Args[0]
	if !strings.ContainsRune(called, os.PathSeparator) || strings.Contains(called, string(os.PathSeparator)+"go-build") {
		return ""
	}
	own, err := filepath.Abs(called)
	if err != nil {
		return ""
	}
	if found, err := exec.LookPath("dogwatch"); err == nil && sameFile(found, own) {
		return ""
	}
	return own
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
