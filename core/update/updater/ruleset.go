package updater

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk/option"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The codes of what labels, the way of asking and scans add to a plan.
const (
	BlockLabel  = "label.invalid"
	BlockManual = "update.manual"
	WarnHooks   = "hooks.off"
	// WarnImage says what a label of the image asks for, and whether it gets it.
	WarnImage = "image.asks"
	// BlockPostponed: the registry of the image gets no requests for now.
	BlockPostponed = "registry.postponed"
	// WarnVulnerabilities says what a scanner found, for better or worse.
	WarnVulnerabilities = "vulnerabilities"
	// WarnMajor says what a major update takes, where the container has data.
	WarnMajor = "major"

	// blockNoDigest is what watchers say of an image whose digest they are not given.
	blockNoDigest = "image.missing"
)

// The limits of what labels ask for.
const (
	maxKeep = 10
	maxTime = time.Hour
)

// ruleSet is what a request, the labels of a container and the options of its watcher
// ask for together, in this order.
type ruleSet struct {
	watcher.UpdateRules
	given            label.Reading
	blocks, warnings []watcher.Reason
}

// rules returns the rules of a request. Labels that cannot be read are blocks: a
// container is not updated in another way than its user meant.
func (r *Runner) rules(w Watcher, req Request) ruleSet {
	s := ruleSet{UpdateRules: req.Rules, given: label.Read(label.Of(req.Container), r.opt.Labels)}
	s.Acknowledged = slices.Clone(req.Rules.Acknowledged)
	s.bound(w, req)
	s.Keep, s.Prune = max(s.Keep, w.Keep), s.Prune || w.Prune
	s.health(s.Health)
	read(&s, label.UpdateKeep, func(text string) (err error) { s.Keep, err = count(text); return err })
	read(&s, label.UpdateAcknowledge, func(text string) (err error) {
		codes, err := codes(text)
		s.Acknowledged = append(s.Acknowledged, codes...)
		return err
	})
	if s.StopSignal == "" {
		read(&s, label.UpdateStopSignal, func(text string) (err error) { s.StopSignal, err = signal(text); return err })
	}
	s.hooks(w)
	s.compose()
	s.automatic(req)
	s.images()
	return s
}

// read has a label read, if there is one.
func read(s *ruleSet, name string, into func(text string) error) {
	rule, given := s.given.Get(name)
	if !given {
		return
	}
	if err := into(strings.TrimSpace(rule.Value)); err != nil {
		s.blocks = append(s.blocks, watcher.Reason{Code: BlockLabel, Text: fmt.Sprintf("%s: %v", rule.Source(), err)})
	} else if rule.FromImage {
		text := fmt.Sprintf("%s says %q", rule.Source(), rule.Value)
		s.warnings = append(s.warnings, watcher.Reason{Code: WarnImage, Text: text})
	}
}

// health reads how the new container is probed, unless the request says so.
func (s *ruleSet) health(own watcher.HealthGate) {
	if own.HTTP == "" && own.TCP == "" && len(own.Command) == 0 {
		read(s, label.ProbeHTTP, func(text string) (err error) { s.Health.HTTP, err = httpAddress(text); return err })
		read(s, label.ProbeTCP, func(text string) (err error) { s.Health.TCP, err = tcpAddress(text); return err })
		read(s, label.ProbeCommand, func(text string) (err error) { s.Health.Command, err = label.Command(text); return err })
	}
	if own.Window == 0 {
		read(s, label.ProbeWindow, func(text string) (err error) { s.Health.Window, err = duration(text); return err })
	}
	if own.Interval == 0 {
		read(s, label.ProbeInterval, func(text string) (err error) { s.Health.Interval, err = duration(text); return err })
	}
}

// hooks reads the commands of labels where the watcher runs them.
func (s *ruleSet) hooks(w Watcher) {
	if !w.Hooks {
		for _, name := range []string{label.HookPre, label.HookPost} {
			if rule, given := s.given.Get(name); given {
				s.warnings = append(s.warnings, watcher.Reason{Code: WarnHooks, Text: fmt.Sprintf(
					"the command of %s does not run: set watcher.%s.hooks to true", rule.Source(), w.ID)})
			}
		}
		return
	}
	read(s, label.HookPre, func(text string) (err error) { s.Hooks.Pre, err = label.Command(text); return err })
	read(s, label.HookPost, func(text string) (err error) { s.Hooks.Post, err = label.Command(text); return err })
	read(s, label.HookTimeout, func(text string) (err error) { s.Hooks.Timeout, err = duration(text); return err })
}

// compose completes the rules about compose files: watchers read our label and that of
// What's Up Docker themselves, unless they are of the image.
func (s *ruleSet) compose() {
	rule, given := s.given.Get(label.ComposeFile)
	if s.Compose == nil || !given || !rule.FromImage && label.Rank(rule.Label) <= label.Rank(label.WUDPrefix) {
		return
	}
	rules := *s.Compose
	rules.File = rule.Value
	s.Compose = &rules
}

// automatic blocks a request of a trigger that ran by itself, where a label wants that.
func (s *ruleSet) automatic(req Request) {
	block := func(rule label.Rule) {
		if rule.IsFalse() && req.Trigger != "" && req.Actor == "" {
			text := rule.Source() + " lets only users update it: update it by hand"
			s.blocks = append(s.blocks, watcher.Reason{Code: BlockManual, Text: text})
		}
	}
	read(s, label.UpdateAuto, func(text string) error {
		_, err := option.Option{Type: option.Bool}.Parse(text)
		return err
	})
	for _, get := range []func(string) (label.Rule, bool){s.given.Get, s.given.Tightens} {
		rule, _ := get(label.UpdateAuto)
		block(rule)
	}
}

// images says what labels of the image ask for and do not get. While it is not known
// which are the operator's, nothing is done without those.
func (s *ruleSet) images() {
	if _, text, isUnclear := s.given.Unclear(); isUnclear {
		s.blocks = append(s.blocks, watcher.Reason{Code: BlockLabel, Text: text})
		return
	}
	for _, ignored := range s.given.Ignored {
		if ignored.Name == "" || label.AreaOf(ignored.Name) == label.Updates {
			s.warnings = append(s.warnings, watcher.Reason{Code: WarnImage, Text: ignored.String()})
		}
	}
}

func count(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxKeep {
		return 0, fmt.Errorf("want a number from 0 to %d, got %.40q", maxKeep, text)
	}
	return n, nil
}

func duration(text string) (time.Duration, error) {
	v, err := option.Option{Type: option.Duration}.Parse(text)
	d, _ := v.(time.Duration)
	if err == nil && (d <= 0 || d > maxTime) {
		err = fmt.Errorf(`want a time such as "30s", at most %s, got %.40q`, maxTime, text)
	}
	return d, err
}

var code = lazyregexp.New(`^[a-z][a-z0-9.-]*$`)

func codes(text string) (all []string, err error) {
	for item := range strings.SplitSeq(text, ",") {
		switch item = strings.TrimSpace(item); {
		case item == "":
		case !code().MatchString(item):
			return nil, fmt.Errorf("want codes of blocks such as data.writable-layer, separated by commas, got %.40q", item)
		default:
			all = append(all, item)
		}
	}
	return all, nil
}

var signalName = lazyregexp.New(`^(SIG)?[A-Z][A-Z0-9+-]*$|^[1-9][0-9]?$`)

func signal(text string) (string, error) {
	name := strings.ToUpper(text)
	if !signalName().MatchString(name) {
		return "", fmt.Errorf("want the name of a signal such as SIGINT, got %.40q", text)
	}
	return name, nil
}

// httpAddress and tcpAddress do not repeat what they refuse, which may hold a password.
func httpAddress(text string) (string, error) {
	text = label.HTTPProbe(text)
	to, err := url.Parse(text)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
		return "", errors.New("want an address such as :8080/health or http://:8080/, in which no host is the container")
	}
	return text, nil
}

func tcpAddress(text string) (string, error) {
	_, port, err := net.SplitHostPort(text)
	if n, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil || n == 0 {
		return "", errors.New("want an address such as :5432, in which a missing host is the container")
	}
	return text, nil
}
