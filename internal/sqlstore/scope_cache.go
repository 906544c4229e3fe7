package sqlstore

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fairlead-io/fairlead/driver"
)

// scopesKept is how many scopes a generation of a ScopeCache has.
const scopesKept = 128

// ScopeCache keeps a value for each of the scopes that were used last. Scopes that choose the
// same jobs share one: every call of a remote worker comes with a new Scope.
type ScopeCache[T any] struct {
	last atomic.Pointer[lastScope[T]]

	mu         sync.Mutex
	young, old map[string]*T // an entry that is used moves to young; a full young replaces old
}

// lastScope spares the node of this process, which always has the same scope, the key.
type lastScope[T any] struct {
	scope *driver.Scope
	value *T
}

// Of returns the value for a scope, a new one if there is none.
func (c *ScopeCache[T]) Of(scope *driver.Scope) *T {
	if last := c.last.Load(); last != nil && last.scope == scope {
		return last.value
	}
	value := c.find(keyOfScope(scope))
	c.last.Store(&lastScope[T]{scope, value})
	return value
}

func (c *ScopeCache[T]) find(key string) *T {
	c.mu.Lock()
	defer c.mu.Unlock()
	if value, ok := c.young[key]; ok {
		return value
	}
	value, ok := c.old[key]
	if !ok {
		value = new(T)
	}
	if c.young == nil || len(c.young) >= scopesKept {
		c.young, c.old = map[string]*T{}, c.young
	}
	c.young[key] = value
	return value
}

// keyOfScope returns a text that is the same for scopes that choose the same jobs. Names may
// contain anything, so their lengths are part of it.
func keyOfScope(scope *driver.Scope) string {
	var key strings.Builder
	for _, names := range [][]string{scope.Queues, scope.Except, scope.Kinds, scope.Tenants} {
		if names == nil {
			key.WriteString("all ") // no queues at all are not all queues
			continue
		}
		key.WriteString(strconv.Itoa(len(names)))
		for _, name := range names {
			key.WriteByte(' ')
			key.WriteString(strconv.Itoa(len(name)))
			key.WriteByte(':')
			key.WriteString(name)
		}
		key.WriteByte('\n')
	}
	return key.String()
}
