package config

import (
	"fmt"
	"strings"
)

// Paste is what somebody has to paste to have something work, and where they read about it.
type Paste struct {
	// Lines are alternatives: each is enough.
	Lines []Lines `json:"lines,omitempty"`
	// Docs is the address of a page about it; "" for none.
	Docs string `json:"docs,omitempty"`
}

// Lines are lines to paste.
type Lines struct {
	// Where says in words where they belong, and what makes them count, without a stop at the end.
	Where string `json:"where"`
	// Text is the lines, each with its line break.
	Text string `json:"text"`
}

// docsAddress is where the pages of the documentation are read.
const docsAddress = "https://github.com/dogwatch/dogwatch/blob/main/docs/"

// Docs returns the address of a page of the documentation, such as updating.md#allow-it.
func Docs(page string) string { return docsAddress + page }

// Image is the container image of the newest release, as users write it to run Dogwatch.
const Image = "ghcr.io/dogwatch/dogwatch:latest"

// Giving returns the lines that give an option of the component a value, which is a plain word, where its
// section is written: in the environment, in the file, or in both where nothing tells. A key with dots stands
// at the end of a file whatever is above it.
func (c Component) Giving(option, value string) []Lines {
	path := c.Key() + "." + option
	if given, ok := c.Options[option]; ok {
		return []Lines{given.instead(path, value)}
	}
	file, variable := "", false
	for _, v := range c.Options {
		place := v.place()
		variable = variable || isEnv(place)
		if !isEnv(place) {
			file = fileOfPlace(place)
		}
	}
	var all []Lines
	if variable || file == "" {
		all = append(all, inCompose("", ShortEnvName(path), value))
	}
	switch {
	case file != "":
		all = append(all, inFile("At the end of "+file, path, value))
	case !variable:
		all = append(all, inFile("At the end of the configuration file", path, value))
	}
	return all
}

// instead returns the lines that take the place of a value. One that a variable has would win over the file,
// and one in both spellings of a variable would be a mistake.
func (v Value) instead(path, value string) Lines {
	place := v.place()
	name, env := strings.CutPrefix(place, "env ")
	if !env {
		return inFile("At the end of "+fileOfPlace(place)+", in the place of the option there", path, value)
	}
	ours := name
	if end := len(name) - len(fileSuffix); isWUD(name) {
		ours = ShortEnvName(path)
	} else if end > 0 && strings.EqualFold(name[end:], fileSuffix) {
		ours = name[:end]
	}
	return inCompose(", in the place of "+name, ours, value)
}

// place is where a value, or the name of the file that has it, was written: "env NAME", or a file and its line.
func (v Value) place() string {
	if _, ok := secretFile(v.Source); ok {
		return strings.TrimSuffix(v.Source[strings.LastIndex(v.Source, " (")+2:], ")")
	}
	return v.Source
}

// fileOfPlace is the file of a place such as dogwatch.yaml:12. Its line may have become another one since.
func fileOfPlace(place string) string { return place[:max(strings.LastIndexByte(place, ':'), 0)] }

func inCompose(more, variable, value string) Lines {
	return Lines{
		Where: "In the compose file of Dogwatch" + more + ", then docker compose up -d",
		Text:  fmt.Sprintf("services:\n  dogwatch:\n    environment:\n      %s: %q\n", variable, value),
	}
}

func inFile(where, path, value string) Lines {
	return Lines{Where: where + ", then dogwatch reload", Text: path + ": " + value + "\n"}
}
