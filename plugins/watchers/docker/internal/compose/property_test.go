package compose

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomProject writes a compose file of services in random forms, with the image of
// "web" in the middle, and returns it before and after the update.
func randomProject(r *rand.Rand) (before, after string) {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	eol, indent := pick("\n", "\r\n"), pick("  ", "    ", " ")
	var b, a strings.Builder
	line := func(depth int, text string) {
		whole := strings.Repeat(indent, depth) + text + pick("", "", "  ", " # nginx:1.25") + eol
		b.WriteString(whole)
		a.WriteString(whole)
	}
	if r.IntN(4) == 0 {
		b.WriteString("\uFEFF")
		a.WriteString("\uFEFF")
	}
	noise := func(depth int) {
		for range r.IntN(3) {
			switch r.IntN(4) {
			case 0:
				line(depth, "# image: nginx:1.25")
			case 1:
				b.WriteString(eol)
				a.WriteString(eol)
			default:
				line(depth,
					fmt.Sprintf("%s%d: %s", pick("x-é", "x-y"), r.IntN(1<<30),
						pick(`"nginx:1.25"`, "nginx:1.25", "[1, 2]", "'→ it''s'", "{image: nginx:1.25}")))
			}
		}
	}
	noise(0)
	line(0, "services:")
	services := 1 + r.IntN(4)
	web := r.IntN(services)
	for i := range services {
		noise(1)
		name := fmt.Sprintf("s%d", i)
		if i == web {
			name = "web"
		}
		line(1, pick(name, `"`+name+`"`)+":")
		noise(2)
		quote := pick("", "'", `"`)
		prefix := strings.Repeat(indent, 2) + pick("image: ", "'image':   ", "image: &i ", "image: !!str ")
		if i != web && strings.Contains(prefix, "&i") {
			prefix = strings.Repeat(indent, 2) + "image: "
		}
		name = pick("nginx", "docker.io/nginx", "library/nginx", "docker.io/library/nginx", "index.docker.io/nginx")
		suffix := quote + pick("", " ", " # nginx:1.25") + eol
		tag := "1.25"
		if i == web {
			tag = "1.26"
		}
		b.WriteString(prefix + quote + name + ":1.25" + suffix)
		a.WriteString(prefix + quote + name + ":" + tag + suffix)
		noise(2)
	}
	noise(0)
	return b.String(), a.String()
}

func TestEditChangesNothingElseOfRandomDocuments(t *testing.T) {
	for seed := range uint64(3000) {
		before, want := randomProject(rand.New(rand.NewPCG(seed, 1)))
		c, err := Edit(Project{Service: "web", Files: []string{"/c.yml"}}, "nginx:1.25", "docker.io/library/nginx:1.26",
			memory(before))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, before)
		}
		if got := string(c.after([]byte(before))); got != want {
			t.Fatalf("seed %d: got\n%q\nwant\n%q", seed, got, want)
		}
	}
}

func memory(text string) Reader {
	return func(path string) ([]byte, error) {
		if path != "/c.yml" {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
}

// FuzzEdit holds any document: the change is one text, gives the image that was asked
// for, and is taken back by the reverse one; or there is a coded error.
func FuzzEdit(f *testing.F) {
	for _, seed := range []string{
		webText, "services: {web: {image: 'nginx:1.25'}}", "a: &a [*a]", "services: {web: {<<: &x {image: nginx:1.25}}}",
		"services:\r  web:\r    image: nginx:1.25\r", "? services\n: web:\n    image: |-\n      nginx:1.25",
		"services: {web: {image: 'nginx:${V:-1.25}'}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := Project{Service: "web", Files: []string{"/c.yml"}}
		c, err := Edit(p, "nginx:1.25", "nginx:1.26", memory(text))
		if err != nil {
			if codeOf(err) == "" {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		if c.Empty() {
			return
		}
		after := c.after([]byte(text))
		if back, found := c.reverse(after); !found || string(back) != text {
			t.Fatalf("%q is not taken back to %q", after, text)
		}
		again, err := Edit(p, "nginx:1.26", "nginx:1.26", memory(string(after)))
		if err != nil || !again.Empty() {
			t.Fatalf("%q does not have the new image: %+v, %v", after, again, err)
		}
	})
}
