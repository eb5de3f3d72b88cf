//go:build !linux

package plugin

// groups are what this process has of control groups, of which there are none here.
type groups struct {
	has []string
	why string
}

func openGroups() *groups { return &groups{why: "only Linux has control groups"} }

func (*groups) make(string, Limits) (*group, error) { return nil, nil }

// group is the control group of one process.
type group struct{}

func (*group) take(*offspring) error { return nil }

func (*group) bounds(string) bool { return false }

func (*group) kill() {}

func (*group) remove() {}

func (*group) crowded() bool { return false }

func (*group) starved() bool { return false }
