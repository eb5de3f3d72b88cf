package guide

import (
	"context"
	"slices"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Guide says what to do next, to a user who has not got everything running yet.
type Guide struct {
	Title    phrase.Phrase
	Sentence phrase.Phrase
	// Reason is the error that stands in the way, if one does.
	Reason string
	Steps  []guideStep
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
		return engineGuide(phrase.New("Nothing to watch yet"), phrase.New("No watcher is configured."), "")
	case s.Containers == 0 && failed >= 0:
		return engineGuide(phrase.New("The engine cannot be reached"), phrase.New(
			"Dogwatch cannot list your containers: the watcher %s does not reach its engine.", s.Watchers[failed].ID), s.Watchers[failed].Error)
	case s.Containers == 0 && unchecked >= 0:
		return &Guide{
			Title:    phrase.New("Looking for containers"),
			Sentence: phrase.New("The first check is under way. It takes a few seconds; this page is complete when you load it again."),
		}
	case s.Containers == 0:
		return emptyGuide()
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
			{Text: phrase.New("To watch your own containers, save this as compose.yaml and run docker compose up -d:"), Lines: composeLines},
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

const groupLines = `services:
  dogwatch:
    group_add: ["999"] # as stat -c %g /var/run/docker.sock prints
`

// socketLines let a Dogwatch that runs in a container reach the engine.
const socketLines = `services:
  dogwatch:
    volumes:
      - /var/run/docker.sock:/var/run/docker.sock:ro
`

func engineGuide(title, sentence phrase.Phrase, reason string) *Guide {
	return &Guide{
		Title: title, Sentence: sentence, Reason: reason,
		Steps: []guideStep{
			{Text: phrase.New("See whether Docker runs on this machine:"), Lines: "docker info\n"},
			{Text: phrase.New("If Dogwatch runs in a container, mount Docker's socket into it: add this to its compose file, and run docker compose up -d:"), Lines: socketLines},
			{Text: phrase.New("If access is denied, give Dogwatch the group of the socket. 999 is an example: use the number that stat prints:"), Lines: groupLines},
		},
		Others: []guideStep{
			{Text: phrase.New("Safer than the socket: leave it out, and put a proxy in between that can only read:"), Lines: proxyLines},
			{Text: phrase.New("If the socket is elsewhere (rootless Docker, Podman), name it:"), Lines: "DOGWATCH_WATCHER_LOCAL_SOCKET=/run/user/1000/docker.sock\n"},
			{Text: phrase.New("Look around with simulated containers first:"), Lines: "dogwatch demo\n"},
		},
	}
}

func emptyGuide() *Guide {
	return &Guide{
		Title: phrase.New("No containers"), Sentence: phrase.New("The engine answers, but there is no running container to watch."),
		Steps: []guideStep{
			{
				Text:  phrase.New("Any container that runs is found within seconds. For example:"),
				Lines: "docker run -d --name web nginx:1.25\n",
			},
			{
				Text: phrase.New("Are only labelled containers watched (watchbydefault is false)? Then add this label to those you mean:"), Lines: "labels:\n  dogwatch.watch: \"true\"\n",
			},
			{Text: phrase.New("To watch stopped containers too, add this to Dogwatch's environment and restart it:"), Lines: "DOGWATCH_WATCHER_LOCAL_WATCHALL=true\n"},
			{Text: phrase.New("How the watchers are set up, and what their last check said:"), Path: "/watchers", Label: phrase.New("Watchers")},
		},
	}
}

// FirstTrigger shows the shortest trigger that works.
func FirstTrigger() *Guide {
	return &Guide{
		Title: phrase.New("No notifications configured"), Sentence: phrase.New("Updates show on these pages only: no trigger is configured."),
		Steps: []guideStep{
			{
				Text:  phrase.New("The quickest way is ntfy, a free push service. Choose a topic that nobody guesses: whoever knows it can read your messages. In the environment of Dogwatch:"),
				Lines: "DOGWATCH_TRIGGER_NTFY_MAIN_TOPIC=updates-CHANGE-ME\n",
			},
			{
				Text:  phrase.New("Or in its configuration file:"),
				Lines: "trigger:\n  ntfy:\n    main:\n      topic: updates-CHANGE-ME\n",
			},
			{Text: phrase.New("Restart Dogwatch. The trigger is then listed here, with a button to test it:"), Path: "/triggers", Label: phrase.New("Triggers")},
			{Text: phrase.New("For e-mail, Discord, Telegram and others, see:"), Path: "/plugins", Label: phrase.New("Plugins")},
		},
	}
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
