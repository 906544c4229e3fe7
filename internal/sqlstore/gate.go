package sqlstore

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/fairlead-io/fairlead"
)

// GateOf names the gate that a job has to pass, 0 if it has none. It is made of
// what the gate belongs to, so that nobody has to look it up or to create it:
// of a billion gates two are the same with a chance of one in twenty, and would
// then share their places.
func GateOf(job *fairlead.Job) int64 {
	if job.ConcurrencyKey == "" {
		return 0
	}
	hash := sha256.New()
	for _, part := range []string{job.Kind, job.Tenant, job.ConcurrencyKey} {
		hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		hash.Write([]byte(part))
	}
	gate := int64(binary.BigEndian.Uint64(hash.Sum(nil)) >> 1)
	return max(gate, 1)
}

// Gate is the gate of one job as it stands.
type Gate struct {
	Places int
	Taken  int     // places
	By     []int64 // some of the jobs that have them
	Ahead  int     // jobs parked before the one in question
}
