package migrate

import "strings"

// Environ returns an environment, as os.Environ returns it, with the variables
// of other tools as ours, and what became of each that is no variable of What's
// Up Docker: those, config.Load reads as they are.
func (r Rewriter) Environ(environ []string) ([]string, []Finding) {
	var s scope
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		s.variables = append(s.variables, variable{name: name, value: value})
	}
	var result []string
	var findings []Finding
	for i, c := range r.decide(s) {
		name := s.variables[i].name
		_, wud := cutFold(name, "WUD_")
		if !c.mine || wud {
			result = append(result, environ[i])
			continue
		}
		findings = append(findings, Finding{Name: name, To: c.name, Note: c.note})
		if c.name != "" {
			result = append(result, c.name+"="+c.value)
		}
	}
	return result, findings
}
