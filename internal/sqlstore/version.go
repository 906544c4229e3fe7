package sqlstore

import "math/rand/v2"

// mostVersionStep bounds by how much a version grows.
const mostVersionStep = 1 << 20

// VersionStep is by how much the version of something that processes cache grows. It
// is random: a database may lose a change, and the version that the next change
// reaches must not be one that a process knows with other contents.
func VersionStep() int64 { return 1 + rand.Int64N(mostVersionStep) }
