package sqlstore

import "math/rand/v2"

// mostVersionStep limits the increase of a version.
const mostVersionStep = 1 << 20

// VersionStep returns the increase for the version of something that processes cache. The
// increase is random: a database may lose a change, and the next change must not reach a
// version that some process knows with other contents.
func VersionStep() int64 { return 1 + rand.Int64N(mostVersionStep) }
