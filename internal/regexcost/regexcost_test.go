package regexcost

import (
	"regexp/syntax"
	"strings"
	"testing"
)

// The estimate is near to the number of instructions, and never far below it.
func TestInstructionsAreNearTheProgram(t *testing.T) {
	for _, expression := range []string{
		``, `a`, `^\d+$`, `^v?\d+\.\d+\.\d+-alpine$`, `(?i)alpha|beta|rc`, `^(\d+)\.(\d+)$`, `[a-f0-9]{7,40}`,
		`(?:ab?){2,}`, `(a{3}b{2,5}){10}`,
		`(?:` + strings.Repeat(`.?`, 20) + `){0,50}!`, `^[\w.-]{1,128}$`, `x*y+?z??`,
	} {
		tree, err := syntax.Parse(expression, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		estimate := Instructions(tree)
		program, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(program.Inst); n > 2*estimate+10 || estimate > 4*n+10 {
			t.Errorf("%.40s: estimated %d, is %d", expression, estimate, n)
		}
	}
}

// An expression that would take a hundred megabytes is estimated without making it.
func TestInstructionsDoNotWriteOut(t *testing.T) {
	tree, err := syntax.Parse(`(?:`+strings.Repeat(`.?`, 490)+`){0,1000}!`, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1, func() {
		if size := Instructions(tree); size < 490_000 {
			t.Errorf("only %d", size)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
