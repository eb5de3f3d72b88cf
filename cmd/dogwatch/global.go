package main

import (
	"io"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/app/oneshot"
	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// global are the flags of every command.
type global struct {
	file     string
	logLevel string
	stdout   io.Writer
	stderr   io.Writer
	// recent, if set, keeps the last entries of the log.
	recent *logging.Recent
}

// load reads the configuration as the flags ask.
func (g *global) load(flags map[string]any) (*config.Config, error) {
	if flags == nil {
		flags = map[string]any{}
	}
	if g.logLevel != "" {
		if _, err := logging.ParseLevel(g.logLevel); err != nil {
			return &config.Config{}, usage(err)
		}
		flags["log.level"] = g.logLevel
	}
	return config.Load(config.Input{
		File: g.file, Environ: os.Environ(), Flags: flags, WatcherTypes: watcherTypes(), DockerOptions: dockerOptions(),
	})
}

// logger returns the root logger of a configuration, writing to stderr, and
// what keeps secrets out of it.
func (g *global) logger(c *config.Config) (hclog.Logger, *logging.Redactor, error) {
	redactor := &logging.Redactor{}
	log, err := logging.New(logging.Options{
		Level: c.Log.Level, Levels: c.Log.Levels, Format: c.Log.Format, Output: g.stderr, Redactor: redactor,
		Recent: g.recent,
	})
	return log, redactor, err
}

// quietLogger is the logger of commands that say themselves what an operator
// should know: it is silent unless --log-level asks for more.
func (g *global) quietLogger(c *config.Config) (hclog.Logger, *logging.Redactor, error) {
	if g.logLevel == "" {
		return hclog.NewNullLogger(), &logging.Redactor{}, nil
	}
	return g.logger(c)
}

// newOneShot reads the configuration and builds what a command needs that uses
// components of some kinds. The caller closes it.
func (g *global) newOneShot(kinds ...kind.Kind) (*oneshot.Instance, *logging.Redactor, error) {
	cfg, err := g.load(nil)
	if err != nil {
		return nil, nil, err
	}
	return g.newOneShotWith(cfg, kinds...)
}

func (g *global) newOneShotWith(cfg *config.Config, kinds ...kind.Kind) (*oneshot.Instance, *logging.Redactor, error) {
	log, redactor, err := g.quietLogger(cfg)
	if err != nil {
		return nil, nil, err
	}
	if err := plugin.Harden(); err != nil {
		log.Warn("harden this process", "error", err)
	}
	o, err := oneshot.New(madeOf(cfg, log, redactor), kinds...)
	return o, redactor, err
}

// userAgent is how the commands name themselves to other services.
func userAgent() string { return parts.Options{Version: version}.UserAgent() }

// madeOf returns what every Dogwatch of this program is made of.
func madeOf(cfg *config.Config, log hclog.Logger, redactor *logging.Redactor) parts.Options {
	return parts.Options{
		Config:   cfg,
		Builtins: builtins(),
		Version:  version,
		Log:      log,
		Redactor: redactor,
		Now:      time.Now,
	}
}

// printErrors writes the problems that switch something off to stderr.
func (g *global) printErrors(problems []config.Problem) {
	for _, p := range problems {
		if p.Level == config.Error {
			complain(g.stderr, p)
		}
	}
}
