package main

import (
	"net"
	"os"
	"strconv"
)

// reachable returns the host and port under which other machines may reach a listener. An
// address that stands for all addresses of a machine is useless to callers: then the
// machine's name is the best guess, which --public-url overrides.
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
