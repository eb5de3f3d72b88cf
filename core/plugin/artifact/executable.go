package artifact

import (
	"encoding/binary"
	"fmt"
	"os"
)

// machines are the architectures of Go by their number in the header of an ELF file (elf(5)).
var machines = map[uint16][]string{
	3: {"386"}, 8: {"mips", "mipsle", "mips64", "mips64le"}, 21: {"ppc64le", "ppc64"}, 22: {"s390x"}, 40: {"arm"},
	62: {"amd64"}, 183: {"arm64"}, 243: {"riscv64"}, 258: {"loong64"},
}

// checkExecutable refuses what no system would start as a program, and what is for
// another one.
func checkExecutable(f *os.File, here Platform) error {
	head := make([]byte, 20)
	n, err := f.ReadAt(head, 0)
	if n < 2 && err != nil {
		return fmt.Errorf("it is no program: it has %d bytes", n)
	}
	head = head[:n]
	switch {
	case string(head[:2]) == "#!":
		return nil
	case here.OS == "windows" && string(head[:2]) == "MZ":
		return nil
	case n == 20 && string(head[:4]) == "\x7fELF":
		order := binary.ByteOrder(binary.LittleEndian)
		if head[5] == 2 {
			order = binary.BigEndian
		}
		return checkMachine(order.Uint16(head[18:]), here)
	case here.OS == "darwin" && n >= 4 &&
		(binary.LittleEndian.Uint32(head) == 0xfeedfacf || binary.BigEndian.Uint32(head) == 0xcafebabe):
		return nil
	}
	return fmt.Errorf("it is no program for %s: want an executable of this system, or a script with #! in front", here)
}

func checkMachine(number uint16, here Platform) error {
	if here.OS == "darwin" || here.OS == "windows" {
		return fmt.Errorf("it is a program for linux, and this is %s", here)
	}
	known := machines[number]
	for _, arch := range known {
		if arch == here.Arch {
			return nil
		}
	}
	if len(known) == 0 {
		known = []string{fmt.Sprintf("machine %d", number)}
	}
	return fmt.Errorf("it is a program for linux/%s, and this is %s", known[0], here)
}

// platformOf reads the platform of a program for Linux from its header; other
// systems are for the user to say.
func platformOf(f *os.File) (string, error) {
	head := make([]byte, 20)
	n, _ := f.ReadAt(head, 0)
	switch {
	case n >= 2 && string(head[:2]) == "#!":
		return "", nil
	case n < 20 || string(head[:4]) != "\x7fELF":
		return "", fmt.Errorf("its platform does not follow from the file: write it in front, as in linux/amd64=FILE")
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if head[5] == 2 {
		order = binary.BigEndian
	}
	switch known := machines[order.Uint16(head[18:])]; len(known) {
	case 1:
		return "linux/" + known[0], nil
	default:
		return "", fmt.Errorf("its platform does not follow from the file: write it in front, as in linux/mips64le=FILE")
	}
}
