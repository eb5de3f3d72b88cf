package label

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// keelPrefix starts the annotations of Keel on workloads of Kubernetes: https://keel.sh/docs/#policies
const keelPrefix = "keel.sh/"

func translateKeel(full, value string) Translation {
	name := strings.TrimPrefix(full, keelPrefix)
	switch name {
	case "policy":
		return keelPolicy(strings.TrimSpace(value))
	case "approvals":
		return keelApprovals(value)
	case "releaseNotes":
		return same(LinkTemplate, literal(value))
	case "trigger", "pollSchedule":
		return none("the watcher's option cron says when registries are asked")
	case "match-tag", "matchTag":
		return none("a tag is followed when its image changes, and newer versions are offered; " +
			"dogwatch.tag.include restricts them")
	case "matchPreRelease":
		return none("pre-releases are offered to who runs one; see dogwatch.tag.prerelease")
	case "approvalDeadline":
		return none("an approval that nobody gave does not end")
	case "notify":
		return none("dogwatch.trigger.include names the triggers that run")
	case "monitorContainers":
		return none("each container of a workload is a row; dogwatch.watch chooses among them")
	}
	return misspelt(keelPrefix, name, "policy", "approvals", "releaseNotes", "trigger", "pollSchedule", "match-tag",
		"matchTag", "matchPreRelease", "approvalDeadline", "notify", "monitorContainers")
}

// keelPolicy: what the policy lets pass, which Keel carries out, is offered here; dogwatch.update says what is carried
// out.
func keelPolicy(value string) Translation {
	const offers = "it is offered, and carried out only where dogwatch.update says so"
	if pattern, is := strings.CutPrefix(value, "glob:"); is {
		return Translation{Name: TagInclude, Value: globbed(pattern), Note: offers}
	}
	if expression, is := strings.CutPrefix(value, "regexp:"); is {
		return Translation{Name: TagInclude, Value: expression, Note: offers}
	}
	switch value {
	case "never":
		return same(Watch, "false")
	case "all":
		return Translation{Name: UpdateThreshold, Value: "major", Note: offers}
	case "major", "minor", "patch":
		return Translation{Name: UpdateThreshold, Value: value, Note: offers}
	case "force":
		return Translation{Name: WatchDigest, Value: "true", Note: offers}
	}
	return none(fmt.Sprintf("want never, all, major, minor, patch, force, glob:… or regexp:…, got %.40q", value))
}

// globbed writes a pattern, in which * stands for any text, as a regular expression.
func globbed(pattern string) string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$"
}

// keelApprovals: here one user approves an update.
func keelApprovals(value string) Translation {
	n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 16)
	switch {
	case err != nil:
		return none(fmt.Sprintf("want a number, got %.40q", value))
	case n == 0:
		return none("no approval is asked for")
	case n == 1:
		return same(Update, "approve")
	}
	return Translation{Name: Update, Value: "approve", Note: "one approval is enough"}
}
