//go:build !unix

package compose

import "os"

func keepOwner(*os.File, os.FileInfo) error { return nil }

func single(string) bool { return true }

func isMount(error) bool { return false }

func isReadonly(error) bool { return false }
