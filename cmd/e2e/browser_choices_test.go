package e2e

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// decideOnPages skips and snoozes updates in the sheet, by keyboard, for a selection and without
// script, and undoes that.
func decideOnPages(t *testing.T, b *tab) {
	first, held := ".row[data-key='local/c0000'] ",
		"document.querySelector(\".row[data-key='local/c0000'] .age\").textContent"
	b.open("/containers")
	b.click(first + ".name")
	b.click("#sheet .menu summary")
	b.until("document.querySelector('#sheet [value=skip]').checkVisibility()")
	b.shot("not-now")
	b.escape()
	b.until("!document.querySelector('#sheet .menu').open && document.activeElement.matches('.menu summary')")
	b.press("\r")
	b.until("document.querySelector('#sheet .menu').open && !document.getElementById('sheet').hidden")
	b.click("#sheet [value=skip]")
	b.says("Skipped: c0000")
	b.until("document.querySelector('#sheet #decide').textContent.includes('Skipped 2.0.0')")
	b.until(held + ".startsWith('held: skipped')")
	b.shot("skipped")
	b.click("#work [value=undo]")
	b.says("Undone for c0000")
	b.until("!document.querySelector('#decide [value=undo]') && !" + held + ".startsWith('held')")

	// Enter in the field of the date snoozes.
	js[any](b, "document.querySelector('#sheet .menu').open = true")
	js[any](b,
		"document.querySelector('#sheet [name=date]').value = new Date(Date.now() + 9 * 864e5).toISOString().slice(0, 10); document.querySelector('#sheet [name=date]').focus(); undefined")
	b.press("\r")
	b.says("Snoozed: c0000")
	b.until(held + ".startsWith('held for another 8\u00a0d: snoozed')")
	b.click("#decide [value=undo]")
	b.until("!" + held + ".startsWith('held')")

	b.open("/containers")
	js[any](b, "[...document.querySelectorAll('.row input')].slice(0, 3).forEach(e => e.click())")
	b.click("#bulk [value=decide]")
	b.says("Decide about 3 updates")
	b.shot("decide")
	b.click(".chooser input[value='local/c0001']")
	b.click(".chooser [value=snooze]")
	b.says("Snoozed: 2 containers")
	b.until("location.pathname === '/containers'")
	b.open("/containers?state=held")
	if rows := js[int](b, "document.querySelectorAll('.row').length"); rows != 2 {
		t.Errorf("%d rows are held", rows)
	}

	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{
		Value: true,
	})
	must(t, err)
	b.scriptless = true
	b.open("/policies")
	b.click("#choices tbody tr:first-child [value=undo]")
	b.until("document.readyState === 'complete' && document.querySelectorAll('#choices tbody tr').length === 1")
	b.open("/containers/local/c0000")
	b.click(".container .menu summary")
	b.click(".container [value=skip]")
	b.says("Skipped: c0000")
	b.says("Skipped 2.0.0")
	b.click("#decide [value=undo]")
	b.until("document.readyState === 'complete' && document.querySelector('#decide') && !document.querySelector('#decide [value=undo]')")
	_, err = chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	must(t, err)
	b.scriptless = false
}
