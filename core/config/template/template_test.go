package template

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct {
		src, want string
		offset    int
	}{
		{"a ${x = 1}", "assignment is not supported; compare with === or ==", 6},
		{"${x += 1}", "assignment is not supported", 4},
		{"${x ||= 1}", "assignment is not supported", 4},
		{"${x++}", "assignment is not supported", 3},
		{"${x; y}", "one expression", 3},
		{"${if (x) y}", "condition ? a : b", 2},
		{"${for (;;) x}", "loops are not supported", 2},
		{"${while (true) {}}", "loops are not supported", 2},
		{"${function () {}}", "write an arrow function", 2},
		{"${x.map(y => { return y })}", "function bodies are not supported", 13},
		{"${this.x}", "this does not exist", 2},
		{"${await x}", "await is not supported", 2},
		{"${delete x.y}", "delete is not supported", 2},
		{"${eval('1')}", "eval is not supported", 2},
		{"${process.exit(1)}", "the method exit is not supported", 10},
		{"${require('fs')}",
			"the function require is not supported; there are Boolean, Number, String, decodeURIComponent,", 2},
		{"${fetch(x)}", "the function fetch is not supported", 2},
		{"${setTimeout(() => 1)}", "the function setTimeout is not supported", 2},
		{"${Math.random()}", "Math.random is not supported; there are Math.abs, ", 2},
		{"${Math}", "Math cannot stand alone", 2},
		{"${Object.assign({}, x)}", "Object.assign is not supported", 2},
		{"${new Function('x')}", "new is supported for Date, URL and RegExp only", 6},
		{"${new Date()}", "cannot read the clock", 6},
		{"${new URL}", "new URL needs an argument", 6},
		{"${''.constructor.constructor('x')}", "the method constructor is not supported", 17},
		{"${x.call(1)}", "the method call is not supported", 4},
		{"${x.localeCompare(y)}", "the method localeCompare is not supported", 4},
		{"${x?.(1)}", "optional calls are not supported", 5},
		{"${String.raw`x`}", "tagged templates are not supported", 12},
		{"${x`y`}", "tagged templates are not supported", 3},
		{"${x | y}", "|| means or", 4},
		{"${x ** 2}", "** is not supported", 4},
		{"${x instanceof y}", "instanceof is not supported", 4},
		{"${x, y}", `expected an operator or }, found ","`, 3},
		{"${x // y}", "comments are not supported", 4},
		{"${x /* y */}", "comments are not supported", 4},
		{"${#x}", `expected a value, found "#"`, 2},
		{"${x ☃ y}", `unexpected character '☃'`, 4},
		{"${'abc}", "this string is not closed", 2},
		{"${`abc}", "this backtick opens a text that is never closed", 2},
		{"${/abc}", "this regex is not closed", 2},
		{"${/(/}", "the regex is not valid", 2},
		{"${/a/y}", `the regex flag 'y' is not supported`, 2},
		{"${/" + strings.Repeat("a", 1025) + "/}", "longer than 1024 bytes", 2},
		{strings.Repeat("${/a/}", 33), "more than 32 regexes", 194},
		{"text ${container.name", "the template ends inside a placeholder", 21},
		{"text ${", "this placeholder is not closed: } is missing", 5},
		{"text ${}", "empty placeholder; write a name inside", 5},
		{"${(a}", "expected )", 4},
		{"${1 2}", "expected an operator or }", 4},
		{`a\`, `write \\ for a backslash`, 1},
		{`a\u12`, `hexadecimal digits`, 1},
		{`a\1`, `octal`, 1},
		{"${1n}", "this number is not supported", 2},
		{"${" + strings.Repeat("(", 100), "nested more than 64 levels deep", 33},
		{"${" + strings.Repeat("!", 100) + "x}", "nested more than 64 levels deep", 64},
		{strings.Repeat("${`", 100), "nested more than 64 levels deep", 65},
		{strings.Repeat("x", 16<<10+1), "longer than 16384 bytes", 16 << 10},
	} {
		_, err := Parse(c.src)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s\n got  %v\n want %s", c.src, err, c.want)
		} else if syntax.Offset != c.offset {
			t.Errorf("%.60s: offset %d, want %d (%v)", c.src, syntax.Offset, c.offset, err)
		}
	}
}

func TestSyntaxErrorPlace(t *testing.T) {
	_, err := Parse("première\nligne é ${x = 1} and a long text after that")
	want := `line 2, column 13: assignment is not supported; compare with === or == (near "= 1} and a long text aft…")`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestEvalErrors(t *testing.T) {
	vars := variables(t)
	for _, c := range []struct{ src, want string }{
		{"${foo}",
			`${foo}: unknown name "foo" (known: container, containers, count, emoji, link, local, mixed, name, nothing, remote, zero)`},
		{"${container.missing.link}",
			`container.missing is undefined, so it has no link; ?. instead of the dot allows for that`},
		{"${container.missing[0]}", `container.missing is undefined, so it has no 0`},
		{"${container.image.variant.trim()}", `container.image.variant is null, so it has no trim()`},
		{"${nothing.x}", "nothing is null, so it has no x"},
		{"${count.trim()}", "count is the number 2, which has no method trim"},
		{"${container.labels.map(x => x)}", "container.labels is an object, which has no method map"},
		{"${containers.map('x')}", "a string is given where a function is needed"},
		{"${containers.map(c => c.x.y)}", "c.x is undefined, so it has no y"},
		{"${container['name']()}", "container['name'] is a string, not a function"},
		{"${name.trim}", "name.trim is a function; call it with ()"},
		{"${name['trim']()}", "name.trim is a function; call it with ()"},
		{"${[...5]}", "only an array or a string can be spread with ..., not the number 5"},
		{"${new Date(2024, 1)}", "new Date takes one argument"},
		{"${new Date(0).toLocaleDateString('xx')}", "dates know the locales en-US"},
		{"${new URL('/path')}", "new URL needs one absolute address"},
		{"${JSON.stringify({}, ['a'])}", "a replacer is not supported"},
		{"${(0.5).toString(2)}", "toString(base) is supported for whole numbers"},
		{"${(([a]) => a)(null)}", "null cannot be taken apart into a"},
		{"${1 in 'x'}", "in needs an object on its right, not a string"},
	} {
		_, err := render(c.src, vars)
		var failed *EvalError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n got  %v\n want %s", c.src, err, c.want)
		}
	}
	if _, err := render("${c}", map[string]any{"c": make(chan int)}); err == nil ||
		!strings.Contains(err.Error(), "the variable c cannot be used: json: unsupported type") {
		t.Errorf("unusable variable: %v", err)
	}
}

// A failing placeholder leaves a gap, not the message out.
func TestRenderLeavesGapForFailedPlaceholder(t *testing.T) {
	got, err := render("[${name}] ${foo} and ${container.missing.x}, ${count}${bar}", variables(t))
	if want := "[my.app]  and , 2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var failed *EvalError
	if !errors.As(err, &failed) || failed.Placeholder != "${foo}" || failed.More != 2 ||
		!strings.HasSuffix(err.Error(), " (and 2 more left empty)") {
		t.Errorf("error %v", err)
	}
}

func TestTemplateNames(t *testing.T) {
	tmpl, err := Parse("${b.c} ${a} ${b} ${x.map(y => y + z)} ${Math.max(n)} ${typeof t} ${`${u}`} ${({v, k: w})} ${undefined}")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"b", "a", "x", "z", "n", "t", "u", "v", "w"}
	if got := tmpl.Names(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A raw backtick breaks a template in JavaScript; here it is text.
func TestRawBacktickIsText(t *testing.T) {
	got, err := render("run `docker pull ${name}`", variables(t))
	if want := "run `docker pull my.app`"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestValueOfGoTypes(t *testing.T) {
	type inner struct {
		Zulu  string            `json:"zulu"`
		Alpha *int              `json:"alpha"`
		Tags  map[string]string `json:"tags,omitempty"`
	}
	converted, err := Value([]inner{{Zulu: "z"}})
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]any{
		"converted": converted, "plain": inner{Zulu: "z", Tags: map[string]string{"b": "1", "a": "2"}},
		"again": []any{converted},
		"words": []string{"a", "b"}, "int": 5, "long": int64(1) << 40, "float": float32(0.5),
		"when": time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC),
		"yes":  true, "null": nil, "map": map[string]any{"b": 1, "a": []any{uint8(1)}}, "pointer": &inner{},
		"raw": json.RawMessage(`{"b":1,"a":1e3}`),
	}
	for _, c := range []struct{ src, want string }{
		{"${JSON.stringify(converted)}", `[{"zulu":"z","alpha":null}]`},
		{"${JSON.stringify(plain)}", `{"zulu":"z","alpha":null,"tags":{"a":"2","b":"1"}}`},
		{"${again[0][0].zulu}", "z"},
		{"${words.join()} ${int + 1} ${long} ${float} ${yes}", "a,b 6 1099511627776 0.5 true"},
		{"${when} ${new Date(when).getFullYear()}", "2024-01-02T03:04:05Z 2024"},
		{"${JSON.stringify(map)} ${pointer.zulu === ''} ${JSON.stringify(raw)}", `{"a":[1],"b":1} true {"b":1,"a":1000}`},
	} {
		if got, err := render(c.src, vars); err != nil || got != c.want {
			t.Errorf("%s\n got  %q, %v\n want %q", c.src, got, err, c.want)
		}
	}
}

func TestDatesInAZone(t *testing.T) {
	paris := time.FixedZone("CET", 3600)
	time.Local = paris
	defer func() { time.Local = time.UTC }()
	src := "${new Date('2024-01-01T23:30:00Z').getDate()} ${new Date('2024-01-01T23:30:00Z').getUTCDate()} ${new Date('2024-01-01T12:00').toISOString()} ${new Date(0)}"
	want := "2 1 2024-01-01T11:00:00.000Z Thu Jan 01 1970 01:00:00 GMT+0100 (CET)"
	if got, err := render(src, nil); err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestConcurrentRender(t *testing.T) {
	tmpl, err := Parse(`${containers.map(c => c.name.replace(/(?=a)/g, '-')).sort().join()} ${JSON.stringify(container).length}`)
	if err != nil {
		t.Fatal(err)
	}
	vars := variables(t)
	want, err := tmpl.Render(vars)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got, err := tmpl.Render(vars); err != nil || got != want {
					t.Errorf("got %q, %v, want %q", got, err, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestFormatNumber covers the edges that expressions cannot write down.
func TestFormatNumber(t *testing.T) {
	for n, want := range map[float64]string{
		math.Copysign(0, -1): "0", 1e300: "1e+300", 1.5e-9: "1.5e-9", math.MaxFloat64: "1.7976931348623157e+308",
		5e-324: "5e-324", 1e20: "100000000000000000000",
	} {
		if got := formatNumber(n); got != want {
			t.Errorf("%g: got %s, want %s", n, got, want)
		}
	}
}
