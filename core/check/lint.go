package check

// Lint reads the labels of a container as a check does, those of other tools
// only if foreign is set. wrong are mistakes that change how the container is
// checked, odd are labels without effect; each names its label.
func Lint(labels map[string]string, foreign bool) (wrong, odd []string) {
	p := policyOf(labels, true, foreign)
	return append(p.fatal, p.wrong...), append(p.warnings, p.notes...)
}
