// Package verify is the conformance kit for executables of any language: it starts a
// plugin as the host does, uses it against servers of its own, and says of each thing
// that a plugin has to do whether it does it.
package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/program"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Options say what to verify, and how.
type Options struct {
	File string
	// Set are options of its types as users write them. Others are guessed: addresses
	// are those of servers here, files in a folder of their own, secrets are made up.
	Set       map[string]string
	Isolation plugin.Isolation
	// Holder returns who holds a type here, such as "trigger.lamp"; nil when that is not known.
	Holder func(typ string) plugin.Holder
}

// Verdict is what became of a check.
type Verdict string

// The verdicts.
const (
	OK      Verdict = "ok"
	Failed  Verdict = "failed"
	Skipped Verdict = "skipped" // it does not apply, or could not be tried: Text says why
)

// Result is one check of a file, or of one of its types.
type Result struct {
	Check   string  `json:"check"`
	Type    string  `json:"type,omitempty"` // "trigger.lamp"; "" for the file
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"`
	Remedy  string  `json:"remedy,omitempty"`
}

// Report is what was found out about a file.
type Report struct {
	File    string   `json:"file"`
	SHA256  string   `json:"sha256,omitempty"`
	Version string   `json:"version,omitempty"`
	SDK     string   `json:"sdk,omitempty"`
	Types   []string `json:"types"`
	Results []Result `json:"results"`
}

// OK reports whether no check failed.
func (r Report) OK() bool {
	return !slices.ContainsFunc(r.Results, func(r Result) bool { return r.Verdict == Failed })
}

// The checks, in their order. Those of the file come before those of each type.
const (
	checkFile      = "file"      // regular, executable, closed to others
	checkHandshake = "handshake" // the first line on stdout, in time, with a protocol that the host speaks
	checkTLS       = "tls"       // the connection is secured with the certificate that it was given, for the host alone
	checkHealth    = "health"    // it can be asked whether it lives
	checkType      = "type"      // it is not built in
	checkDescribe  = "describe"  // what it holds is complete, and always the same
	checkUnknown   = "unknown fields"
	checkShutdown  = "shutdown" // in time, with all that it started
	checkOptions   = "options"  // wrong options are refused by name
	checkConfigure = "configure"
	checkCall      = "call" // run, list or tags, against a server that answers
	checkErrors    = "errors"
	checkCancel    = "cancel"
	checkWatch     = "watch"     // of watchers: events are followed, or it says that there are none
	checkWatchEnd  = "watch end" // of watchers: what it does for them ends when the host gives it up
	checkRelease   = "release"
	checkSecrets   = "secrets"
)

// callTime bounds each call; the host gives most of them longer.
const callTime = 10 * time.Second

// exam is one verification.
type exam struct {
	opt        Options
	host       *plugin.Host
	path       string // of the copy that is started
	dir        string
	transcript *transcript
	report     Report
}

// Run verifies a file. It takes some seconds, up to a minute for a plugin that hangs. The
// error is not about the plugin: an option in Set that none of its types has, no folder
// for its sockets, or ctx has ended.
func Run(ctx context.Context, opt Options) (Report, error) {
	e := &exam{opt: opt, transcript: &transcript{}, report: Report{File: opt.File, Types: []string{}}}
	if err := plugin.CheckFile(opt.File); err != nil {
		e.failed(checkFile, "", err.Error(), "build it as a program, chmod 755 it, and have it belong to you or to root")
		return e.report, nil
	}
	sum, err := plugin.Checksum(opt.File)
	if err != nil {
		return e.report, err
	}
	e.report.SHA256 = fmt.Sprintf("%x", sum)
	e.ok(checkFile, "", "an executable that only its owner can change")
	if e.dir, err = os.MkdirTemp("", "dogwatch-verify"); err != nil {
		return e.report, err
	}
	defer os.RemoveAll(e.dir)
	// where plugins of root run as other users, they reach the files that options name
	if err := os.Chmod(e.dir, 0o711); err != nil {
		return e.report, err
	}
	e.path = filepath.Join(e.dir, filepath.Base(opt.File))
	if err := program.Copy(opt.File, e.path); err != nil {
		return e.report, err
	}
	log := hclog.New(&hclog.LoggerOptions{Output: e.transcript, Level: hclog.Debug, JSONFormat: true})
	if e.host, err = plugin.New(plugin.Options{
		RunDirs: []string{os.TempDir()}, Isolation: opt.Isolation, Log: log,
	}); err != nil {
		return e.report, err
	}
	defer e.host.Close()
	types := e.start(ctx)
	for _, name := range slices.Sorted(maps.Keys(opt.Set)) {
		if len(types) > 0 &&
			!slices.ContainsFunc(types, func(t kind.Type) bool { _, has := t.Options.Find(name); return has }) {
			return e.report, fmt.Errorf("none of its types has an option %s (options: %s)", name, names(types[0].Options))
		}
	}
	for _, t := range types {
		if err := ctx.Err(); err != nil {
			return e.report, err
		}
		e.exercise(ctx, t)
	}
	return e.report, ctx.Err()
}

// start starts the file once, and returns the types that it holds.
func (e *exam) start(ctx context.Context) []kind.Type {
	stages := []string{checkHandshake, checkTLS, checkHealth, checkDescribe, checkUnknown, checkShutdown}
	process, err := e.host.Try(ctx, e.path, nil)
	if err != nil {
		failed := slices.Index(stages, plugin.StageOf(err))
		for _, stage := range stages[:failed] {
			e.ok(stage, "", "")
		}
		e.failed(stages[failed], "", err.Error(), "docs/plugins-other-languages.md has what a plugin does at its start")
		e.skip(stages[failed+1:], "", "it did not start")
		return nil
	}
	e.ok(checkHandshake, "", "")
	e.secured(ctx, process)
	e.ok(checkHealth, "", "")
	held, types, err := e.describe(ctx, process.Client)
	switch {
	case errors.Is(err, protocol.ErrRefused):
		e.failed(checkDescribe, "", err.Error(), remedyBounds)
		e.skip([]string{checkUnknown}, "", "its description is refused")
	case err != nil:
		e.failed(checkDescribe, "", err.Error(), "implement dogwatch.plugin.v1.Component/Describe")
		e.skip([]string{checkUnknown}, "", "it does not describe itself")
	default:
		e.unknownFields(ctx, process.Client, held)
	}
	e.shutdown(process.Close())
	return types
}

// secured connects to its socket as another program of this machine could.
func (e *exam) secured(ctx context.Context, process *plugin.Unsupervised) {
	if servesAnyClient(ctx, process.Addr()) {
		e.failed(checkTLS, "", "it serves clients that do not show the certificate of Dogwatch",
			"require a certificate of the client, and verify it with PLUGIN_CLIENT_CERT")
		return
	}
	e.ok(checkTLS, "", "")
}

// unknownFields has it describe itself to a later version of the host.
func (e *exam) unknownFields(ctx context.Context, c *pluginclient.Client, before pluginclient.Description) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	again, err := c.DescribeAsLater(ctx)
	switch {
	case err != nil:
		e.failed(checkUnknown, "", "a request with a field that it does not know failed: "+err.Error(),
			"ignore unknown fields, as Protocol Buffers do by default")
	case !sameTypes(before, again):
		e.failed(checkUnknown, "", "it described itself otherwise the second time",
			"describe what the executable holds, whatever its environment")
	default:
		e.ok(checkUnknown, "", "")
	}
}

func (e *exam) shutdown(end plugin.End) {
	switch {
	case end.Killed:
		e.failed(checkShutdown, "",
			"it did not end within two seconds of plugin.GRPCController/Shutdown, and was killed",
			"answer Shutdown, stop serving and exit")
	case end.Left:
		e.failed(checkShutdown, "", "processes that it started still ran after it had ended, and were killed",
			"wait for them, or end them, before exiting")
	default:
		e.ok(checkShutdown, "", "after "+end.Took.Round(time.Millisecond).String())
	}
}

func (e *exam) ok(check, typ, text string) {
	e.add(Result{Check: check, Type: typ, Verdict: OK, Text: text})
}

func (e *exam) failed(check, typ, text, remedy string) {
	e.add(Result{Check: check, Type: typ, Verdict: Failed, Text: text, Remedy: remedy})
}

func (e *exam) skip(checks []string, typ, why string) {
	for _, check := range checks {
		e.add(Result{Check: check, Type: typ, Verdict: Skipped, Text: why})
	}
}

// has reports whether a check came out so.
func (e *exam) has(check string, v Verdict) bool {
	return slices.ContainsFunc(e.report.Results, func(r Result) bool { return r.Check == check && r.Verdict == v })
}

func (e *exam) add(r Result) { e.report.Results = append(e.report.Results, r) }

// fullName is how messages call a type.
func fullName(t kind.Type) string { return string(t.Kind) + "." + t.Name }

// names are those of options.
func names(s option.Schema) string {
	var all []string
	for _, o := range s {
		all = append(all, o.Name)
	}
	return strings.Join(all, ", ")
}
