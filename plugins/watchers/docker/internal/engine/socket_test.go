package engine

import (
	"strings"
	"testing"
)

func TestSocketRemedy(t *testing.T) {
	who := identity{uid: 1000, groups: []int{1000}}
	for name, c := range map[string]struct {
		s    socket
		who  identity
		want string
	}{
		"root may":      {socket{known: true, mode: 0o660}, identity{}, ""},
		"group may":     {socket{known: true, gid: 987654, mode: 0o660}, identity{1000, []int{987654}}, ""},
		"all may":       {socket{known: true, mode: 0o666}, who, ""},
		"owner may":     {socket{known: true, uid: 1000, mode: 0o600}, who, ""},
		"owner may not": {socket{path: "/s", known: true, uid: 1000, mode: 0o400}, who, "chmod u+w /s"},
		"group may not": {socket{path: "/s", known: true, gid: 1000, mode: 0o640}, who, "chmod g+w /s"},
		"another group": {socket{path: "/s", known: true, gid: 987654, mode: 0o660}, who,
			`/s belongs to group 987654, of which user 1000 is not: add group_add: ["987654"]`},
		"root's alone": {socket{path: "/s", known: true, mode: 0o660}, who,
			"only user 0 may use /s: use a socket proxy"},
		"only its owner may": {socket{path: "/s", known: true, uid: 5, gid: 987654, mode: 0o600}, who,
			"only user 5 may use /s"},
		"missing":                {socket{path: "/s", missing: true}, who, "mount the socket into it: /s:/s"},
		"something else":         {socket{path: "/s", other: true}, who, "is no socket"},
		"in a forbidden folder":  {socket{path: "/s", hidden: true}, who, "a folder above /s may not be entered"},
		"of an unknown platform": {socket{path: "/s"}, who, ""},
	} {
		got := c.s.remedy(c.who)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
