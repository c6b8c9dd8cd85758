package fakecharon

import (
	"fmt"
	"net"
	"os"
	"sync"
)

// Charon is the daemon. Its methods may be called at any time, from any goroutine.
type Charon struct {
	socket string
	serve  sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener
	clients  map[*client]bool
	hung     chan struct{} // closed when it goes on; nil: it isn't hanging
	refusals map[string]string
	calls    map[string]int
	peers    map[string]Peer
	state
}

// New returns a daemon that serves VICI on a socket from Start on.
func New(socket string) *Charon {
	return &Charon{socket: socket, refusals: map[string]string{}, calls: map[string]int{}, peers: map[string]Peer{}}
}

// Start runs the daemon without connections, keys or SAs, as every start of charon
// is. A socket file that a dead daemon left behind is replaced. What the test said of
// peers and refusals holds on.
func (c *Charon) Start() error {
	if err := os.Remove(c.socket); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("replacing the socket: %w", err)
	}
	l, err := net.Listen("unix", c.socket)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listener, c.clients, c.state = l, map[*client]bool{}, newState()
	c.serve.Add(1)
	go c.accept(l)
	return nil
}

// Kill ends the daemon as kill -9 does: its sessions break, everything that it held
// is lost, its socket file stays. Killing a dead one is fine.
func (c *Charon) Kill() {
	c.mu.Lock()
	if c.listener != nil {
		_ = c.listener.Close()
		c.listener = nil
	}
	c.mu.Unlock()
	c.Drop()
	c.Resume() // whoever was waiting finds the session broken
	c.serve.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = newState()
}

// Restart is Kill and Start.
func (c *Charon) Restart() error {
	c.Kill()
	return c.Start()
}

// Drop breaks every session; the daemon itself keeps running.
func (c *Charon) Drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for client := range c.clients {
		_ = client.conn.Close()
	}
}

// Hang makes the daemon answer nothing until Resume; new sessions are accepted, as
// the kernel does for a daemon that is stopped.
func (c *Charon) Hang() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hung == nil {
		c.hung = make(chan struct{})
	}
}

// Resume lets a hanging daemon answer what was asked meanwhile.
func (c *Charon) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hung != nil {
		close(c.hung)
		c.hung = nil
	}
}

// Refuse makes the daemon refuse a command in these words; none: it obeys again.
func (c *Charon) Refuse(command, words string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusals[command] = words
}

// Calls is how often a command was given since New.
func (c *Charon) Calls(command string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[command]
}

// Sessions is how many sessions there are.
func (c *Charon) Sessions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.clients)
}

// accept serves until the listener is closed.
func (c *Charon) accept(l net.Listener) {
	defer c.serve.Done()
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		c.mu.Lock()
		if c.listener != l {
			_ = conn.Close()
		} else {
			client := &client{charon: c, conn: conn, events: map[string]bool{}}
			c.clients[client] = true
			c.serve.Add(1)
			go client.serve()
		}
		c.mu.Unlock()
	}
}
