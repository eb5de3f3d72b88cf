package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// maxPasswordLine bounds what is read of a password.
const maxPasswordLine = 4 << 10

func newHashPassword(g *global) *cobra.Command {
	var scheme string
	cmd := &cobra.Command{
		Use:   "hash-password",
		Short: "Print the hash of a password for auth.basic",
		Long: `Asks for a password and prints its hash, to be written to auth.basic.{name}.hash.
Without a terminal the password is the first line of the standard input. It is
never an argument: those can be seen by others.

In a compose file write each $ of the hash twice, or put the hash into a file
and name that in auth.basic.{name}.hash__file.`,
		Example: `  # asks for the password, and does not show it
  dogwatch hash-password

  # in a script
  printf %s "$PASSWORD" | dogwatch hash-password --scheme argon2id`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			password, err := g.readPassword(cmd.InOrStdin())
			if err != nil {
				return err
			}
			hash, err := auth.Hash(password, scheme)
			if err != nil {
				return usage(err)
			}
			_, err = fmt.Fprintln(g.stdout, hash)
			return err
		},
	}
	cmd.Flags().StringVar(&scheme, "scheme", auth.Schemes()[0], "how to hash it: "+strings.Join(auth.Schemes(), " or "))
	return cmd
}

// readPassword reads a password: twice, unseen, from a terminal, else the first line.
func (g *global) readPassword(in io.Reader) (string, error) {
	var password string
	f, isFile := in.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(in, maxPasswordLine)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read the password: %w", err)
		}
		password = strings.TrimRight(line, "\r\n")
	} else {
		var twice [2]string
		for i, question := range []string{"Password: ", "Again: "} {
			fmt.Fprint(g.stderr, question)
			typed, err := term.ReadPassword(int(f.Fd()))
			fmt.Fprintln(g.stderr)
			if err != nil {
				return "", fmt.Errorf("read the password: %w", err)
			}
			twice[i] = string(typed)
		}
		if twice[0] != twice[1] {
			return "", errors.New("the two passwords differ")
		}
		password = twice[0]
	}
	if password == "" {
		return "", errors.New("the password is empty")
	}
	return password, nil
}
