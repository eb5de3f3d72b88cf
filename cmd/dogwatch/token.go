package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/stored"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/store"
)

func newToken(g *global) *cobra.Command {
	return newGroup("token", "Look after tokens for the API",
		`Tokens let programs use the API where a login is asked for. They are in the
database, so whoever may write that may make them, with or without a Dogwatch that
serves; the page Settings has them, too.`,
		`  # for a dashboard, which only reads
  dogwatch token create homepage

  # who has one, and the end of the third
  dogwatch token list
  dogwatch token revoke 3`,
		newTokenCreate(g), newTokenList(g), newTokenRevoke(g))
}

func newTokenCreate(g *global) *cobra.Command {
	var scope, expires string
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a token for the API and print it",
		Long: `Makes a token with which a program may use the API, as a bearer token or as the
password of Basic with any user. It is printed this once and stored as a hash.
A token with the scope read sees everything and changes nothing.`,
		Example: `  # for a dashboard, which only reads
  dogwatch token create homepage

  # for a script that runs checks and triggers, and is looked at again in 90 days
  dogwatch token create ci --scope write --expires 90d`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			wish := auth.NewToken{Name: args[0], Scope: map[string]auth.Scope{"read": auth.Read, "write": auth.Write}[scope]}
			if expires != "" {
				age, err := parseAge(expires)
				if err != nil {
					return usage(err)
				}
				wish.Expires = time.Now().Add(age)
			}
			return g.tokens(cmd.Context(), func(a *auth.Auth) error {
				secret, created, err := a.CreateToken(cmd.Context(), cliActor(), wish)
				if err != nil {
					return err
				}
				fmt.Fprintf(g.stderr, "token %d, %s, expires %s; it is not shown again:\n", created.ID, created.Scope,
					day(created.Expires, "never"))
				_, err = fmt.Fprintln(g.stdout, secret)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&scope, "scope", "read", "what it may do: read or write")
	cmd.Flags().StringVar(&expires, "expires", "", "when it ends, such as 90d or 12h (default: never)")
	return cmd
}

func newTokenList(g *global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tokens, the newest first",
		Long: `Lists the tokens of the API with their scope, who made them, and when they were
used last. The tokens themselves are not stored and cannot be shown again.`,
		Example: `  # a table
  dogwatch token list

  # for a script
  dogwatch token list --json`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			all, err := stored.Tokens(cmd.Context(), cfg)
			switch {
			case err != nil:
				return err
			case asJSON:
				return printJSON(g.stdout, tokenRows(all))
			}
			return writeTokens(g.stdout, all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

func newTokenRevoke(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "End a token at once",
		Long: `Ends a token at once, also for a Dogwatch that is serving. The number is that of
token list.`,
		Example: `  # the numbers are those of the list
  dogwatch token list
  dogwatch token revoke 3`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return usage(fmt.Errorf("want the number of a token, got %q (see: dogwatch token list)", args[0]))
			}
			return g.tokens(cmd.Context(), func(a *auth.Auth) error {
				err := a.RevokeToken(cmd.Context(), cliActor(), id)
				if errors.Is(err, store.ErrNotFound) {
					return fmt.Errorf("there is no token %d (see: dogwatch token list)", id)
				}
				if err == nil {
					fmt.Fprintf(g.stdout, "token %d is revoked\n", id)
				}
				return err
			})
		},
	}
}

func (g *global) tokens(ctx context.Context, use func(*auth.Auth) error) error {
	cfg, err := g.load(nil)
	if err != nil {
		return err
	}
	return stored.WithAuth(ctx, cfg, use)
}

// tokenRow is a token in JSON.
type tokenRow struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Scope     string    `json:"scope"`
	CreatedBy string    `json:"createdBy"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	UsedAt    time.Time `json:"usedAt,omitzero"`
}

func tokenRows(all []store.Token) []tokenRow {
	rows := []tokenRow{}
	for _, t := range all {
		rows = append(rows, tokenRow{t.ID, t.Name, t.Scope, t.Creator, t.Created, t.Expires, t.Used})
	}
	return rows
}

func writeTokens(w io.Writer, all []store.Token) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "there are no tokens; make one with: dogwatch token create NAME")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tNAME\tSCOPE\tCREATED\tEXPIRES\tUSED")
	for _, token := range all {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\n", token.ID, printable(token.Name), token.Scope, day(token.Created, ""),
			day(token.Expires, "never"), day(token.Used, "never"))
	}
	return t.Flush()
}

func day(at time.Time, none string) string {
	if at.IsZero() {
		return none
	}
	return at.Local().Format("2006-01-02")
}

// parseAge reads a duration, in which d stands for days.
func parseAge(text string) (time.Duration, error) {
	age, err := time.ParseDuration(text)
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		var n int
		n, err = strconv.Atoi(days)
		age = time.Duration(min(n, 36500)) * 24 * time.Hour
	}
	if err != nil || age <= 0 {
		return 0, fmt.Errorf("want a time such as 90d or 12h, got %q", text)
	}
	return age, nil
}
