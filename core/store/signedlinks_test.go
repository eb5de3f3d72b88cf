package store

import (
	"bytes"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
)

func TestLinkKeyIsMadeOnce(t *testing.T) {
	s := fresh(t)
	first, err := s.SignedLinkKey(t.Context(), []byte("first"))
	must(t, err)
	again, err := s.SignedLinkKey(t.Context(), []byte("second"))
	must(t, err)
	if string(first) != "first" || !bytes.Equal(first, again) {
		t.Errorf("the key is %q, then %q", first, again)
	}
}

func TestLinkUseIsForgottenLongAfterItsEnd(t *testing.T) {
	s := fresh(t)
	now, choices := s.now(), 0
	add := func(nonce string, expires time.Time) {
		t.Helper()
		choices++
		c := webChoice
		c.Update.ToTag = nonce
		must(t, s.PutChoice(t.Context(), c, &choice.SignedLinkUse{
			Nonce: []byte(nonce), Trigger: "ntfy.main", Action: "skip", At: now, Expires: expires,
		}))
	}
	used := func(nonce string) bool {
		t.Helper()
		u, known, err := s.SignedLinkUse(t.Context(), []byte(nonce))
		must(t, err)
		if known && (u.Trigger != "ntfy.main" || u.Action != "skip" || !u.At.Equal(now.Truncate(time.Millisecond))) {
			t.Errorf("use %+v", u)
		}
		return known
	}
	add("old", now.Add(-usedLinksKept-time.Hour))
	add("ended", now.Add(-time.Hour))
	add("new", now.Add(time.Hour))
	again := &choice.SignedLinkUse{Nonce: []byte("new"), At: now, Expires: now}
	if err := s.PutChoice(t.Context(), webChoice, again); err == nil {
		t.Error("a link is used twice")
	}
	if got, err := s.Choices(t.Context()); err != nil || len(got) != choices ||
		len(s.ChoicesBySubject()["local/web"]) != choices {
		t.Errorf("choices %+v, %v; in memory %+v", got, err, s.ChoicesBySubject())
	}
	if used("old") || !used("ended") || !used("new") || used("none") {
		t.Errorf("old %t, ended %t, new %t, none %t", used("old"), used("ended"), used("new"), used("none"))
	}
}
