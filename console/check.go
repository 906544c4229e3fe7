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

// judged is implemented by the form data of an action with a check.
type judged interface {
	// Sound reports whether the input is valid.
	Sound() bool
}

// check shows the form again, with the input as the API understands it. If the input is
// valid, submitting it again carries out the action.
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

// checked reports whether exactly this input was checked before.
func (v *visit) checked() bool { return v.posted.Get("checked") == v.mark() }

// mark returns a hash of the input of a form.
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

// addTo adds a value, which may be large, without copying the whole of it.
func addTo(sum hash.Hash, value string) {
	for chunk := make([]byte, 0, 4<<10); value != ""; {
		n := min(len(value), cap(chunk))
		_, _ = sum.Write(append(chunk, value[:n]...)) // writing to a hash cannot fail
		value = value[n:]
	}
}
