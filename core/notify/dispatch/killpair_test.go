package dispatch

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

var killPairs = flag.Int("killpairs", 100, "how many pairs of kills to play, of the host and of its plugin")

// callTime is how long a call of a trigger lasts after its message has arrived, restartTime how long its
// plugin takes to start again.
const (
	callTime    = 200 * time.Millisecond
	restartTime = 100 * time.Millisecond
)

// exiting is the other side of triggers whose plugin exits.
type exiting struct {
	mu      sync.Mutex
	process *killable
	exits   time.Time
	kill    bool // the host is killed once a message has arrived
	copies  map[string]int
}

func (e *exiting) in(process *killable) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.process = process
}

func (e *exiting) reply(id string) func(context.Context, int, trigger.Request) error {
	return func(_ context.Context, _ int, req trigger.Request) error {
		e.mu.Lock()
		process, exits, kill := e.process, e.exits, e.kill
		e.mu.Unlock()
		now := time.Now()
		if !exits.IsZero() && !now.Before(exits) && now.Before(exits.Add(restartTime)) {
			time.Sleep(exits.Add(restartTime).Sub(now)) // the plugin starts again
			now = time.Now()
		}
		if process.killed.Load() {
			return errKilled
		}
		e.mu.Lock()
		e.copies[id+" "+offer(req.Containers[0])]++
		e.mu.Unlock()
		if kill {
			time.Sleep(callTime) // while the message of the other trigger is under way, too
			process.kill()
			return nil
		}
		if exits.After(now) && exits.Before(now.Add(callTime)) {
			time.Sleep(exits.Sub(now))
			return errExited
		}
		time.Sleep(callTime)
		return nil
	}
}

// TestKillPairRepeatsOneMessage kills the host while a message is under way and, soon after its start, the plugin, too,
// while another update is found. For such a pair, each trigger repeats one message at most, and once.
func TestKillPairRepeatsOneMessage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		e := &exiting{copies: map[string]int{}}
		web, toWeb := simple(t, "http.web")
		mail, toMail := simple(t, "smtp.mail")
		toWeb.reply, toMail.reply = e.reply("http"), e.reply("smtp")
		b := open(t, web, mail)
		b.stop()
		boot := func() {
			b.start(func(s Store) Store {
				process := killedAfter(1<<40, s)
				process.lossy = true
				e.in(process)
				return process
			})
		}
		boot()
		for pair := range *killPairs {
			found := func(what string) []sdk.Container {
				return []sdk.Container{withUpdate(fmt.Sprint(what, pair), "1.0.0", "1.1.0", sdk.DiffMinor)}
			}
			clear(e.copies)
			e.kill, e.exits = true, time.Time{}
			b.checked(found("first"))
			settle(time.Second)
			b.stop()
			e.kill, e.exits = false, time.Now().Add(time.Duration(r.IntN(1400))*time.Millisecond)
			boot()
			settle(time.Duration(r.IntN(1000)) * time.Millisecond)
			b.checked(found("second"))
			settle(time.Minute)
			for _, id := range []string{"http", "smtp"} {
				first, second := e.copies[id+" "+offer(found("first")[0])], e.copies[id+" "+offer(found("second")[0])]
				if copies := []int{first, second}; slices.Contains(copies, 0) || first+second > 3 {
					t.Errorf("pair %d: %s sent the messages %v times", pair, id, copies)
				}
			}
		}
		b.stop()
	})
}
