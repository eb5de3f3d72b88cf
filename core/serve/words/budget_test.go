package words

import (
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/internal/budget"
)

func TestBudget(t *testing.T) {
	german := language.New().Named("de")
	hundred := budget.Allowance{Requests: 100, Per: 6 * time.Hour}
	for want, f := range map[string]budget.Forecast{
		"keine Anfragen in der letzten Stunde; die nächsten Prüfungen brauchen etwa 3 Anfragen; kein Limit gesetzt": {Next: 3},
		"90 von 100 Anfragen in 6\u00a0h verbraucht; die nächsten Prüfungen brauchen etwa 30 Anfragen, " +
			"davon 20 erst später": {Use: budget.Use{Used: 90, Allowance: hundred}, Next: 30},
		"etwa 1 von 100 Anfragen in 6\u00a0h verbraucht (eine für jede Frage, da das Plugin sie nicht zählt); " +
			"die nächsten Prüfungen brauchen etwa 2 Anfragen": {Use: budget.Use{Used: 1, Allowance: hundred, Estimated: true}, Next: 2},
	} {
		said := Budget(f)
		if got := german.Say(said); got != want || said.String() != f.String() {
			t.Errorf("%q, want %q; %q in English", got, want, said)
		}
	}
	f := budget.Forecast{Use: budget.Use{Used: 7}}
	if said := BudgetUsed(f); german.Say(said) != "7 Anfragen in der letzten Stunde" || said.String() != f.Brief() {
		t.Errorf("%s", said)
	}
}
