package replace

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// File is a regular file that a container has written into itself, or that was put there.
type File struct {
	Path     string
	Size     int64
	Modified time.Time
}

// Files are what differs between a container's own layer and its image.
type Files struct {
	// List has those that were looked at, Paths how many files and folders differ.
	List  []File
	Paths int
	// Hidden says why the engine does not tell what differs; "" when it does.
	Hidden string
}

const (
	// placedLimit is how long after the creation of a container files are put into it,
	// where it is not known any more when it was first started.
	placedLimit = time.Minute
	// shownFiles is how many files a block names.
	shownFiles = 3
)

// Placed returns the files that were put into a container between its creation and its
// first start, as compose does with configs and secrets that have their content in the
// compose file or in a variable. They come in an archive whose times are those of the
// copy in whole seconds; what a program in the container writes has fractions of them.
// What is larger than a container may write into itself is data and no setting.
func Placed(c Container) []File {
	if c.ContainerJSONBase == nil {
		return nil
	}
	created, err := time.Parse(time.RFC3339Nano, c.Created)
	if err != nil {
		return nil
	}
	// Times of archives are rounded to a second.
	from, to := created.Add(-time.Second), created.Add(placedLimit)
	if s := c.State; s != nil {
		ended, _ := time.Parse(time.RFC3339Nano, s.FinishedAt)
		if started, err := time.Parse(time.RFC3339Nano, s.StartedAt); err == nil && started.After(created) &&
			ended.Before(created) {
			to = started.Add(time.Second)
		}
	}
	return slices.DeleteFunc(slices.Clone(c.Files.List), func(f File) bool {
		return f.Size == 0 || f.Size >= ignoredBytes || f.Modified.Nanosecond() != 0 || f.Modified.Before(from) ||
			f.Modified.After(to)
	})
}

// largest names the files in which most of the container's own data is; "" where they are not known.
func (f Files) largest() string {
	files := slices.DeleteFunc(slices.Clone(f.List), func(one File) bool { return one.Size == 0 })
	if len(files) == 0 {
		return ""
	}
	slices.SortStableFunc(files, func(a, b File) int { return int(b.Size - a.Size) })
	var named []string
	for _, f := range files[:min(len(files), shownFiles)] {
		named = append(named, f.Path+" "+sizeText(f.Size))
	}
	text := strings.Join(named, ", ")
	if rest := len(files) - len(named); rest > 0 {
		text += fmt.Sprintf(" and %d smaller ones", rest)
	}
	return text
}

func sizeText(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
