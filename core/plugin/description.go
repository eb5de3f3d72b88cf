package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
)

// build names what a description depends on beside the file: this program, what it
// speaks, and the name by which the file is started, which it may read.
func (h *Host) build(bundle string) string {
	return fmt.Sprintf("%s, protocol %d, sdk %s, as %s", h.opt.Version, protocol.Version, sdk.Version, bundle)
}

// remembered returns what a file with a checksum said of itself when it was started
// before, and false when that is not known.
func (h *Host) remembered(ctx context.Context, bundle string, sum []byte) (d pluginclient.Description, known bool) {
	if h.opt.Records == nil {
		return d, false
	}
	doc, err := h.opt.Records.PluginDescription(ctx, sum, h.build(bundle))
	if err == nil && doc != nil {
		err = json.Unmarshal(doc, &d)
	}
	if err != nil { // it is asked again
		h.log.Warn("read what a plugin said of itself", "bundle", bundle, "error", err)
	}
	return d, err == nil && len(d.Types) > 0
}

// remember keeps what a file said of itself.
func (h *Host) remember(ctx context.Context, bundle string, sum []byte, d pluginclient.Description) {
	if h.opt.Records == nil {
		return
	}
	doc, err := json.Marshal(d)
	if err == nil {
		var before []byte
		if before, err = h.opt.Records.PluginDescription(ctx, sum, h.build(bundle)); err == nil && bytes.Equal(before, doc) {
			return
		}
		err = h.opt.Records.SavePluginDescription(ctx, sum, h.build(bundle), doc)
	}
	if err != nil {
		h.log.Warn("keep what a plugin says of itself", "bundle", bundle, "error", err)
	}
}

// describe has a process say what its bundle holds, and accepts that.
func (s *Supervisor) describe(ctx context.Context, p *process, sum []byte, began time.Time) error {
	timed, cancel := context.WithTimeout(ctx, configureTimeout)
	defer cancel()
	d, err := p.client.Describe(timed)
	if err != nil {
		return fmt.Errorf("ask plugin %s what it holds: %w", s.bundle.name, err)
	}
	readableTypes(d.Types)
	if len(d.Types) == 0 {
		return &rejectedError{fmt.Errorf("plugin %s holds no types", s.bundle.name)}
	}
	s.host.remember(ctx, s.bundle.name, sum, d)
	return s.accept(ctx, d, began)
}

// accept makes a bundle hold what its file says, unless another one holds some of it.
// began is when its start began.
func (s *Supervisor) accept(ctx context.Context, d pluginclient.Description, began time.Time) error {
	if err := s.awaitTurn(ctx, began, d.Types); err != nil {
		return err
	}
	if err := s.host.claim(ctx, s, d.Types); err != nil {
		return err
	}
	s.mu.Lock()
	before := s.sdk
	if !reflect.DeepEqual(s.held, d.Types) {
		s.announce = true
	}
	s.version, s.sdk, s.held = d.Version, d.SDKVersion, d.Types
	s.mu.Unlock()
	if before != d.SDKVersion {
		s.logSDK(d.SDKVersion)
	}
	return nil
}
