// Package hold records what kept jobs waiting, so that operators can look it up later.
//
// A [Hold] is a period in which one cause kept ready jobs of some lanes from starting: a
// pause, a cap, a rate, a gate, or a lack of nodes or free slots. Only these periods are
// stored, and no data of jobs. The history of a job is derived from the periods in which it
// waited and the holds of its lane:
//
//	holds := hold.NewClient(store)
//	history, err := holds.History(ctx, job.ID)
//	for _, stretch := range history.Stretches {
//		fmt.Println(stretch.From, stretch.Until, stretch.Causes)
//	}
//
// One node at a time is the witness: about once a second it reads the lanes that have ready
// jobs, determines for each what [fairlead.Store] would report in Explain, and stores the
// changes. Claims are not involved. The times are therefore as precise as the interval
// between two looks.
//
// The witness also stores a [Sample] of the cluster's activity every ten seconds, for one day.
package hold
