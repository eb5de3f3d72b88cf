package config

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// The prefixes of our variables and of those of What's Up Docker.
const (
	nativePrefix = "DOGWATCH_"
	wudPrefix    = "WUD_"
)

// configVariable names the configuration file.
const configVariable = nativePrefix + "CONFIG"

// TokenVariable is the token with which commands ask a Dogwatch that serves.
const TokenVariable = nativePrefix + "TOKEN"

// What the owner of a host says to its agent, as the flags of dogwatch agent do.
const (
	AgentReadOnlyVariable   = nativePrefix + "AGENT_READ_ONLY"
	AgentStacksVariable     = nativePrefix + "AGENT_STACKS"
	AgentAllowHooksVariable = nativePrefix + "AGENT_ALLOW_HOOKS"
	AgentLogsVariable       = nativePrefix + "AGENT_LOGS"
)

// isOfCommands reports whether a variable, in upper case, is one that commands read themselves.
func isOfCommands(name string) bool {
	switch name {
	case configVariable, TokenVariable, AgentReadOnlyVariable, AgentStacksVariable, AgentAllowHooksVariable,
		AgentLogsVariable:
		return true
	}
	return false
}

// wudStoreFile is the variable, less its prefix, that names the file of What's
// Up Docker, which is not that of the database.
const wudStoreFile = "STORE_FILE"

// wudFile returns the name of that file in the store folder.
func wudFile(environ []string) string {
	for _, variable := range environ {
		if name, value, _ := strings.Cut(variable, "="); strings.EqualFold(name, wudPrefix+wudStoreFile) && value != "" {
			return value
		}
	}
	return "wud.json"
}

// fromWUD reports whether any variable of What's Up Docker is set.
func fromWUD(environ []string) bool {
	return slices.ContainsFunc(environ, func(variable string) bool {
		name, value, _ := strings.Cut(variable, "=")
		return value != "" && isWUD(name) && !isServiceLink(name, value)
	})
}

// dockerType is the type of the watchers whose variables do not name one.
const dockerType = "docker"

// EnvName returns the environment variable of a path: server.port is
// DOGWATCH_SERVER_PORT.
func EnvName(path string) string {
	return nativePrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// ShortEnvName returns the variable of a path as users write it: that of a Docker watcher need not
// name the type, so watcher.docker.local.cron is DOGWATCH_WATCHER_LOCAL_CRON.
func ShortEnvName(path string) string {
	name, ok := strings.CutPrefix(path, "watcher."+dockerType+".")
	if typ, _, _ := strings.Cut(name, "."); !ok || typ == dockerType {
		return EnvName(path)
	}
	return EnvName("watcher." + name)
}

// wudName returns the variable of a path in the spelling of What's Up Docker,
// whose watchers have no type.
func wudName(path string) string {
	path = strings.Replace(path, "watcher."+dockerType+".", "watcher.", 1)
	return wudPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

func isEnv(source string) bool { return strings.HasPrefix(source, "env ") }

// spell writes a path the way its source would.
func spell(path, source string) string {
	name, env := strings.CutPrefix(source, "env ")
	switch {
	case !env:
		return path
	case isWUD(name):
		return wudName(path)
	}
	return EnvName(path)
}

func isWUD(name string) bool    { return hasPrefixFold(name, wudPrefix) }
func isNative(name string) bool { return hasPrefixFold(name, nativePrefix) }

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// serviceLink matches the variables that Kubernetes and old Docker links make
// for a service that happens to be called dogwatch or wud.
var serviceLink = lazyregexp.New(`^(DOGWATCH|WUD)_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)$`)

func isServiceLink(name, value string) bool {
	isPort := strings.EqualFold(name, nativePrefix+"PORT") || strings.EqualFold(name, wudPrefix+"PORT")
	return serviceLink().MatchString(strings.ToUpper(name)) || isPort && strings.Contains(value, "://")
}

// readEnv returns the values in environ by variable name, ours before those of
// What's Up Docker, of which only those remain that have no twin. Empty
// variables, which compose files make of unset ones, count as not set and are
// returned apart.
func readEnv(environ, watcherTypes []string, docker option.Schema) (set, empty []entry, problems []Problem) {
	sorted := slices.Sorted(slices.Values(environ))
	native := map[string]bool{}
	for _, wud := range []bool{false, true} {
		for _, variable := range sorted {
			name, value, _ := strings.Cut(variable, "=")
			if wud && !isWUD(name) || !wud && !isNative(name) || isServiceLink(name, value) {
				continue
			}
			switch upper := strings.ToUpper(name); {
			case isOfCommands(upper), upper == wudPrefix+"VERSION", upper == wudPrefix+wudStoreFile:
				continue
			}
			path, problem := envPath(name, watcherTypes, docker)
			if problem != nil {
				problems = append(problems, *problem)
				continue
			}
			value = unquoted(value)
			e := newEntry(path, value, "env "+name)
			switch {
			case value == "":
				empty = append(empty, e)
			case !wud:
				native[e.path] = true
				set = append(set, e)
			case !native[e.path]:
				set = append(set, e)
			}
		}
	}
	return set, empty, problems
}

// envPath returns the path of a variable, with its "__file". docker are the options of
// Docker watchers, whose variables need not name the type.
func envPath(name string, watcherTypes []string, docker option.Schema) (string, *Problem) {
	key := strings.ToLower(name)
	wud := isWUD(name)
	key = key[strings.IndexByte(key, '_')+1:]
	key, isFile := strings.CutSuffix(key, fileSuffix)
	suffix := ""
	if isFile {
		suffix = fileSuffix
	}
	segments := strings.Split(strings.ReplaceAll(key, "_", "."), ".")
	if canonical(segments[0]) != "watcher" || len(segments) == 1 {
		return strings.Join(segments, ".") + suffix, nil
	}
	rest := segments[1:]
	typed := !wud && len(rest) > 2
	switch {
	case typed && slices.Contains(watcherTypes, rest[0]):
	case typed && option.Suggest(rest[0], watcherTypes) != "":
		near := slices.Concat([]string{"watcher", option.Suggest(rest[0], watcherTypes)}, rest[1:])
		return "",
			&Problem{Key: strings.Join(slices.Concat([]string{"watcher"}, rest[:2]), "."), Source: "env " + name, Level: Error,
				Message: "unknown watcher type " + rest[0], Remedy: "did you mean " + EnvName(strings.Join(near, ".")) + "?"}
	case typed && len(docker) > 0 && !hasGroup(docker, rest[1]): // a type that is not built in
	default:
		rest = slices.Concat([]string{dockerType}, rest)
	}
	return "watcher." + strings.Join(rest, ".") + suffix, nil
}

// hasGroup reports whether a schema has options whose names start with a word and a dot.
func hasGroup(schema option.Schema, word string) bool {
	return slices.ContainsFunc(schema, func(o option.Option) bool {
		return slices.ContainsFunc(append([]string{o.Name}, o.Aliases...), func(name string) bool {
			return strings.HasPrefix(name, word+".")
		})
	})
}
