//go:build !linux

package sandbox

const elsewhere = "only Linux has it"

// Probe asks the kernel what it has.
func Probe() Support { return Support{NoLandlock: elsewhere} }

// Enter restricts nothing here.
func Enter(Rules) (Held, error) { return Held{Lacks: []string{"isolation: " + elsewhere}}, nil }

// Thread calls start, and then wait in the background.
func Thread(start func() error, wait func()) error {
	err := start()
	if err == nil {
		go wait()
	}
	return err
}
