/**
 * Loaded into children of the server by `faulty-disk.ts`: file system calls with a path below a folder fail with the
 * error code of a disk that does not answer.
 */
const fs = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')

const NAMES = ['statSync', 'lstatSync', 'realpathSync', 'readdirSync', 'opendirSync', 'openSync', 'copyFileSync', 'readFileSync']

/** @param isFailing  whether a call with this path fails */
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

/**
 * `state`: a folder whose file `calls` contains the number of calls that succeed before the disk fails (without this
 * file, it does not fail), and whose file `done` contains a byte for each of them.
 */
const leftIn = (state) => {
  if (!fs.existsSync(`${state}/calls`)) return Infinity
  const done = fs.readFileSync(`${state}/done`).length
  return Math.max(0, Number(fs.readFileSync(`${state}/calls`, 'latin1')) - done)
}

const below = ({ path: folder, state }) => (path) => {
  if (typeof path !== 'string' || (path !== folder && !path.startsWith(`${folder}/`))) return false
  const left = leftIn(state)
  if (left > 0 && left < Infinity) fs.appendFileSync(`${state}/done`, '.')
  return left === 0
}

const fault = process.env.AV_TEST_FAULTY_DISK && JSON.parse(process.env.AV_TEST_FAULTY_DISK)
if (fault) failWith(fault.code, below(fault), NAMES, fs)

module.exports = { failWith, below, leftIn }
