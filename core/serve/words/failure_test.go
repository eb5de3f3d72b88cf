package words

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/internal/contained"
)

func TestBrief(t *testing.T) {
	for failure, want := range map[string]string{
		`registry.custom.attic: list tags of old/archive at localhost:36963: 503 service unavailable: the disk is full`: `localhost:36963: 503 service unavailable: the disk is full`,
		`label dogwatch.tag.include: tag include pattern "^(2\.\d+": '(' at character 2 has no matching bracket`:        `label dogwatch.tag.include: ^(2\.\d+ has an unmatched bracket`,
		`label wud.tag.exclude: tag exclude pattern "a\"b(": '(' at character 4 has no matching bracket`:                `label wud.tag.exclude: a\"b( has an unmatched bracket`,
		`registry.hub.public: unauthorized`:                            `registry.hub.public: unauthorized`,
		`label dogwatch.watch: "yes please" is neither true nor false`: `label dogwatch.watch: "yes please" is neither true nor false`,
		`label wud.tag.include: tag include pattern "a)": ')' at character 2 has no matching bracket, so add one or write \) for the character itself`: `label wud.tag.include: a) has an unmatched bracket`,
		`label wud.tag.include: tag include pattern "a{": no`: `label wud.tag.include: "a{": no`,
		`no registry is configured for localhost:5000`:        `no registry is configured for localhost:5000`,
		`the plugin said: registry.a.b: x at y: z`:            `the plugin said: registry.a.b: x at y: z`,
		"": "",
	} {
		if got := Brief(failure); got != want {
			t.Errorf("%q\n is %q,\nwant %q", failure, got, want)
		}
	}
}

func TestFailureInGerman(t *testing.T) {
	german := language.New().Named("de")
	for text, want := range map[string]string{
		"registry.custom.attic: list tags of old/archive at localhost:5000: 503 service unavailable: the disk is full": "registry.custom.attic: " +
			"Tags von old/archive auflisten, bei localhost:5000: 503 service unavailable: the disk is full",
		`label dogwatch.tag.include: '(' at character 2 has no matching bracket, so add one or write \( for the character itself`: "Label dogwatch.tag.include: " +
			`zu '(' an Stelle 2 fehlt die schließende Klammer. Ergänzen Sie sie, oder schreiben Sie \( für das Zeichen selbst`,
		`label dogwatch.tag.include: tag include pattern "[": no`: `Label dogwatch.tag.include: Tag-Muster (include) "[": no`,
		"what others say": "what others say",
	} {
		said := Failure(text)
		if got := german.Say(said); got != want || said.String() != text {
			t.Errorf("%q, want %q; %q in English", got, want, said)
		}
	}
}

func TestAnswer(t *testing.T) {
	for failure, want := range map[string]string{
		"registry.hub.public: list tags of a/b at docker.io: 503 service unavailable": "503 service unavailable",
		"another error: of a plugin": "another error: of a plugin",
	} {
		if got := Answer(failure); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFailureOf(t *testing.T) {
	const refused = "dial tcp 127.0.0.1:5000: connect: connection refused"
	for err, want := range map[string]string{
		"registry.custom.a: list tags of b at host: 503 service unavailable: the disk is full":                      "host is unavailable (the disk is full)",
		"registry.custom.a: list tags of b at host: 503 service unavailable":                                        "host is unavailable (503 service unavailable)",
		"registry.custom.a: list tags of b at host: timeout":                                                        "host is unavailable (timeout)",
		"registry.custom.a: list tags of b at host: GET https://host:5000/v2/: dial tcp: lookup host: no such host": "host is unavailable (lookup host: no such host)",
		"registry.custom.a: list tags of b at host: GET http://127.0.0.1:5000: " + refused + "; " + contained.Explain(refused): "host is unavailable (connection refused). 127.0.0.1 means " +
			"Dogwatch's own container: use the other container's name, or host.docker.internal for the host (it may need extra_hosts: host.docker.internal:host-gateway).",
	} {
		if got := FailureOf("host is unavailable", err).String(); got != want {
			t.Errorf("%q is %q, want %q", err, got, want)
		}
	}
}
