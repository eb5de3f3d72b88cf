// Package compose finds the image of a service in the files of a Docker Compose
// project and replaces it there, and changes nothing else: not a comment, quote,
// anchor or line ending, in the compose file or in the .env file that gives the
// image's tag. What it cannot change that way it refuses with a code.
//
// Locate finds the files of a container's project, Edit says what would change,
// Change.Apply writes it, and Change.Undo takes it back.
package compose

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dogwatch/dogwatch/internal/heldfile"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The codes of an Error.
const (
	FileMissing         = "file.missing"  // it is not mounted, or was removed
	FileReadonly        = "file.readonly" // it may not be written
	FileRemote          = "file.remote"   // standard input, a Git repository or an artifact
	FileChanged         = "file.changed"  // since the change was made
	FileShared          = "file.shared"   // a container can write it
	FileInvalid         = "file.invalid"  // not a text file of reasonable size
	YAMLInvalid         = "yaml.invalid"
	LayoutUnsupported   = "layout.unsupported" // the text cannot be replaced where it stands
	ServiceUnknown      = "service.unknown"
	ServiceAmbiguous    = "service.ambiguous"
	BuildOnly           = "build.only"
	ImageMissing        = "image.missing"
	ImageInvalid        = "image.invalid"
	ImageDiffers        = "image.differs" // the files name another image than the container runs
	ImageShared         = "image.shared"  // by another service
	DigestMissing       = "digest.missing"
	VariableUnknown     = "variable.unknown"
	VariableShared      = "variable.shared"      // it feeds more than this image
	VariableUnsupported = "variable.unsupported" // nested, or with an alternative value
	ExtendsUnsupported  = "extends.unsupported"
	IncludeUnsupported  = "include.unsupported"
)

// Error says why an image is not changed. Nothing has been changed then, unless Text says so.
type Error struct {
	Code string
	File string // "" for none
	Line int    // 0 for none
	Text string // one sentence with the remedy
}

func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Text
	case e.Line > 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
	}
	return e.File + ": " + e.Text
}

// Reason returns the error as a block of a plan.
func (e *Error) Reason() watcher.Reason { return watcher.Reason{Code: e.Code, Text: e.Error()} }

// Shared returns the error of a file that a container can write: what it has mounted is source.
func Shared(file, container, source string) *Error {
	return refuse(FileShared, file, 0,
		"the container %s has %s mounted and can write there, so this file may be its own: mount that "+
			"read-only into %s, move the compose file elsewhere, or name %s in the watcher's option composetrusted if it manages your compose files",
		container, source, container, container)
}

// Remote returns the error of files that are on another machine.
func Remote(host string) *Error {
	return refuse(FileRemote, "", 0, "the compose file is on %s, where Dogwatch has the engine only: set the watcher's "+
		"option compose to off, and change the file there, or run a Dogwatch there", host)
}

func refuse(code, file string, line int, format string, args ...any) *Error {
	return &Error{Code: code, File: file, Line: line, Text: fmt.Sprintf(format, args...)}
}

// Reader reads a whole file. Its errors are those of os.ReadFile.
type Reader func(path string) ([]byte, error)

// maxFile is the size of the largest file that is read.
const maxFile = 4 << 20

// ReadFile reads a regular file of up to 4 MiB.
func ReadFile(path string) ([]byte, error) { return Guarded(nil)(path) }

// Guarded returns a Reader of regular files of up to 4 MiB that the guard lets through.
func Guarded(guard heldfile.Guard) Reader {
	return func(path string) ([]byte, error) {
		f, err := heldfile.Open(path, guard)
		if err != nil {
			return nil, fileError(path, err)
		}
		defer f.Close()
		data, err := f.Read(maxFile)
		return data, fileError(path, err)
	}
}

// fileError gives an error of a file its code, if it has one whatever is done with the file.
func fileError(path string, err error) error {
	switch {
	case errors.Is(err, heldfile.ErrNotRegular):
		return refuse(FileInvalid, path, 0, "this is not a regular file")
	case errors.Is(err, heldfile.ErrTooLarge):
		return refuse(FileInvalid, path, 0, "%v", err)
	case errors.Is(err, heldfile.ErrChanged):
		return refuse(FileChanged, path, 0, "%v: look who does that, and plan again", err)
	}
	return err
}

// Project is the compose project of one container.
type Project struct {
	// Service is the container's service; "" where the container does not say, then
	// it is the one service of that image.
	Service string
	// Files are the compose files in the order in which they are merged.
	Files      []string
	WorkingDir string
	// EnvFiles give the variables, a later one overrides the ones before. Named says
	// that the user named them; otherwise it is .env, which may be absent.
	EnvFiles []string
	Named    bool
}

// Locate returns the project of a container with these labels. fallback is the
// configured compose file, for containers that do not name one; "" for none. read
// is nil for ReadFile. Errors are of type *Error: FileMissing names the directory
// of the host that is to be mounted.
func Locate(labels map[string]string, fallback string, read Reader) (Project, error) {
	if read == nil {
		read = ReadFile
	}
	p := Project{Service: labels[LabelService], WorkingDir: labels[labelWorkingDir]}
	files, err := p.fileNames(labels, fallback, read)
	if err != nil {
		return Project{}, err
	}
	for _, file := range files {
		if file == "-" || strings.Contains(file, "://") || strings.HasPrefix(file, "git@") {
			return Project{},
				refuse(FileRemote, "", 0,
					"the project was started from %s, which is not a file: write the new image there", remoteName(file))
		}
		file = p.absolute(file)
		if _, err := read(file); err != nil {
			return Project{}, ReadError(file, err)
		}
		p.Files = append(p.Files, file)
	}
	if p.WorkingDir == "" {
		p.WorkingDir = filepath.Dir(p.Files[0])
	}
	for name := range strings.SplitSeq(labels[labelEnvFiles], ",") {
		if name = strings.TrimSpace(name); name != "" {
			p.EnvFiles, p.Named = append(p.EnvFiles, p.absolute(name)), true
		}
	}
	if !p.Named {
		p.EnvFiles = []string{filepath.Join(p.WorkingDir, ".env")}
	}
	return p, nil
}

// fileNames returns the compose files as they are named.
func (p Project) fileNames(labels map[string]string, fallback string, read Reader) ([]string, error) {
	for _, label := range []string{LabelFile, LabelFileWUD} {
		if file := strings.TrimSpace(labels[label]); file != "" {
			return []string{file}, nil
		}
	}
	all := labels[labelFiles]
	if strings.Contains(all, ",") {
		if _, err := read(p.absolute(all)); err == nil {
			return []string{all}, nil // a name with a comma
		}
	}
	var files []string
	for file := range strings.SplitSeq(all, ",") {
		if file = strings.TrimSpace(file); file != "" {
			files = append(files, file)
		}
	}
	switch {
	case len(files) > 0:
		return files, nil
	case fallback != "":
		return []string{fallback}, nil
	}
	return nil, refuse(FileMissing, "", 0, "the container names no compose file: give it the label %s", LabelFile)
}

// absolute returns the path of a file that Compose named from its working directory.
func (p Project) absolute(file string) string {
	if filepath.IsAbs(file) || p.WorkingDir == "" {
		return filepath.Clean(file)
	}
	return filepath.Join(p.WorkingDir, file)
}

// remoteName is what a project was started from, without the credentials an address may hold.
func remoteName(file string) string {
	if file == "-" {
		return "standard input"
	}
	scheme, _, found := strings.Cut(file, "://")
	if !found {
		return "a Git repository"
	}
	return "a " + scheme + " address"
}

// ReadError says why a file could not be read.
func ReadError(file string, err error) error {
	var coded *Error
	dir := filepath.Dir(file)
	switch {
	case errors.As(err, &coded):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return refuse(FileMissing, file, 0,
			"there is no such file where Dogwatch runs: mount the directory %s of the host at %s, writable", dir, dir)
	case errors.Is(err, fs.ErrPermission):
		return refuse(FileMissing, file, 0, "Dogwatch may not read the file: give its user access to %s", dir)
	}
	return refuse(FileMissing, file, 0, "the file cannot be read: %v", err)
}
