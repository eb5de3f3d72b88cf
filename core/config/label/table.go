package label

import (
	"fmt"
	"slices"
	"strings"
)

// Say is what the label of an image may bring about.
type Say int

const (
	// Never: only the operator says it, who created the container.
	Never Say = iota
	// Tightens: it counts where less happens with it than without.
	Tightens
	// Describes: it counts as long as the container has no such label of its own.
	Describes
)

// String returns the word of the documentation.
func (s Say) String() string { return [...]string{"never", "tightens", "describes"}[s] }

// Area is which part of Dogwatch reads a label.
type Area string

// The areas, as the documentation calls them.
const (
	Checks   Area = "Checks and messages"
	Policies Area = "Policies"
	Updates  Area = "Updates"
)

// entry is one label.
type entry struct {
	name string // without prefix
	area Area
	wud  bool // What's Up Docker has it, too
	// image is what it may bring about as the label of an image.
	image Say
	help  string
}

var table = [...]entry{
	{Watch, Checks, true, Never, "`true` or `false`: watch the container, or not"},
	{WatchDigest, Checks, true, Describes, "`true` or `false`: is a new image behind the same tag an update?"},
	{TagInclude, Checks, true, Describes, "regular expression that tags must match"},
	{TagExclude, Checks, true, Describes, "regular expression that tags must not match"},
	{TagTransform, Checks, true, Describes, "`pattern => replacement`: how tags are read as versions"},
	{TagPrerelease, Checks, true, Describes, "`true`: offer prereleases"},
	{TagImplausible, Checks, false, Never,
		"`true`: offer [skipped versions](policies.md#skipped-versions), which were built long before what runs"},
	{LinkTemplate, Checks, true, Describes,
		"link to the release notes; in the label of an image only the version and `container.image` have a value"},
	{DisplayName, Checks, true, Describes, "the name by which it is shown"},
	{DisplayIcon, Checks, true, Describes, "the icon by which it is shown"},
	{Base, Checks, false, Describes,
		"the image that this one is built on, such as `node:22-alpine`: newer ones of that are looked for instead; " +
			"`false` for none; " +
			"in the label of an image only if that was [built here](checks.md#base-images)"},
	{TriggerInclude, Checks, true, Never, "triggers to use, such as `smtp.main:minor`"},
	{TriggerExclude, Checks, true, Never, "triggers not to use"},
	{TriggerOnDigest, Checks, true, Never,
		"`true` or `false`: do triggers run for its [rebuilds](policies.md#rules), whatever their option `ondigest` " +
			"says? `dogwatch.trigger.smtp.ondigest` says it for one type, `dogwatch.trigger.smtp.main.ondigest` for " +
			"one trigger; the most specific one counts"},
	{ComposeFile, Updates, true, Never, "the compose file to edit"},
	{SourceFile, Updates, false, Never,
		"the file in which its image is written, such as `apps/web/values.yaml`, for triggers that " +
			"[open pull requests](kubernetes.md#pull-requests)"},
	{SourceRepository, Updates, false, Never,
		"the repository that has this file, such as `ana/homelab` or its address; without it any trigger may have it"},

	{ProbeHTTP, Updates, false, Describes,
		"address that must respond for the new container to work; in the label of an image only `:port/path`"},
	{ProbeTCP, Updates, false, Describes,
		"address that must accept a connection for the new container to work; in the label of an image only `:port`"},
	{ProbeCommand, Updates, false, Never, "command in the new container that must succeed for it to work"},
	{ProbeWindow, Updates, false, Never, "how long the new container may take to work"},
	{ProbeInterval, Updates, false, Never, "the time between two probes"},
	{UpdateAuto, Updates, false, Tightens, "`false`: only users update it; in the label of an image only `false` counts"},
	{UpdateKeep, Updates, false, Never, "how many stopped predecessors stay"},
	{UpdateAcknowledge, Updates, false, Never, "codes of blocks that are accepted"},
	{UpdateStopSignal, Updates, false, Never, "the signal that stops the old container"},
	{HookPre, Updates, false, Never, "command in the old container before it is stopped"},
	{HookPost, Updates, false, Never, "command in the new container once it works"},
	{HookTimeout, Updates, false, Never, "how long each of these commands may take"},

	{Policy, Policies, false, Never, "name of the policy that counts for it"},
	{Update, Policies, false, Tightens,
		"`notify`, `approve` or `auto`; in the label of an image `notify` and `approve`, where the operator says `auto`"},
	{UpdateMajor, Policies, false, Never,
		"`notify`, `approve` or `auto`: the mode of major updates, if it lets less happen"},
	{UpdateThreshold, Policies, false, Tightens,
		"largest step that is offered; in the label of an image only a smaller one than the operator's"},
	{UpdateMinAge, Policies, false, Tightens,
		"how old a version must be; in the label of an image only more than the operator says"},
	{UpdateSecurity, Policies, false, Never, "severity from which on the fix of a vulnerability need not be old"},
	{UpdateWindow, Policies, false, Never, "when updates are offered and carried out"},
	{UpdateFreeze, Policies, false, Never, "days on which none is"},
	{UpdateSkip, Policies, false, Never, "regular expression of tags and digests that are never offered"},
	{UpdateZone, Policies, false, Never, "time zone of its windows and freezes"},
}

// byName returns the entry of a label, named without prefix; that of TriggerOnDigest also for
// one that names a trigger.
func byName(name string) (entry, bool) {
	if _, ok := onDigestOf(name); ok {
		name = TriggerOnDigest
	}
	i := slices.IndexFunc(table[:], func(e entry) bool { return e.name == name })
	if i < 0 {
		return entry{}, false
	}
	return table[i], true
}

// AreaOf returns which part of Dogwatch reads a label, named without prefix.
func AreaOf(name string) Area {
	e, _ := byName(name)
	return e.area
}

// namesUnder returns the labels that a prefix has, without it.
func namesUnder(prefix string) []string {
	var names []string
	for _, e := range table {
		if prefix != WUDPrefix || e.wud {
			names = append(names, e.name)
		}
	}
	return names
}

// Names returns all labels, without prefix.
func Names() []string { return namesUnder(Prefix) }

// Known reports whether What's Up Docker has a label of that name, without prefix.
func Known(name string) bool {
	e, known := byName(name)
	return known && e.wud
}

// isOf reports whether a prefix has a label of that name.
func isOf(prefix, name string) bool {
	e, known := byName(name)
	if prefix == WUDPrefix {
		return known && e.wud || slices.Contains(delays[:], name)
	}
	return known
}

const introduction = `
## Labels

Containers say by these labels how they are to be watched and updated. An engine shows the labels of an image as if
they were those of its containers; they count as the last column says: where it **describes**, as long as the container
has no such label of its own, where it **tightens**, as far as less happens with it, and elsewhere **never**
([who may say what](security.md#images)). ` + "`labels.image`" + ` sets that for all.
`

// Reference returns the documentation of all labels, as Markdown.
func Reference() string {
	var b strings.Builder
	b.WriteString(introduction)
	for _, area := range []Area{Checks, Policies, Updates} {
		fmt.Fprintf(&b, "\n### %s\n\n| Label | WUD | Meaning | From an image |\n|---|---|---|---|\n", area)
		for _, e := range table {
			if e.area != area {
				continue
			}
			twin := ""
			switch {
			case e.wud:
				twin = "`" + WUDPrefix + e.name + "`"
			case e.name == UpdateMinAge:
				twin = "`" + WUDPrefix + strings.Join(delays[:], "`, `"+WUDPrefix) + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", Prefix+e.name, twin, e.help, e.image)
		}
	}
	return b.String()
}
