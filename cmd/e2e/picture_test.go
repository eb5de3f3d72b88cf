package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// The picture of the README: twelve rows and a half of them, twice as sharp, and how large a file may be.
const (
	pictureWidth, pictureHeight = 1280, 767
	pictureBytes                = 200_000
)

// TestPictureOfTheReadme: the picture shows what the demo says, in both themes. What it said was kept when the picture
// was made, but for most of the rows, which differ from moment to moment. -update makes it anew.
func TestPictureOfTheReadme(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	b := openTab(t, startDemo(t))
	b.do(chromedp.EmulateViewport(pictureWidth, pictureHeight, chromedp.EmulateScale(2)))
	b.open("/containers")
	b.says("2 failed") // once all were checked
	readme, err := os.ReadFile("../../README.md")
	must(t, err)
	quality := int64(60)
	for _, theme := range []string{"light", "dark"} {
		b.prefers("prefers-color-scheme", theme)
		b.open("/containers") // so that no row shows that it has just changed
		b.settle()
		made, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
			Format: page.CaptureScreenshotFormatWebp, Quality: &quality,
		})
		must(t, err)
		name := "docs/images/containers-" + theme + ".webp"
		path := filepath.Join("..", "..", name)
		if *update {
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must(t, os.WriteFile(path, made.Data, 0o644))
		}
		kept, err := os.ReadFile(path)
		must(t, err)
		t.Logf("%s has %d bytes, and would have %d", name, len(kept), len(made.Data))
		if len(kept) > pictureBytes || len(made.Data) > pictureBytes {
			t.Errorf("%s has %d bytes, and would have %d", name, len(kept), len(made.Data))
		}
		if !strings.Contains(string(readme), `="`+name+`"`) {
			t.Errorf("the README does not show %s", name)
		}
	}
	said := js[string](b, `[
		...[...document.querySelectorAll('h1, h2 > span:first-child, header nav a, .version, .row .name')]
			.filter(e => e.checkVisibility()),
		...[...document.querySelectorAll('.row')].filter(r => /passwords|wiki/.test(r.querySelector('.name').textContent)),
	].map(e => e.innerText.replace(/\s+/g, ' ').trim()).sort().join('\n')`)
	golden(t, "picture.txt", said+"\n")
}

// startDemo runs the demo and returns its address.
func startDemo(t *testing.T) string {
	t.Helper()
	path, err := built()
	must(t, err)
	dir := shortDir(t)
	cmd := exec.Command(path, "demo")
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "DOGWATCH_SERVER_HOST=127.0.0.1", "DOGWATCH_SERVER_PORT=0"}
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address := regexp.MustCompile(`http://[a-z0-9.]+:\d+`)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if at := address.FindString(lines.Text()); at != "" {
			return at
		}
	}
	t.Fatalf("the demo does not say where it is: %v", lines.Err())
	return ""
}
