package config

import "github.com/dogwatch/dogwatch/sdk/kind"

// Grantable returns the capabilities that executables have only where a user grants them.
func Grantable() []string {
	return []string{kind.CapCredentials, kind.CapEngine, kind.CapFiles, kind.CapOperate, kind.CapRun, kind.CapDecide}
}

// Gives says what an executable has with a capability that it is granted; "" for other words.
func Gives(capability string) string {
	switch capability {
	case kind.CapCredentials:
		return "the logins of your registries"
	case kind.CapEngine:
		return "your container engine, and with it the machine"
	case kind.CapFiles:
		return "all files that Dogwatch can use"
	case kind.CapOperate:
		return "to have containers updated"
	case kind.CapRun:
		return "to have other triggers run"
	case kind.CapDecide:
		return "to decide about updates for its users"
	}
	return ""
}
