package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// program is an executable of Dogwatch, with what its build has recorded in it.
type program struct {
	file     string
	platform v1.Platform
	// revision is the commit it was built from, and date when that was made; both are zero if that was not recorded.
	revision string
	date     time.Time
}

// readPrograms reads what is needed to know of each file, and refuses what cannot run in an image.
func readPrograms(files []string) ([]program, error) {
	if len(files) == 0 {
		return nil, errors.New("name the programs, one for each platform")
	}
	var all []program
	for _, file := range files {
		p, err := readProgram(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, other := range all {
			if other.platform.String() == p.platform.String() {
				return nil, fmt.Errorf("%s and %s are both for %s", other.file, file, p.platform)
			}
			if other.revision != p.revision {
				return nil, fmt.Errorf("%s and %s are of different commits", other.file, file)
			}
		}
		all = append(all, p)
	}
	return all, nil
}

func readProgram(file string) (program, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return program{}, err
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	p := program{file: file, revision: settings["vcs.revision"]}
	p.platform = v1.Platform{OS: settings["GOOS"], Architecture: settings["GOARCH"]}
	if arm := settings["GOARM"]; arm != "" {
		p.platform.Variant = "v" + arm[:1]
	}
	switch {
	case p.platform.OS != "linux":
		return p, fmt.Errorf("it is for %s, and an image is for linux", p.platform)
	case settings["CGO_ENABLED"] != "0":
		return p, errors.New("it needs libraries, of which an image has none: build it with cmd/dogwatch/build.sh")
	}
	if at := settings["vcs.time"]; at != "" {
		p.date, err = time.Parse(time.RFC3339, at)
	}
	return p, err
}
