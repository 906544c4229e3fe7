package sqlstore

import "math/rand/v2"

// mostVersionStep limits the increase of a version.
const mostVersionStep = 1 << 20

// VersionStep returns the number to add to the version of data that processes cache. The
// number is random because a database may lose a change. The next change must then not get a
// version that some process already knows with different contents.
func VersionStep() int64 { return 1 + rand.Int64N(mostVersionStep) }
