package migrate

import (
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/label"
)

// noActing says why what serves updating has no equivalent.
const noActing = "Dogwatch updates containers where a docker trigger is configured, which has options of its own"

// watchtower reads the variables of
// https://containrrr.dev/watchtower/arguments/ and of its successors.
func (r Rewriter) watchtower(s scope, v variable) (setting, bool) {
	name, ok := cutFold(v.name, "WATCHTOWER_")
	if !ok {
		if !s.has("WATCHTOWER_") && imageOf(s.image) != "watchtower" {
			return setting{}, false
		}
		// The account that it shows to registries has variables without prefix.
		switch strings.ToUpper(v.name) {
		case "REPO_USER":
			return but("registry.hub.private.login", v.value,
				"counts for Docker Hub only; other registries have sections of their own"), true
		case "REPO_PASS":
			return to("registry.hub.private.password", v.value), true
		}
		return setting{}, false
	}
	if rest, notifies := strings.CutPrefix(name, "NOTIFICATION"); notifies {
		return watchtowerNotification(strings.TrimPrefix(strings.TrimPrefix(rest, "S"), "_"), v.value), true
	}
	switch name {
	case "SCHEDULE":
		return schedule(v.value), true
	case "POLL_INTERVAL":
		return interval(v.value), true
	case "LABEL_ENABLE":
		return inverted(watcherOption("watchbydefault"), v.value), true
	case "INCLUDE_STOPPED":
		return boolean(watcherOption("watchall"), v.value), true
	case "INCLUDE_RESTARTING":
		return none("restarting containers are always watched"), true
	case "LOG_LEVEL":
		return logLevel(v.value), true
	case "LOG_FORMAT":
		return to("log.format", map[bool]string{true: "json", false: "text"}[strings.EqualFold(v.value, "json")]), true
	case "DEBUG", "TRACE":
		if boolean("log.level", v.value).value == "true" {
			return to("log.level", strings.ToLower(name)), true
		}
		return none("has no effect when it is not true"), true
	case "MONITOR_ONLY", "NO_RESTART":
		return none("is what Dogwatch does, unless a docker trigger is configured"), true
	case "CLEANUP":
		return none("set " + config.EnvName("trigger.docker.local.prune") +
			": Dogwatch then updates containers by itself, as Watchtower does, and removes old images"), true
	case "TIMEOUT":
		return none("the stop timeout of each container counts"), true
	case "NO_PULL":
		return none("set the label dogwatch.watch=false on what is built here"), true
	case "SCOPE", "DISABLE_CONTAINERS", "MONITOR_IMAGE_NAMES", "SKIP_IMAGE_NAMES", "LABEL_TAKE_PRECEDENCE":
		return none("labels choose what is watched: set dogwatch.watch on the containers"), true
	case "RUN_ONCE":
		return none("is a command here: dogwatch check"), true
	case "NO_STARTUP_MESSAGE":
		return none("there is no message at the start"), true
	case "HTTP_API_UPDATE", "HTTP_API_PERIODIC_POLLS":
		return none("the API is always there: POST /api/containers/watch checks, and the schedule goes on"), true
	case "HTTP_API_METRICS":
		return none("metrics are always at /metrics, under other names"), true
	case "HTTP_API_TOKEN":
		return none("tokens are made here: dogwatch token create; they count once a login is configured (auth.basic or auth.oidc)"), true
	case "HTTP_API_HOST":
		return to("server.host", v.value), true
	case "HTTP_API_PORT":
		return to("server.port", v.value), true
	case "WARN_ON_HEAD_FAILURE":
		return none("a check that fails always says why"), true
	case "COOLDOWN_DELAY":
		return watchtowerAge(v.value), true
	}
	return none(noActing), true
}

// watchtowerNotification reads what follows NOTIFICATION_ or NOTIFICATIONS_.
func watchtowerNotification(name, value string) setting {
	const smtp, slack, teams, gotify = "trigger.smtp.watchtower.", "trigger.slack.watchtower.",
		"trigger.teams.watchtower.", "trigger.gotify.watchtower."
	switch name {
	case "URL":
		return shoutrrr(value)
	case "EMAIL_FROM":
		return to(smtp+"from", value)
	case "EMAIL_TO":
		return to(smtp+"to", value)
	case "EMAIL_SERVER":
		return to(smtp+"host", value)
	case "EMAIL_SERVER_PORT":
		return to(smtp+"port", value)
	case "EMAIL_SERVER_USER":
		return to(smtp+"user", value)
	case "EMAIL_SERVER_PASSWORD":
		return secret(smtp+"pass", value)
	case "EMAIL_SERVER_TLS_SKIP_VERIFY":
		return inverted(smtp+"tls.verify", value)
	case "SLACK_HOOK_URL":
		return secret(slack+"url", value)
	case "SLACK_CHANNEL":
		return none("the channel is that of the web hook")
	case "MSTEAMS_HOOK_URL", "MSTEAMS_HOOK":
		return secret(teams+"url", value)
	case "GOTIFY_URL":
		return to(gotify+"url", value)
	case "GOTIFY_TOKEN":
		return secret(gotify+"token", value)
	case "GOTIFY_TLS_SKIP_VERIFY":
		return boolean(gotify+"tls.insecure", value)
	case "TEMPLATE", "TITLE_TAG", "EMAIL_SUBJECTTAG", "HOSTNAME", "SKIP_TITLE", "REPORT":
		return none("templates have another language here: see simpletitle, simplebody and batchtitle of the trigger")
	case "DELAY", "EMAIL_DELAY":
		return none("mode=batch sends one message per check")
	case "":
		return none("a trigger exists as soon as one of its options is set")
	}
	return none("there is nothing of the kind")
}

// watchtowerAge: months end with a capital M there.
func watchtowerAge(value string) setting {
	t, _ := label.Translate("com.centurylinklabs.watchtower.cooldown-delay", value)
	return to("policy.minage", t.Value)
}

// shoutrrr: addresses are separated by spaces there and by commas here.
func shoutrrr(value string) setting {
	const path = "trigger.shoutrrr.watchtower.urls"
	all := strings.Fields(value)
	switch {
	case strings.HasPrefix(value, "/"):
		return secret(path, value)
	case len(all) < 2:
		return to(path, value)
	case strings.Contains(value, ","):
		return none("some of its addresses hold commas: give each a trigger of its own, as " +
			config.EnvName("trigger.shoutrrr.one.urls"))
	}
	return to(path, strings.Join(all, ","))
}

// schedule: its six fields are read as they are. That both day and weekday must
// match is the one thing that differs.
func schedule(value string) setting {
	fields := strings.Fields(value)
	s := to(watcherOption("cron"), value)
	restricted := func(field string) bool { return field != "*" && field != "?" }
	if n := len(fields); n >= 5 && restricted(fields[n-3]) && restricted(fields[n-1]) {
		return s.because("both the day and the weekday must match here, not either of them")
	}
	return s
}

// interval writes a number of seconds as a schedule.
func interval(value string) setting {
	seconds, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || seconds < 1 || seconds > 1<<30 {
		return none("want a number of seconds")
	}
	return to(watcherOption("cron"), "@every "+short(time.Duration(seconds)*time.Second))
}

// short writes a duration in its largest whole unit.
func short(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d%time.Minute == 0:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	}
	return strconv.Itoa(int(d/time.Second)) + "s"
}

// logLevel: the levels of logrus and zerolog that have another name here.
func logLevel(value string) setting {
	level := strings.ToLower(value)
	switch level {
	case "panic":
		level = "fatal"
	case "warning":
		level = "warn"
	}
	return to("log.level", level)
}
