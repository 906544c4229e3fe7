package console

import (
	"net/http"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestANodeThatLeftIsNoMatterOfAttentionAndOneThatDiedIs(t *testing.T) {
	r := newRig(t, false, nil)
	for name, lease := range map[string]time.Duration{"leaver": time.Hour, "victim": time.Microsecond} {
		id, err := r.store.Join(t.Context(), fairlead.Node{Name: name, Slots: 1}, lease)
		if err != nil {
			t.Fatal(err)
		}
		if name == "victim" {
			continue
		}
		if err := r.store.Leave(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	overview := r.page(http.StatusOK, "/")
	r.shows(overview, "(victim) has died.")
	r.hides(overview, "(leaver)")
	r.shows(r.page(http.StatusOK, "/nodes"), "leaver", ">left<", "victim", ">dead<")
}
