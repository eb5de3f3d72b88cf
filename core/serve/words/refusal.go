package words

import "github.com/dogwatch/dogwatch/core/model/phrase"

// Attempt is what Dogwatch was about to do when it failed, as it is logged, or what somebody may not do.
func Attempt(doing string) phrase.Phrase {
	return phrase.Read(doing,
		"cancel operations", "change the level of the log", "change the log level", "change the plugin %s",
		"check containers", "compare images", "create tokens", "decide about updates", "delete containers",
		"end a session", "end sessions", "examine an agent", "install plugins", "log somebody in", "log somebody out",
		"make a token", "make a token for an agent", "notify a device", "read the deliveries", "read the devices",
		"read the history", "read the history of the container", "read the last checks", "read the log",
		"read the operation", "read the operations", "read the operations of the container", "read the policies",
		"read the sessions", "read the tokens", "read what became of %s", "read what is missing",
		"reload the configuration", "remove a device", "rename an agent", "restart plugins", "retry a delivery",
		"retry deliveries", "revoke a token", "revoke an agent", "revoke links", "revoke the links", "revoke tokens",
		"run triggers", "say what plugins are granted", "say which plugins are trusted", "scan images", "see plans",
		"see sessions", "see tokens", "see the devices that are notified", "store what was decided", "subscribe devices",
		"test components", "update containers")
}

// Refusal says why somebody was not let in, or may not do something. Other errors are read by Mistake.
func Refusal(why string) phrase.Phrase {
	if args, fits := phrase.Arguments("only people who are logged in may %s", why); fits {
		return phrase.New("only people who are logged in may %s", Attempt(args[0]))
	}
	if args, fits := phrase.Arguments("only a login, or a token that may write, allows to %s", why); fits {
		return phrase.New("only a login, or a token that may write, allows to %s", Attempt(args[0]))
	}
	return Mistake(why)
}
