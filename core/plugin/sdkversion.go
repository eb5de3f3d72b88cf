package plugin

import (
	"fmt"
	"strconv"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
)

// sdkForm is a version of the SDK for Go. Plugins in other languages say something else, or nothing.
var sdkForm = lazyregexp.New(`^(\d{1,9})\.(\d{1,9})\.\d{1,9}$`)

// sdkRelation is how the SDK of a plugin relates to the one of this host.
type sdkRelation int

const (
	sameSDK sdkRelation = iota // or one whose differences do not matter
	olderSDK
	newerSDK
)

// compareSDK compares the SDK that a plugin was built with to own. A patch changes
// nothing, and an older minor version lacks only what the plugin does not use.
func compareSDK(built, own string) sdkRelation {
	b, o := sdkForm().FindStringSubmatch(built), sdkForm().FindStringSubmatch(own)
	if b == nil || o == nil {
		return sameSDK
	}
	number := func(text string) int { n, _ := strconv.Atoi(text); return n } // at most nine digits
	major, minor := number(b[1]), number(b[2])
	ownMajor, ownMinor := number(o[1]), number(o[2])
	switch {
	case major > ownMajor, major == ownMajor && minor > ownMinor:
		return newerSDK
	case major < ownMajor:
		return olderSDK
	}
	return sameSDK
}

// SDKNote says what the version of a plugin's SDK means for its user; nil when nothing.
// All of them speak the same protocol, so that each plugin runs.
func SDKNote(built string) phrase.Phrase {
	switch compareSDK(built, sdk.Version) {
	case newerSDK:
		return phrase.New("built with SDK %s, which is newer than this Dogwatch with SDK %s: it runs, but what is new in its SDK does nothing here; update Dogwatch", built, sdk.Version)
	case olderSDK:
		return phrase.New("built with SDK %s, which is older than this Dogwatch with SDK %s: it runs as before; a build of it with the SDK of today can do more", built, sdk.Version)
	}
	return nil
}

// logSDK writes what SDKNote says when a plugin has been described.
func (s *Supervisor) logSDK(built string) {
	switch note := SDKNote(built); compareSDK(built, sdk.Version) {
	case newerSDK:
		s.log.Warn("plugin is newer than this Dogwatch", "note", note)
	case olderSDK:
		s.log.Info("plugin is older than this Dogwatch", "note", note)
	}
}

// otherProtocol is go-plugin's error for a plugin that speaks none of our protocols.
// It names the oldest that the plugin speaks.
var otherProtocol = lazyregexp.New(`incompatible API version with plugin\. Plugin version: (\d+)`)

// explainProtocol makes a *rejectedError of the error for a plugin of another protocol.
func explainProtocol(name string, err error) error {
	match := otherProtocol().FindStringSubmatch(err.Error())
	if match == nil {
		return err
	}
	spoken, _ := strconv.Atoi(match[1])
	remedy := "it is too new: update Dogwatch, or install an older version of the plugin"
	if spoken < protocol.Version {
		remedy = "it is too old: install a newer version of the plugin, or build it with the SDK of today"
	}
	return &rejectedError{fmt.Errorf("plugin %s speaks version %s of the plugin protocol and this Dogwatch version %d: %s", name, match[1], protocol.Version, remedy)}
}
