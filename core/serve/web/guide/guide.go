package guide

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Guide says what to do next, to a user who has not got everything running yet.
type Guide struct {
	Title phrase.Phrase
	// Sentence is nil where the title says it all.
	Sentence phrase.Phrase
	// Reason is the error that stands in the way, if one does.
	Reason string
	Steps  []guideStep
	// Then is what to do after any of the steps, which are alternatives; nil where they follow each other.
	Then phrase.Phrase
	// Others are other ways to get there, in no order.
	Others []guideStep
	// Whole is whether it is shown as a whole, as there are no containers; else it is one sentence among others.
	Whole bool
}

// guideStep is one thing to do: words, and lines to paste.
type guideStep struct {
	Text  phrase.Phrase
	Lines string
	// Path and Label lead to a page.
	Path  string
	Label phrase.Phrase
}

// situation is what a guide depends on.
type situation struct {
	Watchers []service.Component
	// Checked are the names of the watchers of which a check has ended.
	Checked    map[string]bool
	Containers int
	Triggers   int
	Demo       bool
}

// newGuide returns what to do next, or nil when nothing is missing.
func newGuide(s situation) *Guide {
	g := s.guide()
	if g != nil {
		g.Whole = s.Containers == 0
	}
	return g
}

func (s situation) guide() *Guide {
	failed := slices.IndexFunc(s.Watchers, func(c service.Component) bool { return c.State == component.Failed })
	unchecked := slices.IndexFunc(s.Watchers, func(c service.Component) bool {
		return c.State != component.Failed && !s.Checked[c.Name]
	})
	switch {
	case s.Demo:
		return demoGuide()
	case s.Containers == 0 && len(s.Watchers) == 0:
		g := &Guide{Title: phrase.New("Nothing to watch yet"), Sentence: phrase.New("No watcher is configured.")}
		g.addSocket(defaultSocket)
		return g
	case s.Containers == 0 && failed >= 0:
		return s.failedGuide(s.Watchers[failed])
	case s.Containers == 0 && unchecked >= 0:
		return &Guide{
			Title:    phrase.New("Looking for containers"),
			Sentence: phrase.New("The first check is under way. It takes a few seconds; this page is complete when you load it again."),
		}
	case s.Containers == 0:
		return s.emptyGuide()
	case s.Triggers == 0:
		return FirstTrigger()
	}
	return nil
}

func demoGuide() *Guide {
	return &Guide{
		Title:    phrase.New("This is a demo"),
		Sentence: phrase.New("The engine and the registries are simulated, and nothing leaves this machine. New versions appear while you look, and can be installed."),
		Steps: []guideStep{
			{
				Text: phrase.New("Open a container, press Update and read the plan. You can roll back afterwards. One update fails on purpose, to show how the old container comes back:"),
				Path: "/containers", Label: phrase.New("Containers"),
			},
			{Text: phrase.New("To watch your own containers, save this as compose.yaml and run `docker compose up -d`:"), Lines: composeLines},
			{Text: phrase.New("To check once, without a server:"), Lines: "dogwatch check\n"},
		},
	}
}

// composeLines start Dogwatch beside an engine: the least that works.
const composeLines = `services:
  dogwatch:
    image: ` + config.Image + `
    restart: unless-stopped
    ports: ["3000:3000"]
    volumes:
      - store:/store
      - /var/run/docker.sock:/var/run/docker.sock:ro
volumes:
  store:
`

const proxyLines = `services:
  dogwatch:
    environment:
      DOGWATCH_WATCHER_LOCAL_HOST: engine
    networks: [default, engine]
  engine:
    image: tecnativa/docker-socket-proxy:0.3.0
    environment: { CONTAINERS: 1, IMAGES: 1, EVENTS: 1, PING: 1, VERSION: 0 }
    volumes: ["/var/run/docker.sock:/var/run/docker.sock:ro"]
    networks: [engine]
networks:
  engine: { internal: true }
`

// groupLines give a container the group of the socket.
const groupLines = `    group_add: ["999"]
`

// mountLine lets a Dogwatch that runs in a container reach an engine by its socket on the host.
func mountLine(socket, inside string) string { return "      - " + socket + ":" + inside + ":ro\n" }

// defaultSocket is where Docker listens.
const defaultSocket = "/var/run/docker.sock"

// engineName is what a watcher looks at, as its users call it.
func engineName(typ string) any {
	if name, known := map[string]string{"docker": "Docker", "kubernetes": "Kubernetes", "nomad": "Nomad"}[typ]; known {
		return name
	}
	return phrase.New("The engine")
}

// failedGuide says what to do about a watcher that cannot list its containers.
func (s situation) failedGuide(failed service.Component) *Guide {
	g := &Guide{Title: phrase.New("%s cannot be reached", engineName(failed.Type)), Reason: failed.Error}
	if len(s.Watchers) > 1 {
		g.Sentence = phrase.New("The watcher %s cannot list your containers.", failed.Label())
	}
	path, _ := failed.Configuration["socket"].(string)
	if failed.Type == "docker" && (path == "" || strings.HasPrefix(path, "/")) {
		g.addSocket(cmp.Or(path, defaultSocket))
	} else {
		g.Steps = []guideStep{{Text: phrase.New("See how the watcher is set up:"), Path: "/watchers", Label: phrase.New("Watchers")}}
	}
	return g
}

// addSocket adds what to do where a socket cannot be used, by why it cannot, and what there is in its place.
func (g *Guide) addSocket(path string) {
	group := guideStep{Text: phrase.New("If access is denied, run `%s` on the host, and put the number it prints in place of 999. "+
		"Add the line to Dogwatch's service in compose.yaml, then run `docker compose up -d`:", "stat -c %g "+path), Lines: groupLines}
	mount := guideStep{Text: phrase.New("If Dogwatch runs in a container, add this line under `volumes:` of its service in compose.yaml, " +
		"then run `docker compose up -d`:"), Lines: mountLine(path, path)}
	runs := guideStep{Text: phrase.New("If Docker may not be running, check on the host:"), Lines: "docker info\n"}
	switch {
	case strings.Contains(g.Reason, "permission denied"):
		g.Steps = []guideStep{group}
	case g.Reason == "":
		g.Steps = []guideStep{mount, runs, group}
	default:
		g.Steps = []guideStep{mount, runs}
	}
	g.Then = phrase.New("Then press Check all on Overview or Containers.")
	g.Others = []guideStep{
		{Text: phrase.New("Safer than the socket: leave it out, and put a proxy in between that can only read:"), Lines: proxyLines},
		{
			Text:  phrase.New("If the socket is elsewhere (rootless Docker, Podman), mount it from there:"),
			Lines: mountLine("/run/user/1000/docker.sock", path),
		},
		{
			Text:  phrase.New("To look around with simulated containers on port 3001, without Docker's socket:"),
			Lines: "docker run --rm -p 3001:3000 " + config.Image + " demo\n",
		},
	}
}

func (s situation) emptyGuide() *Guide {
	first := s.Watchers[0]
	g := &Guide{
		Title:    phrase.New("No containers"),
		Sentence: phrase.New("%s answers, but no container is running.", engineName(first.Type)),
		Steps: []guideStep{{
			Text: phrase.New("Start any container. It appears here within seconds:"), Lines: "docker run -d --name web nginx:1.25\n",
		}},
	}
	if labelled, set := first.Configuration["watchbydefault"].(bool); set && !labelled {
		g.Sentence = phrase.New("%s answers, but no running container has the label dogwatch.watch.", engineName(first.Type))
		g.Steps = []guideStep{{
			Text: phrase.New("Add this label to the containers to watch:"), Lines: "labels:\n  dogwatch.watch: \"true\"\n",
		}}
	}
	if first.Type != "docker" {
		g.Steps = nil
	} else {
		g.Others = []guideStep{{
			Text:  phrase.New("To watch stopped containers too, set this environment variable and run `docker compose up -d`:"),
			Lines: config.ShortEnvName("watcher."+first.ID+".watchall") + "=true\n",
		}}
	}
	g.Others = append(g.Others, guideStep{
		Text: phrase.New("To see the settings and the last check of each watcher:"), Path: "/watchers", Label: phrase.New("Watchers"),
	})
	return g
}

// FirstTrigger shows the shortest trigger that works.
func FirstTrigger() *Guide {
	return &Guide{
		Title: phrase.New("No notifications configured"), Sentence: phrase.New("Updates show on these pages only."),
		Steps: []guideStep{
			{
				Text: phrase.New("The quickest way is ntfy, a free push service. Install its app and subscribe to a topic that nobody can guess, " +
					"as whoever knows it can read your messages. Then set the same topic for Dogwatch, as an environment variable:"),
				Lines: "DOGWATCH_TRIGGER_NTFY_MAIN_TOPIC=updates-CHANGE-ME\n",
			},
			{
				Text: phrase.New("Run `docker compose up -d` (without Compose: restart Dogwatch). The trigger is then listed under Triggers, with a Test button."),
			},
		},
		Others: []guideStep{
			{
				Text: phrase.New("Choose another service (e-mail, Discord, Telegram, …):"),
				Path: "/plugins#types-trigger", Label: phrase.New("All types of triggers"),
			},
			{
				Text:  phrase.New("Or in your configuration file:"),
				Lines: "trigger:\n  ntfy:\n    main:\n      topic: updates-CHANGE-ME\n",
			},
		},
	}
}

// AllowUpdates returns the environment variable that lets a watcher update; "" where one may already.
func (h *Handler) AllowUpdates(actor auth.Actor) string {
	id := "docker.local"
	for i, w := range h.service.Components(actor, kind.Watcher) {
		if w.Updates {
			return ""
		}
		if i == 0 {
			id = w.ID
		}
	}
	return config.ShortEnvName("watcher."+id+".update") + "=true\n"
}

// Guide returns what the user should do next, or nil.
func (h *Handler) Guide(ctx context.Context, actor auth.Actor) (*Guide, error) {
	last, err := h.lastEnds(ctx, actor)
	if err != nil {
		return nil, err
	}
	s := situation{
		Watchers: h.service.Components(actor, kind.Watcher), Checked: map[string]bool{},
		Containers: len(h.service.Containers().All()),
		Triggers:   len(h.service.Components(actor, kind.Trigger)), Demo: h.service.About().Demo,
	}
	for name, e := range last {
		s.Checked[name] = true
		for i, c := range s.Watchers {
			// A watcher is ready once it is configured; only a check reaches its engine.
			if c.Name == name && e.Check.Error != "" && c.State == component.Ready {
				s.Watchers[i].State, s.Watchers[i].Error = component.Failed, e.Check.Error
			}
		}
	}
	return newGuide(s), nil
}
