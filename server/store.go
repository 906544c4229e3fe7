package server

import (
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
)

// A Store provides every database operation that the service needs: node operations and
// access control.
type Store interface {
	driver.Store
	access.Store
}
