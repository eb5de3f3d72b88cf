package plugin

import (
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"runtime"
)

// foreignPlatform names the system that a program was built for, as Go names systems; "" when it is this one, or is not
// known.
func foreignPlatform(path string) string {
	system := ""
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		system = "linux/" + elfArch(f)
	} else if f, err := macho.Open(path); err == nil {
		defer f.Close()
		system = "darwin/" + map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]
	} else if f, err := pe.Open(path); err == nil {
		defer f.Close()
		system = "windows/" + map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64",
			pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[f.Machine]
	}
	if system == runtime.GOOS+"/"+runtime.GOARCH {
		return ""
	}
	return system
}

// elfArch is the processor of a program for Linux or another system that has its format.
func elfArch(f *elf.File) string {
	switch f.Machine {
	case elf.EM_X86_64:
		return "amd64"
	case elf.EM_386:
		return "386"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_ARM:
		return "arm"
	case elf.EM_RISCV:
		return "riscv64"
	case elf.EM_PPC64:
		return "ppc64le"
	case elf.EM_S390:
		return "s390x"
	}
	return f.Machine.String()
}
