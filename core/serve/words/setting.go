package words

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Setting is what a setting of a container or a default of its image is called: "env TZ" of a plan is the environment
// variable TZ.
func Setting(name string) phrase.Phrase {
	switch kind, which, _ := strings.Cut(name, " "); kind {
	case "env":
		return phrase.New("environment variable %s", which)
	case "bind":
		return phrase.New("mounted folder %s", which)
	case "restart":
		return phrase.New("restart policy")
	}
	return phrase.Read(name, "label %s", "port %s", "port", "volume %s", "volume", "network %s", "file %s", "entrypoint", "command", "hostname",
		"user", "working directory", "stop signal", "health check", "platform", "base image")
}

// SettingSource says where a setting of Dogwatch comes from: "env TZ" is the environment variable TZ.
func SettingSource(source string) phrase.Phrase {
	if source, refused := strings.CutSuffix(source, config.NotAccepted); refused {
		return phrase.New("%s, not accepted", SettingSource(source))
	}
	if name, found := strings.CutPrefix(source, "env "); found {
		return phrase.New("environment variable %s", name)
	}
	return phrase.Verbatim(source)
}
