package server

import (
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
)

// A Store provides all database operations of the service: those of a node, and access
// control.
type Store interface {
	driver.Store
	access.Store
}
