package config

import (
	"fmt"
	"slices"
	"strings"
)

// Notes are the release notes of updates; see package notes.
type Notes struct {
	Enabled bool `option:"enabled" default:"true" help:"Show the release notes of updates: when they are read, GitHub, GitLab, Gitea or Forgejo is asked for them"`
	// Allow and Tokens are written as lists of host or host=value; see HostTokens.
	Allow  []string `option:"allow" help:"Hosts of repositories that may be inside the network, as host or, where the name does not say which it is, host=github, host=gitlab or host=gitea (also for Forgejo)"`
	Tokens []string `option:"tokens,secret" help:"Access tokens, as host=token, such as github.com=github_pat_...: for private repositories, and for more than the 60 requests an hour that GitHub allows without one"`
}

// HostTokens returns the access tokens by host, in lower case.
func (n Notes) HostTokens() map[string]string {
	tokens := map[string]string{}
	for _, entry := range n.Tokens {
		host, token, _ := strings.Cut(entry, "=")
		tokens[strings.ToLower(host)] = token
	}
	return tokens
}

// checkNotes drops what cannot be understood.
func (l *loader) checkNotes(n *Notes) {
	n.Allow = slices.DeleteFunc(n.Allow, func(entry string) bool {
		host, forge, named := strings.Cut(entry, "=")
		if isForgeHost(host) && (!named || slices.Contains([]string{"github", "gitlab", "gitea"}, forge)) {
			return false
		}
		l.fault("notes.allow", fmt.Sprintf("want host, or host=github, host=gitlab or host=gitea, got %q", entry),
			"for example git.example.org=gitea")
		return true
	})
	n.Tokens = slices.DeleteFunc(n.Tokens, func(entry string) bool {
		host, token, _ := strings.Cut(entry, "=")
		if isForgeHost(host) && token != "" {
			return false
		}
		l.fault("notes.tokens", "want host=token", "for example github.com=github_pat_...") // what was written may be a token
		return true
	})
}

// isForgeHost reports whether a text can be a host, with a port or without.
func isForgeHost(text string) bool { return text != "" && !strings.ContainsAny(text, "/ @?#") }
