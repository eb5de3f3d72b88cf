package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/install"
)

// ErrNotServing means that no Dogwatch serves with this configuration.
var ErrNotServing = errors.New("no Dogwatch is serving")

// configuration tells what is wrong with the file and the environment as a
// whole; what is wrong with a component is a finding of the component.
func (e *examination) configuration() []Finding {
	const subject = "configuration"
	var found []Finding
	for _, p := range e.Config.Problems {
		level := Warn
		if p.Level == config.Error {
			level = Fail
		}
		found = append(found, Finding{Subject: subject, Level: level, Detail: p.String()})
	}
	if len(found) > 0 {
		return found
	}
	where := "the environment"
	if e.Config.File != "" {
		where = e.Config.File + " and the environment"
	}
	return one(subject, OK, fmt.Sprintf("%s in %s", phrase.Count(len(e.Config.Components), "component"), where), "")
}

// login tells who may use the server.
func (e *examination) login() []Finding {
	const subject = "login"
	address, _ := netip.ParseAddr(e.Config.Server.Host)
	switch {
	case !e.Config.Server.Enabled:
		return nil
	case len(e.Logins) > 0:
		return one(subject, OK, "asked for: "+strings.Join(e.Logins, ", "), "")
	case e.Config.Server.Host == "localhost" || address.IsLoopback():
		return one(subject, OK, "none, and only this machine reaches the server", "")
	}
	return one(subject, Warn, fmt.Sprintf("none: whoever reaches port %d may use the server", e.Config.Server.Port),
		"set auth.basic.NAME.user and .hash (dogwatch hash-password makes one), or server.host to 127.0.0.1")
}

// server tells whether a Dogwatch serves beside this one.
func (e *examination) server(ctx context.Context) []Finding {
	const subject = "server"
	address, version, err := e.Installation.Serving(ctx)
	switch {
	case errors.Is(err, ErrNotServing):
		return one(subject, OK, "not serving now", "")
	case err != nil:
		return one(subject, Fail, err.Error(), "set server.port to a port that is free")
	case version != e.Version:
		return one(subject, Warn, fmt.Sprintf("version %s serves at %s, and this is %s", version, address, e.Version),
			"restart it after an update")
	}
	return one(subject, OK, "serves at "+address, "")
}

// load has no finding when all is well, nor when some plugin hangs, of which the plugins
// and the components tell.
func (e *examination) load(ctx context.Context) []Finding {
	if err := e.Installation.Load(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return one("plugins", Fail, "the plugins do not start: "+err.Error(), "")
	}
	return nil
}

// plugins tells which executables may not run. Those that are built in are no
// files of their own that another user could change.
func (e *examination) plugins(ctx context.Context) []Finding {
	const subject = "plugins"
	all, err := e.Installation.Plugins(ctx)
	if err != nil {
		return one(subject, Fail, err.Error(), "let the user of dogwatch read the folder, or set plugins.dir to another")
	}
	var found []Finding
	builtin := 0
	for _, p := range all {
		about := "plugin " + p.Name
		switch p.State {
		case plugin.Starting, plugin.Backoff, plugin.Broken, plugin.Untrusted, plugin.Rejected:
			if p.State == plugin.Starting && (p.Builtin || p.Error == "") {
				continue
			}
			found = append(found, Finding{Subject: about, Level: Fail, Detail: string(p.State) + ": " + p.Error})
		default:
			if p.Builtin {
				builtin++
				continue
			}
			detail := fmt.Sprintf("may run, and holds %s", phrase.Count(len(p.Types), "type"))
			if p.Note != "" {
				detail += "; " + p.Note
			}
			if p.Isolation != nil {
				detail += "; " + p.Isolation.String()
			}
			found = append(append(found, Finding{Subject: about, Level: OK, Detail: detail}), missing(about, p)...)
		}
	}
	if len(all) > builtin {
		found = append(e.isolation(), found...)
	}
	found = append(found, e.declared(ctx)...)
	return append(one(subject, OK,
		fmt.Sprintf("%d built in, %d in %s", builtin, len(all)-builtin, absolute(e.Config.Plugins.Dir)), ""), found...)
}

// missing tells which capabilities a plugin asks for in vain.
func missing(subject string, p plugin.Status) (found []Finding) {
	for _, c := range p.Requested {
		if !slices.Contains(p.Grants, c) {
			found = append(found,
				Finding{Subject: subject, Level: Warn,
					Detail: fmt.Sprintf("asks for %s (%s), and is not granted it", c, cmp.Or(config.Gives(c), phrase.Verbatim("a capability"))),
					Remedy: fmt.Sprintf("if it is to have that, run: dogwatch plugin grants %s --grant %s; or add %s=%s to plugins.grants", p.Name, c, p.Name, c)})
		}
	}
	return found
}

// declared tells which plugins of plugins.install are not there as it says.
func (e *examination) declared(ctx context.Context) []Finding {
	declared := e.Config.Plugins.Declared()
	if len(declared) == 0 {
		return nil
	}
	const remedy = "restart the Dogwatch that serves, which installs it; its log says why it could not, and so does dogwatch plugin install"
	installed, err := install.Read(e.Config.Plugins.Dir)
	if err != nil {
		return one("plugins.install", Fail, err.Error(), "")
	}
	var found []Finding
	for _, d := range declared {
		i := slices.IndexFunc(installed, func(st install.Status) bool { return st.Name == d.Name })
		switch {
		case i < 0:
			f := Finding{Subject: "plugin " + d.Name, Level: Fail, Detail: "is in plugins.install, and not installed",
				Remedy: remedy}
			if e.Fetchable != nil {
				if err := e.Fetchable(ctx, d); err != nil {
					f.Detail, f.Remedy = f.Detail+": "+err.Error(), ""
				}
			}
			found = append(found, f)
		case !installed[i].Is(d.Ref, d.Digest):
			found = append(found, Finding{
				Subject: "plugin " + d.Name, Level: Warn,
				Detail: fmt.Sprintf("%s is installed, and plugins.install says %s", installed[i].Ref, d.Ref), Remedy: remedy,
			})
		}
	}
	return found
}

// absolute returns a path as a user of another folder has to write it.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil && path != "" {
		return abs
	}
	return path
}

// isolation tells what the kernel can restrict executables in plugins.dir by.
func (e *examination) isolation() []Finding {
	const subject = "isolation"
	support, files := e.Kernel()
	switch {
	case !e.Config.Plugins.Isolated:
		return one(subject, Warn, "off: executables in plugins.dir have all rights of Dogwatch", "leave out plugins.isolated")
	case !files:
		return one(subject, Warn, "the kernel restricts "+support,
			"executables in plugins.dir reach the files of Dogwatch; trust only those that you would run as its user")
	}
	return one(subject, OK, "the kernel restricts "+support, "")
}

// findings are what is wrong with the configuration of a component; none when nothing is.
func (c Component) findings() []Finding {
	var found []Finding
	if c.Err != nil {
		found = append(found, Finding{Subject: c.ID, Level: Fail, Detail: c.Err.Error()})
	}
	for _, w := range c.Warnings {
		found = append(found, Finding{Subject: c.ID, Level: Warn, Detail: strings.TrimPrefix(w, c.ID+".")})
	}
	return found
}
