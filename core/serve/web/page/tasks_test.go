package page

import (
	"context"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

func TestTasks(t *testing.T) {
	now := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	changed := make(chan struct{}, 1000)
	w := newTasks(func() time.Time { return now }, func() { changed <- struct{}{} })
	proceed, stepped := make(chan struct{}), make(chan struct{})
	if !w.Start(Task{Title: phrase.New("Checking"), Steps: 2}, func(_ context.Context, step func()) (phrase.Phrase, bool) {
		step()
		close(stepped)
		<-proceed
		return phrase.New("Done."), false
	}) {
		t.Fatal("it does not start")
	}
	<-stepped
	if v := w.view(); !v.Running || v.Tasks[0].Done != 1 {
		t.Errorf("while it runs: %+v", v)
	}
	w.Dismiss(1)
	if v := w.view(); len(v.Tasks) != 1 {
		t.Error("running work was dismissed")
	}
	close(proceed)
	w.wait.Wait()
	if v := w.view(); v.Running || v.Tasks[0].Sentence.String() != "Done." {
		t.Errorf("afterwards: %+v", v)
	}
	if len(changed) != 4 { // that it began, went on, was not dismissed, and ended
		t.Errorf("pages are changed %d times", len(changed))
	}
	now = now.Add(shownFor + time.Second)
	if v := w.view(); len(v.Tasks) != 0 {
		t.Errorf("much later: %+v", v)
	}
	for range maxTasks {
		w.Start(Task{Title: phrase.New("Waiting"), Steps: 1}, func(ctx context.Context, _ func()) (phrase.Phrase, bool) {
			<-ctx.Done()
			return phrase.New("Ended."), true
		})
	}
	if w.Start(Task{Title: phrase.New("Too much")}, nil) {
		t.Error("there is no bound")
	}
	w.close()
	if w.Start(Task{Title: phrase.New("Too late")}, nil) {
		t.Error("it starts after the end")
	}
}
