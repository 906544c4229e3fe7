package sqlstore

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/fairlead-io/fairlead"
)

// GateOf returns the gate that a job has to pass, 0 if it has none. It is a hash of
// what the gate belongs to, so no transaction has to look it up or to create it. Among
// a billion gates, two are the same with a chance of one in twenty; they would then
// share their places.
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

// Gate is the state of one job's gate.
type Gate struct {
	Places int
	Taken  int     // places that are taken
	By     []int64 // some of the jobs that hold them
	Ahead  int     // jobs parked before the one in question
}
