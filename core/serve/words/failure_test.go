package words

import "testing"

func TestBrief(t *testing.T) {
	for failure, want := range map[string]string{
		`registry.custom.attic: list tags of old/archive at localhost:36963: 503 service unavailable: the disk is full`: `localhost:36963: 503 service unavailable: the disk is full`,
		`label dogwatch.tag.include: tag include pattern "^(2\.\d+": '(' at character 2 has no partner`:                 `label dogwatch.tag.include: '(' at character 2 has no partner`,
		`label wud.tag.exclude: tag exclude pattern "a\"b(": '(' at character 4 has no partner`:                         `label wud.tag.exclude: '(' at character 4 has no partner`,
		`registry.hub.public: unauthorized`:                            `registry.hub.public: unauthorized`,
		`label dogwatch.watch: "yes please" is neither true nor false`: `label dogwatch.watch: "yes please" is neither true nor false`,
		`no registry is configured for localhost:5000`:                 `no registry is configured for localhost:5000`,
		`the plugin said: registry.a.b: x at y: z`:                     `the plugin said: registry.a.b: x at y: z`,
		"": "",
	} {
		if got := Brief(failure); got != want {
			t.Errorf("%q\n is %q,\nwant %q", failure, got, want)
		}
	}
}
