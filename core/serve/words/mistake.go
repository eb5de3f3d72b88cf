package words

import "github.com/dogwatch/dogwatch/core/model/phrase"

// Mistake is an error that pages show. Errors are made of parts with colons or semicolons between them; those that
// Dogwatch itself writes are read, and those of registries, engines and plugins stay as they are.
func Mistake(err string) phrase.Phrase { return phrase.StoredParts("mistakes", err) }

// BriefMistake is Mistake for a line; see Shortened.
func BriefMistake(err string) phrase.Phrase { return phrase.Change(Mistake(err), Shortened) }

// Outcome is why an operation did not work, as the plugin recorded it in English; see Mistake.
func Outcome(why string) phrase.Phrase { return phrase.StoredParts("outcomes", why) }

// Attempt is what Dogwatch was about to do when it failed, as it is logged, or what somebody may not do.
func Attempt(doing string) phrase.Phrase { return phrase.Stored("attempts", doing) }

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
