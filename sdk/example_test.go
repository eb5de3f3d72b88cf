package sdk_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

type Options struct {
	URL   *url.URL `option:"url,required" help:"Address of the chat's web hook"`
	Token string   `option:"token,secret" help:"Token of the chat"`
	httpclient.Options
}

// Chat is the trigger of the package documentation.
type Chat struct {
	client *httpclient.Client
	o      Options
}

func Type() trigger.Type { return trigger.Define("chat", "Write to a chat", New) }

func New(env sdk.Env, o Options) (*Chat, error) {
	if o.URL.Path == "" {
		return nil, sdk.Invalid("url", "want the whole address of the hook, with its path")
	}
	client, err := httpclient.New(env, o.Options, o.Token, o.URL.Path)
	if err != nil {
		return nil, err
	}
	return &Chat{client, o}, nil
}

func (c *Chat) Run(ctx context.Context, req trigger.Request) error {
	header := http.Header{"Authorization": {"Bearer " + c.o.Token}}
	message := map[string]string{"text": req.Title + "\n" + req.Body}
	return c.client.JSON(ctx, http.MethodPost, c.o.URL.String(), header, message, nil)
}

func main() {
	plugin.Serve(plugin.Bundle{Version: "1.0.0", Triggers: []trigger.Type{Type()}})
}

func TestConformance(t *testing.T) {
	options := func(url string) map[string]any {
		return map[string]any{"url": url + "/hook", "token": "recognisable"}
	}
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(t *testing.T) map[string]any { return options(plugintest.Responding(t, 200)) },
		Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
		Failing: triggertest.HTTPFailures(options),
	})
}

// A whole plugin: its options, its type, and what it does. The function main
// is all that its executable needs.
func Example() {
	for _, o := range Type().Options[:2] {
		fmt.Printf("trigger.chat.main.%s (%s): %s\n", o.Name, o.Type, o.Help)
	}
	_ = main
	// Output:
	// trigger.chat.main.url (url): Address of the chat's web hook
	// trigger.chat.main.token (string): Token of the chat
}

// The code in the package documentation is the code of this file.
func TestPackageDocumentationMatchesExample(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	blocks := codeBlocks(file.Doc)
	if len(blocks) < 5 {
		t.Errorf("the documentation has %d blocks of code", len(blocks))
	}
	for _, block := range blocks {
		if !strings.Contains(string(source), block) {
			t.Errorf("the documentation shows what does not stand here:\n%s", block)
		}
	}
}

// codeBlocks returns the declarations that are indented in a comment.
func codeBlocks(doc *ast.CommentGroup) []string {
	var blocks []string
	open := false
	for _, line := range doc.List {
		text, code := strings.CutPrefix(line.Text, "//\t")
		switch {
		case code && open:
			blocks[len(blocks)-1] += "\n" + text
		case code:
			blocks = append(blocks, text)
		}
		open = code
	}
	return blocks
}
