package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// watchers asks every watcher for its containers, and returns them too.
func (e *examination) watchers(ctx context.Context) ([]Finding, []sdk.Container) {
	var mu sync.Mutex
	var all []sdk.Container
	found := each(e.World.Watchers(), func(w Watcher) []Finding {
		return e.within(ctx, w.ID, func(ctx context.Context) []Finding {
			findings, listed := e.watcher(ctx, w)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, listed...)
			return findings
		})
	})
	mu.Lock()
	defer mu.Unlock()
	all = slices.Clone(all) // a watcher that is late may still add to its own
	slices.SortFunc(all, func(a, b sdk.Container) int {
		return cmp.Or(strings.Compare(a.Watcher, b.Watcher), strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return found, all
}

func (e *examination) watcher(ctx context.Context, w Watcher) ([]Finding, []sdk.Container) {
	found := w.findings()
	if w.Err != nil {
		return found, nil
	}
	listed, err := w.List(ctx)
	if err != nil {
		f := Finding{Subject: w.ID, Level: Fail, Detail: err.Error(), Remedy: e.socketAdvice(w)}
		if ctx.Err() != nil {
			f.Detail = fmt.Sprintf("no answer of the engine%s within %s", at(w), e.Limit)
		}
		return append([]Finding{f}, found...), nil
	}
	for i := range listed {
		listed[i].Watcher = w.Name
		expand(&listed[i].Image)
	}
	f := Finding{Subject: w.ID, Level: OK, Detail: count(len(listed), "container")}
	if len(listed) == 0 {
		f.Level, f.Remedy = Warn, "start one, or set watchall to see stopped ones too"
	}
	if w.About != nil {
		if about, err := w.About(ctx); err == nil {
			f.Detail += " of " + about
		}
	}
	return append([]Finding{f}, found...), listed
}

// at says where the engine of a watcher is, as its options do.
func at(w Watcher) string {
	for _, name := range []string{"url", "host", "socket"} {
		if text := fmt.Sprint(w.Options[name]); w.Options[name] != nil && text != "" {
			return " at " + text
		}
	}
	return ""
}

// expand writes where an image comes from in full: watchers tell what is
// written, and "nginx" is docker.io/library/nginx.
func expand(img *sdk.Image) {
	if ref, err := reference.Parse(reference.Join(img.Registry.Host, img.Name)); err == nil {
		img.Registry.Host, img.Name = ref.Domain, ref.Path
	} // what cannot be read is told as the error of its container
}

// socketAdvice says what keeps us from the socket of a watcher that could not
// be asked; "" when it has none or nothing is wrong with it.
func (e *examination) socketAdvice(w Watcher) string {
	for _, path := range e.sockets(w) {
		if advice := lookAt(path).advice(us()); advice != "" {
			return advice
		}
	}
	return ""
}

// sockets are the paths of sockets in the options of a watcher: each value that
// is a path, or a unix:// address.
func (e *examination) sockets(w Watcher) []string {
	const scheme = "unix://"
	var paths []string
	for _, value := range w.Options {
		text, _ := value.(string)
		path, isAddress := strings.CutPrefix(text, scheme)
		if isAddress || strings.HasPrefix(text, "/") && strings.HasSuffix(text, ".sock") {
			paths = append(paths, path)
		}
	}
	// The variable replaces the default of the socket, which is the only one then.
	if path, isAddress := strings.CutPrefix(e.Environ("DOCKER_HOST"), scheme); isAddress && len(paths) == 1 {
		paths = []string{path}
	}
	return paths
}

// socket is what a look at the path of a socket shows.
type socket struct {
	path     string
	missing  bool
	folder   bool // there is a folder of that name
	other    bool // there is something else that is no socket
	hidden   bool // a folder above it may not be entered
	uid, gid int
	known    bool // whether uid and gid are
	mode     fs.FileMode
}

func lookAt(path string) socket {
	s := socket{path: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.missing = true
	case err != nil:
		s.hidden = true
	default:
		s.mode = info.Mode()
		s.folder = info.IsDir()
		s.other = !s.folder && s.mode&fs.ModeSocket == 0
		s.uid, s.gid, s.known = owner(info)
	}
	return s
}

// identity is who a process is to the file system.
type identity struct {
	uid    int
	groups []int
}

func us() identity {
	groups, _ := os.Getgroups()
	return identity{os.Geteuid(), append(groups, os.Getegid())}
}

// advice says what to do so that this identity may use the socket; "" when it may.
func (s socket) advice(who identity) string {
	const writable = 0o2 // connecting needs the right to write, see unix(7)
	switch {
	case s.missing:
		return fmt.Sprintf("start the engine; if dogwatch runs in a container, mount the socket into it: %s:%s", s.path, s.path)
	case s.folder:
		return s.path + " is a folder: Docker makes one when it mounts a socket that does not exist; remove it, start the engine, and make the container of dogwatch anew"
	case s.other:
		return s.path + " is no socket: set socket to the path of the engine's"
	case s.hidden:
		return "a folder above " + s.path + " may not be entered: " + whoWeAre()
	case !s.known || who.uid == 0:
		return ""
	case who.uid == s.uid:
		if s.mode.Perm()>>6&writable == 0 {
			return "chmod u+w " + s.path
		}
		return ""
	case slices.Contains(who.groups, s.gid):
		if s.mode.Perm()>>3&writable == 0 {
			return "its group may not use it: chmod g+w " + s.path + ", or use a socket proxy"
		}
		return ""
	case s.mode.Perm()&writable != 0:
		return ""
	}
	name := ""
	if g, err := user.LookupGroupId(strconv.Itoa(s.gid)); err == nil {
		name = " (" + g.Name + ")"
	}
	if s.gid == 0 || s.mode.Perm()>>3&writable == 0 {
		return fmt.Sprintf("dogwatch runs as user %d, and only user %d may use %s: use a socket proxy, or run dogwatch as that user", who.uid, s.uid, s.path)
	}
	return fmt.Sprintf("%s belongs to group %d%s, of which user %d is not: add group_add: [\"%d\"] to the service, --group-add %d to docker run, or use a socket proxy",
		s.path, s.gid, name, who.uid, s.gid, s.gid)
}
