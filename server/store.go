package server

import (
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
)

// Store is all that the service asks of a database: what a node does, and who may use the
// service.
type Store interface {
	driver.Store
	access.Store
}
