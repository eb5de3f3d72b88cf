package config

import (
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Grantable returns the capabilities that executables have only where a user grants them.
func Grantable() []string {
	return []string{kind.CapCredentials, kind.CapEngine, kind.CapFiles, kind.CapOperate, kind.CapRun, kind.CapDecide}
}

// Gives says what an executable has with a capability that it is granted; nil for other words.
func Gives(capability string) phrase.Phrase {
	switch capability {
	case kind.CapCredentials:
		return phrase.New("the logins of your registries")
	case kind.CapEngine:
		return phrase.New("your container engine, and with it the machine")
	case kind.CapFiles:
		return phrase.New("all files that Dogwatch can use")
	case kind.CapOperate:
		return phrase.New("to have containers updated")
	case kind.CapRun:
		return phrase.New("to have other triggers run")
	case kind.CapDecide:
		return phrase.New("to decide about updates for its users")
	}
	return nil
}
