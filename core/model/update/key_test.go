package update

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

// newerTag returns a container that is offered a newer tag.
func newerTag(from, to string) sdk.Container {
	return sdk.Container{
		ID: "id", Name: "web", Watcher: "local", UpdateAvailable: true,
		Image: sdk.Image{Name: "library/nginx", Tag: sdk.Tag{Value: from, Semver: true}}, Result: &sdk.Result{Tag: to},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: from, RemoteValue: to, SemverDiff: sdk.DiffMinor},
	}
}

// newerDigest returns a container whose tag has another digest by now.
func newerDigest(from, to string) sdk.Container {
	return sdk.Container{
		ID: "id", Name: "web", Watcher: "local", UpdateAvailable: true,
		Image:      sdk.Image{Name: "library/nginx", Tag: sdk.Tag{Value: "latest"}},
		Result:     &sdk.Result{Tag: "latest", Digest: to},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: from, RemoteValue: to},
	}
}

// TestKeyText holds the text form, which is in stores, events and addresses.
func TestKeyText(t *testing.T) {
	tag, digest := newerTag("1.25.0", "1.26.0"), newerDigest("sha256:aa", "sha256:bb")
	odd := newerTag("1.0", "1.1")
	odd.Watcher, odd.Name = "nas", "a,b~c %é\x00"
	for text, c := range map[string]*sdk.Container{
		"local/web,tag,1.25.0,,1.26.0,":                      &tag,
		"local/web,digest,latest,sha256:aa,latest,sha256:bb": &digest,
		"nas/a~2Cb~7Ec~20~25~C3~A9~00,tag,1.0,,1.1,":         &odd,
		"/,,,,,":      {},
		"/,tag,1,,2,": {UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1", RemoteValue: "2"}},
		"/,digest,,sha256:aa,,sha256:bb": {
			UpdateKind: sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: "sha256:aa", RemoteValue: "sha256:bb"},
		},
	} {
		k := KeyOf(c)
		if got := k.String(); got != text {
			t.Errorf("text is %q, want %q", got, text)
		}
		if got, err := Parse(text); err != nil || got != k {
			t.Errorf("%q is read as %+v, %v, want %+v", text, got, err, k)
		}
		doc, err := json.Marshal(map[Key]Key{k: k})
		var read map[Key]Key
		if err != nil || json.Unmarshal(doc, &read) != nil || read[k] != k {
			t.Errorf("as JSON it is %s, %v", doc, err)
		}
	}
}

func TestParseRejectsOtherTexts(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "1 fields",
		"local/web,tag,1,,2":      "5 fields",
		"local/web,tag,1,,2,,":    "7 fields",
		"local/web,tag,1,,2~,":    "ends within",
		"local/web,tag,1,,2~4,":   "ends within",
		"local/web,tag,1,,2~+4,":  "no escaped byte",
		"local/web,tag,1,,~61,":   `want it written as "local/web,tag,1,,a,"`,
		"local/web,tag,1,,2~2b0,": `want it written as "local/web,tag,1,,2~2B0,"`,
		"local/web,tag,1,,2 0,":   `want it written as "local/web,tag,1,,2~200,"`,
	} {
		if k, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) || k != (Key{}) {
			t.Errorf("%q is read as %+v, %v, want an error with %q", text, k, err, want)
		}
	}
}

func FuzzKeyText(f *testing.F) {
	f.Add("local/web", "tag", "1.0,~", "", "1.1%2F", "\xff")
	f.Fuzz(func(t *testing.T, subject, kind, fromTag, fromDigest, toTag, toDigest string) {
		k := Key{subject, kind, fromTag, fromDigest, toTag, toDigest}
		if got, err := Parse(k.String()); err != nil || got != k {
			t.Errorf("%+v is written as %q, and read as %+v, %v", k, k.String(), got, err)
		}
		if got, err := Parse(subject); err == nil && got.String() != subject {
			t.Errorf("%q is read as %+v, which is written as %q", subject, got, got)
		}
	})
}

func TestEqual(t *testing.T) {
	for title, tc := range map[string]struct {
		of     sdk.Container
		change func(*sdk.Container)
		want   bool
	}{
		"nothing differs": {newerTag("1", "2"), func(*sdk.Container) {}, true},
		"renamed":         {newerTag("1", "2"), func(c *sdk.Container) { c.Watcher, c.Name = "nas", "old" }, true},
		"recreated":       {newerTag("1", "2"), func(c *sdk.Container) { c.ID = "other" }, true},
		"rebuilt under the same tag": {newerTag("1", "2"), func(c *sdk.Container) {
			c.Image.ID, c.Image.Digest.Repo = "sha256:x", "sha256:y"
		}, true},
		"measured otherwise": {newerTag("1", "2"), func(c *sdk.Container) { c.UpdateKind.SemverDiff = sdk.DiffMajor }, true},
		"dated, linked, check failed": {newerTag("1", "2"), func(c *sdk.Container) {
			c.Result.Created, c.Result.Link, c.Check.State = sdk.TimeOf(anyTime), "x", sdk.CheckFailed
		}, true},
		"another running tag": {newerTag("1", "2"), func(c *sdk.Container) {
			c.Image.Tag.Value, c.UpdateKind.LocalValue = "1.1", "1.1"
		}, false},
		"another newer tag": {newerTag("1", "2"), func(c *sdk.Container) {
			c.Result.Tag, c.UpdateKind.RemoteValue = "3", "3"
		}, false},
		"no update any more": {newerTag("1", "2"), func(c *sdk.Container) { c.UpdateAvailable = false }, false},
		"another kind": {newerTag("1", "2"), func(c *sdk.Container) {
			c.UpdateKind.Kind = sdk.KindDigest
		}, false},
		"the same digest":        {newerDigest("a", "b"), func(*sdk.Container) {}, true},
		"another running digest": {newerDigest("a", "b"), func(c *sdk.Container) { c.UpdateKind.LocalValue = "c" }, false},
		"another newer digest": {newerDigest("a", "b"), func(c *sdk.Container) {
			c.Result.Digest, c.UpdateKind.RemoteValue = "c", "c"
		}, false},
		"the digest of another tag": {newerDigest("a", "b"), func(c *sdk.Container) {
			c.Image.Tag.Value, c.Result.Tag = "stable", "stable"
		}, false},
	} {
		other := tc.of
		result := *tc.of.Result
		other.Result = &result
		tc.change(&other)
		if Equal(&tc.of, &other) != tc.want || Equal(&other, &tc.of) != tc.want {
			t.Errorf("%s: equal is %t", title, !tc.want)
		}
	}
}

func TestNotifiedCovers(t *testing.T) {
	tag, digest := newerTag("1", "2"), newerDigest("a", "b")
	for title, tc := range map[string]struct {
		n    Notified
		c    *sdk.Container
		want bool
	}{
		"by id":                      {Notified{"id", "nas/web", "1", "2"}, &tag, true},
		"by name":                    {Notified{"other", "local/web", "1", "2"}, &tag, true},
		"of another container":       {Notified{"other", "local/db", "1", "2"}, &tag, false},
		"from another tag":           {Notified{"id", "", "0", "2"}, &tag, false},
		"to another tag":             {Notified{"id", "", "1", "3"}, &tag, false},
		"to a digest, not the tag":   {Notified{"id", "", "1", "m"}, &tag, false},
		"to nothing":                 {Notified{"id", "", "1", ""}, &tag, false},
		"the digest of the index":    {Notified{"id", "", "latest", "b"}, &digest, true},
		"the platform's manifest":    {Notified{"id", "", "latest", "m"}, &digest, true},
		"another digest":             {Notified{"id", "", "latest", "c"}, &digest, false},
		"a digest of another tag":    {Notified{"id", "", "stable", "b"}, &digest, false},
		"a digest that is not known": {Notified{"id", "", "latest", ""}, &digest, false},
	} {
		if got := tc.n.Covers(tc.c, []string{"m", ""}); got != tc.want {
			t.Errorf("%s: covered is %t", title, got)
		}
	}
}
