package main

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// allTypes returns every built-in type that is configured with options of its own: docs/agents.md is about agents.
func allTypes() []kind.Type {
	var all []kind.Type
	for _, b := range builtins() {
		if b.Remote == nil {
			all = append(all, b.Types...)
		}
	}
	return all
}

func hostOptions() map[kind.Kind]option.Schema {
	options := map[kind.Kind]option.Schema{}
	for _, k := range kind.Kinds() {
		options[k] = component.HostOptions(k)
	}
	return options
}

// splitType splits "trigger.smtp" into a kind and a type; the kind may be missing.
func splitType(text string) (k kind.Kind, typ string) {
	head, rest, dotted := strings.Cut(text, ".")
	if dotted && slices.Contains(kind.Kinds(), kind.Kind(head)) {
		return kind.Kind(head), rest
	}
	return "", text
}

func dockerOptions() option.Schema {
	schema, _ := schemaOf(kind.Watcher, "docker")
	return schema
}

func watcherTypes() []string {
	var names []string
	for _, t := range typesOf(kind.Watcher) {
		names = append(names, t.Name)
	}
	return names
}

// schemaOf returns the options of a built-in type, those of the host included.
func schemaOf(k kind.Kind, typ string) (option.Schema, bool) {
	if k == "auth" {
		return auth.Schema(typ)
	}
	for _, t := range typesOf(k) {
		if t.Name == typ {
			return append(component.HostOptions(k), t.Options...), true
		}
	}
	return nil, false
}
