package sqlstore

import (
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead/driver"
)

func TestAScopeCacheTellsScopesApartByWhatTheyChoose(t *testing.T) {
	var cache ScopeCache[int]
	seen := map[*int]string{}
	for _, scope := range []driver.Scope{
		{Kinds: []string{"a"}},
		{Kinds: []string{"a", "b"}},
		{Kinds: []string{"a b"}},
		{Kinds: []string{"a 1:b"}},
		{Kinds: []string{"a"}, Queues: []string{}},
		{Kinds: []string{"a"}, Queues: []string{"a"}},
		{Kinds: []string{"a"}, Except: []string{"a"}},
		{Queues: []string{"a"}},
	} {
		name := fmt.Sprintf("%+v", scope)
		value, same := cache.Of(&scope), scope
		if other := seen[value]; other != "" {
			t.Errorf("%s and %s have the same entry", name, other)
		}
		seen[value] = name
		if cache.Of(&same) != value {
			t.Errorf("two scopes %s have different entries", name)
		}
	}
}

func TestAScopeCacheKeepsThoseThatAreUsed(t *testing.T) {
	var cache ScopeCache[int]
	used := cache.Of(&driver.Scope{Kinds: []string{"used"}})
	for i := range 20 * scopesKept {
		cache.Of(&driver.Scope{Kinds: []string{fmt.Sprint("kind ", i)}})
		if i%(scopesKept/2) == 0 && cache.Of(&driver.Scope{Kinds: []string{"used"}}) != used {
			t.Fatalf("after %d other scopes the entry is another", i)
		}
	}
	if n := len(cache.young) + len(cache.old); n > 2*scopesKept {
		t.Errorf("the cache has %d entries; want at most %d", n, 2*scopesKept)
	}
}
