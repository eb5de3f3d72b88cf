package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

const maxSecretSize = 64 << 10

// defaultFiles are where a configuration file is looked for when none is named.
var defaultFiles = []string{
	"/etc/dogwatch/dogwatch.yaml", "/etc/dogwatch/dogwatch.yml",
	"/config/dogwatch.yaml", "/config/dogwatch.yml",
	"dogwatch.yaml", "dogwatch.yml",
}

type openFunc func(name string) (fs.File, error)

// openRegular opens files and folders, never what could block, as a pipe does.
func openRegular(name string) (fs.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, errors.New("is not a regular file")
	}
	return os.Open(name)
}

func (open openFunc) exists(name string) bool {
	f, err := open(name)
	if err == nil {
		f.Close()
	}
	return !errors.Is(err, fs.ErrNotExist)
}

func (open openFunc) isFolder(name string) bool {
	f, err := open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	return err == nil && info.IsDir()
}

// read returns the content of a file of at most limit bytes. The error is a
// reason alone: the caller names the file.
func (open openFunc) read(name string, limit int64) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil,
			errors.New("is a folder, not a file (the engine makes one when the file of a bind mount does not exist on the host)")
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, reason(err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("is larger than %d KiB", limit>>10)
	}
	return data, nil
}

func reason(err error) error {
	var pathErr *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("no such file")
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("permission denied to user %d", os.Getuid())
	case errors.As(err, &pathErr):
		return pathErr.Err
	}
	return err
}

// read returns what an entry sets: itself, or the content of the file it names, without its last
// line break and what is not meant: a byte order mark, quotation marks around all of it.
func (e entry) read(open openFunc) Value {
	if !e.isFile {
		return e.value
	}
	name, isText := e.value.V.(string)
	v := Value{Source: "file " + name + " (" + e.value.Source + ")"}
	fail := func(message, remedy string) Value {
		v.problem = &Problem{Key: e.path, Source: v.Source, Message: message, Remedy: remedy, Level: Error}
		return v
	}
	if !isText || name == "" {
		v.Source = e.value.Source
		return fail("want the name of a file", "")
	}
	data, err := open.read(name, maxSecretSize)
	if err != nil {
		return fail("the file cannot be read: "+err.Error(), "")
	}
	text := unquoted(strings.TrimSuffix(strings.TrimSuffix(plainText(data), "\n"), "\r"))
	if text == "" {
		return fail("the file is empty", "")
	}
	v.V = text
	return v
}

// findFile returns the configuration file to read and what named it; "" when
// there is none, or when it is at a place where one is looked for.
func (in Input) findFile(open openFunc) (name, by string) {
	if in.File != "" {
		return in.File, commandLine
	}
	for _, variable := range in.Environ {
		key, value, _ := strings.Cut(variable, "=")
		if strings.EqualFold(key, configVariable) && value != "" {
			return unquoted(value), "env " + key
		}
	}
	for _, name := range defaultFiles {
		if open.exists(name) {
			return name, ""
		}
	}
	return "", ""
}
