package template

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// hostile is JSON as a container author could make it.
func hostile(t testing.TB) map[string]any {
	t.Helper()
	vars := variables(t)
	vars["huge"] = strings.Repeat("a", 4<<20)
	vars["big"] = strings.Repeat("a", 60<<10)
	vars["wide"] = strings.Repeat("é", 20<<10)
	vars["controls"] = strings.Repeat("\x01", 10<<10)
	vars["proto"] = map[string]any{"__proto__": "own"}
	many, err := Value(make([]int, 100_000))
	if err != nil {
		t.Fatal(err)
	}
	vars["many"] = many
	return vars
}

const numbers = "[0,1,2,3,4,5,6,7,8,9]"

var attacks = []struct{ src, want string }{
	{"${'x'.repeat(1e9)}", "a text of more than 64 KiB"},
	{"${'x'.repeat(1e300)}", "a text of more than 64 KiB"},
	{"${'x'.padStart(1e9)}", "a text of more than 64 KiB"},
	{"${'x'.padEnd(2**31)}", "not supported"},
	{"${'x'.padEnd(1e308, 'ab')}", "a text of more than 64 KiB"},
	{"${huge}", "the text is over 64 KiB"},
	{"${huge + huge}", "more than 20000 steps"},
	{"${`${big}${big}`}", "a text of more than 64 KiB"},
	{"${big.concat(big)}", "a text of more than 64 KiB"},
	{"${big.replaceAll('a', 'bb')}", "more than 20000 steps"},
	{"${big.slice(0, 9000).replaceAll('a', '1234567890')}", "a text of more than 64 KiB"},
	{"${big.slice(0, 900).replaceAll('a', '1234567890'.repeat(8))}", "a text of more than 64 KiB"},
	{"${'aaaaaaaaaa'.replace(/a/g, big)}", "a text of more than 64 KiB"},
	{"${big.replace('a', '$`$\\'$`$\\'$&')}", "a text of more than 64 KiB"},
	{"${big.split('')}", "more than 20000 steps"},
	{"${[...big]}", "more than 20000 steps"},
	{"${[...big, ...big].length}", "more than 20000 steps"},
	{"${big.match(/a/g).length}", "more than 20000 steps"},
	{"${[...big.matchAll(/(?=a)/g)].length}", "simplify the template"}, // steps, or time on a slow machine,
	{"${wide[10000] + wide.split('').map((c, i) => wide[i]).length}", "more than 20000 steps"},
	{"${encodeURIComponent(wide)}", "a text of more than 64 KiB"},
	{"${JSON.stringify(many)}", "more than 20000 steps"},
	{"${many.map(x => x).length}", "more than 20000 steps"},
	{"${many.concat(many).length}", "more than 20000 steps"},
	{"${many.join()}", "more than 20000 steps"},
	{"${many}", "more than 20000 steps"},
	{"${[many, many].flat().length}", "more than 20000 steps"},
	{"${Object.entries(many).length}", "more than 20000 steps"},
	{"${many.sort().length}", "more than 20000 steps"},
	{"${many.includes(7)}", "more than 20000 steps"},
	{"${Math.max(...many)}", "more than 20000 steps"},
	{"${" + numbers + ".map(a => " + numbers + ".map(b => " + numbers + ".map(c => " + numbers + ".map(d => " +
		numbers + ".map(e => 1)))))}", "more than 20000 steps"},
	{"${" + numbers + ".reduce((a, b) => [a, a, a, a, a, a, a, a], 'x')}", "steps"},
	{"${JSON.stringify(" + numbers + ".reduce((a, b) => [a, a, a, a, a, a, a, a], 'x'))}", "a text of more than 64 KiB"},
	{"${" + numbers + ".flatMap(a => " + numbers + ").reduce((a, b) => [a], 1)}", "nested more than 64 calls deep"},
	{"${JSON.stringify(" + numbers + ".flatMap(a => " + numbers + ").reduce((a, b) => [a], 1))}",
		"nested more than 64 calls deep"},
	{"${+" + numbers + ".flatMap(a => " + numbers + ").reduce((a, b) => [a], 1)}", "nested more than 64 calls deep"},
	{"${(f => f(f))(f => f(f))}", "nested more than 64 calls deep"},
	{"${(f => f(f))(f => [1, 2].map(x => f(f)))}", "nested more than 64 calls deep"},
	{"${(f => f(f, 9))((f, n) => n ? " + numbers + ".map(x => f(f, n - 1)) : 1)}", "more than 20000 steps"},
	{"${" + strings.Repeat("1+", 8000) + "1}${" + numbers + "}", ""},
	{"${" + numbers + ".map(x => " + strings.Repeat("1+", 3000) + "1)}", "more than 20000 steps"},
	{"${/^(a+)+$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')}", ""}, // linear
	{"${/^(?=(a+)+$)/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')}", "takes too long"},
	{"${" + numbers + ".map(x => /^(?=(a+)+$)/.test('aaaaaaaaaaaaaaaaaaaaaaa!'))}", "takes too long"},
	{"${/(?:a?){300}a{100}/.test(big)}", "more than 20000 steps"},
	{"${big.split(/(?:)/).length}", "simplify the template"},
	{"${/" + strings.Repeat("()", 400) + "a/g.test(big)}", "more than 20000 steps"},
	{"${big.match(/" + strings.Repeat("()", 400) + "a/g).length}", "more than 20000 steps"},
	{"${" + numbers + ".flatMap(x => " + numbers + ").map(x => new RegExp('((x{1000}){1000}){1000}' + x))}",
		"more than 20000 steps"},
	{"${" + numbers + ".flatMap(x => " + numbers + ").map(x => new RegExp('" + strings.Repeat("x{1000}", 140) + "'))}",
		"more than 20000 steps"},
	{strings.Repeat("${/"+strings.Repeat("x{999}", 80)+"/}", 32), ""},
	{strings.Repeat("${/"+strings.Repeat("(a|b)x", 80)+"/}", 32), ""},
	{"${" + numbers + ".flatMap(x => " + numbers + ").map(x => JSON.stringify(controls)).length}",
		"more than 20000 steps"},
	{"${" + numbers + ".flatMap(x => " + numbers + ").map(x => wide + x).sort()}", "more than 20000 steps"},
	{"${new RegExp(big)}", "the regex is longer than 1024 bytes"},
	{"${new RegExp('(?=a)' + 'a{100000000}'.repeat(20)).test(big)}", ""},
	{"${new Date(1e400)} ${new Date(-1e20)}", ""},
	{"${1e400.toFixed(100)} ${1e20.toFixed(100)} ${5e-324.toFixed(100)}", ""},
	{"${parseInt(huge)} ${Number(huge)}", "more than 20000 steps"},
	{"${'a'.at(1e300)} ${'a'.slice(-1e300, 1e300)} ${'abc'.split('', 1e300).length} ${[1].at(-1e300)} ${[1].slice(-1e300)}", ""},
	{"${'a'.substr(1e300, 1e300)} ${'a'.indexOf('a', 1e300)} ${'a'.lastIndexOf('a', 1e300)} ${'a'.charCodeAt(1e300)}", ""},
}

// Whatever a template tries, it ends within its budgets.
func TestRenderEndsWithinItsBudgets(t *testing.T) {
	vars := hostile(t)
	for _, c := range attacks {
		got, err := render(c.src, vars)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.90s\n got  %.40q, %v\n want %q", c.src, got, err, c.want)
		}
		if len(got) > maxText {
			t.Errorf("%.70s: %d bytes of text", c.src, len(got))
		}
	}
}

// There is nothing behind a value but its own data.
func TestRenderReachesNoPrototype(t *testing.T) {
	vars := hostile(t)
	for _, base := range []string{"container", "name", "count", "container.ports", "nothing?.x", "(/a/)", "new Date(0)",
		"new URL('http://h')", "[]", "({})", "String", "(x => x)"} {
		for _, key := range []string{"constructor", "__proto__", "prototype", "__defineGetter__", "callee", "caller",
			"bind"} {
			src := "${typeof " + base + "?.['" + key + "']}"
			if got, err := render(src, vars); err != nil || got != "undefined" {
				t.Errorf("%s: got %q, %v", src, got, err)
			}
			if base == "nothing?.x" {
				continue // reads undefined however long the chain
			}
			src = "${" + base + "['" + key + "']('return process')()}"
			if got, err := render(src, vars); err == nil {
				t.Errorf("%s: got %q", src, got)
			}
		}
	}
	for _, word := range []string{"process", "globalThis", "global", "window", "require", "module", "console",
		"Function", "Reflect", "Proxy", "Symbol", "Buffer"} {
		var unknown *EvalError
		if _, err := render("${"+word+"}", vars); !errors.As(err, &unknown) {
			t.Errorf("%s: %v", word, err)
		}
	}
	if got, err := render("${proto.__proto__} ${({__proto__: 'x'}).__proto__} ${Object.keys(proto)}",
		vars); err != nil || got != "own x __proto__" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A spent budget ends the render; the literal text still comes out.
func TestBudgetIsForTheWholeRender(t *testing.T) {
	got, err := render("a ${name} b ${'x'.repeat(1e9)} c ${name} d", variables(t))
	var failed *EvalError
	if got != "a my.app b  c  d" || !errors.As(err, &failed) || failed.More != 1 {
		t.Errorf("got %q, %v", got, err)
	}
	src := strings.Repeat("${[1,2,3,4,5,6,7,8,9].map(x => [1,2,3,4,5,6,7,8,9].map(y => x * y)).length}", 100)
	if _, err := render(src, nil); err == nil || !strings.Contains(err.Error(), "20000 steps") {
		t.Errorf("many small placeholders: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src string) {
		tmpl, err := Parse(src)
		var syntax *SyntaxError
		if err != nil && (!errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(src) || tmpl != nil) {
			t.Fatalf("%q: %#v", src, err)
		}
	})
}

func FuzzRender(f *testing.F) {
	seed(f)
	vars := variables(f)
	f.Fuzz(func(t *testing.T, src string) {
		tmpl, err := Parse(src)
		if err != nil {
			return
		}
		start := time.Now()
		got, err := tmpl.Render(vars)
		var failed *EvalError
		if err != nil && !errors.As(err, &failed) {
			t.Fatalf("%q: %#v", src, err)
		}
		if len(got) > maxText || !utf8.ValidString(got) || time.Since(start) > 5*time.Second {
			t.Fatalf("%q: %d bytes after %s", src, len(got), time.Since(start))
		}
	})
}

func seed(f *testing.F) {
	var oracle struct{ Cases []struct{ Template string } }
	readJSON(f, "oracle.json", &oracle)
	for _, c := range oracle.Cases {
		f.Add(c.Template)
	}
	for _, c := range attacks {
		if !strings.Contains(c.want, "too long") {
			f.Add(c.src)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(defaultBody); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	vars := variables(b)
	for name, src := range map[string]string{
		"default": defaultBody,
		"batch":   "${containers.map(c => `- ${c.name} (${c.updateKind.kind})`).join('\\n')}",
		"json":    "${JSON.stringify(container)}",
	} {
		tmpl, err := Parse(src)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tmpl.Render(vars); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

const defaultBody = `Container ${container.name} running with ${container.updateKind.kind} ${container.updateKind.localValue} can be updated to ` +
	`${container.updateKind.kind} ${container.updateKind.remoteValue}${container.result && container.result.link ? "\n" + container.result.link : ""}`

// Many regexes that are allowed one by one are refused together.
func TestParseBoundsAllRegexes(t *testing.T) {
	one := `${a.match(/(?:` + strings.Repeat(`.?x`, 30) + `){0,10}!/)}`
	if _, err := Parse(one); err != nil {
		t.Error(err)
	}
	_, err := Parse(strings.Repeat(one, 10))
	if err == nil || !strings.Contains(err.Error(), "too large together") {
		t.Errorf("error %v", err)
	}
}
