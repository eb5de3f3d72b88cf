package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/migrate"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/internal/heldfile"
)

// maxMigrated bounds the files that are read.
const maxMigrated = 8 << 20

func newConfigMigrate(g *global) *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use:   "migrate [FILE...]",
		Short: "Rewrite what was written for other tools",
		Long: `Rewrites env files and compose files: the variables and labels of What's Up
Docker, Drydock, Watchtower and Diun become those of Dogwatch, and every other
byte stays. A diun.yml becomes a dogwatch.yaml beside it. Nothing is written
unless --write is given: the changes are printed as a diff, and then what has no
equivalent or another meaning. Name an env file together with the compose files
that refer to its variables, so that these keep their names.

Without a file, prints what the environment and the configuration file say as
one configuration file. A secret that comes from a file stays in it and is named.

Secrets are printed as they are, so mind where the output goes.`,
		Example: `  # what would change, and what needs thought
  dogwatch config migrate compose.yaml .env

  # do it, and keep copies
  dogwatch config migrate --write compose.yaml .env

  # turn the variables of this environment into a file
  dogwatch config migrate > dogwatch.yaml`,
		RunE: func(_ *cobra.Command, files []string) error {
			if len(files) == 0 && write {
				return usage(errors.New("--write wants a file to write"))
			}
			if len(files) == 0 {
				return g.migrateEnvironment()
			}
			return g.migrateFiles(files, write)
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the files, each with a copy of what it was beside it")
	return cmd
}

func newRewriter() migrate.Rewriter {
	return migrate.Rewriter{WatcherTypes: watcherTypes(), Schema: schemaOf}
}

// migrateEnvironment prints the configuration as a file of ours.
func (g *global) migrateEnvironment() error {
	environ, findings := newRewriter().Environ(os.Environ())
	cfg, err := config.Load(config.Input{
		File: g.file, Environ: environ, WatcherTypes: watcherTypes(), DockerOptions: dockerOptions(),
	})
	var invalid *config.InvalidError
	if err != nil && !errors.As(err, &invalid) {
		return err
	}
	for _, f := range findings {
		if f.Note != "" {
			complain(g.stderr, f)
		}
	}
	for _, p := range cfg.Problems {
		complain(g.stderr, fmt.Sprintf("%s: %s", p.Level, p))
	}
	if invalid != nil {
		return exit(exitFailure)
	}
	text, err := config.Native(cfg, schemaOf)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(g.stdout, cmp.Or(text, "# nothing is configured\n"))
	return err
}

// migrated is a file on its way.
type migrated struct {
	name   string
	file   *heldfile.File
	data   []byte
	result migrate.Result
}

// migrateFiles rewrites all files or, if one of them cannot be, none.
func (g *global) migrateFiles(names []string, write bool) error {
	var all []*migrated
	for _, name := range names {
		f, err := heldfile.Open(name, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer f.Close()
		data, err := f.Read(maxMigrated)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, &migrated{name: name, file: f, data: data})
	}
	if err := rewriteAll(all); err != nil {
		return err
	}
	for i, m := range all {
		if i > 0 {
			fmt.Fprintln(g.stdout)
		}
		g.reportMigrated(m)
	}
	for _, m := range all {
		if !write || !m.result.New && string(m.result.Text) == string(m.data) {
			continue
		}
		if err := g.writeMigrated(m); err != nil {
			return err
		}
	}
	if !write {
		fmt.Fprintln(g.stderr, "dogwatch: nothing is written without --write")
	}
	return nil
}

// rewriteAll rewrites compose files first: what they refer to keeps its name in env files.
func rewriteAll(all []*migrated) error {
	r := newRewriter()
	r.Keep = map[string]bool{}
	var errs []error
	for _, m := range all {
		var err error
		if m.result, err = r.File(m.name, m.data); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.name, err))
		}
		if isYAML(m.name) {
			for _, name := range migrate.References(m.result.Text) {
				r.Keep[name] = true
			}
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, m := range all {
		if isYAML(m.name) {
			continue
		}
		m.result, _ = r.File(m.name, m.data) // it could be read before
	}
	return nil
}

func isYAML(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// reportMigrated prints what a file becomes, and what its owner should know.
func (g *global) reportMigrated(m *migrated) {
	fmt.Fprint(g.stdout, m.result.Diff(m.data))
	rewritten, different, left := m.result.Count()
	fmt.Fprintf(g.stdout, "%s: %s rewritten, %d with another value or meaning, %d left as they are\n", m.name,
		phrase.Count(rewritten, "name").String(), different, left)
	for _, f := range m.result.Findings {
		if f.To == "" || f.Note != "" {
			fmt.Fprintln(g.stdout, "  "+printable(f.String()))
		}
	}
}

// writeMigrated writes a file in place, so that its owner, its mode and what
// is mounted on it stay, after a copy of what it was.
func (g *global) writeMigrated(m *migrated) error {
	if err := m.file.Check(); err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	folder := filepath.Dir(m.name)
	if info, err := os.Lstat(m.name); err == nil && info.Mode()&os.ModeSymlink != 0 {
		folder = filepath.Dir(m.file.Path())
	}
	if m.result.New {
		name := filepath.Base(m.result.Name)
		err := m.file.Create(name, m.result.Text, 0o600)
		if err == nil {
			fmt.Fprintf(g.stdout, "wrote %s\n", filepath.Join(folder, name))
		}
		return err
	}
	var err error
	name := filepath.Base(m.file.Path())
	backup := name + ".bak"
	for n := 1; ; n++ {
		err = m.file.Create(backup, m.data, m.file.Mode().Perm())
		if !errors.Is(err, os.ErrExist) || n > 100 {
			break
		}
		backup = fmt.Sprintf("%s.bak%d", name, n)
	}
	if err != nil {
		return fmt.Errorf("keep a copy of %s: %w", m.name, err)
	}
	backup = filepath.Join(folder, backup)
	if err := m.file.Overwrite(m.result.Text, 0); err != nil {
		return fmt.Errorf("%w; %s is a copy of what it was", err, backup)
	}
	fmt.Fprintf(g.stdout, "wrote %s, what it was is in %s\n", m.name, backup)
	return nil
}
