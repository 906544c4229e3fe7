package main

import (
	"net"
	"os"
	"strconv"
)

// reachable is how others may name what is listened on. Callers cannot use an address
// that stands for all of a machine's: the machine's name is the best guess, and
// --public-url knows better.
func reachable(addr net.Addr) (hostport string, guessed bool) {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return addr.String(), false
	}
	name, err := os.Hostname()
	if err != nil {
		return addr.String(), true
	}
	return net.JoinHostPort(name, strconv.Itoa(tcp.Port)), true
}
