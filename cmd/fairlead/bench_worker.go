package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// remoteWorker runs the handlers in a second process of this program.
func remoteWorker(own *bench.Fairlead, db string) (bench.Scheduler, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &bench.Remote{
		Scheduler: own,
		Command:   []string{program, "bench", "worker"},
		Post:      bench.Post{URL: db, Queue: own.Queue},
	}, nil
}

func newBenchWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "Run the second process of bench latency --processes 2",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serveBench(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

func serveBench(ctx context.Context, stdin io.Reader, stdout io.Writer) (err error) {
	input := bufio.NewReader(stdin)
	post, err := bench.ReadPost(input)
	if err != nil {
		return err
	}
	store, err := openStore(ctx, post.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	// A Ctrl-C at the terminal reaches this process too; its parent ends it.
	worker := &bench.Fairlead{Store: store, Kind: bench.KindOwn, Queue: post.Queue}
	return bench.ServeWork(context.WithoutCancel(ctx), worker, input, stdout)
}
