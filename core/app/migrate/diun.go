package migrate

import (
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
)

// diun reads the variables of https://crazymax.dev/diun/config/.
func (r Rewriter) diun(s scope, v variable) (setting, bool) {
	name, ok := cutFold(v.name, "DIUN_")
	if !ok {
		if !s.has("DIUN_") && imageOf(s.image) != "diun" {
			return setting{}, false
		}
		switch strings.ToUpper(v.name) {
		case "LOG_LEVEL":
			return logLevel(v.value), true
		case "LOG_JSON":
			if boolean("log.format", v.value).value == "true" {
				return to("log.format", "json"), true
			}
			return to("log.format", "text"), true
		}
		return setting{}, false
	}
	section, rest, _ := strings.Cut(name, "_")
	switch section {
	case "WATCH":
		return diunWatch(rest, v.value), true
	case "PROVIDERS":
		return diunProvider(s, rest, v.value), true
	case "NOTIF":
		return diunNotif(s, rest, v.value), true
	case "REGOPTS":
		return diunRegistry(s, rest, v.value), true
	case "DEFAULTS":
		return none("there are no defaults for labels: set them on the containers"), true
	case "DB":
		return none("its database is not read: updates that it told of are told of once more"), true
	}
	return none("there is nothing of the kind"), true
}

func diunWatch(name, value string) setting {
	switch name {
	case "SCHEDULE":
		return schedule(value)
	case "JITTER":
		return to(watcherOption("jitter"), value)
	case "RUNONSTARTUP":
		return boolean(watcherOption("watchatstart"), value)
	case "WORKERS":
		return none("how much is asked at a time are check.perhost and check.total")
	case "FIRSTCHECKNOTIF":
		return none("what is outdated is told of at the first check, and what is not is not")
	case "COMPAREDIGEST":
		return none("digests are always compared before anything is fetched")
	case "IMAGEDEFAULTS_WATCHREPO":
		return none("newer versions are always looked for")
	}
	return none("there is nothing of the kind")
}

func diunProvider(s scope, name, value string) setting {
	provider, option, _ := strings.Cut(name, "_")
	if provider != "DOCKER" {
		return none("only containers of Docker engines are watched in this version")
	}
	switch option {
	case "":
		switch {
		case boolean("", value).value != "true" && value != "":
			return none("a watcher exists as soon as one of its options is set")
		case s.has("DIUN_PROVIDERS_DOCKER_WATCHBYDEFAULT"):
			return none("the local engine is watched without it")
		}
		return but(watcherOption("watchbydefault"), "false",
			"the engine is watched anyway, but Diun watches only the containers that a label enables")
	case "ENDPOINT":
		return to(watcherOption("socket"), value)
	case "WATCHBYDEFAULT":
		return boolean(watcherOption("watchbydefault"), value)
	case "WATCHSTOPPED":
		return boolean(watcherOption("watchall"), value)
	case "TLSCERTSPATH":
		return none("the files have options of their own: cafile, certfile and keyfile of the watcher")
	case "TLSVERIFY":
		return none("the engine's certificate is always verified")
	case "APIVERSION":
		return none("the version is agreed with the engine")
	}
	return none("there is nothing of the kind")
}

// diunOptions are the options of notifiers that a trigger has, too. One that
// ends in FILE names the file of another.
func diunOptions(notifier string) (trigger string, options map[string]string) {
	switch notifier {
	case "APPRISE":
		return "apprise", map[string]string{"ENDPOINT": "url", "TOKEN": "config", "URLS": "urls", "TAGS": "tag"}
	case "DISCORD":
		return "discord", map[string]string{"WEBHOOKURL": "url"}
	case "GOTIFY":
		return "gotify", map[string]string{"ENDPOINT": "url", "TOKEN": "token", "PRIORITY": "priority"}
	case "MAIL":
		return "smtp", map[string]string{
			"HOST": "host", "PORT": "port", "SSL": "tls.enabled", "USERNAME": "user", "PASSWORD": "pass",
			"FROM": "from", "TO": "to",
		}
	case "MATRIX":
		return "matrix", map[string]string{"HOMESERVERURL": "url", "ROOMID": "roomid"}
	case "MQTT":
		return "mqtt", map[string]string{"USERNAME": "user", "PASSWORD": "password", "CLIENT": "clientid", "TOPIC": "topic"}
	case "NTFY":
		return "ntfy", map[string]string{
			"ENDPOINT": "url", "TOPIC": "topic", "TOKEN": "auth.token", "PRIORITY": "priority", "TAGS": "tags",
		}
	case "PUSHOVER":
		return "pushover", map[string]string{"TOKEN": "token", "RECIPIENT": "user", "SOUND": "sound", "PRIORITY": "priority"}
	case "ROCKETCHAT":
		return "rocketchat", map[string]string{
			"ENDPOINT": "url", "CHANNEL": "channel", "USERID": "user.id", "TOKEN": "auth.token",
		}
	case "SCRIPT":
		return "command", map[string]string{"CMD": "cmd"}
	case "SLACK":
		return "slack", map[string]string{"WEBHOOKURL": "url"}
	case "TEAMS":
		return "teams", map[string]string{"WEBHOOKURL": "url"}
	case "TELEGRAM":
		return "telegram", map[string]string{"TOKEN": "bottoken", "CHATIDS": "chatid"}
	case "WEBHOOK":
		return "http", map[string]string{"ENDPOINT": "url", "METHOD": "method"}
	}
	return "", nil
}

func diunNotif(s scope, name, value string) setting {
	notifier, option, _ := strings.Cut(name, "_")
	trigger, options := diunOptions(notifier)
	if trigger == "" {
		return none("there is no trigger of the kind; trigger.shoutrrr and trigger.apprise reach many services")
	}
	path := "trigger." + trigger + ".diun."
	switch {
	case options[option] != "":
		return diunValue(notifier, option, path+options[option], value)
	case strings.HasSuffix(option, "FILE") && options[strings.TrimSuffix(option, "FILE")] != "" && option != "CHATIDSFILE":
		return file(path+options[strings.TrimSuffix(option, "FILE")], value)
	case notifier == "MQTT" && option == "HOST":
		return diunBroker(s, path+"url", value)
	case notifier == "MQTT" && (option == "PORT" || option == "SCHEME"):
		return none("is part of trigger.mqtt.diun.url")
	case option == "INSECURESKIPVERIFY":
		return inverted(path+"tls.verify", value)
	case option == "TLSSKIPVERIFY":
		return boolean(path+"tls.insecure", value)
	case option == "TIMEOUT":
		return to(path+"timeout", value)
	case strings.HasPrefix(option, "TEMPLATE"):
		return none("templates have another language here: see simpletitle and simplebody of the trigger")
	case option == "":
		return none("a trigger exists as soon as one of its options is set")
	}
	return none("trigger." + trigger + " has no such option")
}

// diunValue is a value that is written differently, or means something else.
func diunValue(notifier, option, path, value string) setting {
	switch notifier + " " + option {
	case "TELEGRAM CHATIDS":
		if strings.ContainsAny(value, ",:;") {
			return none("one trigger writes to one chat: give each a trigger of its own, with the chat in chatid")
		}
	case "MAIL TO":
		if strings.Contains(value, ",") {
			return but(path, value, "is one address here: give each a trigger of its own")
		}
	case "MAIL SSL":
		return boolean(path, value)
	case "MQTT TOPIC", "WEBHOOK ENDPOINT":
		return but(path, value, "what is sent has another form: the container, as the API shows it")
	case "SCRIPT CMD":
		return but(path, value, "the command finds the container in variables of other names, and its arguments in cmd")
	}
	return to(path, value)
}

// diunBroker makes the address of a broker of its parts.
func diunBroker(s scope, path, host string) setting {
	scheme, given := s.get("DIUN_NOTIF_MQTT_SCHEME")
	if !given || scheme == "" {
		scheme = "mqtt"
	}
	port, given := s.get("DIUN_NOTIF_MQTT_PORT")
	if !given || port == "" {
		port = "1883"
	}
	return to(path, scheme+"://"+host+":"+port)
}

// diunRegistry reads what follows REGOPTS_: the key of an entry and an option.
func diunRegistry(s scope, name, value string) setting {
	key, option, _ := strings.Cut(name, "_")
	host, known := s.get("DIUN_REGOPTS_" + key + "_NAME")
	if !known || !strings.Contains(host, ".") && !strings.Contains(host, ":") {
		return none("which registry it is for is not known: write registry.{type}.{name}")
	}
	host, _, _ = strings.Cut(host, "/")
	typ, user, password := registryOf(host)
	path := "registry." + typ + ".diun" + strings.ToLower(key) + "."
	switch option {
	case "NAME":
		if typ == "custom" {
			return to(path+"url", "https://"+host)
		}
		return none("is the registry type " + typ + " here")
	case "USERNAME":
		return to(path+user, value)
	case "USERNAMEFILE":
		return file(path+user, value)
	case "PASSWORD":
		return to(path+password, value)
	case "PASSWORDFILE":
		return file(path+password, value)
	case "INSECURETLS":
		return boolean(path+"tls.insecure", value)
	case "SELECTOR":
		return none("a registry is chosen by the host of the image")
	}
	return none("there is nothing of the kind")
}

// registryOf returns the registry type of a host, and what it calls user and password.
func registryOf(host string) (typ, user, password string) {
	if reference.IsHub(host) {
		return "hub", "login", "password"
	}
	switch host {
	case "ghcr.io":
		return "ghcr", "username", "token"
	case "lscr.io":
		return "lscr", "username", "token"
	case "registry.gitlab.com":
		return "gitlab", "username", "token"
	case "codeberg.org":
		return "codeberg", "login", "password"
	}
	return "custom", "login", "password"
}
