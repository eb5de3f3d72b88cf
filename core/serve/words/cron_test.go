package words

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

func TestCron(t *testing.T) {
	for expression, want := range map[string]string{
		"0 * * * *": "every hour", "* * * * *": "every minute", "*/5 * * * *": "every 5 minutes", "5 * * * *": "every hour at :05",
		"0 */6 * * *": "every 6 hours", "30 */2 * * *": "every 2 hours at :30", "*/15 * * * * *": "every 15 seconds",
		"0 0 4 * * *": "every day at 04:00", "30 18,6 * * 1-5": "Monday to Friday at 06:30 and 18:30",
		"0 3 * * sun": "every Sunday at 03:00", "0 3 * * SAT,0": "every Saturday and Sunday at 03:00",
		"15 2 1,15 * *": "on day 1 and 15 of every month at 02:15", "@daily": "every day at 00:00", "@every 90m": "every 90m",
		"0 3 ? * *": "every day at 03:00",
		// Steps that are not as long as each other, days of both kinds, and what is no expression.
		"*/7 * * * *": "", "0 */5 * * *": "", "0 3 1 * 1": "", "0 9-17 * * *": "", "0 3 * 1 *": "", "5 0 3 * * *": "",
		"0,30 * * * *": "", "0 3 * * 8": "", "0 3 0 * *": "", "60 3 * * *": "", "nonsense": "", "": "", "a b c d e": "",
		"0 3 * * mon-": "", "*/0 * * * *": "", "*/60 * * * *": "",
	} {
		if got := phrase.English(Cron(expression)); got != want {
			t.Errorf("%q is %q, want %q", expression, got, want)
		}
	}
}
