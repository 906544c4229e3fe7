package sqlstore

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/fairlead-io/fairlead"
)

// GateOf returns the ID of the gate that a job must pass, or 0 if the job has no gate. The ID
// is a hash of the job's kind, tenant and concurrency key, so no transaction has to look up or
// create the gate. Among a billion gates, the probability that two gates have the same ID is
// one in twenty. Those two gates would share their places.
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

// Gate is the state of a job's gate.
type Gate struct {
	Places int
	Taken  int     // number of occupied places
	By     []int64 // some of the jobs that occupy them
	Ahead  int     // jobs parked ahead of the job in question
}
