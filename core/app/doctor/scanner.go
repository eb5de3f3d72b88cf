package doctor

import (
	"context"
	"os/exec"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
)

// scanner looks for the program that scans images and, where it is known, has it say its
// version. No image is scanned.
func (e *examination) scanner(ctx context.Context) []Finding {
	if !e.Config.Scan.Enabled() {
		return nil
	}
	const subject = "scanner"
	command := e.Config.Scan.Command
	path, err := exec.LookPath(command[0])
	if err != nil {
		return one(subject, Fail, "there is no program "+command[0]+" here",
			"install it where Dogwatch runs, in its container if it runs in one, or give its path in scan.command")
	}
	if command[0] != config.Trivy && command[0] != config.Grype {
		return one(subject, OK, path+" is there; dogwatch scan tries it", "")
	}
	output, err := exec.CommandContext(ctx, path, "version").Output()
	if err != nil {
		return one(subject, Fail, path+" version: "+err.Error(), "run it by hand where Dogwatch runs")
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	return one(subject, OK, path+": "+line, "")
}
