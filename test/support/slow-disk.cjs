/** Loaded into children of the server by `slow-disk.ts`: delays each opening of a file below a folder. */
const fs = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')

const slow = process.env.AV_TEST_SLOW_DISK && JSON.parse(process.env.AV_TEST_SLOW_DISK)
if (slow) {
  const { path: folder, ms, log } = slow
  const real = fs.openSync
  const never = new Int32Array(new SharedArrayBuffer(4))
  fs.openSync = (path, ...rest) => {
    if (typeof path !== 'string' || !path.startsWith(`${folder}/`)) return real.call(fs, path, ...rest)
    fs.appendFileSync(log, '+')
    Atomics.wait(never, 0, 0, ms)
    fs.appendFileSync(log, '-')
    return real.call(fs, path, ...rest)
  }
  syncBuiltinESMExports()
}
