package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits bound what an executable uses, with all that it starts; a field that is nil is as for all others.
type Limits struct {
	// Memory and Temp are in bytes, CPU in processors. 0 is no limit.
	Memory, Processes, Temp *int64
	CPU                     *float64
}

// Limits returns the limits of executables by file name, those of all others under "". What
// Load has reported of them is left out.
func (p Plugins) Limits() map[string]Limits {
	all := map[string]Limits{}
	for _, text := range p.Limited {
		name, limits, err := parseLimit(text)
		if err == nil {
			all[name] = all[name].with(limits)
		}
	}
	return all
}

// with returns limits with what others set.
func (l Limits) with(o Limits) Limits {
	if o.Memory != nil {
		l.Memory = o.Memory
	}
	if o.Processes != nil {
		l.Processes = o.Processes
	}
	if o.Temp != nil {
		l.Temp = o.Temp
	}
	if o.CPU != nil {
		l.CPU = o.CPU
	}
	return l
}

// parseLimit reads "memory=512MB", for all, or "trigger-lamp:memory=512MB".
func parseLimit(text string) (name string, l Limits, err error) {
	what, value, _ := strings.Cut(text, "=")
	if i := strings.LastIndexByte(what, ':'); i >= 0 {
		name, what = what[:i], what[i+1:]
	}
	value = strings.TrimSpace(value)
	switch strings.ToLower(strings.TrimSpace(what)) {
	case "memory":
		l.Memory, err = parseSize(value)
	case "temp":
		l.Temp, err = parseSize(value)
	case "processes":
		var n int64
		n, err = strconv.ParseInt(value, 10, 32)
		l.Processes = &n
	case "cpu":
		var n float64
		n, err = strconv.ParseFloat(value, 64)
		if !(n >= 0 && n <= 1024) {
			err = strconv.ErrRange
		}
		l.CPU = &n
	default:
		err = strconv.ErrSyntax
	}
	if err == nil && l.Processes != nil && *l.Processes < 0 {
		err = strconv.ErrRange
	}
	if err != nil {
		return "", Limits{},
			fmt.Errorf("want memory=256MB, processes=256, cpu=0.5 or temp=64MB, with the name of a plugin and a colon before it for that alone, got %q", text)
	}
	return name, l, nil
}

// parseSize reads a number of bytes with a unit: 256MB, 1GB; 0 needs none.
func parseSize(text string) (*int64, error) {
	upper := strings.ToUpper(strings.ReplaceAll(text, " ", ""))
	unit := int64(1)
	for name, bytes := range map[string]int64{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30} {
		if number, has := strings.CutSuffix(strings.Replace(upper, "IB", "B", 1), name); has {
			upper, unit = number, bytes
		}
	}
	n, err := strconv.ParseInt(upper, 10, 64)
	switch {
	case err != nil:
		return nil, err
	case n < 0 || n > 1<<50/unit || n > 0 && unit == 1:
		return nil, strconv.ErrRange
	}
	n *= unit
	return &n, nil
}
