/** Loaded into threads of the server by `slow-disk.ts`: below a folder each opening of a file takes its time. */
const fs = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')
const { getEnvironmentData, isMainThread } = require('node:worker_threads')

const slow = isMainThread ? undefined : getEnvironmentData('slow disk')
if (slow) {
  const { path: folder, ms, counts } = slow
  const real = fs.openSync
  const never = new Int32Array(new SharedArrayBuffer(4))
  fs.openSync = (path, ...rest) => {
    if (typeof path !== 'string' || !path.startsWith(`${folder}/`)) return real.call(fs, path, ...rest)
    const now = Atomics.add(counts, 0, 1) + 1
    for (let most = Atomics.load(counts, 1); most < now; most = Atomics.load(counts, 1))
      Atomics.compareExchange(counts, 1, most, now)
    Atomics.wait(never, 0, 0, ms)
    Atomics.sub(counts, 0, 1)
    return real.call(fs, path, ...rest)
  }
  syncBuiltinESMExports()
}
