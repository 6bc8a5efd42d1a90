/**
 * Loaded into threads of the server by `faulty-disk.ts`: below a folder, calls of the file system that take a path fail
 * with the code of a disk that does not answer.
 */
const fs = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')
const { getEnvironmentData, isMainThread } = require('node:worker_threads')

const NAMES = ['statSync', 'lstatSync', 'realpathSync', 'readdirSync', 'opendirSync', 'openSync', 'copyFileSync', 'readFileSync']

/** @param isFailing  of a call with this path */
function failWith(code, isFailing, names, of) {
  for (const name of names) {
    const real = of[name]
    of[name] = Object.assign(
      (path, ...rest) => {
        if (!isFailing(path)) return real.call(of, path, ...rest)
        const error = Object.assign(new Error(`${code}: i/o error, ${name} '${path}'`), { code, syscall: name, path })
        if (of === fs) throw error
        return Promise.reject(error)
      },
      real,
    )
  }
  syncBuiltinESMExports()
}

/** `counts`: calls that go well before the disk fails, or -1: it is there. */
const below = ({ path: folder, counts }) => (path) => {
  if (typeof path !== 'string' || (path !== folder && !path.startsWith(`${folder}/`))) return false
  const left = Atomics.load(counts, 0)
  if (left > 0) Atomics.sub(counts, 0, 1)
  return left === 0
}

const fault = isMainThread ? undefined : getEnvironmentData('faulty disk')
if (fault) failWith(fault.code, below(fault), NAMES, fs)

module.exports = { failWith, below }
