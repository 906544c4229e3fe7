package console

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// judged is what the form of an action with a check has loaded.
type judged interface {
	// Sound reports whether what was sent can be done as it is.
	Sound() bool
}

// check shows the form again, with what was sent as it will be understood. If that is
// sound, sending the same once more does it.
func (c *Console) check(w http.ResponseWriter, v *visit, a *action) {
	data, err := a.load(v)
	if err != nil {
		c.notDone(w, v, a, err)
		return
	}
	form := &actForm{action: a, Data: data}
	status := http.StatusBadRequest
	if found, is := data.(judged); is && found.Sound() {
		form.Checked, status = v.mark(), http.StatusOK
	}
	c.renderForm(w, status, v, form)
}

// checked reports whether exactly what was sent has been checked before.
func (v *visit) checked() bool { return v.posted.Get("checked") == v.mark() }

// mark stands for what was typed into a form: another one, for anything else.
func (v *visit) mark() string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(v.posted)) {
		if name != "checked" && name != "next" && !strings.HasPrefix(name, wasPrefix) {
			fmt.Fprintf(sum, "%q %d\n", name, len(v.posted[name]))
			for _, value := range v.posted[name] {
				fmt.Fprintf(sum, "%d\n", len(value))
				addTo(sum, value)
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// addTo writes a value that may be large, without a copy of the whole.
func addTo(sum hash.Hash, value string) {
	for chunk := make([]byte, 0, 4<<10); value != ""; {
		n := min(len(value), cap(chunk))
		_, _ = sum.Write(append(chunk, value[:n]...)) // a hash takes everything
		value = value[n:]
	}
}
