package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/watch/webhook"
	"github.com/dogwatch/dogwatch/sdk/option"
)

func newWebhook(g *global) *cobra.Command {
	return newGroup("webhook", "Try the webhooks that registries and CI call",
		`Webhooks are addresses of the Dogwatch that is serving. Registries and CI call them when
an image was pushed, and the containers that run it are checked at once.`,
		`  # does a push to this repository lead to a check?
  dogwatch webhook test ghcr --image ghcr.io/owner/name --format ghcr

  # from a script of one's own
  dogwatch webhook test ci --image nginx`,
		newWebhookTest(g))
}

func newWebhookTest(g *global) *cobra.Command {
	var format, image string
	cmd := &cobra.Command{
		Use:   "test NAME --image IMAGE",
		Short: "Send a webhook what its sender sends when an image was pushed",
		Long: `Sends the Dogwatch that is serving what a registry or CI sends when an image was pushed,
with the secret of the webhook as the configuration has it, and prints what became of it.
The containers of that image are checked, as after a real push.

Exit code 0: it was accepted, and containers are checked. 1: it was not, or no container
runs the image.`,
		Example: `  # does a push to this repository lead to a check?
  dogwatch webhook test ghcr --image ghcr.io/owner/name --format ghcr

  # from a script of one's own
  dogwatch webhook test ci --image nginx`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.webhookTest(cmd.Context(), args[0], format, image)
		},
	}
	cmd.Flags().StringVar(&format, "format", "plain", "the sender: "+strings.Join(webhook.Formats(), ", "))
	cmd.Flags().StringVar(&image, "image", "", "the image that was pushed, such as ghcr.io/owner/name")
	_ = cmd.MarkFlagRequired("image")
	_ = cmd.RegisterFlagCompletionFunc("format",
		cobra.FixedCompletions(webhook.Formats(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (g *global) webhookTest(ctx context.Context, name, format, image string) error {
	cfg, err := g.load(nil)
	if err != nil {
		return err
	}
	hook, err := hookNamed(cfg.Webhooks.Hooks(), name)
	if err != nil {
		return err
	}
	header, body, err := webhook.Sample(format, image, hook.Secret)
	if err != nil {
		return err
	}
	c, err := newClient(cfg.Server)
	if err != nil {
		return err
	}
	c.token, c.header = "", header // the secret of the webhook is what counts
	var receipt webhook.Receipt
	if err := c.exchange(ctx, http.MethodPost, "/api/webhooks/"+url.PathEscape(hook.Name), body, &receipt); err != nil {
		return err
	}
	fmt.Fprintf(g.stdout, "%s: %s\n", printable(strings.Join(receipt.Images, ", ")), receipt.State)
	for _, container := range receipt.Containers {
		fmt.Fprintf(g.stdout, "  %s\n", printable(container))
	}
	if receipt.State != webhook.Waiting && receipt.State != webhook.Checked {
		return fmt.Errorf("nothing is checked: %s", receipt.Reason)
	}
	return nil
}

// hookNamed returns the webhook of a name.
func hookNamed(all []config.Hook, name string) (config.Hook, error) {
	i := slices.IndexFunc(all, func(h config.Hook) bool { return strings.EqualFold(h.Name, name) })
	if i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, h := range all {
		names = append(names, h.Name)
	}
	if len(names) == 0 {
		return config.Hook{}, fmt.Errorf("no webhook is configured: set webhooks.secrets, for example to %s=SECRET", name)
	}
	if near := option.Suggest(name, names); near != "" {
		return config.Hook{}, fmt.Errorf("there is no webhook %q; did you mean %s?", name, near)
	}
	return config.Hook{}, fmt.Errorf("there is no webhook %q; there are %s", name, strings.Join(names, ", "))
}
