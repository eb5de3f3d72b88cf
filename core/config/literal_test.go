package config

import "testing"

// TestLoadUnderstandsQuotesAndByteOrderMarks: what env files and editors put around a value is not part of it.
func TestLoadUnderstandsQuotesAndByteOrderMarks(t *testing.T) {
	const utf16 = "\xff\xfeh\x00i\x00\r\x00\n\x00"
	files := map[string]string{
		"bom": "\uFEFFhunter2\n", "quoted": "\"hunter2\"\r\n", "both": "\uFEFF'hunter2'", "utf16": utf16,
		"plain": "hunter2\n", "inner": "\"a\" or \"b\"", "empty": "\uFEFF\n",
	}
	for _, c := range []struct{ variable, want string }{
		{"DOGWATCH_TRIGGER_SMTP_MAIN_PASS__FILE=/bom", "hunter2"},
		{"DOGWATCH_TRIGGER_SMTP_MAIN_PASS__FILE=/quoted", "hunter2"},
		{"DOGWATCH_TRIGGER_SMTP_MAIN_PASS__FILE=/both", "hunter2"},
		{"DOGWATCH_TRIGGER_SMTP_MAIN_PASS__FILE=/utf16", "hi"},
		{"DOGWATCH_TRIGGER_SMTP_MAIN_PASS__FILE=/plain", "hunter2"},
		{"DOGWATCH_TRIGGER_SMTP_MAIN_PASS__FILE='/plain'", "hunter2"},
		{"DOGWATCH_TRIGGER_SMTP_MAIN_PASS__FILE=/inner", `"a" or "b"`},
		{`DOGWATCH_TRIGGER_SMTP_MAIN_PASS="hunter2"`, "hunter2"},
		{`WUD_TRIGGER_SMTP_MAIN_PASS='hunter2'`, "hunter2"},
		{`WUD_TRIGGER_SMTP_MAIN_PASS="it's"`, "it's"},
		{`WUD_TRIGGER_SMTP_MAIN_PASS="a" "b"`, `"a" "b"`},
		{`WUD_TRIGGER_SMTP_MAIN_PASS='hunter2`, "'hunter2"},
		{`WUD_TRIGGER_SMTP_MAIN_PASS="`, `"`},
	} {
		config, err := Load(Input{Environ: []string{"HOME=/h", c.variable}, Open: memory(files)})
		if err != nil || len(config.Components) != 1 {
			t.Errorf("%s: %v", c.variable, err)
			continue
		}
		if got := config.Components[0].Options["pass"]; got.V != c.want || len(config.Components[0].Problems) > 0 {
			t.Errorf("%s: %q %v, want %q", c.variable, got.V, config.Components[0].Problems, c.want)
		}
	}
	empty := []string{"HOME=/h", "DOGWATCH_TRIGGER_SMTP_MAIN_PASS__FILE=/empty"}
	config, _ := Load(Input{Environ: empty, Open: memory(files)})
	if problems := config.Components[0].Problems; len(problems) != 1 || problems[0].Message != "the file is empty" {
		t.Errorf("%v", problems)
	}
}
