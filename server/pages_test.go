package server_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead/access"
)

func TestEveryListComesPageByPage(t *testing.T) {
	a := newGuardedAPI(t)
	operator := a.as(a.token(access.RoleOperator, ""))
	for list, fields := range map[string]string{
		"batches": `"type":"paint","tasks":[{"target":{"id":"1","type":"wall"}}]`, "sweeps": `"kind":"count","to":9`,
		"schedules": `"every":"1h","job":{"kind":"noop"}`, "tenants": `"labels":{"a":"b"}`,
	} {
		var want []string
		if list == "tenants" {
			want = []string{"acme", "zeta"} // which there are already
		}
		for i := len(want); i < 5; i++ {
			name := fmt.Sprintf("n%d", i)
			a.send(200, "POST", "/api/v1/"+list, fmt.Sprintf(`{"name":%q,%s}`, name, fields), operator...)
			want = append(want, name)
		}
		slices.Sort(want)
		for size, pages := range map[int]int{1: 5, 2: 3, 4: 2, 5: 1, 6: 1} {
			var names []string
			token, n := "", 0
			for ; n == 0 || token != ""; n++ {
				page, _ := a.send(200, "GET", fmt.Sprintf("/api/v1/%s?page_size=%d&page_token=%s", list, size, url.QueryEscape(token)), "", operator...)
				got := items(t, page)
				if token, _ = page["next_page_token"].(string); token != "" && len(got) != size {
					t.Errorf("a page of %d %s has %d", size, list, len(got))
				}
				for _, item := range got {
					names = append(names, item["name"].(string))
				}
			}
			slices.Sort(names)
			if !slices.Equal(names, want) || n != pages {
				t.Errorf("%s came as %v on %d pages of %d, want %d", list, names, n, size, pages)
			}
		}
		if list != "tenants" && list != "schedules" { // whose tokens are names
			a.send(400, "GET", "/api/v1/"+list+"?page_token=x", "", operator...)
		}
	}
}
