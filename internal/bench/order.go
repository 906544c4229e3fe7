package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Order is a measurement for a separate process, so that its CPU time is exact and the
// heaps of two measurements do not influence each other.
type Order struct {
	System    string `json:"system"`
	URL       string `json:"url"`
	Processes int    `json:"processes"`
	Spec      Spec   `json:"spec"`
}

// Send runs the command, a program that calls ServeOrder, to carry out the order.
func (o Order) Send(ctx context.Context, command []string) (result Result, err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return Result{}, err
	}
	if err := cmd.Start(); err != nil {
		return Result{}, err
	}
	// The input stays open: its end tells the process that this one has ended.
	sendErr := json.NewEncoder(input).Encode(o)
	if err := firstError(cmd.Wait(), sendErr); err != nil {
		return Result{}, fmt.Errorf("%s on %s: %w", o.Spec.Workload, o.System, err)
	}
	return result, json.Unmarshal(output.Bytes(), &result)
}

// ServeOrder reads an order, calls measure and writes the result. It ends early if the
// process that gave the order ends.
func ServeOrder(ctx context.Context, input io.Reader, output io.Writer, measure func(context.Context, Order) (Result, error)) error {
	decoder := json.NewDecoder(input)
	var order Order
	if err := decoder.Decode(&order); err != nil {
		return fmt.Errorf("read order: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, input) // without the parent, the result is useless
		cancel()
	}()
	result, err := measure(ctx, order)
	if err != nil {
		return err
	}
	return result.WriteJSON(output)
}
