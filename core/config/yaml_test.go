package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// loadFile loads one YAML text and nothing else.
func loadFile(text string) (*Config, error) {
	return Load(Input{Environ: []string{"HOME=/home/ana"}, Open: memory(map[string]string{"dogwatch.yaml": text})})
}

func TestYAMLRefused(t *testing.T) {
	deep := strings.Repeat("{a: ", 40) + "1" + strings.Repeat("}", 40)
	for name, c := range map[string]struct{ text, want string }{
		"tab": {"server:\n\tport: 1\n", "not YAML: a tab indents this line (dogwatch.yaml:2); indent with spaces"},
		"tab later": {"server:\n  port: 1\n\thost: x\n",
			"not YAML: a tab indents this line (dogwatch.yaml:3); indent with spaces"},
		"star": {"watcher:\n  docker:\n    local:\n      cron: */5 * * * *\n",
			"(dogwatch.yaml:4); put quotation marks around a text that starts with * or &"},
		"password star": {"trigger:\n  smtp:\n    main:\n      pass: *hunter2\n",
			"not YAML: unknown anchor (dogwatch.yaml:4); put quotation marks around"},
		"at sign": {"a: @foo\n", "starts with a special character"},
		"colon": {"server:\n  host: a: b\n",
			"(dogwatch.yaml:2); check the indentation, and put quotation marks around a text that holds a colon"},
		"open quote":    {"a: 'x\n", "close the quotation mark or bracket"},
		"open bracket":  {"a: [1\nb: 2\n", "check the indentation and the quotation marks around this line"},
		"binary":        {"a: 1\nb: \x00\x01\n", "is not a text file (dogwatch.yaml:2); write YAML in UTF-8"},
		"executable":    {"\x7fELF\x02\x01\x01", "is not a text file (dogwatch.yaml:1)"},
		"latin 1":       {"a: caf\xe9\n", "is not a text file (dogwatch.yaml:1)"},
		"list":          {"- server\n", "want sections such as server: or trigger:, got a list (dogwatch.yaml:1)"},
		"text":          {"hello\n", "got a single value (dogwatch.yaml:1)"},
		"two documents": {"server: {port: 1}\n---\nserver: {port: 2}\n", "a second document begins here (dogwatch.yaml:2)"},
		"duplicate": {"server:\n  port: 1\n  host: a\n  port: 2\n",
			"the key port is already set at line 2 (dogwatch.yaml:4); keep one"},
		"duplicate case": {"Server: {port: 1}\nserver: {host: a}\n",
			"the key server is already set at line 1 (dogwatch.yaml:2)"},
		"dotted twice": {"server:\n  port: 1\nserver.port: 2\n",
			"server.port: set twice, also by dogwatch.yaml:2 (dogwatch.yaml:3)"},
		"mapping key":   {"? [a, b]\n: c\n", "a key is a name, not a list (dogwatch.yaml:1)"},
		"null key":      {"~: c\n", "a key is a name"},
		"merge of text": {"server:\n  <<: x\n", "<< wants a mapping"},
		"deep":          {deep, "is nested more than 32 levels deep"},
		"cycle":         {"server: &s\n  tls: *s\n", "is nested more than 32 levels deep"},
		"merge cycle":   {"server: &s\n  <<: *s\n", "is nested more than 32 levels deep"},
		"too large": {strings.Repeat("# comment\n", 120_000),
			"configuration file dogwatch.yaml: is larger than 1024 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadFile(c.text)
			var invalid *InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("got %v, want an InvalidError", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Error("the error repeats a password")
			}
		})
	}
}

func TestYAMLAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d {", i, i)
		for j := range 10 {
			fmt.Fprintf(&b, "k%d: *a%d, ", j, i-1)
		}
		b.WriteString("}\n")
	}
	_, err := loadFile(b.String())
	if err == nil || !strings.Contains(err.Error(), "holds more than 50000 values") {
		t.Fatalf("got %v", err)
	}
}

func TestYAMLAccepted(t *testing.T) {
	for name, text := range map[string]string{
		"empty":        "",
		"comment":      "# nothing yet\n",
		"null":         "~\n",
		"marker":       "---\nserver:\n  port: 8080\n",
		"BOM":          "\ufeffserver:\n  port: 8080\n",
		"CRLF":         "server:\r\n  port: 8080\r\n",
		"UTF-16":       "\xff\xfes\x00e\x00r\x00v\x00e\x00r\x00.\x00p\x00o\x00r\x00t\x00:\x00 \x008\x000\x008\x000\x00\n\x00",
		"alias":        "x-port: &p 8080\nserver:\n  port: *p\n",
		"merged list":  "x-a: &a {port: 1}\nx-b: &b {port: 8080}\nserver:\n  <<: [*b, *a]\n",
		"end marker":   "server: {port: 8080}\n...\n",
		"no last line": "server: {port: 8080}",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := loadFile(text)
			if err != nil || len(c.Problems) > 0 {
				t.Fatal(err, c.Problems)
			}
			if want := 8080; strings.Contains(text, "8") && c.Server.Port != want {
				t.Errorf("port is %d", c.Server.Port)
			}
		})
	}
}

func TestFileNotReadable(t *testing.T) {
	deny := func(string) (fs.File, error) { return nil, &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission} }
	folder := memory(map[string]string{"config/dogwatch.yaml/x": ""})
	none := memory(nil)
	for name, c := range map[string]struct {
		in   Input
		want string
	}{
		"named and missing": {Input{File: "/nowhere.yaml", Open: none},
			"configuration file /nowhere.yaml: no such file (command line)"},
		"variable, missing": {Input{Environ: []string{"DOGWATCH_CONFIG=/nowhere.yaml"}, Open: none},
			"configuration file /nowhere.yaml: no such file (env DOGWATCH_CONFIG)"},
		"forbidden":           {Input{File: "x", Open: deny}, "configuration file x: permission denied to user "},
		"folder at its place": {Input{Open: folder}, "configuration file /config/dogwatch.yaml: is a folder, not a file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(c.in)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestFileOrder(t *testing.T) {
	files := map[string]string{
		"etc/dogwatch/dogwatch.yaml": "server.port: 1", "config/dogwatch.yml": "server.port: 2",
		"dogwatch.yaml": "server.port: 3", "named": "server.port: 4", "flag": "server.port: 5",
	}
	for i, remove := range []string{"etc/dogwatch/dogwatch.yaml", "config/dogwatch.yml", "dogwatch.yaml"} {
		c, err := Load(Input{Environ: []string{"HOME=/h"}, Open: memory(files)})
		if err != nil || c.Server.Port != i+1 {
			t.Errorf("without names: port %d, file %q, %v", c.Server.Port, c.File, err)
		}
		delete(files, remove)
	}
	environ := []string{"HOME=/h", "DOGWATCH_CONFIG=/named"}
	c, err := Load(Input{Environ: environ, Open: memory(files)})
	if err != nil || c.Server.Port != 4 || c.File != "/named" {
		t.Error("variable:", c.File, err)
	}
	c, err = Load(Input{File: "/flag", Environ: environ, Open: memory(files)})
	if err != nil || c.Server.Port != 5 {
		t.Error("flag:", c.File, err)
	}
	c, err = Load(Input{Environ: []string{"HOME=/h"}, Open: memory(nil)})
	if err != nil || c.File != "" || c.Server.Port != 3000 {
		t.Error("none:", c.File, err)
	}
}

func FuzzYAML(f *testing.F) {
	f.Add("server: {port: 1}\ntrigger: {smtp: {main: {host: x}}}\n")
	f.Add("a: &a [*a]\nb: {<<: *a, ? x}\n")
	f.Add("triggers.smtp.main: {pass__file: /x, from: a, from.name: b}\n")
	f.Add("plugins: {checksums: {a: b, c: [d]}, grants: []}\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := loadFile(text)
		if err == nil && Verdict(c.Problems, false) == nil && (c.Server.Port < 0 || c.Server.Port > 65535) {
			t.Error("accepted port", c.Server.Port)
		}
		for _, p := range c.Problems {
			if strings.ContainsAny(p.String(), "\n\x00") {
				t.Errorf("more than one line: %q", p.String())
			}
		}
		for _, component := range c.Components {
			if strings.Count(component.Key(), ".") != 2 {
				t.Errorf("key %q", component.Key())
			}
		}
		if _, err := Show(c, noSchema, true); err != nil {
			t.Error(err)
		}
	})
}
