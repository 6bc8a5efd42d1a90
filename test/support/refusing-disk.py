"""Shows a folder by FUSE that refuses some operations, as exFAT, shares and cloud drives do:
refusing-disk.py <folder> <mount point> <operation>..."""

import errno
import os
import sys

from fusepy import FUSE, FuseOSError, Operations


class RefusingDisk(Operations):
    def __init__(self, folder, refused):
        self.folder = folder
        self.refused = refused

    def __call__(self, operation, path, *args):
        if operation in self.refused:
            raise FuseOSError(errno.EPERM)
        return super().__call__(operation, self.folder + path, *args)

    chmod = staticmethod(os.chmod)
    mkdir = staticmethod(os.mkdir)
    open = staticmethod(os.open)
    readlink = staticmethod(os.readlink)
    rmdir = staticmethod(os.rmdir)
    unlink = staticmethod(os.unlink)
    getxattr = None
    listxattr = None

    def create(self, path, mode, info=None):
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)

    def getattr(self, path, handle=None):
        found = os.lstat(path)
        return {name: getattr(found, name) for name in dir(found) if name.startswith('st_') and name != 'st_ino'}

    def link(self, target, source):
        return os.link(self.folder + source, target)

    def read(self, path, size, offset, handle):
        return os.pread(handle, size, offset)

    def readdir(self, path, handle):
        return ['.', '..', *os.listdir(path)]

    def release(self, path, handle):
        return os.close(handle)

    def rename(self, old, new):
        return os.rename(old, self.folder + new)

    def symlink(self, target, source):
        return os.symlink(source, target)

    def truncate(self, path, length, handle=None):
        return os.truncate(path, length)

    def write(self, path, data, offset, handle):
        return os.pwrite(handle, data, offset)


folder, mount_point, *refused = sys.argv[1:]
FUSE(RefusingDisk(folder, refused), mount_point, foreground=True, nothreads=True)
