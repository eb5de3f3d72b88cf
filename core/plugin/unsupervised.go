package plugin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
)

// Unsupervised is one process of an executable that nothing supervises, for trying it.
type Unsupervised struct {
	Client *pluginclient.Client
	p      *process
}

// CheckFile says why a host would not start an executable, whatever folder it is in:
// it is no regular file, is not executable, or others may change it.
func CheckFile(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if err := checkFile(info); err != nil {
		return err
	}
	if !runnable(info) {
		return fmt.Errorf("its file is not executable: run chmod +x %s", path)
	}
	return nil
}

// Try starts an executable as the host starts those in its folder, for instances with
// these specs, whether it is trusted or not. Of an error StageOf says how far it came.
func (h *Host) Try(ctx context.Context, path string, specs []pluginclient.Instance) (*Unsupervised, error) {
	sum, err := Checksum(path)
	if err != nil {
		return nil, err
	}
	b := bundle{name: filepath.Base(path), path: path, checksum: sum}
	p, err := h.launchOnce(ctx, b, specs, h.log.Named(b.name))
	if err != nil {
		return nil, err
	}
	p.client.ExplainGone(func(err error) error { return h.redacted(p.explainExit(err)) })
	return &Unsupervised{Client: p.client, p: p}, nil
}

// Addr is the socket at which it serves; nil when it has ended.
func (u *Unsupervised) Addr() net.Addr {
	if r := u.p.owner.ReattachConfig(); r != nil {
		return r.Addr
	}
	return nil
}

// Exited is closed once the process has ended.
func (u *Unsupervised) Exited() <-chan struct{} { return u.p.child.exited }

// End is how a process ended.
type End struct {
	// Took is how long that was.
	Took time.Duration
	// Killed is true when it did not end by itself, and Left when processes that it started did not end with it.
	Killed, Left bool
}

// Close has the process shut down as the host does, and kills what is left of it then.
func (u *Unsupervised) Close() End {
	began := time.Now()
	c := u.p.child
	c.expectEnd()
	timer := time.AfterFunc(stopTimeout, u.p.kill)
	u.p.owner.Kill()
	<-c.exited
	timer.Stop()
	c.mu.Lock()
	end := End{Took: time.Since(began), Killed: c.killed, Left: c.left > 0}
	c.mu.Unlock()
	u.p.confined.remove()
	return end
}

// The stages of a start.
const (
	StageHandshake = "handshake"
	StageTLS       = "tls"
	StageHealth    = "health"
)

// StageOf returns at which stage the start failed that ended with err.
func StageOf(err error) string {
	var unwell *unhealthyError
	if errors.As(err, &unwell) {
		return unwell.stage
	}
	return StageHandshake
}

// unhealthyError is why a process that shook hands cannot be asked whether it lives.
type unhealthyError struct {
	stage string
	error
}

func (e *unhealthyError) Unwrap() error { return e.error }
