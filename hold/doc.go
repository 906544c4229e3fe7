// Package hold records what kept jobs waiting, so that it can be asked the next morning.
//
// A [Hold] is a time in which one cause kept ready jobs of some lanes from starting: a pause,
// a cap, a rate, a gate, or that no node or no slot was there. What is stored are such times
// alone, and nothing of any job. What a job waited for follows from the times in which it
// waited and from the holds of its lane:
//
//	holds := hold.NewClient(store)
//	history, err := holds.History(ctx, job.ID)
//	for _, stretch := range history.Stretches {
//		fmt.Println(stretch.From, stretch.Until, stretch.Causes)
//	}
//
// One node at a time is the witness: about once a second it looks at the lanes that have
// ready jobs, asks of each what [fairlead.Store] would answer to Explain, and stores what has
// changed. Claims know nothing of it. Times are therefore as exact as looks are apart.
package hold
