package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/backup"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
)

func newBackup(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Save what Dogwatch knows to a file",
		Long: `Saves the database and the plugins to one file, also while Dogwatch is running: what
was found and decided, the history, tokens and logins, and which plugins are trusted.
Whoever has the file has those; it is readable by its owner only. The configuration is
yours and is not part of it. The file must not be there already; - is the standard output.`,
		Example: `  # to a file
  dogwatch backup dogwatch.backup

  # to the standard output, as docker exec of a container passes it on
  dogwatch backup -`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error { return g.backup(cmd.Context(), args[0]) },
	}
}

func newRestore(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Put back what a backup has saved",
		Long: `Puts the database and the plugins of a backup in the place of those that are there,
which are kept beside them. Dogwatch must not be running. A file that is damaged, or was
written by a newer Dogwatch, changes nothing; - is the standard input.`,
		Example: `  # from a file
  dogwatch restore dogwatch.backup

  # from the standard input, as of docker run -i with the volumes of a stopped container
  dogwatch restore -`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error { return g.restore(cmd.Context(), args[0]) },
	}
}

// installation returns what the configuration, which may have mistakes elsewhere, says of where things are.
func (g *global) installation() (backup.Installation, error) {
	cfg, _, err := g.loadWhatever()
	return backup.Installation{
		Store: cfg.StoreFile(), Plugins: cfg.Plugins.Dir, Version: version, Now: time.Now,
	}, err
}

func (g *global) backup(ctx context.Context, name string) error {
	i, err := g.installation()
	if err != nil {
		return err
	}
	if name == "-" {
		_, err := i.Write(ctx, g.stdout, "")
		return nothingToBackUp(i, err)
	}
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already: choose another name, or remove it", name)
	}
	partial := name + ".partial"
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	contents, err := i.Write(ctx, f, filepath.Dir(name))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(partial, name)
	}
	if err != nil {
		return errors.Join(nothingToBackUp(i, err), os.Remove(partial))
	}
	fmt.Fprintf(g.stdout, "saved the database and %s to %s\n", phrase.Count(len(contents.Plugins), "plugin"), name)
	return nil
}

func nothingToBackUp(i backup.Installation, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w (Dogwatch has not run here yet, or store.path is another folder for it than for this command)", err)
	}
	return err
}

func (g *global) restore(ctx context.Context, name string) error {
	i, err := g.installation()
	if err != nil {
		return err
	}
	var in io.Reader = os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	done, err := i.Restore(ctx, in)
	if err != nil {
		return fmt.Errorf("restore %s: nothing was changed: %w", name, err)
	}
	fmt.Fprintf(g.stdout, "restored the database and %s, saved %s by dogwatch %s\n",
		phrase.Count(len(done.Plugins), "plugin").String(), preview.Moment(done.At), done.Version)
	for _, kept := range []string{done.KeptStore, done.KeptPlugins} {
		if kept != "" {
			fmt.Fprintf(g.stdout, "what was there before is kept as %s\n", kept)
		}
	}
	return nil
}
