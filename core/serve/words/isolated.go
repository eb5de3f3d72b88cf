package words

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Isolated says one thing that a third-party plugin is kept from, that it may use, or that it is not kept from and why;
// see plugin.Isolated.
func Isolated(text string) phrase.Phrase {
	said := phrase.Read(text, "files (Landlock, version %s)", "system calls (seccomp)", "rights of root", "user %s",
		"memory %s", "%s processors", "%s processes and threads", "%s processes", "%s of temporary files",
		"access to %s: it was not there when the plugin was started",
		"connections to sockets in the file system, such as that of an engine: "+
			"the kernel has that from version %s of Landlock on")
	if !phrase.IsVerbatim(said) {
		return said
	}
	if why, all := strings.CutPrefix(text, "anything else, since "); all {
		return phrase.New("anything else, since %s",
			phrase.Read(why, "plugins.isolated is false", "it is granted the engine, and with it the machine"))
	}
	what, why, found := strings.Cut(text, ": ")
	if !found {
		return phrase.Quote(text)
	}
	named := phrase.Read(what, "memory", "processors", "files", "system calls", "rights of root")
	if phrase.IsVerbatim(named) {
		return phrase.Quote(text)
	}
	return phrase.Join(": ", named, phrase.Read(why,
		"there are no control groups of version 2 here",
		"the control group of Dogwatch is not mounted here",
		"its control group lacks %s",
		"its control group cannot be written (Docker 28 and later: security_opt writable-cgroups=true)",
		"its control group belongs to another user",
		"its control group was not given to it (systemd: Delegate=yes)",
		"not available: the kernel was started without Landlock (see lsm= of its command line)",
		"not available: the container engine forbids Landlock (its seccomp profile)",
		"not available: kernel without Landlock",
		"kernel without seccomp filters",
		"the container engine forbids further seccomp filters"))
}
