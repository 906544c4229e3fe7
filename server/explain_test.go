package server_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestASweepThatNoNodeHandlesSaysSo(t *testing.T) {
	a, _ := newCountingAPI(t)
	const body = `{"name":%q,"kind":%q,"to":10}`
	fine, _ := a.send(200, "POST", "/api/v1/sweeps", fmt.Sprintf(body, "fine", "count"))
	if fine["warning"] != nil {
		t.Errorf("a kind that is handled: %v", fine["warning"])
	}
	made, _ := a.send(200, "POST", "/api/v1/sweeps", fmt.Sprintf(body, "odd", "cuont"))
	read, _ := a.send(200, "GET", "/api/v1/sweeps/odd", "")
	list, _ := a.send(200, "GET", "/api/v1/sweeps?name=odd", "")
	for when, sweep := range map[string]map[string]any{"created": made, "read": read, "listed": items(t, list)[0]} {
		if warning := fmt.Sprint(sweep["warning"]); !strings.Contains(warning, `no live node handles items of kind "cuont" in queue "default"`) || !strings.Contains(warning, `"count"`) {
			t.Errorf("%s, it says %s", when, warning)
		}
	}
	a.send(200, "POST", "/api/v1/sweeps/odd/start", "{}")
	why, _ := a.send(200, "GET", "/api/v1/sweeps/odd/explain", "")
	if text := fmt.Sprint(why); why["state"] != "running" || !strings.Contains(text, "no_node") || !strings.Contains(text, "jobs:[map") {
		t.Errorf("it is explained as %v", why)
	}
}
