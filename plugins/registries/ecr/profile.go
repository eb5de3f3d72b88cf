package ecr

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxFile bounds the shared files.
const maxFile = 1 << 20

// profile is the settings of one profile of AWS's shared files, by lower-case
// name (https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html).
type profile map[string]string

// sharedFiles are the configuration and the credentials of AWS's tools, in this
// order; none where the user has no home.
func sharedFiles() []string {
	config, keys := os.Getenv("AWS_CONFIG_FILE"), os.Getenv("AWS_SHARED_CREDENTIALS_FILE")
	if home, err := os.UserHomeDir(); err == nil {
		config = cmp.Or(config, filepath.Join(home, ".aws", "config"))
		keys = cmp.Or(keys, filepath.Join(home, ".aws", "credentials"))
	}
	return []string{config, keys}
}

// readProfile returns what both files say of a profile, nil when they say
// nothing. What the credentials file says counts.
func readProfile(name string) (profile, error) {
	files := sharedFiles()
	config, keys := "profile "+name, name
	if name == "default" {
		config = name
	}
	var all profile
	for i, section := range []string{config, keys} {
		found, err := readSection(files[i], section)
		if err != nil {
			return nil, unauthorized("read the AWS profile %q: %w", name, err)
		}
		for k, v := range found {
			if all == nil {
				all = profile{}
			}
			all[k] = v
		}
	}
	return all, nil
}

// readSection returns the settings of a section of a file. A file that is not there has none.
func readSection(file, section string) (profile, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", file, maxFile)
	}
	return parseSection(text, section), nil
}

// parseSection reads lines of "key = value" below "[section]". Lines that are
// indented belong to the one above and set nothing that is needed here.
func parseSection(text []byte, section string) profile {
	var p profile
	within := false
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxFile+1)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.TrimSpace(line) == "", strings.ContainsAny(line[:1], "#; \t"):
		case line[0] == '[':
			name, _, closed := strings.Cut(line[1:], "]")
			within = closed && strings.Join(strings.Fields(name), " ") == section
			if within && p == nil {
				p = profile{}
			}
		case within:
			if key, value, ok := strings.Cut(line, "="); ok {
				p[strings.ToLower(strings.TrimSpace(key))] = plainValue(value)
			}
		}
	}
	return p
}

// plainValue is a value without the comment behind it.
func plainValue(text string) string {
	for _, mark := range []string{" #", " ;", "\t#", "\t;"} {
		text, _, _ = strings.Cut(text, mark)
	}
	return strings.TrimSpace(text)
}
