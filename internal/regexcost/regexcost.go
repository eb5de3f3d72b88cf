// Package regexcost estimates what Go's regexp engine makes of an expression, before it does.
//
// Go matches in linear time, but writes repetitions out: (?:.?.?){0,1000} becomes 2,000
// instructions, and a kilobyte of an expression a hundred megabytes of program. Expressions
// come from container labels, so the publisher of an image may write them.
package regexcost

import "regexp/syntax"

// runesPerInstruction is how many bounds of a character class take the memory of an instruction.
const runesPerInstruction = 8

// Instructions returns about how many instructions the program of a parsed expression has.
// It does not compile, nor write anything out. The parser bounds nested repetitions, so
// that the result cannot overflow.
func Instructions(re *syntax.Regexp) int {
	size := 1
	switch re.Op {
	case syntax.OpLiteral:
		size = len(re.Rune)
	case syntax.OpCharClass:
		size += len(re.Rune) / runesPerInstruction
	}
	for _, sub := range re.Sub {
		size += Instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(1, re.Min, re.Max)
	}
	return size
}
