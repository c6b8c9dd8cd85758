package wireguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.zx2c4.com/wireguard/conn"
	"golang.zx2c4.com/wireguard/device"
	"golang.zx2c4.com/wireguard/tun"
)

// socketDir is where wgctrl and wg(8) look for devices that are not the kernel's.
const socketDir = "/var/run/wireguard"

// tunPath is the device that a TUN interface is made with.
const tunPath = "/dev/net/tun"

// process is a device in this process, and the socket over which it is configured.
type process struct {
	device   *device.Device
	socket   *net.UnixListener
	stop     context.CancelFunc
	handlers sync.WaitGroup
}

// startProcess makes the TUN interface and the device, and serves its socket in dir.
// errors.Is(err, os.ErrNotExist): there is no /dev/net/tun.
func startProcess(name, dir string) (*process, error) {
	if _, err := os.Stat(tunPath); err != nil {
		return nil, err
	}
	interfaceTUN, err := tun.CreateTUN(name, MTU)
	switch {
	case errors.Is(err, syscall.EBUSY):
		return nil, fmt.Errorf("creating the TUN interface: another process has it")
	case err != nil:
		return nil, fmt.Errorf("creating the TUN interface: %w", err)
	}
	p := newProcess(interfaceTUN, conn.NewDefaultBind())
	link, err := netlink.LinkByName(name)
	if err == nil {
		err = raise(link)
	}
	if err == nil {
		err = p.device.Up()
	}
	if err == nil {
		err = p.listen(filepath.Join(dir, name+".sock"))
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// newProcess runs a device. What it would log is dropped: it quotes what it can't
// read, and that may be a line with a key. What is wrong shows as an answer to Apply,
// and as a handshake that grows old.
func newProcess(t tun.Device, bind conn.Bind) *process {
	logger := &device.Logger{Verbosef: device.DiscardLogf, Errorf: device.DiscardLogf}
	return &process{device: device.NewDevice(t, bind, logger), stop: func() {}}
}

// listen serves the socket. One that a killed process left behind is replaced; that
// its owner is gone follows from the interface, which is ours.
func (p *process) listen(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var err error
	if p.socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	var ctx context.Context
	ctx, p.stop = context.WithCancel(context.Background())
	p.handlers.Go(func() { p.serve(ctx) })
	return nil
}

func (p *process) serve(ctx context.Context) {
	for {
		c, err := p.socket.Accept()
		if err != nil {
			return
		}
		p.handlers.Go(func() {
			defer context.AfterFunc(ctx, func() { c.Close() })()
			p.device.IpcHandle(c)
		})
	}
}

// ended tells whether the device has closed itself, because its interface is gone.
func (p *process) ended() bool {
	select {
	case <-p.device.Wait():
		return true
	default:
		return false
	}
}

// close ends the device and waits for all that ran for it.
func (p *process) close() error {
	var err error
	if p.socket != nil {
		err = p.socket.Close() // and unlinks it
	}
	p.stop()
	p.device.Close()
	p.handlers.Wait()
	return err
}
