package sqlstore

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fairlead-io/fairlead/driver"
)

// scopesKept is the number of scopes in a generation of a ScopeCache.
const scopesKept = 128

// ScopeCache holds one value for each recently used scope. Every call of a remote worker comes
// with a new Scope, so scopes that select the same jobs share a value.
type ScopeCache[T any] struct {
	last atomic.Pointer[lastScope[T]]

	mu sync.Mutex
	// A used entry moves to young. When young is full, it replaces old.
	young, old map[string]*T
}

// lastScope avoids computing the key for the node of this process, which always has the
// same scope.
type lastScope[T any] struct {
	scope *driver.Scope
	value *T
}

// Of returns the value for a scope. It creates the value if necessary.
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

// keyOfScope returns the same string for scopes that select the same jobs. The string
// includes the lengths of names, because names may contain any characters.
func keyOfScope(scope *driver.Scope) string {
	var key strings.Builder
	for _, names := range [][]string{scope.Queues, scope.Except, scope.Kinds, scope.Tenants} {
		if names == nil {
			key.WriteString("all ") // an empty list of queues differs from all queues
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
